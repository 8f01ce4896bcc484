package sim

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// I8: offsets are given once and without gaps, leader epochs of batches do not
// fall, and the leader epochs that a replica and its checkpoint know are those of
// its log.

func (w *World) checkDense(s *shadow, b *batch) {
	n := len(s.batches)
	switch {
	case b.last < b.base:
		w.fail("I8", "%s %s-%d: a batch goes from %d to %d", s.p.name, s.part.topic, s.part.index, b.base, b.last)
	case n == 0 && (b.base > s.end || b.last < s.end), n > 0 && b.base != s.end:
		w.fail("I8", "%s %s-%d: the log ended at %d, and the next batch goes from %d to %d", s.p.name, s.part.topic, s.part.index, s.end, b.base, b.last)
	case n > 0 && b.epoch < s.batches[n-1].epoch:
		w.fail("I8", "%s %s-%d: epoch %d at %d, after %d", s.p.name, s.part.topic, s.part.index, b.epoch, b.base, s.batches[n-1].epoch)
	case b.epoch < 0:
		w.fail("I8", "%s %s-%d: no epoch at %d", s.p.name, s.part.topic, s.part.index, b.base)
	}
}

// checkEpochs compares the epochs that are known with those of the log.
func (w *World) checkEpochs(s *shadow) {
	if s.status.Busy || s.r == nil || s.unread || s.p.stopping || s.status.Role == replica.Offline {
		return
	}
	var want logstate.Epochs
	start := s.status.LogStart
	first := at(s.batches, start)
	for i := first; i >= 0 && i < len(s.batches); i++ {
		b := &s.batches[i]
		want.Assign(logstate.Epoch(b.epoch), max(b.base, start))
	}
	known := []*logstate.Epochs{s.r.Epochs()}
	// Else an order is under way, or has failed and its word is.
	if s.log.Start() == start && s.log.End() == s.end && !s.p.diskFaulty() {
		onDisk := s.log.Epochs()
		known = append(known, &onDisk)
	}
	for _, got := range known {
		entries := got.Entries()
		// A leader stores its epoch before it has appended anything.
		if k := len(entries); k > 0 && entries[k-1].Start == s.end {
			entries = entries[:k-1]
		}
		if w.plan.Keys > 0 {
			w.checkCompactedEpochs(s, entries)
			continue
		}
		if !slices.Equal(s.withoutCut(entries, want.Entries()), want.Entries()) {
			w.fail("I8", "%s %s-%d: the epochs are taken to be %v, and the log from %d to %d has %v", s.p.name, s.part.topic, s.part.index, entries, start, s.end, want.Entries())
			return
		}
	}
}

// withoutCut leaves out the epoch of a batch within which the log was cut, if the log does
// not show it otherwise.
func (s *shadow) withoutCut(got, shown []logstate.EpochStart) []logstate.EpochStart {
	cut := logstate.EpochStart{Epoch: logstate.Epoch(s.cutBatch.epoch), Start: max(s.cutBatch.base, s.status.LogStart)}
	if s.cutBatch.last == 0 || slices.Contains(shown, cut) {
		return got
	}
	return slices.DeleteFunc(slices.Clone(got), func(e logstate.EpochStart) bool { return e == cut })
}
