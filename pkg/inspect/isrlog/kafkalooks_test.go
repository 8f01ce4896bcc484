package isrlog

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// looking compares looks at a cluster's metadata while things are done to it.
type looking struct {
	began time.Time
	mu    sync.Mutex
	told  []inspect.IsrEvent
	looks []time.Time
}

// lookOn looks until the returned function is called.
func lookOn(t *testing.T, c *kafkatest.Cluster) (l *looking, stop func()) {
	t.Helper()
	src := source.New(connect.Config{Bootstrap: c.Bootstrap()}, 3*time.Second)
	poll := &Poll{Every: 200 * time.Millisecond, Whole: true, Take: func(ctx context.Context) (*inspect.Snapshot, error) {
		return src.Snapshot(ctx, source.Query{Parts: inspect.PartELR | inspect.PartFenced})
	}}
	l = &looking{}
	ctx, cancel := context.WithCancel(t.Context())
	begun := make(chan struct{})
	var once sync.Once
	done := make(chan error, 1)
	to := Listener{
		Event: func(e inspect.IsrEvent) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.told = append(l.told, e)
		},
		Evidence: func(Evidence) {},
		Progress: func(e Evidence) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.looks = append(l.looks, e.Until.Or(time.Time{}))
			once.Do(func() { close(begun) })
		},
		Note: func(string, bool) {}, // who is down does not answer
	}
	go func() { done <- poll.Read(ctx, Span{Follow: true}, to) }()
	select {
	case <-begun:
	case err := <-done:
		t.Fatal(err)
	}
	l.began = l.looks[0]
	return l, func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("looking ended with %v", err)
		}
	}
}

// soonSeen is within what time brokers tell what the controller has decided.
const soonSeen = 2 * time.Second

// check compares with all that the log has: nothing is invented, no ISR and no cause, and
// every ISR is told that was there for long enough for some looks.
func (l *looking) check(t *testing.T, log []inspect.IsrEvent) {
	t.Helper()
	of := func(all []inspect.IsrEvent, e *inspect.IsrEvent) (same []*inspect.IsrEvent) {
		for i := range all {
			if all[i].Topic == e.Topic && all[i].Partition == e.Partition {
				same = append(same, &all[i])
			}
		}
		return same
	}
	for i := range l.told {
		e := &l.told[i]
		if !slices.ContainsFunc(of(log, e), func(o *inspect.IsrEvent) bool {
			return sameISR(o, e) && o.Leader == e.Leader && o.Time.Before(e.Time.Add(soonSeen)) || e.Type == inspect.IsrDelete && o.Type == e.Type
		}) {
			t.Errorf("no such state of the partition is in the log: %s at %s", brief(e), e.Time)
		}
		if e.Cause != inspect.CauseUnknown && !slices.ContainsFunc(of(log, e), func(o *inspect.IsrEvent) bool {
			return loses(o.Cause) == loses(e.Cause) && (e.Type == inspect.IsrCreate || slices.ContainsFunc(e.Brokers, func(id inspect.BrokerID) bool { return slices.Contains(o.Brokers, id) }))
		}) {
			t.Errorf("the log has no such cause for who is concerned: %s at %s", brief(e), e.Time)
		}
	}
	must := 0
	for i := range log {
		e := &log[i]
		if e.Time.Before(l.began) || e.Type == inspect.IsrDelete {
			continue
		}
		until, next := time.Now(), of(log[i+1:], e)
		if n := slices.IndexFunc(next, func(o *inspect.IsrEvent) bool { return !sameISR(o, e) }); n >= 0 {
			until = next[n].Time
		}
		until = until.Add(-soonSeen / 2) // a look has the time at which it began
		looks := 0
		for _, at := range l.looks {
			if at.After(e.Time.Add(soonSeen)) && at.Before(until) {
				looks++
			}
		}
		if looks < 3 {
			continue
		}
		must++
		var last *inspect.IsrEvent // what was undone before a look leaves nothing to tell
		for _, o := range of(l.told, e) {
			if o.Time.Before(until) {
				last = o
			}
		}
		if last == nil || !sameISR(last, e) {
			t.Errorf("%d looks, and not told: %s at %s", looks, brief(e), e.Time)
		}
	}
	if must < 10 {
		t.Errorf("only %d changes were there for long enough", must)
	}
	t.Logf("%d looks told %d events, of %d in the log; %d had to be told", len(l.looks), len(l.told), len(log), must)
}

// loses is the cause, but for two elections that may lose records and look the same.
func loses(c inspect.IsrCause) inspect.IsrCause {
	if c == inspect.CauseLastKnownLeader {
		return inspect.CauseUncleanElection
	}
	return c
}

func sameISR(a, b *inspect.IsrEvent) bool {
	return slices.Equal(slices.Sorted(slices.Values(a.ISR)), slices.Sorted(slices.Values(b.ISR)))
}
