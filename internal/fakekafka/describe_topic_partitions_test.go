package fakekafka

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// pages reads to the end and returns each page as "topic first-last" lines.
func pages(t *testing.T, c *Cluster, limit int32, topics ...string) [][]string {
	t.Helper()
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = limit
	for _, name := range topics {
		rt := kmsg.NewDescribeTopicPartitionsRequestTopic()
		rt.Topic = name
		req.Topics = append(req.Topics, rt)
	}
	var got [][]string
	for {
		resp := ask[*kmsg.DescribeTopicPartitionsResponse](t, c, 1, req)
		page := []string{}
		for _, rt := range resp.Topics {
			switch n := len(rt.Partitions); {
			case rt.ErrorCode != 0:
				page = append(page, fmt.Sprintf("%s error %d", *rt.Topic, rt.ErrorCode))
			case n == 0:
				page = append(page, *rt.Topic+" none")
			default:
				page = append(page, fmt.Sprintf("%s %d-%d", *rt.Topic, rt.Partitions[0].Partition, rt.Partitions[n-1].Partition))
			}
		}
		got = append(got, page)
		if resp.NextCursor == nil {
			return got
		}
		req.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: resp.NextCursor.Topic, Partition: resp.NextCursor.Partition}
	}
}

func TestDescribeTopicPartitionsPages(t *testing.T) {
	t.Parallel()
	m := NewModel(1)
	m.AddTopic("b", 3, 1)
	m.AddTopic("a", 2, 1)
	m.AddTopic("c", 1500, 1)
	m.AddTopic("d", 600, 1)
	m.AddTopic("secret", 1, 1).DenyDescribe = true
	c := Start(t, m)
	tests := []struct {
		name   string
		limit  int32
		topics []string
		want   [][]string
	}{
		{name: "sorted by name", limit: 2000, topics: []string{"b", "a"}, want: [][]string{{"a 0-1", "b 0-2"}}},
		{name: "cut within a topic", limit: 3, topics: []string{"a", "b"}, want: [][]string{{"a 0-1", "b 0-0"}, {"b 1-2"}}},
		{name: "cut between topics", limit: 2, topics: []string{"a", "b"}, want: [][]string{{"a 0-1"}, {"b 0-1"}, {"b 2-2"}}},
		{name: "at least one", limit: 0, topics: []string{"a"}, want: [][]string{{"a 0-0"}, {"a 1-1"}}},
		{name: "capped at 2000", limit: 1 << 30, want: [][]string{{"a 0-1", "b 0-2", "c 0-1499", "d 0-494"}, {"d 495-599"}}},
		{name: "unknown and hidden", limit: 2000, topics: []string{"nope", "secret", "a"}, want: [][]string{{"a 0-1", "nope error 3", "secret error 29"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, pages(t, c, tt.limit, tt.topics...)); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
		})
	}
}

func TestDescribeTopicPartitionsBadCursor(t *testing.T) {
	t.Parallel()
	m := NewModel(1)
	m.AddTopic("a", 2, 1)
	c := Start(t, m)
	for _, cursor := range []kmsg.DescribeTopicPartitionsRequestCursor{{Topic: "b"}, {Topic: "a", Partition: -1}} {
		req := kmsg.NewPtrDescribeTopicPartitionsRequest()
		req.Topics = []kmsg.DescribeTopicPartitionsRequestTopic{{Topic: "a"}}
		req.ResponsePartitionLimit, req.Cursor = 10, &cursor
		resp := ask[*kmsg.DescribeTopicPartitionsResponse](t, c, 1, req)
		if got := resp.Topics[0].ErrorCode; got != invalidRequest {
			t.Errorf("cursor %+v: got error %d", cursor, got)
		}
	}
}

func TestDescribeTopicPartitionsFields(t *testing.T) {
	t.Parallel()
	m := NewModel(3)
	m.AddTopic("t1", 1, 3).Partitions[0] = &Partition{
		Leader: NoLeader, LeaderEpoch: 7, Replicas: []int32{3, 1, 2}, ELR: []int32{2}, LastKnownELR: []int32{1}, Offline: []int32{3},
	}
	c := Start(t, m)
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = 10
	rt := ask[*kmsg.DescribeTopicPartitionsResponse](t, c, 1, req).Topics[0]
	want := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
	want.LeaderID, want.LeaderEpoch = NoLeader, 7
	want.Replicas, want.ISR, want.OfflineReplicas = []int32{3, 1, 2}, nil, []int32{3}
	want.EligibleLeaderReplicas, want.LastKnownELR = []int32{2}, []int32{1}
	got := rt.Partitions[0]
	got.ISR = slices.Clip(got.ISR)
	if len(got.ISR) == 0 {
		got.ISR = nil // kmsg decodes an empty list either way
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(kmsg.Tags{})); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if rt.TopicID != topicID("t1") {
		t.Errorf("got id %x", rt.TopicID)
	}
}
