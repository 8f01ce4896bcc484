package node

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/group"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// coordinatorOf finds who coordinates a group, or the reason why nobody does here.
func (n *Node) coordinatorOf(id string) (*coordinator, group.Code) {
	t, ok := n.follow.image.Topic(offsetsTopic)
	if !ok || t.Len() == 0 {
		return nil, group.NotCoordinator
	}
	p := n.hosted[storage.TopicPartition{Topic: offsetsTopic, Partition: group.PartitionOf(id, int32(t.Len()))}]
	switch {
	case !p.live() || p.coordinator == nil || p.coordinator.broken:
		return nil, group.NotCoordinator
	case p.coordinator.lost || !p.coordinator.shard.Active():
		return nil, group.CoordinatorLoadInProgress
	}
	return p.coordinator, group.None
}

// groupOf is the group that a member's request is about.
func groupOf(req kmsg.Request) string {
	switch req := req.(type) {
	case *kmsg.JoinGroupRequest:
		return req.Group
	case *kmsg.SyncGroupRequest:
		return req.Group
	case *kmsg.HeartbeatRequest:
		return req.Group
	case *kmsg.LeaveGroupRequest:
		return req.Group
	}
	return ""
}

// askGroup hands a request about one group to its coordinator.
func (n *Node) askGroup(in machine.Request, id string) {
	c, code := n.coordinatorOf(id)
	if code != group.None {
		n.groupReply(in.Token, group.Refuse(in.Body, code))
		return
	}
	n.stepGroups(c, group.Request{Token: group.Token(in.Token), ClientID: in.ClientID, ClientHost: in.ClientHost, Body: in.Body})
}

// groupReply answers a request that may be one of which the coordinator had a part.
func (n *Node) groupReply(token machine.Token, resp kmsg.Response) {
	if f, ok := n.groups.after[group.Token(token)]; ok {
		delete(n.groups.after, group.Token(token))
		f(resp)
		return
	}
	n.reply(token, resp)
}

// commitOffsets is KafkaApis.handleOffsetCommitRequest: topics and partitions that
// there are not are refused here, the others are the coordinator's.
func (n *Node) commitOffsets(in machine.Request, req *kmsg.OffsetCommitRequest) {
	refused := req.ResponseKind().(*kmsg.OffsetCommitResponse)
	refused.Topics = []kmsg.OffsetCommitResponseTopic{}
	known := make([]kmsg.OffsetCommitRequestTopic, 0, len(req.Topics))
	for _, t := range req.Topics {
		topic, code := n.topicOf(req.Version >= 10, t.Topic, t.TopicID)
		here := t
		here.Partitions = nil
		if code == replica.None {
			here.Topic, here.TopicID = topic.Name, topic.ID
		}
		for _, p := range t.Partitions {
			switch {
			case code != replica.None:
				refuseCommit(refused, t, p.Partition, code)
			case !has(topic, p.Partition):
				refuseCommit(refused, t, p.Partition, replica.UnknownTopicOrPartition)
			default:
				here.Partitions = append(here.Partitions, p)
			}
		}
		if len(here.Partitions) > 0 {
			known = append(known, here)
		}
	}
	switch {
	case len(known) == 0:
		n.reply(in.Token, refused)
		return
	case len(refused.Topics) > 0:
		n.groups.after[group.Token(in.Token)] = func(resp kmsg.Response) {
			r := resp.(*kmsg.OffsetCommitResponse)
			for _, t := range refused.Topics {
				for _, p := range t.Partitions {
					refuseCommit(r, kmsg.OffsetCommitRequestTopic{Topic: t.Topic, TopicID: t.TopicID}, p.Partition, replica.Code(p.ErrorCode))
				}
			}
			n.reply(in.Token, r)
		}
	}
	req.Topics = known
	n.askGroup(in, req.Group)
}

// topicOf finds a topic by what the version names it by.
func (n *Node) topicOf(byID bool, name string, id kraft.UUID) (*metadata.Topic, replica.Code) {
	if byID {
		t, ok := n.follow.image.TopicByID(id)
		if !ok {
			return nil, replica.UnknownTopicID
		}
		return t, replica.None
	}
	t, ok := n.follow.image.Topic(name)
	if !ok {
		return nil, replica.UnknownTopicOrPartition
	}
	return t, replica.None
}

// refuseCommit adds a partition to an answer, beside others of its topic.
func refuseCommit(resp *kmsg.OffsetCommitResponse, of kmsg.OffsetCommitRequestTopic, partition int32, code replica.Code) {
	at := slices.IndexFunc(resp.Topics, func(t kmsg.OffsetCommitResponseTopic) bool {
		if resp.Version >= 10 {
			return t.TopicID == of.TopicID
		}
		return t.Topic == of.Topic
	})
	if at < 0 {
		t := kmsg.NewOffsetCommitResponseTopic()
		t.Topic, t.TopicID = of.Topic, of.TopicID
		resp.Topics = append(resp.Topics, t)
		at = len(resp.Topics) - 1
	}
	p := kmsg.NewOffsetCommitResponseTopicPartition()
	p.Partition, p.ErrorCode = partition, int16(code)
	resp.Topics[at].Partitions = append(resp.Topics[at].Partitions, p)
}

