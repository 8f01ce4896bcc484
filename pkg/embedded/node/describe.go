package node

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// metadata answers from the image (KRaftMetadataCache), and has topics made that it
// does not know, if it may.
func (n *Node) metadata(token machine.Token, req *kmsg.MetadataRequest) {
	im := n.follow.image
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	resp.Brokers, resp.Topics = []kmsg.MetadataResponseBroker{}, []kmsg.MetadataResponseTopic{}
	if req.Version < 12 && slices.ContainsFunc(req.Topics, func(t kmsg.MetadataRequestTopic) bool { return t.Topic == nil }) {
		// Versions 10 and 11 have a place for an id, and are not answered by it (KAFKA-12701).
		for i := range req.Topics {
			req.Topics[i].Topic = kmsg.StringPtr("")
			resp.Topics = append(resp.Topics, noTopic(&req.Topics[i], replica.InvalidRequest))
		}
		n.reply(token, resp)
		return
	}
	resp.ClusterID = kmsg.StringPtr(n.opts.ClusterID)
	for id := range im.Brokers() {
		e, rack, ok := n.endpoint(id)
		if !ok {
			continue
		}
		b := kmsg.NewMetadataResponseBroker()
		b.NodeID, b.Host, b.Port, b.Rack = id, e.Host, int32(e.Port), rack
		resp.Brokers = append(resp.Brokers, b)
	}
	resp.ControllerID = n.anyBroker()
	if req.Topics == nil || req.Version == 0 && len(req.Topics) == 0 {
		for _, t := range im.Topics() {
			resp.Topics = append(resp.Topics, n.describeTopic(req.Version, t))
		}
	} else {
		resp.Topics = n.describeAsked(req)
	}
	if req.IncludeTopicAuthorizedOperations {
		for i := range resp.Topics {
			resp.Topics[i].AuthorizedOperations = topicOperations
		}
	}
	if req.IncludeClusterAuthorizedOperations {
		resp.AuthorizedOperations = clusterOperations
	}
	n.reply(token, resp)
}

// describeAsked answers for each topic once. Where one is named by an id, names are not
// looked at.
func (n *Node) describeAsked(req *kmsg.MetadataRequest) []kmsg.MetadataResponseTopic {
	all := []kmsg.MetadataResponseTopic{}
	im, none := n.follow.image, [16]byte{}
	byID := slices.ContainsFunc(req.Topics, func(t kmsg.MetadataRequestTopic) bool { return t.TopicID != none })
	var unknown []string
	for i := range req.Topics {
		asked := &req.Topics[i]
		if slices.ContainsFunc(req.Topics[:i], func(t kmsg.MetadataRequestTopic) bool { return sameTopic(byID, &t, asked) }) {
			continue
		}
		switch {
		case byID && asked.TopicID == none:
		case byID:
			if t, ok := im.TopicByID(asked.TopicID); ok {
				all = append(all, n.describeTopic(req.Version, t))
			} else {
				all = append(all, noTopic(&kmsg.MetadataRequestTopic{TopicID: asked.TopicID}, replica.UnknownTopicID))
			}
		case asked.Topic == nil:
			all = append(all, noTopic(asked, invalidTopic))
		default:
			if t, ok := im.Topic(*asked.Topic); ok {
				all = append(all, n.describeTopic(req.Version, t))
				continue
			}
			code := replica.UnknownTopicOrPartition
			if metadata.CheckTopicName(*asked.Topic) != nil {
				code = invalidTopic
			} else {
				unknown = append(unknown, *asked.Topic)
			}
			all = append(all, noTopic(asked, code))
		}
	}
	if req.AllowAutoTopicCreation || req.Version < 4 {
		n.autoCreate(unknown)
	}
	return all
}

func sameTopic(byID bool, a, b *kmsg.MetadataRequestTopic) bool {
	if byID {
		return a.TopicID == b.TopicID
	}
	return a.Topic != nil && b.Topic != nil && *a.Topic == *b.Topic
}

func noTopic(asked *kmsg.MetadataRequestTopic, code replica.Code) kmsg.MetadataResponseTopic {
	out := kmsg.NewMetadataResponseTopic()
	out.ErrorCode, out.Topic, out.TopicID = int16(code), asked.Topic, asked.TopicID
	out.IsInternal = asked.Topic != nil && metadata.InternalTopic(*asked.Topic)
	out.Partitions = []kmsg.MetadataResponseTopicPartition{}
	return out
}

func (n *Node) describeTopic(version int16, t *metadata.Topic) kmsg.MetadataResponseTopic {
	out := kmsg.NewMetadataResponseTopic()
	out.Topic, out.TopicID = kmsg.StringPtr(t.Name), t.ID
	out.IsInternal = metadata.InternalTopic(t.Name)
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
	out.Replicas, out.ISR = append([]int32{}, part.Replicas...), append([]int32{}, part.ISR...)
	out.OfflineReplicas = n.offline(part)
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

// offline are the replicas that are on no disk which is there.
func (n *Node) offline(part *kraft.Partition) []int32 {
	ids := []int32{}
	for i, id := range part.Replicas {
		if _, _, alive := n.endpoint(id); !alive || part.Directories[i] == kraft.LostDirectory {
			ids = append(ids, id)
		}
	}
	return ids
}

// anyBroker is what clients are told is the controller: any broker that is alive will
// do, as what is for the controller is sent on to it. −1 where none is.
func (n *Node) anyBroker() int32 {
	var alive []int32
	for id := range n.follow.image.Brokers() {
		if _, _, ok := n.endpoint(id); ok {
			alive = append(alive, id)
		}
	}
	if len(alive) == 0 {
		return -1
	}
	return alive[n.opts.Rand.IntN(len(alive))]
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
