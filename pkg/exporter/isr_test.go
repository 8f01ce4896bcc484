package exporter

import (
	"fmt"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

type ids = []inspect.BrokerID

var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// looked is a look at a partition t-0 of replicas 1, 2, 3, the second after which it was
// taken, and by a.
type looked struct {
	epoch    int
	leader   inspect.BrokerID
	isr      ids
	replicas ids
}

func (l looked) at(second int) *inspect.Snapshot {
	s := &inspect.Snapshot{TakenAt: day.Add(time.Duration(second) * time.Second), KeepsELR: inspect.Known(false), ToldBy: "a"}
	for id := inspect.BrokerID(1); id <= 3; id++ {
		s.Brokers = append(s.Brokers, inspect.Broker{ID: id})
	}
	if l.leader == 0 {
		return s // the topic is not in it
	}
	p := inspect.Partition{
		Topic: "t", TopicID: inspect.Known("id"), Leader: l.leader, LeaderEpoch: inspect.Known(inspect.Epoch(l.epoch)), ISR: l.isr, Replicas: l.replicas,
	}
	if p.Replicas == nil {
		p.Replicas = ids{1, 2, 3}
	}
	s.Topics = []inspect.Topic{{Name: "t", ID: p.TopicID, Partitions: []inspect.Partition{p}}}
	return s
}

// counted is all that is not 0, in one line.
func counted(c *isrChanges) string {
	p := c.of("t", 0)
	out := fmt.Sprintf("%v shrinks, %v expands", p.shrinks, p.expands)
	for _, of := range []struct {
		what string
		in   map[brokerCause]float64
	}{{"left", c.shrinks}, {"came", c.expands}} {
		for _, b := range causeCounts(of.in) {
			if b.n > 0 {
				out += fmt.Sprintf("; %s %s %s %v", b.broker, of.what, b.cause, b.n)
			}
		}
	}
	if c.unclean > 0 {
		out += fmt.Sprintf("; %v unclean", c.unclean)
	}
	for _, r := range gapReasons() {
		if c.gaps[r] > 0 {
			out += fmt.Sprintf("; gap %s %v", r, c.gaps[r])
		}
	}
	return out
}

func wantCounted(t *testing.T, what string, c *isrChanges, want string) {
	t.Helper()
	if got := counted(c); got != want {
		t.Errorf("%s:\ngot  %s\nwant %s", what, got, want)
	}
}

// TestISRCounts: what is counted of events. How looks become events is isrlog's.
func TestISRCounts(t *testing.T) {
	t.Parallel()
	event := func(offset int, kind inspect.IsrEventType, cause inspect.IsrCause, brokers ...inspect.BrokerID) inspect.IsrEvent {
		return inspect.IsrEvent{
			Time: day, Topic: "t", Type: kind, Cause: cause, Brokers: brokers, Replicas: ids{1, 2, 3}, Offset: inspect.Known(inspect.Offset(offset)),
		}
	}
	for _, tt := range []struct {
		name   string
		events []inspect.IsrEvent
		want   string
	}{
		{"one change of two causes", []inspect.IsrEvent{
			event(1, inspect.IsrShrink, inspect.CauseBrokerFenced, 3), event(1, inspect.IsrShrink, inspect.CauseUnknown, 2),
			event(1, inspect.IsrExpand, inspect.CauseELRElection, 1), event(1, inspect.IsrExpand, inspect.CauseCaughtUp, 2),
		}, "1 shrinks, 1 expands; 2 left unknown 1; 3 left broker-fenced 1; 1 came elr-election 1; 2 came caught-up 1"},
		{"two changes at one time", []inspect.IsrEvent{
			event(1, inspect.IsrShrink, inspect.CauseReplicaLag, 3), event(2, inspect.IsrShrink, inspect.CauseReplicaLag, 3),
			event(3, inspect.IsrExpand, inspect.CauseCaughtUp, 3), event(4, inspect.IsrExpand, inspect.CauseCaughtUp, 3),
		}, "2 shrinks, 2 expands; 3 left replica-lag 2; 3 came caught-up 2"},
		{"who is taken away with the assignment is no loss, and who stays is", []inspect.IsrEvent{
			event(1, inspect.IsrShrink, inspect.CauseReassignment, 4), event(2, inspect.IsrShrink, inspect.CauseUnknown, 4, 2),
		}, "1 shrinks, 0 expands; 2 left unknown 1"},
		{"who is added comes", []inspect.IsrEvent{event(1, inspect.IsrExpand, inspect.CauseReassignment, 3)}, "0 shrinks, 1 expands; 3 came reassignment 1"},
		{"elections", []inspect.IsrEvent{
			event(1, inspect.IsrLeader, inspect.CauseELRElection, 1), event(2, inspect.IsrLeader, inspect.CauseUncleanElection, 1, 2),
			event(3, inspect.IsrLeader, inspect.CauseLastKnownLeader, 2), event(4, inspect.IsrLeader, inspect.CausePreferredElection, 2, 1),
		}, "0 shrinks, 0 expands; 2 unclean"},
		{"no ISR", []inspect.IsrEvent{
			event(1, inspect.IsrCreate, inspect.CauseTopicCreated, 1, 2, 3), event(2, inspect.IsrELR, inspect.CauseUncleanRestart, 2),
			event(3, inspect.IsrReassign, inspect.CauseReassignment, 1), event(4, inspect.IsrDelete, inspect.CauseTopicDeleted, 1, 2, 3),
		}, "0 shrinks, 0 expands"},
	} {
		c := newISRChanges()
		c.countAll(tt.events)
		wantCounted(t, tt.name, c, tt.want)
	}
}

// TestISRLooks: by looks alone. A change is counted once for its partition, however many
// causes it has; what a reassignment takes away is no shrink; topics that are gone are
// forgotten, and not by one look that missed them.
func TestISRLooks(t *testing.T) {
	t.Parallel()
	c := newISRChanges()
	look := func(second int, l looked) { c.look(l.at(second), 6*time.Second, day) }
	whole := looked{1, 1, ids{1, 2, 3}, nil}
	look(0, looked{1, 1, ids{1}, nil})
	wantCounted(t, "the first look", c, "0 shrinks, 0 expands")
	look(1, whole)
	look(2, looked{2, 2, ids{2}, nil})
	look(3, looked{2, 2, ids{2, 3}, nil})
	look(4, looked{2, 2, ids{2, 3, 4}, ids{1, 2, 3, 4}})
	look(5, looked{2, 2, ids{2, 3}, ids{1, 2, 3}})
	const all = "1 shrinks, 3 expands; 1 left unknown 1; 3 left unknown 1; 2 came caught-up 1; 3 came caught-up 2; 4 came reassignment 1"
	wantCounted(t, "some of all", c, all)
	look(6, looked{1, 1, ids{1, 2, 3}, nil}) // by a broker that was paused
	wantCounted(t, "an older look", c, all)
	look(12, looked{2, 2, ids{2, 3}, nil})
	look(14, looked{2, 2, ids{2, 3}, nil})
	wantCounted(t, "after looks that were too far apart", c, all+"; gap looks 1")
	for second := range 61 {
		look(15+second, looked{1, 1, ids{1, 2, 3}, nil})
	}
	wantCounted(t, "what is older for good", c, all+"; gap looks 2; gap older 1")
	look(100, looked{})
	wantCounted(t, "a look that missed the topic", c, all+"; gap looks 3; gap older 1")
	c.look(looked{}.at(500), time.Hour, day)
	if len(c.topics) > 0 {
		t.Error("a topic that is gone is remembered")
	}
}

// TestISRSources: each change is counted once, whichever source tells it, and though the
// other one sees it too.
func TestISRSources(t *testing.T) {
	t.Parallel()
	c := newISRChanges()
	second := 0
	at := func() time.Time { return day.Add(time.Duration(second) * time.Second) }
	look := func(l looked) { second++; c.look(l.at(second), time.Hour, at()) }
	// state is the controller's own, asked for a moment after the last look or before.
	state := func(l looked) *inspect.Snapshot {
		s := l.at(second)
		s.ToldBy = ""
		for i := range s.Brokers {
			s.Brokers[i].Fenced = inspect.Known(s.Brokers[i].ID == 3)
		}
		return s
	}
	event := func(offset int, kind inspect.IsrEventType, cause inspect.IsrCause, brokers ...inspect.BrokerID) {
		c.event(&inspect.IsrEvent{
			Time: at(), Topic: "t", Type: kind, Cause: cause, Brokers: brokers, Replicas: ids{1, 2, 3}, Offset: inspect.Known(inspect.Offset(offset)),
		})
	}
	whole, two, one := looked{1, 1, ids{1, 2, 3}, nil}, looked{1, 1, ids{1, 2}, nil}, looked{1, 1, ids{1}, nil}
	look(whole)
	event(5, inspect.IsrShrink, inspect.CauseReplicaLag, 3)
	wantCounted(t, "the log is not what counts yet", c, "0 shrinks, 0 expands")
	c.begin(state(two), 10, at(), "c")
	wantCounted(t, "a look was taken since the log was asked", c, "0 shrinks, 0 expands")
	c.begin(state(two), 10, at().Add(1), "c")
	wantCounted(t, "what happened before the log began", c, "1 shrinks, 0 expands; 3 left broker-fenced 1")
	event(9, inspect.IsrShrink, inspect.CauseBrokerFenced, 3) // held until now
	event(10, inspect.IsrExpand, inspect.CauseCaughtUp, 3)
	look(two) // of before
	look(whole)
	event(11, inspect.IsrShrink, inspect.CauseReplicaLag, 2)
	event(12, inspect.IsrExpand, inspect.CauseCaughtUp, 2)
	look(whole) // has seen nothing
	c.begin(state(one), 13, at().Add(1), "c")
	const byLog = "2 shrinks, 2 expands; 2 left replica-lag 1; 3 left broker-fenced 1; 2 came caught-up 1; 3 came caught-up 1"
	wantCounted(t, "what the log tells", c, byLog)
	// The last look knows more than the log has told, or has yet to be told less.
	look(one)
	c.end(state(two))
	wantCounted(t, "the end of the log", c, byLog+"; gap log 1")
	c.event(&inspect.IsrEvent{Type: inspect.IsrShrink, Topic: "t", Brokers: ids{2}, Replicas: ids{1, 2, 3}, Offset: inspect.Known(inspect.Offset(20))})
	look(whole) // of a broker that is behind
	look(two)
	wantCounted(t, "looks after it that tell nothing new", c, byLog+"; gap log 1")
	look(one)
	const both = "3 shrinks, 2 expands; 2 left replica-lag 1; 2 left unknown 1; 3 left broker-fenced 1; 2 came caught-up 1; 3 came caught-up 1; gap log 1"
	wantCounted(t, "looks after it", c, both)
	c.end(state(whole))
	c.trimmed()
	wantCounted(t, "the end of a log that had not begun again", c, both)
	c.begin(state(one), 30, at().Add(1), "c")
	c.trimmed()
	wantCounted(t, "the log again", c, both+"; gap trimmed 1")
}
