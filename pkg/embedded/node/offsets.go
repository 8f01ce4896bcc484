package node

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// listOffsets answers from the replicas and, by time, from their logs
// (KafkaApis.handleListOffsetRequest). A partition that is in the request twice
// is refused (ListOffsetsRequest.duplicatePartitions).
func (n *Node) listOffsets(token machine.Token, req *kmsg.ListOffsetsRequest) {
	resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
	resp.Topics = make([]kmsg.ListOffsetsResponseTopic, len(req.Topics))
	seen := map[storage.TopicPartition]int{}
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			seen[storage.TopicPartition{Topic: req.Topics[i].Topic, Partition: req.Topics[i].Partitions[j].Partition}]++
		}
	}
	for i := range req.Topics {
		t := &req.Topics[i]
		out := &resp.Topics[i]
		out.Default()
		out.Topic = t.Topic
		out.Partitions = make([]kmsg.ListOffsetsResponseTopicPartition, len(t.Partitions))
		for j := range t.Partitions {
			in, a := &t.Partitions[j], &out.Partitions[j]
			a.Default()
			a.Partition, a.Timestamp, a.Offset, a.LeaderEpoch = in.Partition, -1, -1, -1
			if seen[storage.TopicPartition{Topic: t.Topic, Partition: in.Partition}] > 1 {
				a.ErrorCode = int16(replica.InvalidRequest)
				continue
			}
			n.listOffset(req, t.Topic, in, a)
		}
	}
	if !n.stopped {
		n.reply(token, resp)
	}
}

func (n *Node) listOffset(
	req *kmsg.ListOffsetsRequest, topic string, in *kmsg.ListOffsetsRequestTopicPartition, out *kmsg.ListOffsetsResponseTopicPartition,
) {
	p, code := n.byName(topic, in.Partition)
	if code != replica.None {
		out.ErrorCode = int16(code)
		return
	}
	a := p.replica.ListOffsets(replica.ListOffsets{
		Version: req.Version, ReplicaID: req.ReplicaID, LeaderEpoch: replica.Epoch(in.CurrentLeaderEpoch),
		ReadCommitted: req.IsolationLevel == 1, Timestamp: in.Timestamp,
	})
	if a.Search {
		found, ok, err := n.search(p, in.Timestamp)
		if err != nil {
			out.ErrorCode = int16(n.readCode(p, err))
			return
		}
		a = a.Found(found.Offset, found.LeaderEpoch, ok)
		if a.Offset == found.Offset && ok {
			out.Timestamp = found.TimestampMs
		}
	}
	out.ErrorCode, out.Offset, out.LeaderEpoch = int16(a.Err), int64(a.Offset), int32(a.LeaderEpoch)
}

func (n *Node) search(p *partition, timestamp int64) (storage.TimestampOffset, bool, error) {
	if timestamp == replica.MaxTimestamp {
		return p.log.MaxTimestamp(n.validator.Inflater())
	}
	found, ok, err := p.log.OffsetForTimestamp(timestamp, n.validator.Inflater())
	if start, _, end := p.replica.Bounds(); ok && err == nil && found.Offset < start {
		// The log's start has moved and the disk has yet to hear of it.
		return n.walk(p, start, end, timestamp)
	}
	return found, ok, err
}

// walkBytes is how much of a log is read at a time where no index helps.
const walkBytes = 1 << 20

// walk looks at all records from an offset on.
func (n *Node) walk(p *partition, from, end replica.Offset, timestamp int64) (none storage.TimestampOffset, ok bool, err error) {
	var buf []byte
	for {
		buf, err = p.log.Read(buf[:0], storage.Fetch{From: from, UpTo: end, MaxBytes: walkBytes, MinOne: true})
		if err != nil || len(buf) == 0 {
			return none, false, err
		}
		for s := record.Scan(buf); s.Next(); {
			b := s.Batch()
			records, err := b.Records(n.validator.Inflater())
			if err != nil {
				return none, false, fmt.Errorf("%w: %s: batch at offset %d: %w", storage.ErrCorrupt, p.name, b.BaseOffset(), err)
			}
			for records.Next() {
				r := records.Record()
				if r.TimestampMs >= timestamp && replica.Offset(r.Offset) >= from {
					return storage.TimestampOffset{
						TimestampMs: r.TimestampMs, Offset: replica.Offset(r.Offset), LeaderEpoch: replica.Epoch(b.LeaderEpoch()),
					}, true, nil
				}
			}
			if records.Err() != nil {
				return none, false, fmt.Errorf("%w: %s: batch at offset %d: %w", storage.ErrCorrupt, p.name, b.BaseOffset(), records.Err())
			}
			from = replica.Offset(b.NextOffset())
		}
	}
}

// offsetForLeaderEpoch says where leader epochs end
// (KafkaApis.handleOffsetForLeaderEpochRequest).
func (n *Node) offsetForLeaderEpoch(token machine.Token, req *kmsg.OffsetForLeaderEpochRequest) {
	resp := req.ResponseKind().(*kmsg.OffsetForLeaderEpochResponse)
	resp.Topics = make([]kmsg.OffsetForLeaderEpochResponseTopic, len(req.Topics))
	for i := range req.Topics {
		t := &req.Topics[i]
		out := &resp.Topics[i]
		out.Default()
		out.Topic = t.Topic
		out.Partitions = make([]kmsg.OffsetForLeaderEpochResponseTopicPartition, len(t.Partitions))
		for j := range t.Partitions {
			in, a := &t.Partitions[j], &out.Partitions[j]
			a.Default()
			a.Partition, a.LeaderEpoch, a.EndOffset = in.Partition, -1, -1
			p, code := n.byName(t.Topic, in.Partition)
			if code != replica.None {
				a.ErrorCode = int16(code)
				continue
			}
			end, code := p.replica.OffsetForLeaderEpoch(replica.Epoch(in.CurrentLeaderEpoch), replica.Epoch(in.LeaderEpoch))
			a.ErrorCode = int16(code)
			if code == replica.None {
				a.LeaderEpoch, a.EndOffset = int32(end.Epoch), int64(end.End)
			}
		}
	}
	n.reply(token, resp)
}
