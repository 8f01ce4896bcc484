package fakekafka

import (
	"cmp"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Producer is what a partition's replicas have of one.
type Producer struct {
	ID              int64
	Epoch           int32
	LastTimestampMs int64
	// TxnStart is where its open transaction begins; −1 without one.
	TxnStart int64
}

// describeProducers answers from the local log, on any replica.
func (v *view) describeProducers(req *kmsg.DescribeProducersRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeProducersResponse)
	resp.Topics = []kmsg.DescribeProducersResponseTopic{}
	for _, asked := range req.Topics {
		rt := kmsg.NewDescribeProducersResponseTopic()
		rt.Topic, rt.Partitions = asked.Topic, []kmsg.DescribeProducersResponseTopicPartition{}
		for _, i := range asked.Partitions {
			rp := kmsg.NewDescribeProducersResponseTopicPartition()
			rp.Partition = i
			rp.ActiveProducers = []kmsg.DescribeProducersResponseTopicPartitionActiveProducer{}
			p := v.index.partition(asked.Topic, i)
			switch {
			case v.hidden(kmsg.DescribeProducers, v.index.topics[asked.Topic]):
				rp.ErrorCode, rp.ErrorMessage = topicAuthorizationFailed, new("Topic authorization failed.")
			case p == nil:
				rp.ErrorCode, rp.ErrorMessage = unknownTopicOrPartition, new("This server does not host this topic-partition.")
			case !slices.Contains(p.Replicas, v.self.ID):
				rp.ErrorCode, rp.ErrorMessage = notLeaderOrFollower, new("For requests intended only for the leader, this error indicates that the broker is not the current leader.")
			default:
				rp.ActiveProducers = activeProducers(p)
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

func activeProducers(p *Partition) []kmsg.DescribeProducersResponseTopicPartitionActiveProducer {
	out := make([]kmsg.DescribeProducersResponseTopicPartitionActiveProducer, 0, len(p.Producers))
	for _, m := range p.Producers {
		a := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
		a.ProducerID, a.ProducerEpoch, a.LastTimestamp, a.CurrentTxnStartOffset = m.ID, m.Epoch, m.LastTimestampMs, m.TxnStart
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b kmsg.DescribeProducersResponseTopicPartitionActiveProducer) int {
		return cmp.Compare(a.ProducerID, b.ProducerID)
	})
	return out
}
