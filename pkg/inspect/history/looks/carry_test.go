package looks

import (
	"reflect"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestCarry: a pass that asks for less has what the one before had, as far as it is the
// same cluster, broker and topic, and what it asked for is its own.
func TestCarry(t *testing.T) {
	t.Parallel()
	const seldom = inspect.PartLogDirs | inspect.PartConfigs | inspect.PartFeatures | inspect.PartQuorum | inspect.PartGroups | inspect.PartTransactions
	full := func() *inspect.Snapshot {
		s := story()[0]
		s.Asked |= seldom
		return s
	}
	light := func() *inspect.Snapshot {
		s := full()
		s.Asked &^= seldom
		b, topic := &s.Brokers[0], &s.Topics[0]
		b.LogDirs, b.VersionRange, b.Configs = inspect.Opt[[]inspect.LogDir]{}, inspect.Opt[string]{}, inspect.Opt[[]inspect.Config]{}
		b.Features = inspect.Opt[inspect.BrokerFeatures]{}
		topic.Configs, topic.MinInsyncReplicas, topic.UncleanElection = inspect.Opt[[]inspect.Config]{}, inspect.Opt[int32]{}, inspect.Opt[bool]{}
		topic.Partitions[0].MinInsyncReplicas = inspect.Opt[int32]{}
		s.Quorum, s.Controller, s.Groups, s.Transactions = inspect.Opt[inspect.Quorum]{}, inspect.Opt[inspect.BrokerID]{}, nil, inspect.Opt[inspect.Transactions]{}
		return s
	}
	for name, tt := range map[string]struct {
		change func(s *inspect.Snapshot)
		want   func() *inspect.Snapshot
	}{
		"as it was": {func(*inspect.Snapshot) {}, func() *inspect.Snapshot {
			s := full()
			s.Asked &^= seldom
			return s
		}},
		"another cluster": {func(s *inspect.Snapshot) { s.ClusterID = has("d") }, func() *inspect.Snapshot {
			s := light()
			s.ClusterID = has("d")
			return s
		}},
		"another broker and topic": {func(s *inspect.Snapshot) {
			s.Brokers[0].ID, s.Topics[0].ID = 5, has("BBBB")
		}, func() *inspect.Snapshot {
			s := light()
			s.Brokers[0].ID, s.Topics[0].ID = 5, has("BBBB")
			whole := full()
			s.Quorum, s.Controller, s.Groups, s.Transactions = whole.Quorum, whole.Controller, whole.Groups, whole.Transactions
			return s
		}},
		"asked again and not answered": {func(s *inspect.Snapshot) { s.Asked |= seldom }, func() *inspect.Snapshot {
			s := light()
			s.Asked |= seldom
			whole := full()
			s.Topics[0].MinInsyncReplicas, s.Topics[0].UncleanElection = whole.Topics[0].MinInsyncReplicas, whole.Topics[0].UncleanElection
			s.Topics[0].Partitions[0].MinInsyncReplicas = whole.Topics[0].MinInsyncReplicas
			return s
		}},
	} {
		var c Carrier
		c.Carry(full())
		s := light()
		tt.change(s)
		c.Carry(s)
		if want := tt.want(); !reflect.DeepEqual(s, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, textOf(s), textOf(want))
		}
		again := light()
		again.ClusterID, again.Brokers, again.Topics = s.ClusterID, nil, nil
		if c.Carry(again); !reflect.DeepEqual(again.Groups, s.Groups) {
			t.Errorf("%s: the pass after the next has groups %v, want %v", name, again.Groups, s.Groups)
		}
	}
}