// deleteOffsets is KafkaApis.handleOffsetDeleteRequest.
func (n *Node) deleteOffsets(in machine.Request, req *kmsg.OffsetDeleteRequest) {
	im := n.follow.image
	var refused []kmsg.OffsetDeleteResponseTopic
	known := make([]kmsg.OffsetDeleteRequestTopic, 0, len(req.Topics))
	for i := range req.Topics {
		t := &req.Topics[i]
		here := *t
		here.Partitions = nil
		out := kmsg.NewOffsetDeleteResponseTopic()
		out.Topic = t.Topic
		topic, ok := im.Topic(t.Topic)
		for j := range t.Partitions {
			if ok && has(topic, t.Partitions[j].Partition) {
				here.Partitions = append(here.Partitions, t.Partitions[j])
				continue
			}
			p := kmsg.NewOffsetDeleteResponseTopicPartition()
			p.Partition, p.ErrorCode = t.Partitions[j].Partition, int16(replica.UnknownTopicOrPartition)
			out.Partitions = append(out.Partitions, p)
		}
		if len(here.Partitions) > 0 {
			known = append(known, here)
		}
		if len(out.Partitions) > 0 {
			refused = append(refused, out)
		}
	}
	if len(refused) > 0 {
		n.groups.after[group.Token(in.Token)] = func(resp kmsg.Response) {
			r := resp.(*kmsg.OffsetDeleteResponse)
			if r.ErrorCode == 0 {
				r.Topics = append(r.Topics, refused...)
			}
			n.reply(in.Token, r)
		}
	}
	req.Topics = known
	n.askGroup(in, req.Group)
}

// fetchOffsets is KafkaApis.handleOffsetFetchRequest: each group has a coordinator of
// its own.
func (n *Node) fetchOffsets(in machine.Request, req *kmsg.OffsetFetchRequest) {
	asked := req.Groups
	if req.Version < 8 {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group = req.Group
		if req.Topics != nil {
			g.Topics = make([]kmsg.OffsetFetchRequestGroupTopic, len(req.Topics))
		}
		for i := range req.Topics {
			g.Topics[i].Topic, g.Topics[i].Partitions = req.Topics[i].Topic, req.Topics[i].Partitions
		}
		asked = []kmsg.OffsetFetchRequestGroup{g}
	}
	answers := make([]kmsg.OffsetFetchResponseGroup, len(asked))
	open := len(asked) + 1
	settled := func() {
		if open--; open == 0 {
			n.reply(in.Token, fetchedOffsets(req, answers))
		}
	}
	for i := range asked {
		n.fetchGroup(req, asked[i], func(g kmsg.OffsetFetchResponseGroup) {
			answers[i] = g
			settled()
		})
	}
	settled()
}

// fetchGroup asks one group's coordinator. Topics that are named by an id that there
// is not are refused here.
func (n *Node) fetchGroup(req *kmsg.OffsetFetchRequest, asked kmsg.OffsetFetchRequestGroup, done func(kmsg.OffsetFetchResponseGroup)) {
	c, code := n.coordinatorOf(asked.Group)
	if code != group.None {
		done(group.RefuseFetch(&asked, req.Version, code))
		return
	}
	im := n.follow.image
	var refused []kmsg.OffsetFetchResponseGroupTopic
	if asked.Topics != nil {
		known := make([]kmsg.OffsetFetchRequestGroupTopic, 0, len(asked.Topics))
		for _, t := range asked.Topics {
			if req.Version < 10 {
				t.TopicID = kraft.UUID{}
				if topic, ok := im.Topic(t.Topic); ok {
					t.TopicID = topic.ID
				}
				known = append(known, t)
				continue
			}
			topic, ok := im.TopicByID(t.TopicID)
			if ok {
				t.Topic = topic.Name
				known = append(known, t)
				continue
			}
			refused = append(refused, noTopicFetched(t))
		}
		asked.Topics = known
	}
	token := n.groups.fetches.put(func(g kmsg.OffsetFetchResponseGroup) {
		if req.Version >= 10 {
			g.Topics = n.withIDs(g.Topics)
		}
		if g.ErrorCode == 0 {
			g.Topics = append(g.Topics, refused...)
		}
		done(g)
	})
	n.stepGroups(c, group.FetchOffsets{Token: group.Token(token), Group: asked, RequireStable: req.RequireStable})
}

func noTopicFetched(t kmsg.OffsetFetchRequestGroupTopic) kmsg.OffsetFetchResponseGroupTopic {
	out := kmsg.NewOffsetFetchResponseGroupTopic()
	out.Topic, out.TopicID = t.Topic, t.TopicID
	for _, index := range t.Partitions {
		p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch, p.Metadata = index, -1, -1, kmsg.StringPtr("")
		p.ErrorCode = int16(replica.UnknownTopicID)
		out.Partitions = append(out.Partitions, p)
	}
	return out
}

