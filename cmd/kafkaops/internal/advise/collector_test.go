package advise

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

type brokers = []inspect.BrokerID

// begin is when the first look is.
var begin = time.UnixMilli(1_800_000_000_000).UTC()

func second(n int) int64 { return begin.Add(time.Duration(n) * time.Second).UnixMilli() }

// look is one at a topic with a partition of three replicas, which broker 1 leads.
func look(at int, leo inspect.Offset, isr ...inspect.BrokerID) *inspect.Snapshot {
	p := inspect.Partition{
		Topic: "orders", Leader: 1, LeaderEpoch: inspect.Known(inspect.Epoch(3)), Replicas: brokers{1, 2, 3}, ISR: isr,
		MinInsyncReplicas: inspect.Known(int32(2)),
		Offsets: &inspect.Offsets{
			LEOBefore: inspect.Known(leo), LEOAfter: inspect.Known(leo), HW: inspect.Known(leo),
			Followers: []inspect.FollowerOffset{{Broker: 2, LEO: inspect.Known(leo)}, {Broker: 3, LEO: inspect.Known(leo)}},
		},
	}
	return &inspect.Snapshot{
		TakenAt: begin.Add(time.Duration(at) * time.Second), Asked: inspect.PartOffsets,
		Brokers: []inspect.Broker{{ID: 1, Rack: inspect.Known("a"), Configs: inspect.Known([]inspect.Config{
			{Name: "replica.lag.time.max.ms", Value: inspect.Known("30000")}, {Name: "broker.session.timeout.ms", Value: inspect.Known("9000")},
		})}},
		Topics: []inspect.Topic{{
			Name: "orders", ID: inspect.Known("A"), MinInsyncReplicas: inspect.Known(int32(2)), Partitions: []inspect.Partition{p},
			Configs: inspect.Known([]inspect.Config{{Name: "min.insync.replicas", Value: inspect.Known("2"), Source: inspect.SourceTopic}}),
		}},
	}
}

func collect(looks ...*inspect.Snapshot) *Collector {
	c := NewCollector(Options{Interval: time.Second, Goal: tuning.GoalBalanced, Budget: tuning.BudgetOf(tuning.GoalBalanced)})
	for _, s := range looks {
		c.Look(s)
	}
	return c
}

func state(at int64, leader int32, isr ...int32) tuning.ISRState {
	return tuning.ISRState{AtMs: at, Leader: leader, Replicas: []int32{1, 2, 3}, ISR: isr}
}

// TestHistoryByLooks: a state for each change, and a gap where nobody looked.
func TestHistoryByLooks(t *testing.T) {
	t.Parallel()
	c := collect(look(0, 0, 1, 2, 3), look(1, 0, 1, 2, 3), look(2, 0, 1, 2), look(20, 0, 1, 2), look(21, 0, 1, 2, 3))
	want := &tuning.ISRHistory{
		Topic: "orders", FromMs: second(0), ToMs: second(21), Gaps: []tuning.Span{{FromMs: second(2), ToMs: second(20)}}, Racks: map[int32]string{1: "a"},
		States: []tuning.ISRState{state(second(0), 1, 1, 2, 3), state(second(2), 1, 1, 2), state(second(21), 1, 1, 2, 3)},
	}
	if diff := cmp.Diff(want, c.history(c.topics["orders"])); diff != "" {
		t.Error(diff)
	}
}

