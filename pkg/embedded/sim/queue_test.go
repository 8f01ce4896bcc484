package sim

import (
	"math/rand/v2"
	"testing"
)

// TestQueueOrder: events come out by time, and those of one time in the order in
// which they were scheduled, while others still come in.
func TestQueueOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	var q queue
	var last event
	pushed := 0
	for popped := 0; popped < 20_000; {
		if pushed < 20_000 && (q.len() == 0 || rng.IntN(2) == 0) {
			q.push(event{at: last.at + rng.Int64N(20), who: int32(pushed)})
			pushed++
			continue
		}
		e := q.pop()
		popped++
		if e.before(&last) {
			t.Fatalf("event %d at %d came after %d at %d", e.seq, e.at, last.seq, last.at)
		}
		last = e
	}
	if q.len() != 0 {
		t.Errorf("%d events are left", q.len())
	}
}

// TestClock: when a process wakes, its clock is at the deadline or a ms before it,
// however fast it runs, and never runs back.
func TestClock(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	for range 10_000 {
		c := clock{startUs: rng.Int64N(1 << 30), baseMs: rng.Int64N(1 << 20), ppm: rng.Int64N(401) - 200}
		deadline := c.baseMs + rng.Int64N(1<<20)
		if got := c.mono(c.when(deadline)); got != deadline && got != deadline-1 {
			t.Fatalf("%+v: at the time of %d it is %d", c, deadline, got)
		}
		at := c.startUs + rng.Int64N(1<<40)
		if c.mono(at+1) < c.mono(at) {
			t.Fatalf("%+v runs back at %d", c, at)
		}
	}
}
