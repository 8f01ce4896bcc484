package fakekafka

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerGroupDescribe tells of groups of the consumer protocol (KIP-848); any
// other is not found.
func (v *view) consumerGroupDescribe(req *kmsg.ConsumerGroupDescribeRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ConsumerGroupDescribeResponse)
	resp.Groups = []kmsg.ConsumerGroupDescribeResponseGroup{}
	for _, name := range req.Groups {
		rg := kmsg.NewConsumerGroupDescribeResponseGroup()
		rg.Group, rg.Members = name, []kmsg.ConsumerGroupDescribeResponseGroupMember{}
		g, code := v.group(kmsg.ConsumerGroupDescribe, name)
		switch {
		case code != none:
			rg.ErrorCode = code
		case g == nil || g.groupType() != ConsumerGroup:
			rg.ErrorCode = groupIDNotFound
			rg.ErrorMessage = optional("Group " + name + " is not a consumer group.")
		default:
			rg.State, rg.Epoch, rg.AssignmentEpoch, rg.AssignorName = g.state(), 1, 1, "uniform"
			for _, m := range g.Members {
				rg.Members = append(rg.Members, v.consumerMember(m))
			}
		}
		resp.Groups = append(resp.Groups, rg)
	}
	return resp
}

func (v *view) consumerMember(m *Member) kmsg.ConsumerGroupDescribeResponseGroupMember {
	rm := kmsg.NewConsumerGroupDescribeResponseGroupMember()
	rm.MemberID, rm.InstanceID, rm.MemberEpoch = m.ID, optional(m.InstanceID), 1
	rm.ClientID, rm.ClientHost, rm.MemberType = m.ClientID, m.Host, 1
	rm.SubscribedTopics = []string{}
	rm.Assignment.TopicPartitions = []kmsg.AssignmentTopicPartition{}
	for _, topic := range slices.Sorted(maps.Keys(m.Assigned)) {
		tp := kmsg.NewAssignmentTopicPartition()
		tp.Topic, tp.Partitions = topic, m.Assigned[topic]
		if t := v.index.topics[topic]; t != nil {
			tp.TopicID = t.ID
		}
		rm.SubscribedTopics = append(rm.SubscribedTopics, topic)
		rm.Assignment.TopicPartitions = append(rm.Assignment.TopicPartitions, tp)
	}
	rm.TargetAssignment = rm.Assignment
	return rm
}
