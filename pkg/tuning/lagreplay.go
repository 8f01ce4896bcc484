package tuning

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/kafkaops/kafkaops/internal/isrrule"
)

// The limits of what is replayed.
const (
	// maxMissed is how many sampling intervals in a row may be missing before what a
	// follower did in them counts as unknown.
	maxMissed = 3
	// maxWindowMs is how long a follower may be behind and still count as one that
	// heals by itself. It also bounds what is kept.
	maxWindowMs = 30 * 60_000
	// seenLooks is how many looks have to find a follower behind before its excursion
	// counts as evidence: one look alone may be a fetch under way.
	seenLooks = 2
)

// LagOptions say what to replay.
type LagOptions struct {
	// CandidatesMs are values of replica.lag.time.max.ms. nil: CandidatesMs().
	CandidatesMs []int64
	// IntervalMs is the time between two looks of a partition, 0: 1000.
	IntervalMs int64
	// FetchWaitMs is the cluster's replica.fetch.wait.max.ms, 0: 500, the default.
	FetchWaitMs int64
}

// CandidatesMs are the values of replica.lag.time.max.ms that are tried.
func CandidatesMs() []int64 {
	return []int64{
		2000, 3000, 4000, 5000, 6000, 8000, 10_000, 12_000, 15_000, 18_000, 21_000, 25_000, 30_000, 37_000, 45_000, 60_000, 75_000, 90_000, 120_000,
	}
}

// LagReplay replays what was seen of the followers' lag for each candidate of
// replica.lag.time.max.ms. It keeps what is under way and the longer excursions, not
// the looks.
type LagReplay struct {
	opts  LagOptions
	parts map[Partition]*Track

	fromMs, toMs int64
	busyMs       int64
	totals       LagTotals
	outcomes     []LagOutcome
	byBroker     map[int32][]float64 // removals by candidate
	seen         []excursion
	leader       leader
}

// excursion is a window that was seen clearly enough, and in which phases of each
// candidate somebody was removed in it.
type excursion struct {
	fromMs, toMs int64
	removed      []uint32 // nil: never
}

// NewLagReplay begins a replay.
func NewLagReplay(o LagOptions) *LagReplay {
	if o.CandidatesMs == nil {
		o.CandidatesMs = CandidatesMs()
	}
	o.CandidatesMs = slices.Clone(o.CandidatesMs)
	slices.Sort(o.CandidatesMs)
	o.CandidatesMs = slices.Compact(o.CandidatesMs)
	o.IntervalMs, o.FetchWaitMs = cmp.Or(o.IntervalMs, 1000), cmp.Or(o.FetchWaitMs, 500)
	r := &LagReplay{opts: o, parts: map[Partition]*Track{}, byBroker: map[int32][]float64{}}
	for _, t := range o.CandidatesMs {
		r.outcomes = append(r.outcomes, LagOutcome{LagTimeMaxMs: t})
	}
	return r
}

// Add takes a look at a partition. Those of one partition come in the order of their
// times.
func (r *LagReplay) Add(p Partition, look *Look) { r.Track(p).Add(look) }

// Track is where looks at a partition are added, for whoever has many of them.
func (r *LagReplay) Track(p Partition) *Track {
	t := r.parts[p]
	if t == nil {
		t = &Track{r: r}
		r.parts[p] = t
	}
	return t
}

// Add takes a look at the partition. They come in the order of their times.
func (t *Track) Add(look *Look) {
	r := t.r
	if r.totals.Looks == 0 {
		r.fromMs, r.toMs = look.AtMs, look.AtMs
	}
	r.totals.Looks++
	r.fromMs, r.toMs = min(r.fromMs, look.AtMs), max(r.toMs, look.AtMs)
	t.add(look)
}

// Track is one partition of a [LagReplay].
type Track struct {
	r         *LagReplay
	leader    int32
	epoch     int32
	marks     marks
	followers []follower
	// events and known are the open window's.
	events []event
	known  []bool
	behind int // looks
}