// TestHistoryByEvents: what was before an event is told by it, what was before a topic was
// made has nothing to do with it, and what no event tells of was always as it is.
func TestHistoryByEvents(t *testing.T) {
	t.Parallel()
	event := func(at int, kind inspect.IsrEventType, before, isr brokers, leader inspect.BrokerID, of ...inspect.BrokerID) inspect.IsrEvent {
		return inspect.IsrEvent{
			Time: begin.Add(time.Duration(at) * time.Second), Topic: "orders", Type: kind, Brokers: of, Replicas: brokers{1, 2, 3},
			ISRBefore: before, ISR: isr, Leader: leader,
		}
	}
	all := brokers{1, 2, 3}
	known := []Span{{begin.Add(-time.Hour), begin.Add(-time.Minute)}, {begin.Add(-30 * time.Second), begin.Add(time.Second)}}
	gaps := []tuning.Span{{FromMs: second(-60), ToMs: second(-30)}}
	for name, tt := range map[string]struct {
		events []inspect.IsrEvent
		want   []tuning.ISRState
	}{
		"none":     {nil, []tuning.ISRState{state(second(-3600), 1, 1, 2, 3)}},
		"a shrink": {[]inspect.IsrEvent{event(-9, inspect.IsrShrink, all, brokers{1, 2}, 1, 3)}, []tuning.ISRState{state(second(-3600), 1, 1, 2, 3), state(second(-9), 1, 1, 2)}},
		"an election": {[]inspect.IsrEvent{event(-9, inspect.IsrLeader, all, all, 1, 2, 1)}, []tuning.ISRState{
			state(second(-3600), 2, 1, 2, 3), state(second(-9), 1, 1, 2, 3),
		}},
		"made anew": {[]inspect.IsrEvent{
			event(-90, inspect.IsrShrink, all, brokers{1}, 1, 2, 3), event(-9, inspect.IsrCreate, nil, all, 1, 1, 2, 3),
		}, []tuning.ISRState{state(second(-9), 1, 1, 2, 3)}},
	} {
		c := collect(look(0, 0, 1, 2, 3), look(1, 0, 1, 2, 3), look(2, 0, 1, 2, 3))
		for i := range tt.events {
			c.Event(&tt.events[i])
		}
		c.Known(known)
		h := c.history(c.topics["orders"])
		if diff := cmp.Diff(tt.want, h.States); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if h.FromMs != second(-3600) || h.ToMs != second(2) || !cmp.Equal(h.Gaps, gaps) {
			t.Errorf("%s: from %d to %d, gaps %v", name, h.FromMs, h.ToMs, h.Gaps)
		}
	}
}

// TestWhenAnswered: a lag lasts until the broker's answer, however long ago the look that
// brought it began. The follower is behind in four looks.
func TestWhenAnswered(t *testing.T) {
	t.Parallel()
	longest := func(leader, follower time.Duration) int64 {
		c := NewCollector(Options{Interval: time.Second})
		for at := range 30 {
			s := look(at, inspect.Offset(10*at), 1, 2, 3)
			s.Brokers = append(s.Brokers, inspect.Broker{ID: 2, FollowerLEOsAt: inspect.Known(s.TakenAt)}, inspect.Broker{ID: 3})
			s.Brokers[0].LeaderLEOsAt = inspect.Known(s.TakenAt)
			if at >= 10 && at < 14 {
				s.Topics[0].Partitions[0].Offsets.Followers[0].LEO = inspect.Known(inspect.Offset(95))
			} else if at == 14 {
				s.Brokers[0].LeaderLEOsAt = inspect.Known(s.TakenAt.Add(leader))
				s.Brokers[1].FollowerLEOsAt = inspect.Known(s.TakenAt.Add(follower))
			}
			c.Look(s)
		}
		return c.replay.Result().LongestMs
	}
	atOnce := longest(0, 0)
	if d := longest(0, 900*time.Millisecond) - atOnce; d != 450 { // half of what is not known
		t.Errorf("a follower's answer that comes 900 ms late makes the lag %d ms longer", d)
	}
	if d := longest(900*time.Millisecond, 900*time.Millisecond) - atOnce; d != 450 {
		t.Errorf("answers that come 900 ms late make the lag %d ms longer", d)
	}
	if d := longest(900*time.Millisecond, 0) - atOnce; d != 450 { // it was asked after its leader
		t.Errorf("a leader's answer that comes 900 ms late makes the lag %d ms longer", d)
	}
}

