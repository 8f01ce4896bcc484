package node

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// The metadata log's topic. It is fetched by its id, and its snapshots by name.
const metadataTopic = "__cluster_metadata"

var metadataTopicID = [16]byte{15: 1}

// metadataWaitMs is how long the controller may keep a fetch that finds nothing
// (KafkaRaftClient.MAX_FETCH_WAIT_MS).
const metadataWaitMs = 500

// follow is this broker as an observer of the metadata log: what it has read of
// it, in memory only. A restart reads it again.
type follow struct {
	replay *metadata.Replay
	// offset is the next one to fetch. applied is the one behind the last record
	// that is in image; the same but for a metadata transaction that is open.
	offset, applied int64
	image           metadata.Image
	// leaderEpoch is the controller's, lastEpoch that of the last batch read.
	leaderEpoch, lastEpoch int32
	// changes are what the records since image are about.
	changes changes
	// again: the log was another one; until what is read of this one has reached
	// its HW, the old image stands.
	again bool

	snapshot *snapshotDownload
	failures int
	next     alarm
}

// snapshotDownload is a snapshot that is being fetched.
type snapshotDownload struct {
	endOffset int64
	epoch     int32
	bytes     []byte
}

func (f *follow) begin(n *Node) {
	f.replay, f.image = metadata.NewReplay(metadata.Empty()), metadata.Empty()
	f.next.Ring = func() { f.ask(n) }
	n.alarms.set(&f.next, n.now.Mono)
}

// ask sends the one request that is ever in flight.
func (f *follow) ask(n *Node) {
	if n.life.state == closing {
		return
	}
	if f.snapshot != nil {
		n.send(machine.Controller, f.snapshotRequest(n), f)
		return
	}
	req := kmsg.NewPtrFetchRequest()
	req.Version = req.MaxVersion()
	req.ClusterID = kmsg.StringPtr(n.opts.ClusterID)
	req.ReplicaState.ID, req.ReplicaState.Epoch = n.opts.ID, n.life.lastEpoch
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = metadataWaitMs, 1, n.cfg.metadataFetchMaxBytes
	part := kmsg.NewFetchRequestTopicPartition()
	part.CurrentLeaderEpoch, part.LastFetchedEpoch = f.leaderEpoch, f.lastEpoch
	part.FetchOffset, part.LogStartOffset = f.offset, 0
	part.PartitionMaxBytes, part.ReplicaDirectoryID = n.cfg.metadataFetchMaxBytes, n.life.directory
	topic := kmsg.NewFetchRequestTopic()
	topic.TopicID = metadataTopicID
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	n.send(machine.Controller, req, f)
}

func (f *follow) snapshotRequest(n *Node) *kmsg.FetchSnapshotRequest {
	req := kmsg.NewPtrFetchSnapshotRequest()
	req.Version = req.MaxVersion()
	req.ClusterID = kmsg.StringPtr(n.opts.ClusterID)
	req.ReplicaID, req.MaxBytes = n.opts.ID, n.cfg.metadataSnapshotMaxBytes
	part := kmsg.NewFetchSnapshotRequestTopicPartition()
	part.CurrentLeaderEpoch = f.leaderEpoch
	part.SnapshotID.EndOffset, part.SnapshotID.Epoch = f.snapshot.endOffset, f.snapshot.epoch
	part.Position = int64(len(f.snapshot.bytes))
	topic := kmsg.NewFetchSnapshotRequestTopic()
	topic.Topic = metadataTopic
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	return req
}

// ended is ender's.
func (f *follow) ended(n *Node, body kmsg.Response) {
	if n.life.state == closing {
		return // there will be no directory to obey in
	}
	var err error
	switch resp := body.(type) {
	case *kmsg.FetchResponse:
		err = f.fetched(n, resp)
	case *kmsg.FetchSnapshotResponse:
		err = f.snapshotFetched(n, resp)
	default:
		f.retry(n)
		return
	}
	if err != nil {
		// The log contradicts itself, or is not one of this version's: to go on would
		// be to obey what nobody decided.
		n.stop(fmt.Errorf("metadata log at offset %d: %w", f.offset, err))
	}
}

// retry asks again after a pause that grows.
func (f *follow) retry(n *Node) {
	pause := backoff(n.cfg.metadataRetryMs, n.cfg.metadataRetryMaxMs, f.failures)
	f.failures++
	n.alarms.set(&f.next, n.now.Mono+max(pause, 1))
}

func (f *follow) fetched(n *Node, resp *kmsg.FetchResponse) error {
	if resp.ErrorCode != 0 || len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		f.retry(n)
		return nil
	}
	p := &resp.Topics[0].Partitions[0]
	if epoch := p.CurrentLeader.LeaderEpoch; epoch > f.leaderEpoch {
		f.leaderEpoch = epoch
		if p.ErrorCode != 0 {
			f.ask(n)
			return nil
		}
	}
	switch {
	case replica.Code(p.ErrorCode) == replica.OffsetOutOfRange:
		n.notef("the metadata log has no offset %d: reading it from its start", f.offset)
		f.restart()
		f.retry(n)
		return nil
	case p.ErrorCode != 0:
		f.retry(n)
		return nil
	case p.SnapshotID.EndOffset >= 0:
		f.snapshot = &snapshotDownload{endOffset: p.SnapshotID.EndOffset, epoch: p.SnapshotID.Epoch}
		f.ask(n)
		return nil
	case p.DivergingEpoch.EndOffset >= 0:
		n.notef("the metadata log parts from what was read of it at offset %d: reading it from its start", p.DivergingEpoch.EndOffset)
		f.restart()
		f.ask(n)
		return nil
	}
	before := f.offset
	if err := f.apply(p.RecordBatches, p.HighWatermark); err != nil {
		return err
	}
	if !f.again || f.offset >= p.HighWatermark {
		f.publish(n)
	}
	if f.offset == before && len(p.RecordBatches) > 0 {
		// Nothing of it is committed yet. To ask at once would bring the same.
		f.retry(n)
		return nil
	}
	f.failures = 0
	f.ask(n)
	return nil
}

