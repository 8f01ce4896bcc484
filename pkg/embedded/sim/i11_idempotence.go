package sim

import "github.com/kafkaops/kafkaops/pkg/embedded/record"

// I11: per producer id and epoch sequences are without gap and repetition, over
// failovers, restarts and truncations. I12: nothing of an older epoch comes after
// a newer one's.

// checkSequence looks at a batch that is committed, in the order of the log.
func (w *World) checkSequence(x *part, b *batch) {
	if b.pid < 0 {
		return
	}
	s, known := x.producers[b.pid]
	switch {
	case !known, s.last < x.start:
		// Whoever's batches are all deleted may be forgotten (KIP-360).
	case b.pepoch < s.epoch:
		w.fail("I12", "%s-%d: producer %d has epoch %d at %d, after %d", x.topic, x.index, b.pid, b.pepoch, b.base, s.epoch)
	case b.pepoch == s.epoch && b.seq != s.next:
		w.fail("I11", "%s-%d: producer %d/%d has sequence %d at %d, and %d was next", x.topic, x.index, b.pid, b.pepoch, b.seq, b.base, s.next)
	case b.pepoch > s.epoch && b.seq != 0:
		w.fail("I11", "%s-%d: producer %d begins epoch %d with sequence %d at %d", x.topic, x.index, b.pid, b.pepoch, b.seq, b.base)
	}
	x.producers[b.pid] = sequence{epoch: b.pepoch, next: record.AddSequence(b.seq, int32(b.last-b.base)+1), last: b.last}
}
