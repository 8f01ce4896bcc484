package tuning

import (
	"cmp"
	"slices"
)

// ISRHistory is what the ISRs of a topic's partitions were over time.
type ISRHistory struct {
	Topic string
	// FromMs and ToMs enclose what is known, Gaps in it what is not, in order and
	// without overlap: nothing is counted in them.
	FromMs, ToMs int64
	Gaps         []Span
	// States are in the order of their times. A partition's first one holds from
	// FromMs on, if it is not later.
	States []ISRState
	// Racks are the brokers' racks; brokers without one are left out.
	Racks map[int32]string
}

// Span is a stretch of time, [FromMs, ToMs).
type Span struct{ FromMs, ToMs int64 }

// ISRState is a partition's ISR from a moment on, until its next state.
type ISRState struct {
	AtMs      int64
	Partition int32
	// Leader is Unknown where there is none.
	Leader int32
	// Replicas are those assigned, ISR those in sync.
	Replicas, ISR []int32
}

// ISRReplay is what would have come of each min.insync.replicas.
type ISRReplay struct {
	// Partitions were seen, Shrinks of them too: states with fewer in the ISR than the
	// state before.
	Partitions, Shrinks int
	// KnownMs is the time without the gaps.
	KnownMs int64
	// MinRF and MaxRF are the least and the most replicas of a partition.
	MinRF, MaxRF int
	// OneCopyMs is for how long some partition with more replicas had no more than one
	// in sync, LeaderlessMs for how long some had no leader.
	OneCopyMs, LeaderlessMs int64
	// WorstLoss is the most replicas of a partition that were out at once.
	WorstLoss int
	// MinRacks is the least number of racks that an ISR was spread over, and
	// AssignedRacks the least that the replicas of a partition are; 0 where not all
	// racks are known.
	MinRacks, AssignedRacks int
	ByMinISR                []MinISROutcome // from 1 to MaxRF
}

// MinISROutcome is what a value of min.insync.replicas would have led to.
type MinISROutcome struct {
	MinISR int
	// RefusedMs is for how long some partition would have refused writes with
	// acks=all; PartitionRefusedMs sums it over the partitions.
	RefusedMs, PartitionRefusedMs int64
	// Refusals counts the stretches of RefusedMs.
	Refusals int
}

// Replay goes over the history once for each value. A partition without a leader
// refuses every write, whatever the value, and is counted as leaderless only.
//
// The value itself has no part in who is in an ISR, so that what was recorded with one
// tells of all; but it decides what an unclean end would have lost.
func (h *ISRHistory) Replay() ISRReplay {
	r := ISRReplay{KnownMs: h.ToMs - h.FromMs}
	for _, g := range h.Gaps {
		r.KnownMs -= max(0, min(g.ToMs, h.ToMs)-max(g.FromMs, h.FromMs))
	}
	for _, s := range h.States {
		n := len(s.Replicas)
		if r.MaxRF == 0 {
			r.MinRF = n
		}
		r.MinRF, r.MaxRF = min(r.MinRF, n), max(r.MaxRF, n)
	}
	oneCopy, leaderless := spans{}, spans{}
	refused := make([]spans, r.MaxRF+1)
	h.eachStretch(&r, func(s *ISRState, t Span) {
		out := len(s.Replicas) - len(s.ISR)
		r.WorstLoss = max(r.WorstLoss, out)
		if len(s.Replicas) > 1 && len(s.ISR) <= 1 {
			oneCopy = append(oneCopy, t)
		}
		r.racks(h, s)
		if s.Leader == Unknown {
			leaderless = append(leaderless, t)
			return
		}
		for m := 1; m <= r.MaxRF; m++ {
			// Kafka takes the smaller one (Partition.effectiveMinIsr).
			if len(s.ISR) < min(m, len(s.Replicas)) {
				refused[m] = append(refused[m], t)
			}
		}
	})
	r.OneCopyMs, _ = h.known(oneCopy)
	r.LeaderlessMs, _ = h.known(leaderless)
	for m := 1; m <= r.MaxRF; m++ {
		o := MinISROutcome{MinISR: m}
		for _, t := range refused[m] {
			ms, _ := h.known(spans{t})
			o.PartitionRefusedMs += ms
		}
		o.RefusedMs, o.Refusals = h.known(refused[m])
		r.ByMinISR = append(r.ByMinISR, o)
	}
	return r
}

// eachStretch tells each partition's states with the time for which they held, and
// counts.
func (h *ISRHistory) eachStretch(r *ISRReplay, tell func(s *ISRState, t Span)) {
	states := slices.Clone(h.States)
	slices.SortStableFunc(states, func(a, b ISRState) int {
		return cmp.Or(cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.AtMs, b.AtMs))
	})
	for i := range states {
		s := &states[i]
		if i == 0 || states[i-1].Partition != s.Partition {
			r.Partitions++
		} else if len(s.ISR) < len(states[i-1].ISR) {
			r.Shrinks++
		}
		t := Span{max(s.AtMs, h.FromMs), h.ToMs}
		if i+1 < len(states) && states[i+1].Partition == s.Partition {
			t.ToMs = min(states[i+1].AtMs, h.ToMs)
		}
		if t.FromMs < t.ToMs {
			tell(s, t)
		}
	}
}

func (r *ISRReplay) racks(h *ISRHistory, s *ISRState) {
	assigned, ok := spread(s.Replicas, h.Racks)
	if !ok {
		return
	}
	inSync, _ := spread(s.ISR, h.Racks)
	if r.AssignedRacks == 0 {
		r.AssignedRacks, r.MinRacks = assigned, inSync
	}
	r.AssignedRacks, r.MinRacks = min(r.AssignedRacks, assigned), min(r.MinRacks, inSync)
}

// spread counts the racks of brokers; false where one is not known.
func spread(brokers []int32, racks map[int32]string) (int, bool) {
	var seen []string
	for _, b := range brokers {
		rack, ok := racks[b]
		if !ok {
			return 0, false
		}
		if !slices.Contains(seen, rack) {
			seen = append(seen, rack)
		}
	}
	return len(seen), true
}

type spans []Span

// known is how long the union of spans is, without the gaps, and of how many stretches
// it is made.
func (h *ISRHistory) known(s spans) (ms int64, stretches int) {
	s = slices.Clone(s)
	slices.SortFunc(s, func(a, b Span) int { return cmp.Compare(a.FromMs, b.FromMs) })
	for i := 0; i < len(s); {
		t := s[i]
		for ; i < len(s) && s[i].FromMs <= t.ToMs; i++ {
			t.ToMs = max(t.ToMs, s[i].ToMs)
		}
		length := t.ToMs - t.FromMs
		for _, g := range h.Gaps {
			length -= max(0, min(g.ToMs, t.ToMs)-max(g.FromMs, t.FromMs))
		}
		if length > 0 {
			ms += length
			stretches++
		}
	}
	return ms, stretches
}
