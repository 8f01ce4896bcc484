package fakekafka

import "github.com/twmb/franz-go/pkg/kmsg"

// listPartitionReassignments answers with the partitions asked for that are being
// reassigned; null asks for all. The others, and unknown ones, are left out.
func (v *view) listPartitionReassignments(req *kmsg.ListPartitionReassignmentsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	resp.Topics = []kmsg.ListPartitionReassignmentsResponseTopic{}
	if v.denied(kmsg.ListPartitionReassignments) {
		resp.ErrorCode, resp.ErrorMessage = clusterAuthorization, new("Cluster authorization failed.")
		return resp
	}
	add := func(topic string, partitions []kmsg.ListPartitionReassignmentsResponseTopicPartition) {
		if len(partitions) == 0 {
			return
		}
		rt := kmsg.NewListPartitionReassignmentsResponseTopic()
		rt.Topic, rt.Partitions = topic, partitions
		resp.Topics = append(resp.Topics, rt)
	}
	if req.Topics == nil {
		for _, t := range v.model.Topics {
			var found []kmsg.ListPartitionReassignmentsResponseTopicPartition
			for i, p := range t.Partitions {
				found = appendReassignment(found, int32(i), p)
			}
			add(t.Name, found)
		}
		return resp
	}
	for _, rt := range req.Topics {
		var found []kmsg.ListPartitionReassignmentsResponseTopicPartition
		for _, i := range rt.Partitions {
			if p := v.index.partition(rt.Topic, i); p != nil {
				found = appendReassignment(found, i, p)
			}
		}
		add(rt.Topic, found)
	}
	return resp
}

func appendReassignment(
	to []kmsg.ListPartitionReassignmentsResponseTopicPartition, partition int32, p *Partition,
) []kmsg.ListPartitionReassignmentsResponseTopicPartition {
	if len(p.Adding) == 0 && len(p.Removing) == 0 {
		return to
	}
	rp := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
	rp.Partition, rp.Replicas = partition, list(p.Replicas)
	rp.AddingReplicas, rp.RemovingReplicas = list(p.Adding), list(p.Removing)
	return append(to, rp)
}
