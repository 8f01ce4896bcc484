package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/advise"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestEventsReachTheRules: a broker that was fenced three times in the last hour, with
// nothing to be seen of it in the looks, is found as kafkaops diagnose finds it, and the
// advice knows the stretch as kafkaops tune does.
func TestEventsReachTheRules(t *testing.T) {
	t.Parallel()
	const well = "broker 1\nbroker 2\nbroker 3\norders 0 leader=1 replicas=1,2,3 min=2 leo=%d\n"
	for _, known := range []bool{true, false} {
		s := newScript(t)
		for i := range 5 {
			s.now = s.now.Add(2 * time.Second)
			s.next = fakeLook(t, s.now, fmt.Sprintf(well, 100*i))
			if i == 1 {
				s.next.Events = fencings(s.now)
			}
			if known && i > 0 {
				s.next.Known = []advise.Span{{Since: s.now.Add(-24 * time.Hour), Until: s.now}}
			}
			s.take()
		}
		l := s.m.look()
		found, missing := false, false
		for i := range l.Report.Findings {
			found = found || l.Report.Findings[i].Broker == inspect.Known(inspect.BrokerID(3)) && strings.Contains(l.Report.Findings[i].Title, "fenced 3 times")
		}
		for _, c := range l.Report.Checks {
			missing = missing || strings.Contains(c.Missing, "history was not read")
		}
		if found != known || missing == known {
			t.Errorf("known %v: found %v, history missing %v: %+v", known, found, missing, l.Report.Findings)
		}
		day := false
		for i := range l.Advice.Advice {
			day = day || l.Advice.Advice[i].Evidence.WindowMs >= (23*time.Hour).Milliseconds()
		}
		if day != known {
			t.Errorf("known %v: the advice rests on a day: %v", known, day)
		}
	}
}

// fencings are what the metadata log says of a broker 3 that was fenced three times in the
// last half hour, and came back in the same life.
func fencings(at time.Time) (out []inspect.IsrEvent) {
	for i := range 3 {
		e := inspect.IsrEvent{
			Time: at.Add(time.Duration(i-4) * 5 * time.Minute), Topic: "orders", Type: inspect.IsrShrink, Cause: inspect.CauseBrokerFenced,
			Brokers: []inspect.BrokerID{3}, Replicas: []inspect.BrokerID{1, 2, 3}, ISRBefore: []inspect.BrokerID{1, 2, 3}, ISR: []inspect.BrokerID{1, 2},
			Leader: 1, Source: inspect.SourceMetadataLog,
		}
		back := e
		back.Time, back.Type, back.Cause = e.Time.Add(20*time.Second), inspect.IsrExpand, inspect.CauseCaughtUp
		back.ISRBefore, back.ISR = e.ISR, e.ISRBefore
		back.Out, back.FencedFor = inspect.Known(20*time.Second), inspect.Known(15*time.Second)
		out = append(out, e, back)
	}
	return out
}

// TestLoadsLast: what meters told is shown until it is old, for they are read seldom.
func TestLoadsLast(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	take := func(load inspect.Opt[inspect.Load]) inspect.Opt[float64] {
		s.now = s.now.Add(10 * time.Second)
		s.next = fakeLook(t, s.now, "broker 1\norders 0 leader=1 replicas=1 leo=5\n")
		s.next.Snap.Brokers[0].Load = load
		s.take()
		return s.m.look().Brokers[0].Load.Or(inspect.Load{}).HandlerIdle
	}
	idle := inspect.Known(0.4)
	told := inspect.Known(inspect.Load{HandlerIdle: idle})
	for i, want := range []inspect.Opt[float64]{idle, idle, idle, idle, {}} {
		load := inspect.Unknown[inspect.Load]()
		if i == 0 {
			load = told
		}
		if got := take(load); got != want {
			t.Errorf("%d s later: %v, want %v", 10*i, got, want)
		}
	}
}
