package fakekafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicCodes are a Metadata answer's topics and their error codes.
func topicCodes(resp *kmsg.MetadataResponse) map[string]int16 {
	codes := make(map[string]int16)
	for _, rt := range resp.Topics {
		name := "by id"
		if rt.Topic != nil {
			name = *rt.Topic
		}
		codes[name] = rt.ErrorCode
	}
	return codes
}

func TestMetadataTopics(t *testing.T) {
	t.Parallel()
	byID := func(id [16]byte) []kmsg.MetadataRequestTopic {
		rt := kmsg.NewMetadataRequestTopic()
		rt.TopicID = id
		return []kmsg.MetadataRequestTopic{rt}
	}
	tests := []struct {
		name    string
		deny    []Key
		version int16
		topics  []kmsg.MetadataRequestTopic
		want    map[string]int16
	}{
		{name: "null is all that may be seen", version: 13, want: map[string]int16{"t1": 0, "t2": 0}},
		{name: "empty is none", version: 13, topics: names(), want: map[string]int16{}},
		{name: "empty is all in version 0", version: 0, topics: names(), want: map[string]int16{"t1": 0, "t2": 0}},
		{name: "by name", version: 4, topics: names("t2", "nope", "a b", "secret"), want: map[string]int16{
			"t2": 0, "nope": unknownTopicOrPartition, "a b": invalidTopic, "secret": topicAuthorizationFailed,
		}},
		{name: "by id", version: 12, topics: byID(topicID("t1")), want: map[string]int16{"t1": 0}},
		{name: "by unknown id", version: 12, topics: byID([16]byte{1}), want: map[string]int16{"by id": unknownTopicID}},
		{name: "hidden by id", version: 12, topics: byID(topicID("secret")), want: map[string]int16{"by id": unknownTopicID}},
		{name: "denied", deny: []Key{kmsg.Metadata}, version: 13, want: map[string]int16{}},
		{name: "denied by name", deny: []Key{kmsg.Metadata}, version: 13, topics: names("t1"), want: map[string]int16{"t1": topicAuthorizationFailed}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := NewModel(3)
			m.AddTopic("t1", 1, 3)
			m.AddTopic("t2", 2, 3)
			m.AddTopic("secret", 1, 3).DenyDescribe = true
			m.Deny = tt.deny
			c := Start(t, m)
			req := kmsg.NewPtrMetadataRequest()
			req.Version, req.Topics = tt.version, tt.topics
			got := topicCodes(ask[*kmsg.MetadataResponse](t, c, 2, req))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if created := c.Created(); len(created) != 0 {
				t.Errorf("created %v", created)
			}
		})
	}
}

