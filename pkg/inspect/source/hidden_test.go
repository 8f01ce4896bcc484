package source_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestNoTopicVisible: to credentials that may see no topic a cluster must not look
// like a new one, which is healthy.
func TestNoTopicVisible(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		deny, groups  bool
		parts         inspect.Parts
		keep          func(string, bool) bool
		level         inspect.Level
		metadataAsked int
	}{
		{name: "none to see", level: inspect.LevelOK, metadataAsked: 2},
		{name: "none to see, by pages", parts: inspect.PartELR, level: inspect.LevelOK, metadataAsked: 1},
		{name: "hidden", deny: true, level: inspect.LevelUnknown, metadataAsked: 2},
		{name: "hidden, by pages", deny: true, parts: inspect.PartELR, level: inspect.LevelUnknown, metadataAsked: 1},
		{name: "hidden, for groups", deny: true, groups: true, parts: inspect.PartGroups, level: inspect.LevelUnknown, metadataAsked: 2},
		{
			name: "hidden, and none wanted", deny: true, keep: func(string, bool) bool { return false },
			level: inspect.LevelOK, metadataAsked: 1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := fakekafka.NewModel(1)
			if tt.deny {
				m.AddTopic("t", 1, 1)
				m.Deny = []kmsg.Key{kmsg.Metadata, kmsg.DescribeTopicPartitions}
			}
			c := fakekafka.Start(t, m)
			src := source.New(connect.Config{Bootstrap: c.Addrs()}, ample)
			s, err := src.Snapshot(t.Context(), source.Query{Parts: tt.parts, Keep: tt.keep, ForGroups: tt.groups})
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Verdict().Level; got != tt.level || s.Complete() != (tt.level == inspect.LevelOK) {
				t.Errorf("verdict %s, complete %t, want %s; failures %s", got, s.Complete(), tt.level, texts(s.Failures))
			}
			if all := texts(s.Failures); !s.Complete() && (!strings.Contains(all, "no topic is visible") || !strings.Contains(all, "grant DESCRIBE on the topics")) {
				t.Errorf("failures = %s, want what is lost and the ACL", all)
			}
			if got := c.Count(kmsg.Metadata); got != tt.metadataAsked {
				t.Errorf("%d Metadata requests, want %d", got, tt.metadataAsked)
			}
		})
	}
}

// TestNoTopicVisibleUnanswered: what is asked beside the answer may fail without
// harm to it.
func TestNoTopicVisibleUnanswered(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, fakekafka.NewModel(1))
	asked := 0
	c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		if _, ok := req.(*kmsg.MetadataRequest); ok {
			asked++
			return nil, asked > 1
		}
		return nil, false
	})
	if s := snapshot(t, c.Bootstrap(), 0, 3*time.Second); !s.Complete() || len(s.Failures) > 0 {
		t.Errorf("failures = %s, want none", texts(s.Failures))
	}
}

// TestUnjudged: what serves the judgement alone is not asked where none is made.
func TestUnjudged(t *testing.T) {
	t.Parallel()
	for _, q := range []source.Query{{NoMinISR: true}, {NoReassignments: true}} {
		m := fakekafka.NewModel(1)
		m.AddTopic("t", 1, 1)
		c := fakekafka.Start(t, m)
		s, err := source.New(connect.Config{Bootstrap: c.Addrs()}, ample).Snapshot(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		p := partition(t, s, 0)
		if p.MinInsyncReplicas.IsKnown() == q.NoMinISR || (c.Count(kmsg.DescribeConfigs) == 0) != q.NoMinISR {
			t.Errorf("%+v: min ISR %v after %d requests", q, p.MinInsyncReplicas, c.Count(kmsg.DescribeConfigs))
		}
		if p.Adding.IsKnown() == q.NoReassignments || (c.Count(kmsg.ListPartitionReassignments) == 0) != q.NoReassignments {
			t.Errorf("%+v: adding %v after %d requests", q, p.Adding, c.Count(kmsg.ListPartitionReassignments))
		}
		if h := p.Health(); !h.Has(inspect.StatusUnknown) {
			t.Errorf("%+v: status %v, want unknown", q, h.Status)
		}
	}
}
