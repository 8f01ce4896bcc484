package storage

import (
	"errors"
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// metadataTopicID is the id of __cluster_metadata, which is a fixed one.
const metadataTopicID = "AAAAAAAAAAAAAAAAAAAAAQ"

// OpenMetadata opens a quorum's metadata log directory, and in it the log
// __cluster_metadata-0 alone, which it makes if it is not there. Other logs in the
// directory, and the checkpoints and the mark of a clean stop that they share, are
// left alone: they are the broker's.
//
// As in Kafka nothing but the log itself says where it begins and ends: it is
// scanned from its first segment on whenever it is opened, and Start is that
// segment's base again (KafkaMetadataLog). Its HW is all of it, for a quorum of
// one. Snapshots and quorum-state beside the segments are the caller's.
//
// Errors are those of [Open].
func OpenMetadata(fsys vfs.FS, id Identity, cfg Config, nowMs int64) (*Dir, *Log, error) {
	d, err := lock(fsys)
	if err != nil {
		return nil, nil, err
	}
	d.noCheckpoints = true
	l, err := d.loadMetadata(id, cfg, nowMs)
	if err != nil {
		return nil, nil, errors.Join(err, d.Abandon())
	}
	return d, l, nil
}

func (d *Dir) loadMetadata(id Identity, cfg Config, nowMs int64) (*Log, error) {
	var err error
	if d.identity, err = identify(d.fs, id); err != nil {
		return nil, err
	}
	l := d.newLog(TopicPartition{Topic: metadataTopic}, cfg)
	l.topicID, l.producers = metadataTopicID, &logstate.Producers{}
	// A killed process may have got as far as to any of these.
	if err := d.fs.MkdirAll(l.name); err != nil {
		return nil, failed("make directory", l.name, NoOffset, err)
	}
	if err := d.fs.SyncDir("."); err != nil {
		return nil, failed("sync directory", ".", NoOffset, err)
	}
	switch got, err := readTopicID(d.fs, l.name); {
	case err != nil:
		return nil, err
	case got == "":
		if err := writeTopicID(d.fs, l.name, metadataTopicID); err != nil {
			return nil, err
		}
	case got != metadataTopicID:
		return nil, failed("read", l.Path(partitionMeta), NoOffset, fmt.Errorf("%w: topic_id %s, want %s", ErrCorrupt, got, metadataTopicID))
	}
	d.logs[l.tp] = l
	if err := l.load(found{}, nowMs); err != nil {
		return nil, err
	}
	l.hw = l.end
	return l, nil
}
