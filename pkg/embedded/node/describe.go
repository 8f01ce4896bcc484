package node

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

const (
	replicaNotAvailable replica.Code = 9
	invalidTopic        replica.Code = 17
)

// metadata answers from the image (KRaftMetadataCache). Topics are not made by
// asking: auto.create.topics.enable is off here.
func (n *Node) metadata(token machine.Token, req *kmsg.MetadataRequest) {
	im := n.follow.image
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	resp.ClusterID = kmsg.StringPtr(n.opts.ClusterID)
	resp.Brokers, resp.Topics = []kmsg.MetadataResponseBroker{}, []kmsg.MetadataResponseTopic{}
	for id := range im.Brokers() {
		e, rack, ok := n.endpoint(id)
		if !ok {
			continue
		}
		b := kmsg.NewMetadataResponseBroker()
		b.NodeID, b.Host, b.Port, b.Rack = id, e.Host, int32(e.Port), rack
		resp.Brokers = append(resp.Brokers, b)
	}
	// Any broker will do: what is for the controller is sent on to it.
	resp.ControllerID = -1
	if len(resp.Brokers) > 0 {
		resp.ControllerID = resp.Brokers[n.opts.Rand.IntN(len(resp.Brokers))].NodeID
	}
	if req.Topics == nil || req.Version == 0 && len(req.Topics) == 0 {
		for _, t := range im.Topics() {
			resp.Topics = append(resp.Topics, n.describeTopic(req.Version, t))
		}
	}
	for i := range req.Topics {
		resp.Topics = append(resp.Topics, n.describeAsked(im, req.Version, &req.Topics[i]))
	}
	n.reply(token, resp)
}

func (n *Node) describeAsked(im metadata.Image, version int16, asked *kmsg.MetadataRequestTopic) kmsg.MetadataResponseTopic {
	if asked.Topic != nil {
		if t, ok := im.Topic(*asked.Topic); ok {
			return n.describeTopic(version, t)
		}
		return noTopic(asked, replica.UnknownTopicOrPartition)
	}
	if t, ok := im.TopicByID(asked.TopicID); ok {
		return n.describeTopic(version, t)
	}
	if asked.TopicID == (kraft.UUID{}) {
		return noTopic(asked, invalidTopic)
	}
	return noTopic(asked, replica.UnknownTopicID)
}

func noTopic(asked *kmsg.MetadataRequestTopic, code replica.Code) kmsg.MetadataResponseTopic {
	out := kmsg.NewMetadataResponseTopic()
	out.ErrorCode, out.Topic, out.TopicID = int16(code), asked.Topic, asked.TopicID
	out.Partitions = []kmsg.MetadataResponseTopicPartition{}
	return out
}

func (n *Node) describeTopic(version int16, t *metadata.Topic) kmsg.MetadataResponseTopic {
	out := kmsg.NewMetadataResponseTopic()
	out.Topic, out.TopicID = kmsg.StringPtr(t.Name), t.ID
	out.IsInternal = t.Name == "__consumer_offsets" || t.Name == "__transaction_state"
	out.Partitions = make([]kmsg.MetadataResponseTopicPartition, 0, t.Len())
	for _, part := range t.Partitions() {
		out.Partitions = append(out.Partitions, n.describePartition(version, part))
	}
	return out
}

// describePartition is KRaftMetadataCache.getPartitionMetadata. Version 0 leaves
// out brokers that are down, and says so; later ones list them as offline.
func (n *Node) describePartition(version int16, part *kraft.Partition) kmsg.MetadataResponseTopicPartition {
	out := kmsg.NewMetadataResponseTopicPartition()
	out.Partition, out.Leader, out.LeaderEpoch = part.PartitionID, part.Leader, part.LeaderEpoch
	out.Replicas, out.ISR, out.OfflineReplicas = append([]int32{}, part.Replicas...), append([]int32{}, part.ISR...), []int32{}
	for i, id := range part.Replicas {
		if _, _, alive := n.endpoint(id); !alive || part.Directories[i] == kraft.LostDirectory {
			out.OfflineReplicas = append(out.OfflineReplicas, id)
		}
	}
	if version == 0 && len(out.OfflineReplicas) > 0 {
		down := func(id int32) bool { return slices.Contains(out.OfflineReplicas, id) }
		out.Replicas, out.ISR = slices.DeleteFunc(out.Replicas, down), slices.DeleteFunc(out.ISR, down)
		out.ErrorCode = int16(replicaNotAvailable)
	}
	if _, _, alive := n.endpoint(part.Leader); !alive {
		out.ErrorCode, out.Leader = int16(replica.LeaderNotAvailable), -1
	}
	return out
}

// listReassignments answers from the image
// (ReplicationControlManager.listPartitionReassignments).
func (n *Node) listReassignments(token machine.Token, req *kmsg.ListPartitionReassignmentsRequest) {
	resp := req.ResponseKind().(*kmsg.ListPartitionReassignmentsResponse)
	resp.Topics = []kmsg.ListPartitionReassignmentsResponseTopic{}
	im := n.follow.image
	add := func(t *metadata.Topic, wanted func(index int32) bool) {
		out := kmsg.NewListPartitionReassignmentsResponseTopic()
		out.Topic = t.Name
		for index, part := range t.Partitions() {
			if !wanted(index) || len(part.AddingReplicas)+len(part.RemovingReplicas) == 0 {
				continue
			}
			p := kmsg.NewListPartitionReassignmentsResponseTopicPartition()
			p.Partition, p.Replicas = index, append([]int32{}, part.Replicas...)
			p.AddingReplicas, p.RemovingReplicas = append([]int32{}, part.AddingReplicas...), append([]int32{}, part.RemovingReplicas...)
			out.Partitions = append(out.Partitions, p)
		}
		if len(out.Partitions) > 0 {
			resp.Topics = append(resp.Topics, out)
		}
	}
	if req.Topics == nil {
		for _, t := range im.Topics() {
			add(t, func(int32) bool { return true })
		}
	}
	for i := range req.Topics {
		if t, ok := im.Topic(req.Topics[i].Topic); ok {
			add(t, func(index int32) bool { return slices.Contains(req.Topics[i].Partitions, index) })
		}
	}
	n.reply(token, resp)
}
