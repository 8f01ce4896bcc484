package node

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
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
			out.ErrorCode = int16(n.readCode(err))
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
	return p.log.OffsetForTimestamp(timestamp, n.validator.Inflater())
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