func TestMetadataPartition(t *testing.T) {
	t.Parallel()
	m := NewModel(3)
	m.Brokers[1].Fenced = true
	m.Brokers[0].LogDirs = []LogDir{{Path: "/d1"}, {Path: "/d2", Offline: true}}
	m.Brokers[2].Rack, m.Brokers[2].AdvertisedHost, m.Brokers[2].AdvertisedPort = "r3", "kafka-3", 9093
	topic := m.AddTopic("t1", 3, 3)
	topic.Partitions[0].Replicas, topic.Partitions[0].ISR = []int32{3, 1, 2, 9}, []int32{1, 3}
	topic.Partitions[1].Leader, topic.Partitions[1].ISR, topic.Partitions[1].Offline = NoLeader, nil, []int32{1}
	topic.Partitions[2].Leader, topic.Partitions[2].Dirs = 9, map[int32]string{1: "/d2"}
	c := Start(t, m)
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 13
	resp := ask[*kmsg.MetadataResponse](t, c, 1, req)

	p0, p1, p2 := resp.Topics[0].Partitions[0], resp.Topics[0].Partitions[1], resp.Topics[0].Partitions[2]
	if p0.ErrorCode != 0 || p0.Leader != 1 || !cmp.Equal(p0.Replicas, []int32{3, 1, 2, 9}) || !cmp.Equal(p0.OfflineReplicas, []int32{2, 9}) {
		t.Errorf("got %+v, want the fenced and the unregistered replica offline", p0)
	}
	if p1.ErrorCode != leaderNotAvailable || p1.Leader != NoLeader || !cmp.Equal(p1.OfflineReplicas, []int32{2, 1}) {
		t.Errorf("got %+v, want no leader", p1)
	}
	if p2.ErrorCode != leaderNotAvailable || p2.Leader != NoLeader || !cmp.Equal(p2.OfflineReplicas, []int32{1, 2}) {
		t.Errorf("got %+v, want no unregistered leader, and the replica in the failed directory offline", p2)
	}
	if len(resp.Brokers) != 2 || resp.ControllerID != 1 {
		t.Fatalf("got controller %d, brokers %+v, want the fenced one left out", resp.ControllerID, resp.Brokers)
	}
	if b := resp.Brokers[1]; b.NodeID != 3 || b.Host != "kafka-3" || b.Port != 9093 || b.Rack == nil || *b.Rack != "r3" {
		t.Errorf("got %+v", b)
	}

	req.Version = 0
	p0 = ask[*kmsg.MetadataResponse](t, c, 1, req).Topics[0].Partitions[0]
	if p0.ErrorCode != replicaNotAvailable || !cmp.Equal(p0.Replicas, []int32{3, 1, 2}) {
		t.Errorf("version 0: got %+v", p0)
	}
}

// TestAskingCreates is what an inspection must never do: here it does, and shows.
func TestAskingCreates(t *testing.T) {
	t.Parallel()
	c := Start(t, NewModel(3))
	req := kmsg.NewPtrMetadataRequest()
	req.Version, req.Topics = 4, names("typo")

	if code := topicCodes(ask[*kmsg.MetadataResponse](t, c, 1, req))["typo"]; code != unknownTopicOrPartition {
		t.Errorf("not allowed: got error %d", code)
	}
	if got := c.Created(); len(got) != 0 {
		t.Errorf("created %v without being allowed to", got)
	}
	req.AllowAutoTopicCreation = true
	if code := topicCodes(ask[*kmsg.MetadataResponse](t, c, 1, req))["typo"]; code != unknownTopicOrPartition {
		t.Errorf("first: got error %d", code)
	}
	if code := topicCodes(ask[*kmsg.MetadataResponse](t, c, 1, req))["typo"]; code != none {
		t.Errorf("second: got error %d", code)
	}

	find := kmsg.NewPtrFindCoordinatorRequest()
	find.Version, find.CoordinatorKeys = 6, []string{"orders"}
	if got := ask[*kmsg.FindCoordinatorResponse](t, c, 2, find).Coordinators[0]; got.ErrorCode != coordinatorNotAvailable {
		t.Errorf("first: got %+v", got)
	}
	// "orders".hashCode() is -1008770331: partition 17 of 50, whose leader is broker 3.
	if got := ask[*kmsg.FindCoordinatorResponse](t, c, 2, find).Coordinators[0]; got.ErrorCode != none || got.NodeID != 3 {
		t.Errorf("second: got %+v", got)
	}
	if diff := cmp.Diff([]string{"typo", "__consumer_offsets"}, c.Created()); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	c.View(func(m *Model) {
		if offsets := m.Topic("__consumer_offsets"); !offsets.Internal || len(offsets.Partitions) != 50 {
			t.Errorf("got %+v", offsets)
		}
	})

	old := kmsg.NewPtrMetadataRequest()
	old.Version, old.Topics = 3, names("old")
	ask[*kmsg.MetadataResponse](t, c, 1, old)
	if got := c.Created(); len(got) != 3 {
		t.Errorf("created %v, want version 3 to create without a say", got)
	}
	c.Change(func(m *Model) { m.AutoCreateDisabled = true })
	req.Topics = names("typo2")
	ask[*kmsg.MetadataResponse](t, c, 1, req)
	if got := c.Created(); len(got) != 3 {
		t.Errorf("created %v though the cluster forbids it", got)
	}
}