// withIDs gives topics their ids, and leaves out those that are gone: they have none.
func (n *Node) withIDs(topics []kmsg.OffsetFetchResponseGroupTopic) []kmsg.OffsetFetchResponseGroupTopic {
	known := []kmsg.OffsetFetchResponseGroupTopic{}
	for _, t := range topics {
		if topic, ok := n.follow.image.Topic(t.Topic); ok {
			t.TopicID = topic.ID
			known = append(known, t)
		}
	}
	return known
}

// fetchedOffsets puts the groups' answers into the form of the version: before 8 there
// is one group, and no list of them.
func fetchedOffsets(req *kmsg.OffsetFetchRequest, answers []kmsg.OffsetFetchResponseGroup) *kmsg.OffsetFetchResponse {
	resp := req.ResponseKind().(*kmsg.OffsetFetchResponse)
	if req.Version >= 8 {
		resp.Groups = answers
		return resp
	}
	g := &answers[0]
	resp.ErrorCode, resp.Topics = g.ErrorCode, make([]kmsg.OffsetFetchResponseTopic, len(g.Topics))
	for i := range g.Topics {
		t := &resp.Topics[i]
		t.Topic = g.Topics[i].Topic
		for _, in := range g.Topics[i].Partitions {
			p := kmsg.NewOffsetFetchResponseTopicPartition()
			p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode = in.Partition, in.Offset, in.LeaderEpoch, in.Metadata, in.ErrorCode
			t.Partitions = append(t.Partitions, p)
		}
	}
	return resp
}

// allGroupOperations is what may be done with a group where nothing is forbidden, as
// a bit field: read, delete, describe and its configs (AclEntry.supportedOperations).
const allGroupOperations = 1<<3 | 1<<6 | 1<<8 | 1<<10 | 1<<11

// describeGroups is KafkaApis.handleDescribeGroupsRequest.
func (n *Node) describeGroups(token machine.Token, req *kmsg.DescribeGroupsRequest) {
	resp := req.ResponseKind().(*kmsg.DescribeGroupsResponse)
	resp.Groups = []kmsg.DescribeGroupsResponseGroup{}
	for _, id := range req.Groups {
		c, code := n.coordinatorOf(id)
		g := kmsg.NewDescribeGroupsResponseGroup()
		if code != group.None {
			g.ErrorCode = int16(code)
		} else {
			g = c.shard.Describe(id, req.Version)
		}
		g.Group = id
		if g.Members == nil {
			g.Members = []kmsg.DescribeGroupsResponseGroupMember{}
		}
		if req.IncludeAuthorizedOperations && g.ErrorCode == 0 {
			g.AuthorizedOperations = allGroupOperations
		}
		resp.Groups = append(resp.Groups, g)
	}
	n.reply(token, resp)
}

// listGroups is GroupCoordinatorService.listGroups: of all coordinators here. While one
// loads, the list would not be whole.
func (n *Node) listGroups(token machine.Token, req *kmsg.ListGroupsRequest) {
	resp := req.ResponseKind().(*kmsg.ListGroupsResponse)
	resp.Groups = []kmsg.ListGroupsResponseGroup{}
	for _, c := range n.groups.led {
		switch {
		case c.broken:
		case c.lost || !c.shard.Active():
			resp.ErrorCode, resp.Groups = int16(group.CoordinatorLoadInProgress), []kmsg.ListGroupsResponseGroup{}
			n.reply(token, resp)
			return
		default:
			resp.Groups = append(resp.Groups, c.shard.List(req.StatesFilter, req.TypesFilter)...)
		}
	}
	n.reply(token, resp)
}

// deleteGroups is GroupCoordinatorService.deleteGroups: each coordinator deletes its
// own.
func (n *Node) deleteGroups(token machine.Token, req *kmsg.DeleteGroupsRequest) {
	resp := req.ResponseKind().(*kmsg.DeleteGroupsResponse)
	resp.Groups = []kmsg.DeleteGroupsResponseGroup{}
	var byShard []*coordinator
	places := map[*coordinator][]int{}
	for i, id := range req.Groups {
		if slices.Contains(req.Groups[:i], id) {
			continue // Kafka answers a group once
		}
		g := kmsg.NewDeleteGroupsResponseGroup()
		g.Group = id
		c, code := n.coordinatorOf(id)
		if code != group.None {
			g.ErrorCode = int16(code)
		} else {
			if places[c] == nil {
				byShard = append(byShard, c)
			}
			places[c] = append(places[c], len(resp.Groups))
		}
		resp.Groups = append(resp.Groups, g)
	}
	open := len(byShard) + 1
	settled := func() {
		if open--; open == 0 {
			n.reply(token, resp)
		}
	}
	for _, c := range byShard {
		at := places[c]
		ids := make([]string, len(at))
		for i, place := range at {
			ids[i] = resp.Groups[place].Group
		}
		asked := n.groups.deletes.put(func(codes []group.Code) {
			for i, place := range at {
				resp.Groups[place].ErrorCode = int16(codes[i])
			}
			settled()
		})
		n.stepGroups(c, group.Delete{Token: group.Token(asked), Groups: ids})
	}
	settled()
}
