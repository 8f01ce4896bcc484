package quorum

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

func (c *call) electLeaders(req *kmsg.ElectLeadersRequest) kmsg.Response {
	r := controller.ElectLeaders{Type: controller.ElectionType(req.ElectionType)}
	if req.Version == 0 {
		r.Type = controller.PreferredElection
	}
	if req.Topics != nil {
		r.Partitions = []controller.TopicPartition{}
	}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			r.Partitions = append(r.Partitions, controller.TopicPartition{Topic: t.Topic, Partition: p})
		}
	}
	reply := handle(c, r)
	resp := req.ResponseKind().(*kmsg.ElectLeadersResponse)
	resp.ErrorCode, resp.Topics = codeOf(reply.Err), []kmsg.ElectLeadersResponseTopic{}
	if reply.Err != nil {
		for _, p := range r.Partitions {
			reply.Partitions = append(reply.Partitions, controller.PartitionResult{Topic: p.Topic, Partition: p.Partition, Err: reply.Err})
		}
	}
	place := map[string]int{}
	if req.Topics == nil && reply.Err == nil {
		// All are named, whatever there was to do.
		for name := range c.n.c.Image().Topics() {
			t := kmsg.NewElectLeadersResponseTopic()
			t.Topic, place[name] = name, len(resp.Topics)
			resp.Topics = append(resp.Topics, t)
		}
	}
	for _, result := range reply.Partitions {
		i, ok := place[result.Topic]
		if !ok {
			i = len(resp.Topics)
			place[result.Topic] = i
			t := kmsg.NewElectLeadersResponseTopic()
			t.Topic = result.Topic
			resp.Topics = append(resp.Topics, t)
		}
		p := kmsg.NewElectLeadersResponseTopicPartition()
		p.Partition, p.ErrorCode, p.ErrorMessage = result.Partition, codeOf(result.Err), messageOf(result.Err)
		resp.Topics[i].Partitions = append(resp.Topics[i].Partitions, p)
	}
	return resp
}

func (c *call) alterAssignments(req *kmsg.AlterPartitionAssignmentsRequest) kmsg.Response {
	r := controller.AlterPartitionReassignments{AllowReplicationFactorChange: req.AllowReplicationFactorChange || req.Version == 0}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			r.Partitions = append(r.Partitions, controller.Reassignment{Topic: t.Topic, Partition: p.Partition, Replicas: p.Replicas})
		}
	}
	results := handle(c, r).Partitions
	resp := req.ResponseKind().(*kmsg.AlterPartitionAssignmentsResponse)
	resp.AllowReplicationFactorChange = r.AllowReplicationFactorChange
	resp.Topics = make([]kmsg.AlterPartitionAssignmentsResponseTopic, 0, len(req.Topics))
	if len(req.Topics) == 0 {
		resp.ErrorMessage = kmsg.StringPtr("")
	}
	for _, t := range req.Topics {
		topic := kmsg.NewAlterPartitionAssignmentsResponseTopic()
		topic.Topic = t.Topic
		topic.Partitions = make([]kmsg.AlterPartitionAssignmentsResponseTopicPartition, 0, len(t.Partitions))
		for _, p := range t.Partitions {
			one := kmsg.NewAlterPartitionAssignmentsResponseTopicPartition()
			one.Partition, one.ErrorCode, one.ErrorMessage = p.Partition, codeOf(results[0].Err), messageOf(results[0].Err)
			topic.Partitions, results = append(topic.Partitions, one), results[1:]
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

// listReassignments decides nothing, but waits as if it did: what it tells is
// durable.
func (c *call) listReassignments(req *kmsg.ListPartitionReassignmentsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	resp.Topics = []kmsg.ListPartitionReassignmentsResponseTopic{}
	image := c.n.c.Image()
	if req.Topics == nil {
		for _, t := range image.Topics() {
			var ids []int32
			for id := range t.Partitions() {
				ids = append(ids, id)
			}
			resp.Topics = appendMoves(resp.Topics, t, ids)
		}
	}
	for _, asked := range req.Topics {
		if t, ok := image.Topic(asked.Topic); ok {
			resp.Topics = appendMoves(resp.Topics, t, asked.Partitions)
		}
	}
	return resp
}

// appendMoves adds a topic if any of its partitions is being moved.
func appendMoves(all []kmsg.ListPartitionReassignmentsResponseTopic, t *metadata.Topic, ids []int32) []kmsg.ListPartitionReassignmentsResponseTopic {
	topic := kmsg.NewListPartitionReassignmentsResponseTopic()
	topic.Topic = t.Name
	for _, id := range ids {
		p, ok := t.Partition(id)
		if !ok || len(p.AddingReplicas)+len(p.RemovingReplicas) == 0 {
			continue
		}
		one := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
		one.Partition = id
		one.Replicas = append([]int32{}, p.Replicas...)
		one.AddingReplicas = append([]int32{}, p.AddingReplicas...)
		one.RemovingReplicas = append([]int32{}, p.RemovingReplicas...)
		topic.Partitions = append(topic.Partitions, one)
	}
	if len(topic.Partitions) == 0 {
		return all
	}
	return append(all, topic)
}
