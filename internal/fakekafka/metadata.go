package fakekafka

import "github.com/twmb/franz-go/pkg/kmsg"

func (v *view) metadata(req *kmsg.MetadataRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.MetadataResponse)
	resp.ClusterID = &v.model.ClusterID
	resp.ControllerID = v.controllerID()
	resp.Brokers = []kmsg.MetadataResponseBroker{}
	for _, b := range v.index.live {
		rb := kmsg.NewMetadataResponseBroker()
		rb.NodeID, rb.Rack = b.ID, b.rack()
		rb.Host, rb.Port = b.address()
		resp.Brokers = append(resp.Brokers, rb)
	}
	resp.Topics = []kmsg.MetadataResponseTopic{}
	if asksAll(req) {
		for _, t := range v.model.Topics {
			if !v.hidden(kmsg.Metadata, t) {
				resp.Topics = append(resp.Topics, v.metadataTopic(req.Version, t))
			}
		}
		return resp
	}
	for _, rt := range req.Topics {
		resp.Topics = append(resp.Topics, v.metadataNamed(req.Version, rt))
	}
	return resp
}

// asksAll says whether the request wants every topic: null means that, and in
// version 0, which had no null, an empty list does.
func asksAll(req *kmsg.MetadataRequest) bool {
	return req.Topics == nil || req.Version == 0 && len(req.Topics) == 0
}

// metadataNamed answers for a topic that was asked for by name or by id.
func (v *view) metadataNamed(version int16, rt kmsg.MetadataRequestTopic) kmsg.MetadataResponseTopic {
	missing := kmsg.NewMetadataResponseTopic()
	missing.Topic, missing.Partitions = rt.Topic, []kmsg.MetadataResponseTopicPartition{}
	if rt.Topic == nil {
		t := v.index.ids[rt.TopicID]
		if t == nil || v.hidden(kmsg.Metadata, t) {
			// A hidden topic must look like no topic at all, where the client did
			// not know its name.
			missing.TopicID, missing.ErrorCode = rt.TopicID, unknownTopicID
			return missing
		}
		return v.metadataTopic(version, t)
	}
	t := v.index.topics[*rt.Topic]
	switch {
	case v.hidden(kmsg.Metadata, t):
		missing.ErrorCode = topicAuthorizationFailed
	case !validTopicName(*rt.Topic):
		missing.ErrorCode = invalidTopic
	case t == nil:
		missing.ErrorCode = unknownTopicOrPartition
	default:
		return v.metadataTopic(version, t)
	}
	return missing
}

func (v *view) metadataTopic(version int16, t *Topic) kmsg.MetadataResponseTopic {
	rt := kmsg.NewMetadataResponseTopic()
	rt.Topic, rt.TopicID, rt.IsInternal = &t.Name, t.ID, t.Internal
	rt.Partitions = make([]kmsg.MetadataResponseTopicPartition, len(t.Partitions))
	for i, p := range t.Partitions {
		rp := &rt.Partitions[i]
		rp.Default()
		rp.Partition = int32(i)
		rp.Leader, rp.LeaderEpoch = v.leader(p), p.LeaderEpoch
		rp.Replicas, rp.ISR, rp.OfflineReplicas = list(p.Replicas), list(p.ISR), v.offline(p)
		if rp.Leader == NoLeader {
			rp.ErrorCode = leaderNotAvailable
		}
		if version == 0 {
			v.dropUnavailable(rp)
		}
	}
	return rt
}

// dropUnavailable leaves unregistered brokers out of the lists, as Kafka does for
// version 0 only: those clients look every id up in the list of brokers.
func (v *view) dropUnavailable(rp *kmsg.MetadataResponseTopicPartition) {
	known := func(ids []int32) []int32 {
		kept := []int32{}
		for _, id := range ids {
			if v.index.brokers[id] != nil {
				kept = append(kept, id)
			}
		}
		return kept
	}
	replicas, isr := known(rp.Replicas), known(rp.ISR)
	if rp.ErrorCode == none && (len(replicas) < len(rp.Replicas) || len(isr) < len(rp.ISR)) {
		rp.ErrorCode = replicaNotAvailable
	}
	rp.Replicas, rp.ISR = replicas, isr
}