func (t *Track) add(look *Look) {
	if look.Leader == Unknown || look.LEO == Unknown {
		t.r.totals.Missed++
		return
	}
	if len(t.marks) > 0 {
		last := t.marks.last()
		switch {
		case look.AtMs <= last.atMs:
			return
		case look.Leader != t.leader, look.LeaderEpoch != t.epoch, look.LEO < last.leo, look.AtMs-last.atMs > maxMissed*t.r.opts.IntervalMs:
			// A new leader begins to count anew (Replica.resetReplicaState), and of what was
			// not seen nothing is known.
			t.cut(&t.r.totals.CutOff)
		case look.LEO > last.leo:
			t.r.busyMs += look.AtMs - last.atMs
		}
	}
	t.leader, t.epoch = look.Leader, look.LeaderEpoch
	t.marks = append(t.marks, mark{look.AtMs, look.LEO})
	for i := range look.Followers {
		t.see(look, i)
	}
	t.forget(look)
	t.maybeClose(look.AtMs)
}

func (t *Track) see(look *Look, i int) {
	who := t.indexOf(i, look.Followers[i].Broker)
	f := &t.followers[who]
	if f.inISR && !look.Followers[i].InISR && look.Followers[i].LEO != Unknown {
		t.r.totals.ObservedRemovals++
	}
	f.inISR = look.Followers[i].InISR
	if s, ok := look.sight(i); ok && !f.see(who, s, t) {
		t.cut(&t.r.totals.CutOff)
		t.marks = append(t.marks, mark{look.AtMs, look.LEO})
	}
}

// indexOf is where a follower is kept, which likely is where it was told.
func (t *Track) indexOf(likely int, broker int32) int {
	if likely < len(t.followers) && t.followers[likely].broker == broker {
		return likely
	}
	i := slices.IndexFunc(t.followers, func(f follower) bool { return f.broker == broker })
	if i < 0 {
		i = len(t.followers)
		t.followers = append(t.followers, follower{broker: broker})
		t.known = append(t.known, false)
	}
	return i
}

// emit opens a window with the first excursion in it; what happens to tight followers
// outside of windows is of no interest.
func (t *Track) emit(e event) {
	if len(t.events) == 0 {
		if e.kind != loosened {
			return
		}
		for i := range t.followers {
			t.known[i] = t.followers[i].state != lost
		}
	}
	t.events = append(t.events, e)
}

// forget loses the followers that were not seen for too long.
func (t *Track) forget(look *Look) {
	for i := range t.followers {
		f := &t.followers[i]
		if f.state == lost || look.AtMs-f.seenMs <= maxMissed*t.r.opts.IntervalMs {
			continue
		}
		if f.state == loose {
			t.cut(&t.r.totals.CutOff)
			return
		}
		f.state = lost
		t.emit(event{atMs: look.AtMs, kind: vanished, who: i, leo: look.LEO})
	}
}

// cut ends an open window, if there is one, without an answer, and begins anew.
func (t *Track) cut(count *int) {
	if len(t.events) > 0 {
		*count++
	}
	for i := range t.followers {
		t.followers[i].state = lost
	}
	t.events, t.behind = t.events[:0], 0
	t.marks = t.marks[:0]
}

func (t *Track) maybeClose(nowMs int64) {
	open, behind := false, 0
	for i := range t.followers {
		if f := &t.followers[i]; f.state == loose {
			open, behind = true, max(behind, f.behind)
		}
	}
	t.behind = max(t.behind, behind)
	switch {
	case len(t.events) == 0:
		t.marks = append(t.marks[:0], t.marks[max(0, len(t.marks)-3):]...)
	case !open:
		slices.SortStableFunc(t.events, func(a, b event) int { return cmp.Compare(a.atMs, b.atMs) })
		t.r.close(t, &window{followers: len(t.followers), known: t.known, events: t.events})
		t.events, t.behind = t.events[:0], 0
		t.marks = append(t.marks[:0], t.marks[max(0, len(t.marks)-3):]...)
	case nowMs-t.events[0].atMs > maxWindowMs:
		t.cut(&t.r.totals.Unhealed)
	}
}

