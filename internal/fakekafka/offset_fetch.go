package fakekafka

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The versions of OffsetFetch that changed its form: many groups in one request,
// and topics by id (KIP-848).
const (
	versionWithGroups   = 8
	versionWithTopicIDs = 10
)

// noCommit is the offset of a partition that nothing was committed for.
const noCommit int64 = -1

// offsetFetch answers for one group, or for many from version 8 on.
func (v *view) offsetFetch(req *kmsg.OffsetFetchRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	resp.Topics = []kmsg.OffsetFetchResponseTopic{}
	resp.Groups = []kmsg.OffsetFetchResponseGroup{}
	if req.Version >= versionWithGroups {
		for i := range req.Groups {
			resp.Groups = append(resp.Groups, v.fetchGroup(req.Version, &req.Groups[i]))
		}
		return resp
	}
	one := kmsg.NewOffsetFetchRequestGroup()
	one.Group = req.Group
	if req.Topics != nil {
		one.Topics = []kmsg.OffsetFetchRequestGroupTopic{}
	}
	for _, rt := range req.Topics {
		topic := kmsg.NewOffsetFetchRequestGroupTopic()
		topic.Topic, topic.Partitions = rt.Topic, rt.Partitions
		one.Topics = append(one.Topics, topic)
	}
	answer := v.fetchGroup(req.Version, &one)
	resp.ErrorCode = answer.ErrorCode
	for i := range answer.Topics {
		topic := kmsg.NewOffsetFetchResponseTopic()
		topic.Topic, topic.Partitions = answer.Topics[i].Topic, []kmsg.OffsetFetchResponseTopicPartition{}
		for _, p := range answer.Topics[i].Partitions {
			rp := kmsg.NewOffsetFetchResponseTopicPartition()
			rp.Partition, rp.Offset, rp.Metadata, rp.ErrorCode = p.Partition, p.Offset, p.Metadata, p.ErrorCode
			topic.Partitions = append(topic.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	return resp
}

// fetchGroup answers for one group. A group that does not exist has committed
// nothing, which is no error; neither is a share group's lack of commits.
func (v *view) fetchGroup(version int16, req *kmsg.OffsetFetchRequestGroup) kmsg.OffsetFetchResponseGroup {
	resp := kmsg.NewOffsetFetchResponseGroup()
	resp.Group, resp.Topics = req.Group, []kmsg.OffsetFetchResponseGroupTopic{}
	g, code := v.group(kmsg.OffsetFetch, req.Group)
	if code == none && g != nil && req.MemberID != nil && !g.has(*req.MemberID) {
		code = unknownMemberID
	}
	if code != none {
		resp.ErrorCode = code
		return resp
	}
	if g == nil {
		g = &Group{}
	}
	if req.Topics == nil {
		for _, topic := range slices.Sorted(maps.Keys(g.Commits)) {
			t := v.index.topics[topic]
			if v.hidden(kmsg.OffsetFetch, t) || t == nil && version >= versionWithTopicIDs {
				continue // what has no id cannot be told of
			}
			resp.Topics = append(resp.Topics, v.commits(g, topic, slices.Sorted(maps.Keys(g.Commits[topic]))))
		}
		return resp
	}
	for _, rt := range req.Topics {
		name := rt.Topic
		t := v.index.topics[name]
		if version >= versionWithTopicIDs {
			if t = v.index.ids[rt.TopicID]; t != nil {
				name = t.Name
			}
		}
		answer := v.commits(g, name, rt.Partitions)
		switch {
		case version >= versionWithTopicIDs && t == nil:
			answer.TopicID = rt.TopicID
			refuse(&answer, unknownTopicID)
		case v.hidden(kmsg.OffsetFetch, t):
			refuse(&answer, topicAuthorizationFailed)
		}
		resp.Topics = append(resp.Topics, answer)
	}
	return resp
}

// commits are the group's offsets of some partitions of a topic.
func (v *view) commits(g *Group, topic string, partitions []int32) kmsg.OffsetFetchResponseGroupTopic {
	resp := kmsg.NewOffsetFetchResponseGroupTopic()
	resp.Topic, resp.Partitions = topic, []kmsg.OffsetFetchResponseGroupTopicPartition{}
	if t := v.index.topics[topic]; t != nil {
		resp.TopicID = t.ID
	}
	for _, p := range partitions {
		rp := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		rp.Partition, rp.Offset, rp.Metadata = p, noCommit, new(string)
		if offset, ok := g.Commits[topic][p]; ok {
			rp.Offset = offset
		}
		resp.Partitions = append(resp.Partitions, rp)
	}
	return resp
}

func refuse(t *kmsg.OffsetFetchResponseGroupTopic, code int16) {
	for i := range t.Partitions {
		t.Partitions[i].Offset, t.Partitions[i].ErrorCode = noCommit, code
	}
}

func (g *Group) has(member string) bool {
	return slices.ContainsFunc(g.Members, func(m *Member) bool { return m.ID == member })
}
