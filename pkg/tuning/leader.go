package tuning

import (
	"math"
	"slices"

	"github.com/kafkaops/kafkaops/internal/isrrule"
)

// phases is how many places of the leader's timer a window is replayed with. Kafka
// looks for followers that lag each T/2, from when the broker was started: an
// excursion that outlasts T by a little is found or not by where in this half the
// timer is, and nobody knows that from outside. So it is averaged over.
const phases = 32

// window is a stretch of time in which some follower of a partition was behind. Before
// and after it all are in sync, so that windows can be replayed one by one.
type window struct {
	followers int
	// known are the followers that were tight when it began.
	known []bool
	// events are in the order of their times.
	events []event
}

func (w *window) fromMs() int64 { return w.events[0].atMs }
func (w *window) toMs() int64   { return w.events[len(w.events)-1].atMs }

// longestMs is the most that a leader's clock can have shown for a follower. It may be
// more than the window is long: a follower that stopped while nothing was written is
// behind only from the next record on.
func (w *window) longestMs() int64 {
	caughtUpMs := w.toMs()
	for i := range w.events {
		if e := &w.events[i]; e.kind == loosened {
			caughtUpMs = min(caughtUpMs, e.caughtUpMs)
		}
	}
	return w.toMs() - caughtUpMs
}

// outcome is what became of one follower in a replay.
type outcome struct {
	removals int
	outMs    int64
}

// leader replays a window: Kafka's own rule (isrrule), fed with the fetches that were
// reconstructed, for one value of replica.lag.time.max.ms and one phase.
type leader struct {
	lagMaxMs  int64
	hw        int64
	followers []replayed
}

type replayed struct {
	known, tight, inISR bool
	progress            isrrule.Progress
	outSinceMs          int64
	outcome
}

// replay returns what becomes of each follower. The slice is valid until the next
// replay.
func (l *leader) replay(w *window, lagMaxMs, phaseMs int64) []replayed {
	l.lagMaxMs, l.hw = lagMaxMs, math.MinInt64
	l.followers = slices.Grow(l.followers[:0], w.followers)[:w.followers]
	for i := range l.followers {
		l.followers[i] = replayed{known: w.known[i], tight: true, inISR: true}
	}
	period := max(isrrule.ShrinkCheckMs(lagMaxMs), 1)
	check := phaseMs + (w.fromMs()-phaseMs)/period*period
	for i := range w.events {
		e := &w.events[i]
		for ; check <= e.atMs; check += period {
			l.shrink(check)
		}
		l.take(e)
	}
	return l.followers
}

func (l *leader) take(e *event) {
	f := &l.followers[e.who]
	l.advanceHW(e.atMs, e.leo)
	switch e.kind {
	case loosened:
		f.tight = false
		f.progress = isrrule.Progress{LEO: e.offset, LastCaughtUpMs: e.caughtUpMs, LastFetchMs: e.caughtUpMs, LastFetchLeaderLEO: e.offset}
	case fetched:
		f.progress.Fetched(isrrule.Fetch{Offset: e.offset, LeaderLEO: e.leo, AtMs: e.atMs})
		// Time does not matter for who comes back (Partition.maybeExpandIsr).
		if !f.inISR && e.offset >= l.hw {
			f.rejoin(e.atMs)
		}
	case tightened:
		f.known, f.tight = true, true
		if !f.inISR {
			f.rejoin(e.atMs)
		}
	case vanished:
		f.known = false
	}
}

func (f *replayed) rejoin(atMs int64) {
	f.inISR = true
	f.outMs += atMs - f.outSinceMs
}

// shrink is Partition.maybeShrinkIsr. A follower that is loose is behind, so that the
// exemption for equal log ends does not apply; one that is tight has it.
func (l *leader) shrink(atMs int64) {
	for i := range l.followers {
		f := &l.followers[i]
		if f.known && f.inISR && !f.tight && !f.progress.CaughtUp(math.MaxInt64, atMs, l.lagMaxMs) {
			f.inISR, f.outSinceMs = false, atMs
			f.removals++
		}
	}
}

// advanceHW is Partition.maybeIncrementLeaderHW: a follower that is not in the ISR but
// was caught up within the lag time holds the HW back too, and so can come back.
func (l *leader) advanceHW(atMs, leo int64) {
	candidate := leo
	for i := range l.followers {
		f := &l.followers[i]
		if f.known && !f.tight && (f.inISR || f.progress.CaughtUp(math.MaxInt64, atMs, l.lagMaxMs)) {
			candidate = min(candidate, f.progress.LEO)
		}
	}
	l.hw = max(l.hw, candidate)
}