// close replays a window that has ended.
func (r *LagReplay) close(t *Track, w *window) {
	r.totals.Excursions++
	longestMs := w.longestMs()
	if t.behind < seenLooks && longestMs < seenLooks*r.opts.IntervalMs {
		r.totals.Brief++
		return
	}
	x := excursion{fromMs: w.fromMs(), toMs: w.toMs()}
	r.totals.LongestMs = max(r.totals.LongestMs, longestMs)
	for c, lagMaxMs := range r.opts.CandidatesMs {
		if longestMs <= lagMaxMs {
			break // nor will it outlast the greater ones
		}
		mask := r.replay(t, w, c)
		if mask != 0 {
			if x.removed == nil {
				x.removed = make([]uint32, len(r.opts.CandidatesMs))
			}
			x.removed[c] = mask
		}
	}
	r.seen = append(r.seen, x)
}

// replay adds what a candidate makes of a window, and returns the phases in which it
// removes somebody.
func (r *LagReplay) replay(t *Track, w *window, candidate int) (removed uint32) {
	o := &r.outcomes[candidate]
	period := isrrule.ShrinkCheckMs(o.LagTimeMaxMs)
	for phase := range int64(phases) {
		for i, f := range r.leader.replay(w, o.LagTimeMaxMs, (2*phase+1)*period/(2*phases)) {
			if f.removals == 0 {
				continue
			}
			removed |= 1 << phase
			o.Removals += float64(f.removals) / phases
			o.OutMs += float64(f.outMs) / phases
			b := t.followers[i].broker
			if r.byBroker[b] == nil {
				r.byBroker[b] = make([]float64, len(r.outcomes))
			}
			r.byBroker[b][candidate] += float64(f.removals) / phases
		}
	}
	return removed
}

// LagTotals count what was seen.
type LagTotals struct {
	// Looks were taken, and Missed of them did not learn the leader's LEO.
	Looks, Missed int
	// Excursions healed; Brief ones of them were found by a single look, and are no
	// evidence of anything longer. CutOff ones were not seen to their end, and
	// Unhealed ones went on for half an hour: neither is replayed.
	Excursions, Brief, CutOff, Unhealed int
	// Episodes are the excursions that are not brief, with those that overlap
	// counted once.
	Episodes int
	// LongestMs is the longest excursion that healed.
	LongestMs int64
	// ObservedRemovals counts followers that left the ISR between two looks while
	// they answered: with the value that was in force then.
	ObservedRemovals int
}

// LagOutcome is what a value of replica.lag.time.max.ms would have led to over the
// whole window, averaged over the phase of the leader's timer.
type LagOutcome struct {
	LagTimeMaxMs int64
	// Removals of replicas from ISRs, and for how long they were out in all, in ms.
	Removals, OutMs float64
	// Episodes are those in which at least one replica was removed.
	Episodes float64
}

// BrokerRemovals is how many of the removals were a follower's.
type BrokerRemovals struct {
	Broker   int32
	Removals []float64 // by candidate
}

// LagResult is what a replay has come to.
type LagResult struct {
	LagTotals
	FromMs, ToMs int64
	// BusyMs is the time, summed over partitions, in which leaders were written to.
	BusyMs     int64
	IntervalMs int64
	Candidates []LagOutcome // by their value
	Brokers    []BrokerRemovals
}

// Result returns what was replayed so far. It changes nothing.
func (r *LagReplay) Result() LagResult {
	out := LagResult{
		LagTotals: r.totals, FromMs: r.fromMs, ToMs: r.toMs, BusyMs: r.busyMs, IntervalMs: r.opts.IntervalMs,
		Candidates: slices.Clone(r.outcomes),
	}
	for b, removals := range r.byBroker {
		out.Brokers = append(out.Brokers, BrokerRemovals{b, slices.Clone(removals)})
	}
	slices.SortFunc(out.Brokers, func(a, b BrokerRemovals) int { return cmp.Compare(a.Broker, b.Broker) })
	seen := slices.Clone(r.seen)
	slices.SortFunc(seen, func(a, b excursion) int { return cmp.Compare(a.fromMs, b.fromMs) })
	for i := 0; i < len(seen); {
		removed := make([]uint32, len(out.Candidates))
		for end := seen[i].toMs; i < len(seen) && seen[i].fromMs <= end; i++ {
			end = max(end, seen[i].toMs)
			for c, mask := range seen[i].removed {
				removed[c] |= mask
			}
		}
		out.Episodes++
		for c, mask := range removed {
			out.Candidates[c].Episodes += float64(bits.OnesCount32(mask)) / phases
		}
	}
	return out
}
