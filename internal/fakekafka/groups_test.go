package fakekafka

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// grouped is two brokers, t of two partitions, and a group of each kind, all at
// broker 1 but for "elsewhere".
func grouped() *Model {
	m := NewModel(2)
	m.AddTopic("t", 2, 1)
	for _, kind := range []string{ClassicGroup, ConsumerGroup, ShareGroup} {
		g := m.AddGroup(kind, kind)
		g.Coordinator = 1
		g.Join("m1", "t", 0)
		g.Join("m2", "t", 1).InstanceID = "static"
		g.Commit("t", 1, 7)
		g.Commit("deleted", 0, 3)
	}
	m.AddGroup("elsewhere", ClassicGroup).Coordinator = 2
	return m
}

func TestListGroups(t *testing.T) {
	t.Parallel()
	c := Start(t, grouped())
	list := func(version int16, states, types []string) string {
		req := kmsg.NewPtrListGroupsRequest()
		req.Version, req.StatesFilter, req.TypesFilter = version, states, types
		out := ""
		for _, g := range ask[*kmsg.ListGroupsResponse](t, c, 1, req).Groups {
			out += fmt.Sprintf("%s %s %q %q; ", g.Group, g.ProtocolType, g.GroupState, g.GroupType)
		}
		return out
	}
	for _, tt := range []struct {
		version       int16
		states, types []string
		want          string
	}{
		{5, nil, nil, `classic consumer "Stable" "classic"; consumer consumer "Stable" "consumer"; share share "Stable" "share"; `},
		{5, []string{"stable"}, []string{"Consumer"}, `consumer consumer "Stable" "consumer"; `},
		{5, []string{"Empty"}, nil, ""},
		{4, []string{"Stable"}, nil, `classic consumer "Stable" ""; consumer consumer "Stable" ""; share share "Stable" ""; `},
		{0, nil, nil, `classic consumer "" ""; consumer consumer "" ""; share share "" ""; `},
	} {
		if got := list(tt.version, tt.states, tt.types); got != tt.want {
			t.Errorf("v%d %v %v: got %s, want %s", tt.version, tt.states, tt.types, got, tt.want)
		}
	}
	c.Change(func(m *Model) { m.Deny = []Key{kmsg.ListGroups} })
	if got := list(5, nil, nil); got != "" {
		t.Errorf("denied: got %s, want none", got)
	}
}

// TestDescribeGroups: what is no classic group is Dead, and not found from
// version 6 on; another broker's is refused.
func TestDescribeGroups(t *testing.T) {
	t.Parallel()
	c := Start(t, grouped())
	for version := int16(0); version <= 6; version++ {
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Version, req.Groups = version, []string{"classic", "consumer", "nope", "elsewhere"}
		groups := ask[*kmsg.DescribeGroupsResponse](t, c, 1, req).Groups
		notFound := none
		if version >= 6 {
			notFound = groupIDNotFound
		}
		for i, want := range []struct {
			code    int16
			state   string
			members int
		}{{none, "Stable", 2}, {notFound, "Dead", 0}, {notFound, "Dead", 0}, {notCoordinator, "", 0}} {
			g := groups[i]
			if g.ErrorCode != want.code || g.State != want.state || len(g.Members) != want.members {
				t.Errorf("v%d %s: got %d %q with %d members, want %+v", version, g.Group, g.ErrorCode, g.State, len(g.Members), want)
			}
		}
		var assignment kmsg.ConsumerMemberAssignment
		if err := assignment.ReadFrom(groups[0].Members[1].MemberAssignment); err != nil ||
			assignment.Topics[0].Topic != "t" || !cmp.Equal(assignment.Topics[0].Partitions, []int32{1}) {
			t.Errorf("v%d: assignment %+v, error %v", version, assignment, err)
		}
	}
}

func TestConsumerGroupDescribe(t *testing.T) {
	t.Parallel()
	c := Start(t, grouped())
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Version, req.Groups = 1, []string{"consumer", "classic", "nope", "elsewhere"}
	groups := ask[*kmsg.ConsumerGroupDescribeResponse](t, c, 1, req).Groups
	for i, want := range []int16{none, groupIDNotFound, groupIDNotFound, none} {
		if i == 3 {
			want = notCoordinator
		}
		if groups[i].ErrorCode != want {
			t.Errorf("%s: got error %d, want %d", groups[i].Group, groups[i].ErrorCode, want)
		}
	}
	members := groups[0].Members
	if len(members) != 2 || *members[1].InstanceID != "static" || members[1].Assignment.TopicPartitions[0].Topic != "t" {
		t.Errorf("got members %+v", members)
	}
	c.Change(func(m *Model) { m.Deny = []Key{kmsg.ConsumerGroupDescribe} })
	if got := ask[*kmsg.ConsumerGroupDescribeResponse](t, c, 1, req).Groups[0].ErrorCode; got != groupAuthorizationFailed {
		t.Errorf("denied: got error %d", got)
	}
}

// TestOffsetFetch asks every version for all of a group's commits, and for named
// partitions.
func TestOffsetFetch(t *testing.T) {
	t.Parallel()
	c := Start(t, grouped())
	for version := int16(2); version <= 10; version++ {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Version, req.Group = version, "classic"
		req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: "classic", MemberEpoch: -1}, {Group: "nope", MemberEpoch: -1}, {Group: "elsewhere", MemberEpoch: -1}}
		resp := ask[*kmsg.OffsetFetchResponse](t, c, 1, req)
		topics := len(resp.Topics)
		if version >= 8 {
			topics = len(resp.Groups[0].Topics)
			if len(resp.Groups[1].Topics) != 0 || resp.Groups[1].ErrorCode != none || resp.Groups[2].ErrorCode != notCoordinator {
				t.Errorf("v%d: got %+v", version, resp.Groups[1:])
			}
		}
		want := 2
		if version == 10 {
			want = 1 // the deleted topic has no id
		}
		if topics != want {
			t.Errorf("v%d: commits of %d topics, want %d", version, topics, want)
		}
	}
	named := kmsg.NewPtrOffsetFetchRequest()
	named.Version, named.Group = 7, "classic"
	named.Topics = []kmsg.OffsetFetchRequestTopic{{Topic: "t", Partitions: []int32{0, 1}}}
	got := []int64{}
	for _, p := range ask[*kmsg.OffsetFetchResponse](t, c, 1, named).Topics[0].Partitions {
		got = append(got, p.Offset)
	}
	if !cmp.Equal(got, []int64{-1, 7}) {
		t.Errorf("named: got %v, want −1 for no commit, and 7", got)
	}
}