// TestAcks: what comes while an ISR is certainly below its minimum proves weak acks; what
// comes as it falls below does not, nor what was not looked at.
func TestAcks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		looks    []*inspect.Snapshot
		appended int64
	}{
		"in sync":            {[]*inspect.Snapshot{look(0, 0, 1, 2), look(1, 50, 1, 2), look(2, 90, 1, 2)}, 0},
		"as it falls":        {[]*inspect.Snapshot{look(0, 0, 1, 2), look(1, 50, 1), look(2, 90, 1)}, 0},
		"while it is":        {[]*inspect.Snapshot{look(0, 0, 1, 2), look(1, 50, 1), look(2, 90, 1), look(3, 97, 1)}, 7},
		"after a gap":        {[]*inspect.Snapshot{look(0, 0, 1), look(1, 50, 1), look(60, 90, 1)}, 0},
		"nobody writes then": {[]*inspect.Snapshot{look(0, 5, 1), look(1, 5, 1), look(2, 5, 1), look(3, 5, 1)}, 0},
	} {
		c := collect(tt.looks...)
		if got := c.topics["orders"].acks.AppendedUnderMinISR; got != tt.appended {
			t.Errorf("%s: %d records, want %d", name, got, tt.appended)
		}
	}
}

// TestResult: the settings in force, and who said so; a topic that is made anew is another.
func TestResult(t *testing.T) {
	t.Parallel()
	c := collect(look(0, 0, 1), look(1, 10, 1, 2, 3), look(2, 20, 1, 2, 3))
	r := c.Result()
	got := map[string]string{}
	for _, a := range r.Advice {
		got[a.Setting] = a.Current
	}
	if diff := cmp.Diff(map[string]string{
		"replica.lag.time.max.ms": "30000", "broker.session.timeout.ms": "9000", "num.replica.fetchers": "", "replica.fetch.max.bytes": "",
		"min.insync.replicas": "2", "acks": "",
	}, got); diff != "" {
		t.Error(diff)
	}
	if r.Advice[0].Evidence.WindowMs != 2000 || c.settings.SessionTimeoutMs != 9000 || !c.topics["orders"].settings.OfTopic {
		t.Errorf("window %d ms, settings %+v, of topic %v", r.Advice[0].Evidence.WindowMs, c.settings, c.topics["orders"].settings.OfTopic)
	}
	anew := look(3, 0, 1, 2)
	anew.Topics[0].ID = inspect.Known("B")
	c.Look(anew)
	if diff := cmp.Diff([]tuning.ISRState{state(second(3), 1, 1, 2)}, c.topics["orders"].partitions[0].states); diff != "" {
		t.Errorf("states of the new topic: %s", diff)
	}
}

// TestFindings: one for all topics of which the same is said, none for what is well or not
// known, and nothing critical.
func TestFindings(t *testing.T) {
	t.Parallel()
	s := look(0, 0, 1, 2, 3)
	add := func(name string, minISR inspect.Opt[int32], unclean bool) {
		topic := s.Topics[0]
		topic.Name, topic.MinInsyncReplicas, topic.UncleanElection = name, minISR, inspect.Known(unclean)
		s.Topics = append(s.Topics, topic)
	}
	if got := Findings(s, nil); len(got) != 0 {
		t.Errorf("all is well: %+v", got)
	}
	add("a", inspect.Known[int32](1), false)
	add("b", inspect.Known[int32](1), true)
	add("c", inspect.Unknown[int32](), false)
	add("d", inspect.Known[int32](3), false)
	keep := func(name string, _ bool) bool { return name != "d" }
	got := map[string][]string{}
	for _, f := range Findings(s, keep) {
		got[string(f.ID)] = f.Topics
		if f.Severity != "warning" || f.Title == "" || f.Remedy == "" || len(f.Next) == 0 {
			t.Errorf("%+v", f)
		}
	}
	if diff := cmp.Diff(map[string][]string{"min-isr-one": {"a", "b"}, "unclean-election": {"b"}}, got); diff != "" {
		t.Error(diff)
	}
}
