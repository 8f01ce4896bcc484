package sim

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// I2, StrongIsr: for every replica that believes it leads, everything below its HW
// is on every member of the controller's ISR. It is void after an unclean election,
// and for a member whose disk was lost while it was in the ISR.

// checkStrongISR looks at all that lead a partition.
func (w *World) checkStrongISR(x *part) {
	for _, p := range w.brokers() {
		if s := p.shadowOf(x); s != nil {
			w.checkStrongISROf(s)
		}
	}
}

func (w *World) checkStrongISROf(s *shadow) {
	x := s.part
	if s.r == nil || s.status.Role != replica.Leader || x.void || !x.exists || s.p.state == dead {
		return
	}
	hw := s.status.HW
	for _, id := range x.reg.ISR {
		if id == s.p.id {
			continue
		}
		m := w.broker(id).shadowOf(x)
		switch {
		case m == nil:
			if hw > x.start {
				w.fail("I2", "%s leads %s-%d with HW %d, and broker %d is in the ISR %v without a log", s.p.name, x.topic, x.index, hw, id, x.reg.ISR)
			}
		case m.excused:
		case m.end < hw && hw > x.start && !w.hole(x, m.end, hw): // what is before the start is nobody's any more
			w.fail("I2", "%s leads %s-%d with HW %d, and the log of broker %d, in the ISR %v, ends at %d", s.p.name, x.topic, x.index, hw, id, x.reg.ISR, m.end)
		case !x.agree(s.batches, m.batches, hw) && !(w.onlyGhosts(s, hw, int32(s.status.LeaderEpoch)) && w.onlyGhosts(m, hw, int32(m.status.LeaderEpoch))):
			w.fail("I2", "%s leads %s-%d with HW %d, and the log of broker %d, in the ISR %v, is another one below it", s.p.name, x.topic, x.index, hw, id, x.reg.ISR)
		}
	}
}

// tornLog is the end of a log that a disk has lost, and the leader epoch that the
// controller was at when it was seen.
type tornLog struct {
	epoch    replica.Epoch
	from, to Offset
}

// tornLast notes that the last member of an ISR has come back with a shorter log. Without
// ELRs it stays in the ISR, and leads (KIP-966 is about that); nothing of it need be
// committed by then.
func (w *World) tornLast(s *shadow) {
	x := s.part
	if s.end < s.hadEnd && s.died != killed && s.died != stoppedCleanly && !w.elr() && slices.Equal(x.reg.ISR, []int32{s.p.id}) {
		x.torn = append(x.torn, tornLog{replica.Epoch(x.reg.LeaderEpoch), s.end, s.hadEnd})
	}
}

// excuseTorn voids what is promised of a partition where a leader of an older epoch
// commits what the last member of the ISR has lost: that member had it when this leader
// last heard of it, and the controller has moved on since.
func (w *World) excuseTorn(x *part, hw Offset, epoch replica.Epoch) {
	for _, t := range x.torn {
		if epoch < t.epoch && t.from < hw && hw <= t.to {
			w.model.voidPart(x, "without ELR, the last of the ISR has lost what it had from %d to %d, and a leader of epoch %d commits it", t.from, t.to, epoch)
		}
	}
}