// restart reads from the start of a log, this one or another.
func (f *follow) restart() {
	f.replay, f.offset, f.lastEpoch, f.again = metadata.NewReplay(metadata.Empty()), 0, 0, true
	f.changes = changes{all: true}
}

// apply reads batches up to the HW.
func (f *follow) apply(batches []byte, hw int64) error {
	s := record.Scan(batches)
	for s.Next() {
		b := s.Batch()
		if b.NextOffset() > hw {
			return nil
		}
		if b.BaseOffset() < f.offset {
			continue
		}
		if err := f.applyBatch(b); err != nil {
			return err
		}
		f.offset, f.lastEpoch = b.NextOffset(), b.LeaderEpoch()
	}
	return s.Err()
}

func (f *follow) applyBatch(b record.Batch) error {
	if err := b.CheckCRC(); err != nil {
		return err
	}
	if b.Control() {
		return nil
	}
	rs, err := b.Records(nil)
	if err != nil {
		return err
	}
	for rs.Next() {
		rec, err := kraft.Decode(rs.Record().Value)
		if err != nil {
			return err
		}
		f.changes.note(f.replay.Image(), rec)
		if err := f.replay.Apply(rec); err != nil {
			return err
		}
	}
	return rs.Err()
}

// publish makes what has been read the image that the broker obeys.
func (f *follow) publish(n *Node) {
	f.again = false
	if f.replay.InTransaction() || f.applied == f.offset && !f.changes.all {
		return
	}
	changes := f.changes
	f.image, f.applied, f.changes = f.replay.Image(), f.offset, changes.emptied()
	n.publish(changes)
}

func (f *follow) snapshotFetched(n *Node, resp *kmsg.FetchSnapshotResponse) error {
	if resp.ErrorCode != 0 || len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		f.retry(n)
		return nil
	}
	p := &resp.Topics[0].Partitions[0]
	f.leaderEpoch = max(f.leaderEpoch, p.CurrentLeader.LeaderEpoch)
	switch code := replica.Code(p.ErrorCode); code {
	case replica.None:
	default:
		// It may be gone; the next fetch names one that is there.
		f.snapshot = nil
		f.retry(n)
		return nil
	}
	s := f.snapshot
	if p.Position == int64(len(s.bytes)) {
		s.bytes = append(s.bytes, p.Bytes...)
	}
	if len(p.Bytes) == 0 && int64(len(s.bytes)) < p.Size {
		f.retry(n)
		return nil
	}
	f.failures = 0
	if int64(len(s.bytes)) >= p.Size {
		f.snapshot = nil
		if err := f.load(s); err != nil {
			return fmt.Errorf("snapshot %d-%d: %w", s.endOffset, s.epoch, err)
		}
	}
	f.ask(n)
	return nil
}

// load reads a snapshot. It takes effect once what follows it is read.
func (f *follow) load(s *snapshotDownload) error {
	f.restart()
	sc := record.Scan(s.bytes)
	for sc.Next() {
		if err := f.applyBatch(sc.Batch()); err != nil {
			return err
		}
	}
	if sc.Err() != nil {
		return sc.Err()
	}
	f.offset, f.lastEpoch = s.endOffset, s.epoch
	return nil
}

// changes are what records are about, as far as a broker has to do something.
type changes struct {
	// all: compare everything.
	all bool
	// touched are partitions whose state was written, in order, and gone topics
	// that were removed.
	touched []partitionID
	gone    []*metadata.Topic
	// configs are topics whose configs were written; broker's own or all brokers'
	// change everything.
	configs       []string
	brokerConfigs bool
	brokers       bool
}

// emptied is no changes, with the room of these.
func (c changes) emptied() changes {
	return changes{touched: c.touched[:0:0]}
}

// note takes a record that is about to change the image.
func (c *changes) note(before metadata.Image, rec kraft.Record) {
	if c.all {
		return
	}
	switch rec := rec.(type) {
	case *kraft.Partition:
		c.touched = append(c.touched, partitionID{rec.TopicID, rec.PartitionID})
	case *kraft.PartitionChange:
		c.touched = append(c.touched, partitionID{rec.TopicID, rec.PartitionID})
	case *kraft.RemoveTopic:
		if t, ok := before.TopicByID(rec.TopicID); ok {
			c.gone = append(c.gone, t)
		}
	case *kraft.ClearELR:
		// It makes new partition epochs, of which partitions only a comparison tells.
		c.all = true
	case *kraft.Config:
		if rec.ResourceType == kraft.ResourceTopic {
			c.configs = append(c.configs, rec.ResourceName)
		} else {
			c.brokerConfigs = true
		}
	case *kraft.RegisterBroker, *kraft.UnregisterBroker, *kraft.BrokerRegistrationChange, *kraft.FenceBroker, *kraft.UnfenceBroker:
		c.brokers = true
	}
}
