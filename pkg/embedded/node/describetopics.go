package node

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// describeTopicPartitions answers in pieces, in the order of names
// (DescribeTopicPartitionsRequestHandler, KIP-966). A piece ends where it has as many
// partitions as it may, and says where the next one begins.
func (n *Node) describeTopicPartitions(token machine.Token, req *kmsg.DescribeTopicPartitionsRequest) {
	resp := req.ResponseKind().(*kmsg.DescribeTopicPartitionsResponse)
	resp.Topics = []kmsg.DescribeTopicPartitionsResponseTopic{}
	defer n.reply(token, resp)
	names, code := n.topicsFrom(req)
	if code != replica.None {
		for _, t := range req.Topics {
			resp.Topics = append(resp.Topics, noPartitions(t.Topic, code))
		}
		return
	}
	left := max(1, min(req.ResponsePartitionLimit, n.cfg.partitionLimit))
	for _, name := range names {
		first := int32(0)
		if req.Cursor != nil && req.Cursor.Topic == name {
			first = req.Cursor.Partition
		}
		if left == 0 {
			resp.NextCursor = &kmsg.DescribeTopicPartitionsResponseNextCursor{Topic: name, Partition: first}
			return
		}
		t, ok := n.follow.image.Topic(name)
		if !ok {
			unknown := noPartitions(name, replica.UnknownTopicOrPartition)
			if metadata.CheckTopicName(name) != nil {
				unknown.ErrorCode = int16(invalidTopic)
			}
			unknown.AuthorizedOperations = topicOperations
			resp.Topics = append(resp.Topics, unknown)
			continue
		}
		out := noPartitions(name, replica.None)
		out.TopicID, out.AuthorizedOperations = t.ID, topicOperations
		for index, part := range t.Partitions() {
			if index < first {
				continue
			}
			if left == 0 {
				resp.NextCursor = &kmsg.DescribeTopicPartitionsResponseNextCursor{Topic: name, Partition: index}
				break
			}
			out.Partitions = append(out.Partitions, n.describeELR(part))
			left--
		}
		resp.Topics = append(resp.Topics, out)
		if resp.NextCursor != nil {
			return
		}
	}
}

// topicsFrom are the names that are asked for and not before the cursor, sorted, or what
// all are answered with.
func (n *Node) topicsFrom(req *kmsg.DescribeTopicPartitionsRequest) (names []string, code replica.Code) {
	for _, t := range req.Topics {
		if t.Topic == "" {
			return nil, unknownServerError // no resource has such a name, and nothing expects one
		}
		names = append(names, t.Topic)
	}
	if len(req.Topics) == 0 {
		for name := range n.follow.image.Topics() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if req.Cursor == nil {
		return names, replica.None
	}
	if req.Cursor.Partition < 0 || len(req.Topics) > 0 && !slices.Contains(names, req.Cursor.Topic) {
		return nil, replica.InvalidRequest
	}
	return slices.DeleteFunc(names, func(name string) bool { return name < req.Cursor.Topic }), replica.None
}

func noPartitions(name string, code replica.Code) kmsg.DescribeTopicPartitionsResponseTopic {
	out := kmsg.NewDescribeTopicPartitionsResponseTopic()
	out.Topic, out.ErrorCode, out.IsInternal = kmsg.StringPtr(name), int16(code), metadata.InternalTopic(name)
	out.Partitions = []kmsg.DescribeTopicPartitionsResponseTopicPartition{}
	return out
}

// describeELR describes a partition with those who may lead it though they are out of
// the ISR. Kafka's tools fall over a null here.
func (n *Node) describeELR(part *kraft.Partition) kmsg.DescribeTopicPartitionsResponseTopicPartition {
	out := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
	out.Partition, out.LeaderID, out.LeaderEpoch = part.PartitionID, part.Leader, part.LeaderEpoch
	out.Replicas, out.ISR, out.OfflineReplicas = append([]int32{}, part.Replicas...), append([]int32{}, part.ISR...), n.offline(part)
	out.EligibleLeaderReplicas = append([]int32{}, part.EligibleLeaderReplicas...)
	out.LastKnownELR = append([]int32{}, part.LastKnownELR...)
	if _, _, alive := n.endpoint(part.Leader); !alive {
		out.ErrorCode, out.LeaderID = int16(replica.LeaderNotAvailable), -1
	}
	return out
}
