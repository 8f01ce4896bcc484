package sim

import "github.com/kafkaops/kafkaops/pkg/embedded/record"

// I11: per producer id and epoch sequences are without gap and repetition, over
// failovers, restarts and truncations. I12: nothing of an older epoch comes after
// a newer one's.

// checkSequence looks at a batch that a leader's HW has passed, in the order of the log.
func (w *World) checkSequence(leader *shadow, b *batch) {
	if b.pid < 0 {
		return
	}
	x := leader.part
	s, known := x.producers[b.pid]
	switch {
	case !known, s.last < x.start:
		// Whoever's batches are all deleted may be forgotten (KIP-360).
	case leader.neverHad(b.pid, s.last, b.base):
	case b.pepoch < s.epoch:
		w.fail("I12", "%s-%d: producer %d has epoch %d at %d, after %d", x.topic, x.index, b.pid, b.pepoch, b.base, s.epoch)
	case b.pepoch == s.epoch && b.seq != s.next:
		w.fail("I11", "%s-%d: producer %d/%d has sequence %d at %d, and %d was next", x.topic, x.index, b.pid, b.pepoch, b.seq, b.base, s.next)
	case b.pepoch > s.epoch && b.seq != 0:
		w.fail("I11", "%s-%d: producer %d begins epoch %d with sequence %d at %d", x.topic, x.index, b.pid, b.pepoch, b.seq, b.base)
	}
	x.producers[b.pid] = sequence{epoch: b.pepoch, next: record.AddSequence(b.seq, int32(b.last-b.base)+1), last: b.last}
}

// neverHad reports whether a log was copied without any batch of a producer up to an offset
// below to, where others have committed some up to last. Compaction keeps a producer's last
// batch, of those that are appended: the log that was copied may have had a later one, which
// was not committed and so never came here. Its leader knows nothing of the producer then,
// and takes any sequence; in Kafka too (UnifiedLog.lastRecordsOfActiveProducers).
func (s *shadow) neverHad(pid int64, last, to Offset) bool {
	gone := false
	for i := range s.batches {
		b := &s.batches[i]
		if b.base >= to {
			break
		}
		if b.pid == pid && b.last >= s.part.start {
			if !b.gone {
				return false
			}
			gone = gone || b.last == last
		}
	}
	return gone
}
