package fakekafka

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestListPartitionReassignments(t *testing.T) {
	t.Parallel()
	m := NewModel(4)
	m.AddTopic("t1", 2, 3)
	p := m.AddTopic("t2", 2, 3).Partitions[1]
	p.Replicas, p.Adding, p.Removing = []int32{1, 2, 3, 4}, []int32{4}, []int32{1}
	c := Start(t, m)
	tests := []struct {
		name   string
		topics []kmsg.ListPartitionReassignmentsRequestTopic
		want   int
	}{
		{name: "null is all", want: 1},
		{name: "empty is none", topics: []kmsg.ListPartitionReassignmentsRequestTopic{}, want: 0},
		{name: "named", topics: []kmsg.ListPartitionReassignmentsRequestTopic{{Topic: "t2", Partitions: []int32{0, 1, 9}}}, want: 1},
		{name: "named others", topics: []kmsg.ListPartitionReassignmentsRequestTopic{{Topic: "t1", Partitions: []int32{0}}, {Topic: "nope", Partitions: []int32{0}}}, want: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := kmsg.NewPtrListPartitionReassignmentsRequest()
			req.Topics = tt.topics
			resp := ask[*kmsg.ListPartitionReassignmentsResponse](t, c, 3, req)
			if len(resp.Topics) != tt.want {
				t.Fatalf("got %+v, want %d topics", resp.Topics, tt.want)
			}
			if tt.want == 0 {
				return
			}
			got := resp.Topics[0].Partitions[0]
			if got.Partition != 1 || !cmp.Equal(got.AddingReplicas, []int32{4}) || !cmp.Equal(got.RemovingReplicas, []int32{1}) || len(got.Replicas) != 4 {
				t.Errorf("got %+v", got)
			}
		})
	}
	c.Change(func(m *Model) { m.Deny = []Key{kmsg.ListPartitionReassignments} })
	resp := ask[*kmsg.ListPartitionReassignmentsResponse](t, c, 3, kmsg.NewPtrListPartitionReassignmentsRequest())
	if resp.ErrorCode != clusterAuthorization || len(resp.Topics) != 0 {
		t.Errorf("denied: got %+v", resp)
	}
}

