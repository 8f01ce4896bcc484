package diagnose

import (
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestFlapping: by the ISR's history where there is one, else by the looks; once is not a
// habit, and who came back as another process was not there all the time.
func TestFlapping(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return begin.Add(time.Duration(minute-60) * time.Minute) }
	fenced := func(minute int, id inspect.BrokerID) []inspect.IsrEvent {
		var out []inspect.IsrEvent
		for p := range int32(4) { // each of its partitions tells
			e := inspect.IsrEvent{Time: at(minute), Topic: "orders", Partition: p, Type: inspect.IsrShrink, Cause: inspect.CauseBrokerFenced, Brokers: ids{id}}
			if p == 3 {
				e.Type, e.Brokers = inspect.IsrLeader, ids{id, 1}
			}
			out = append(out, e)
		}
		return out
	}
	back := func(minute int, id inspect.BrokerID, alive bool) []inspect.IsrEvent {
		var out []inspect.IsrEvent
		for p := range int32(3) {
			e := inspect.IsrEvent{Time: at(minute), Topic: "orders", Partition: p, Type: inspect.IsrExpand, Cause: inspect.CauseCaughtUp, Brokers: ids{id}}
			if alive {
				e.FencedFor = inspect.Known(3 * second)
			}
			out = append(out, e)
		}
		return out
	}
	join := func(all ...[]inspect.IsrEvent) (out []inspect.IsrEvent) {
		for _, e := range all {
			out = append(out, e...)
		}
		return out
	}
	for name, tt := range map[string]struct {
		events []inspect.IsrEvent
		change func(sec int, s *inspect.Snapshot)
		want   []string
	}{
		"never":               {nil, nil, nil},
		"once":                {join(fenced(1, 2), back(2, 2, true)), nil, nil},
		"two brokers, once":   {join(fenced(1, 2), back(2, 2, true), fenced(3, 3), back(4, 3, true)), nil, nil},
		"twice":               {join(fenced(1, 2), back(2, 2, true), fenced(3, 2), back(4, 2, true)), nil, []string{"flapping 2"}},
		"as a new process":    {join(fenced(1, 2), back(2, 2, false), fenced(3, 2), back(4, 2, false)), nil, []string{"restarting 2"}},
		"and it is away now":  {join(fenced(1, 2), back(2, 2, true), fenced(59, 2)), func(_ int, s *inspect.Snapshot) { stop(s, 2) }, []string{"flapping 2: broker-down 2 replica-out 2"}},
		"other shrinks":       {[]inspect.IsrEvent{{Time: at(1), Type: inspect.IsrShrink, Cause: inspect.CauseReplicaLag, Brokers: ids{2}}, {Time: at(2), Type: inspect.IsrShrink, Cause: inspect.CauseControlledShutdown, Brokers: ids{2}}}, nil, nil},
		"more than the looks": {join(fenced(1, 2), back(2, 2, true)), func(sec int, s *inspect.Snapshot) { stopAt(s, sec == 2 || sec == 5) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := seen(8, tt.change)
			c.Events(tt.events, at(0), c.Last().TakenAt)
			want(t, c.Diagnose(), tt.want...)
		})
	}
	t.Run("by looks", func(t *testing.T) {
		t.Parallel()
		c := seen(8, func(sec int, s *inspect.Snapshot) { stopAt(s, sec == 2 || sec == 5) })
		c.known = false
		want(t, c.Diagnose(), "flapping 2")
	})
}

func stopAt(s *inspect.Snapshot, now bool) {
	if now {
		stop(s, 2)
	}
}
