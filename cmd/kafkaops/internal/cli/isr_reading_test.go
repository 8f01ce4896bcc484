package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
)

// telling is a source of so many events, behind so much that is forgotten.
type telling struct {
	events   int
	since    time.Time
	from     inspect.Offset
	deadline time.Time // that it was given
}

func (s *telling) Read(ctx context.Context, _ isrlog.Span, to isrlog.Listener) error {
	s.deadline, _ = ctx.Deadline()
	for i := range s.events {
		to.Event(inspect.IsrEvent{
			Time: s.since.Add(time.Duration(i) * time.Second), Topic: "orders", Type: inspect.IsrShrink, Cause: inspect.CauseReplicaLag,
			Brokers: []inspect.BrokerID{3}, Offset: inspect.Known(s.from + inspect.Offset(i)), Source: inspect.SourceMetadataLog,
		})
	}
	to.Evidence(isrlog.Evidence{
		Source: inspect.SourceMetadataLog, Where: "controller 100", From: inspect.Known(s.from), Since: inspect.Known(s.since),
		To: inspect.Known(s.from + 90_000), Until: inspect.Known(s.since.Add(time.Hour)),
	})
	return nil
}

// reading reads s in the place, by the flags that o has.
func (p place) reading(s isrlog.Source, o isrOptions) (r *isrReading, out, errs func() string) {
	d, env := p.double()
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	r = &isrReading{opts: &o, env: env, now: now, source: s, snap: &inspect.Snapshot{TakenAt: now}}
	r.view, _ = o.view(env.Terminal)
	r.view.Width = p.width
	r.span.Since = now.AddDate(0, 0, -100)
	return r, d.Stdout.String, d.Stderr.String
}

// TestIsrReading: the whole of --timeout is that of the whole pass, of which finding out
// which cluster it is has taken a part; and where the log has forgotten what was asked
// for, that is said, but not of one that begins with its cluster.
func TestIsrReading(t *testing.T) {
	t.Parallel()
	for from, forgotten := range map[inspect.Offset]bool{0: false, 1: false, 81220: true} {
		s := &telling{events: 1, from: from, since: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)}
		r, out, errs := place{}.reading(s, isrOptions{timeout: time.Hour, sinceGiven: true, viewOptions: viewOptions{output: "table", color: "never"}})
		r.now = time.Now() // or the time would be over
		want := r.now.Add(time.Hour)
		if err := r.table(t.Context()); err != nil || strings.Count(out(), "\n") != 2 {
			t.Errorf("from %d: %v, %s", from, err, out())
		}
		if !s.deadline.Equal(want) {
			t.Errorf("it may read until %s, want %s", s.deadline, want)
		}
		if got := strings.Contains(errs(), "and the evidence begins at 2026-11-29T00:00:00Z: what was before is not known"); got != forgotten {
			t.Errorf("from %d: stderr %q, want that something is forgotten: %v", from, errs(), forgotten)
		}
	}
}

// TestIsrTableOfMany: a terminal's table holds its rows, for the columns to fit; of more
// than it holds rows are written as they are read, and what the evidence is is not lost.
func TestIsrTableOfMany(t *testing.T) {
	t.Parallel()
	for _, n := range []int{300, mostHeld + 1} {
		s := &telling{events: n, since: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)}
		r, out, errs := screen().reading(s, isrOptions{timeout: time.Hour, viewOptions: viewOptions{output: "table", color: "never"}})
		r.now = time.Now()
		if err := r.table(t.Context()); err != nil {
			t.Fatal(err)
		}
		const evidence = "complete since offset 0 (2026-11-29 00:00:00Z)"
		held := n <= mostHeld
		if rows := strings.Count(out(), "orders-0"); rows != n || strings.Contains(out(), evidence) != held || strings.Contains(errs(), evidence) == held {
			t.Errorf("%d rows of %d, stderr %q, the screen begins\n%s", rows, n, errs(), out()[:200])
		}
	}
}