func TestDescribeConfigs(t *testing.T) {
	t.Parallel()
	m := NewModel(2)
	m.MinInsyncReplicas = 2
	m.Brokers[0].Configs = map[string]string{"num.replica.fetchers": "4", "log.dirs": "/data"}
	m.AddTopic("own", 1, 1).MinInsyncReplicas = 3
	m.AddTopic("plain", 1, 1).Configs = map[string]string{"retention.ms": "1000"}
	m.AddTopic("secret", 1, 1).DenyDescribeConfigs = true
	c := Start(t, m)
	const topic, broker = kmsg.ConfigResourceTypeTopic, kmsg.ConfigResourceTypeBroker
	tests := []struct {
		name   string
		kind   kmsg.ConfigResourceType
		asked  string
		filter []string
		code   int16
		want   []string
	}{
		{name: "a topic's own", kind: topic, asked: "own", want: []string{"min.insync.replicas=3 DYNAMIC_TOPIC_CONFIG"}},
		{name: "the cluster's, and others", kind: topic, asked: "plain", want: []string{"min.insync.replicas=2 DYNAMIC_DEFAULT_BROKER_CONFIG", "retention.ms=1000 DYNAMIC_TOPIC_CONFIG"}},
		{name: "filtered", kind: topic, asked: "plain", filter: []string{"min.insync.replicas"}, want: []string{"min.insync.replicas=2 DYNAMIC_DEFAULT_BROKER_CONFIG"}},
		{name: "unknown topic", kind: topic, asked: "nope", code: unknownTopicOrPartition},
		{name: "denied topic", kind: topic, asked: "secret", code: topicAuthorizationFailed},
		{name: "broker", kind: broker, asked: "1", filter: []string{"num.replica.fetchers"}, want: []string{"num.replica.fetchers=4 STATIC_BROKER_CONFIG"}},
		{name: "another broker", kind: broker, asked: "2", code: invalidRequest},
		{name: "dynamic defaults", kind: broker, asked: "", want: []string{"min.insync.replicas=2 DYNAMIC_DEFAULT_BROKER_CONFIG"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := kmsg.NewPtrDescribeConfigsRequest()
			req.Version = 4
			rr := kmsg.NewDescribeConfigsRequestResource()
			rr.ResourceType, rr.ResourceName, rr.ConfigNames = tt.kind, tt.asked, tt.filter
			req.Resources = append(req.Resources, rr)
			resp := ask[*kmsg.DescribeConfigsResponse](t, c, 1, req).Resources[0]
			if resp.ErrorCode != tt.code {
				t.Errorf("got error %d, want %d", resp.ErrorCode, tt.code)
			}
			var got []string
			for _, c := range resp.Configs {
				got = append(got, fmt.Sprintf("%s=%s %v", c.Name, *c.Value, c.Source))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestDescribeCluster(t *testing.T) {
	t.Parallel()
	m := NewModel(3)
	m.Brokers[0].Fenced = true
	c := Start(t, m)
	tests := []struct {
		version      int16
		endpoint     int8
		fenced       bool
		code         int16
		brokers      int
		controllerID int32
	}{
		{version: 0, endpoint: 1, brokers: 2, controllerID: 2},
		{version: 2, endpoint: 1, brokers: 2, controllerID: 2},
		{version: 2, endpoint: 1, fenced: true, brokers: 3, controllerID: 2},
		{version: 2, endpoint: 2, code: mismatchedEndpointType, controllerID: -1},
		{version: 2, endpoint: 7, code: unsupportedEndpointType, controllerID: -1},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%+v", tt), func(t *testing.T) {
			req := kmsg.NewPtrDescribeClusterRequest()
			req.Version, req.EndpointType, req.IncludeFencedBrokers = tt.version, tt.endpoint, tt.fenced
			resp := ask[*kmsg.DescribeClusterResponse](t, c, 2, req)
			if resp.ErrorCode != tt.code || len(resp.Brokers) != tt.brokers || resp.ControllerID != tt.controllerID {
				t.Errorf("got %+v", resp)
			}
			if tt.fenced && !resp.Brokers[0].IsFenced {
				t.Errorf("got %+v, want broker 1 marked as fenced", resp.Brokers[0])
			}
		})
	}
}

func TestDescribeLogDirs(t *testing.T) {
	t.Parallel()
	m := NewModel(3)
	m.Brokers[1].LogDirs = []LogDir{
		{Path: "/d1", TotalBytes: 1000, UsableBytes: 400},
		{Path: "/d2", TotalBytes: 2000, UsableBytes: 100, Cordoned: true},
		{Path: "/d3", Offline: true},
	}
	topic := m.AddTopic("t1", 4, 2) // replicas 1,2 and 2,3 and 3,1 and 1,2
	for _, p := range topic.Partitions {
		p.HW, p.LogStart = 50, 10
	}
	topic.Partitions[0].SetLEO(2, 30)
	topic.Partitions[1].Dirs = map[int32]string{2: "/d2"}
	topic.Partitions[1].Moves = map[int32]Move{2: {Dir: "/d1", LEO: 20}}
	topic.Partitions[3].Dirs = map[int32]string{2: "/d3"}
	c := Start(t, m)

	describe := func(asked []kmsg.DescribeLogDirsRequestTopic) []string {
		req := kmsg.NewPtrDescribeLogDirsRequest()
		req.Version, req.Topics = 5, asked
		var got []string
		for _, d := range ask[*kmsg.DescribeLogDirsResponse](t, c, 2, req).Dirs {
			got = append(got, fmt.Sprintf("%s error %d, %d of %d, cordoned %t", d.Dir, d.ErrorCode, d.UsableBytes, d.TotalBytes, d.IsCordoned))
			for _, rt := range d.Topics {
				for _, p := range rt.Partitions {
					got = append(got, fmt.Sprintf("  %s-%d size %d lag %d future %t", rt.Topic, p.Partition, p.Size, p.OffsetLag, p.IsFuture))
				}
			}
		}
		return got
	}
	dirs := []string{"/d1 error 0, 400 of 1000, cordoned false", "/d2 error 0, 100 of 2000, cordoned true", "/d3 error 56, -1 of -1, cordoned false"}
	all := []string{
		dirs[0], "  t1-0 size 2000 lag 0 future false", "  t1-1 size 1000 lag 30 future true",
		dirs[1], "  t1-1 size 4000 lag 0 future false", dirs[2],
	}
	if diff := cmp.Diff(all, describe(nil)); diff != "" {
		t.Errorf("all: want -, got +:\n%s", diff)
	}
	if diff := cmp.Diff(dirs, describe([]kmsg.DescribeLogDirsRequestTopic{})); diff != "" {
		t.Errorf("none: want -, got +:\n%s", diff)
	}
	one := []kmsg.DescribeLogDirsRequestTopic{{Topic: "t1", Partitions: []int32{0, 2}}}
	if diff := cmp.Diff([]string{dirs[0], all[1], dirs[1], dirs[2]}, describe(one)); diff != "" {
		t.Errorf("one: want -, got +:\n%s", diff)
	}

	c.Change(func(m *Model) { m.Deny = []Key{kmsg.DescribeLogDirs} })
	req := kmsg.NewPtrDescribeLogDirsRequest()
	req.Version = 5
	if resp := ask[*kmsg.DescribeLogDirsResponse](t, c, 2, req); resp.ErrorCode != clusterAuthorization || len(resp.Dirs) != 0 {
		t.Errorf("denied: got %+v", resp)
	}
}
