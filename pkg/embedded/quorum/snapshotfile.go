package quorum

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

const (
	snapshotSuffix = ".checkpoint"
	partSuffix     = ".part"
)

// snapshot is a checkpoint on the disk: the state before offset, which the epoch
// led to.
type snapshot struct {
	offset int64
	epoch  int32
	bytes  int64
}

// bootstrap reports whether it is 0-0, with which Kafka formats a directory and
// which no follower gets (Snapshots.BOOTSTRAP_SNAPSHOT_ID).
func (s snapshot) bootstrap() bool { return s.offset == 0 && s.epoch == 0 }

func (s snapshot) file() string {
	return fmt.Sprintf("%020d-%010d%s", s.offset, s.epoch, snapshotSuffix)
}

// parseSnapshot reads a checkpoint's name; false for other names.
func parseSnapshot(name string) (snapshot, bool) {
	id, ok := strings.CutSuffix(name, snapshotSuffix)
	if !ok || len(id) != 20+1+10 || id[20] != '-' {
		return snapshot{}, false
	}
	offset, err1 := strconv.ParseInt(id[:20], 10, 64)
	epoch, err2 := strconv.ParseInt(id[21:], 10, 32)
	if err1 != nil || err2 != nil || offset < 0 || epoch < 0 {
		return snapshot{}, false
	}
	return snapshot{offset: offset, epoch: int32(epoch)}, true
}

// snapshotBatchRecords is how many records a batch of a snapshot has at most.
const snapshotBatchRecords = 1000

// snapshotOrder writes one.
type snapshotOrder struct {
	fs     vfs.FS
	dir    string
	voters *record.KRaftVoters
	id     snapshot
	recs   func() []kraft.Record
	level  kraft.MetadataVersion
	lastMs int64
	err    error
}

// Run is Order's. The file has its name only once it is whole and synced.
func (o *snapshotOrder) Run() {
	data, err := o.encode()
	if err != nil {
		o.err = err
		return
	}
	o.id.bytes = int64(len(data))
	o.err = writeSnapshot(o.fs, path.Join(o.dir, o.id.file()), data)
}

func writeSnapshot(fsys vfs.FS, name string, data []byte) error {
	part := name + partSuffix
	f, err := fsys.Open(part, vfs.Create)
	if err != nil {
		return diskError("create", part, err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.Append(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return diskError("write", part, err)
	}
	if err := fsys.Rename(part, name); err != nil {
		return diskError("rename to "+name, part, err)
	}
	return diskError("sync directory", path.Dir(name), fsys.SyncDir(path.Dir(name)))
}

func (o *snapshotOrder) encode() ([]byte, error) {
	opts := record.Options{LeaderEpoch: o.id.epoch}
	head := []record.Control{record.SnapshotHeader{LastContainedLogTimestampMs: o.lastMs}}
	if o.voters != nil {
		head = append(head, record.KRaftVersion{Version: 1}, *o.voters)
	}
	data, err := record.AppendControl(nil, opts, o.lastMs, head...)
	if err != nil {
		return nil, err
	}
	opts.BaseOffset = int64(len(head))
	builder := &record.Builder{}
	for recs := o.recs(); len(recs) > 0; {
		k := min(len(recs), snapshotBatchRecords)
		b, err := encode(builder, opts, o.lastMs, o.level, recs[:k])
		if err != nil {
			return nil, err
		}
		data, recs = append(data, b...), recs[k:]
		opts.BaseOffset += int64(k)
	}
	return record.AppendControl(data, opts, o.lastMs, record.SnapshotFooter{})
}
