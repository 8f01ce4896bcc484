package sim

import "github.com/kafkaops/kafkaops/pkg/embedded/replica"

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
		case m.end < hw && hw > x.start: // what is before the start is nobody's any more
			w.fail("I2", "%s leads %s-%d with HW %d, and the log of broker %d, in the ISR %v, ends at %d", s.p.name, x.topic, x.index, hw, id, x.reg.ISR, m.end)
		case !x.agree(s.batches, m.batches, hw):
			w.fail("I2", "%s leads %s-%d with HW %d, and the log of broker %d, in the ISR %v, is another one below it", s.p.name, x.topic, x.index, hw, id, x.reg.ISR)
		}
	}
}
