package sim

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// I10: who joins an ISR has all up to the leader's HW and up to the start of its
// epoch, is not fenced nor on its way out, and is the one that was seen: a broker
// that was born again is in no ISR before it has fetched again.

// checkProposal looks at what a leader asks for, by what the follower has.
func (w *World) checkProposal(s *shadow, e replica.AlterPartition) {
	x := s.part
	if s.r == nil || x.void {
		return
	}
	st := s.r.Status()
	for _, m := range e.ISR {
		// The ISR may have changed within the step, after the proposal.
		if slices.Contains(st.ISR, m.ID) || slices.Contains(s.status.ISR, m.ID) || int32(m.ID) == s.p.id {
			continue
		}
		b := w.broker(int32(m.ID))
		f := b.shadowOf(x)
		if f == nil || b.state == dead || b.node == nil || m.BrokerEpoch != b.node.BrokerEpoch() || f.r == nil || f.cut {
			continue // it has changed since it fetched; the controller will see
		}
		need := max(s.hwNow, epochStart(s))
		if f.end < need && f.status.LeaderEpoch == st.LeaderEpoch {
			w.fail("I10", "%s proposes broker %d for the ISR of %s-%d: its log ends at %d, HW and epoch start are %d and %d",
				s.p.name, m.ID, x.topic, x.index, f.end, s.hwNow, epochStart(s))
		}
	}
}

// epochStart is where a leader's epoch begins.
func epochStart(s *shadow) Offset {
	latest, ok := s.r.Epochs().Latest()
	if !ok {
		return 0
	}
	return latest.Start
}

// checkGrowth looks at who the controller lets in.
func (m *model) checkGrowth(x *part, old *kraft.Partition, after metadata.Image) {
	for _, id := range x.reg.ISR {
		if slices.Contains(old.ISR, id) {
			continue
		}
		b, ok := after.Broker(id)
		switch {
		case !ok:
			m.w.fail("I10", "%s-%d: broker %d joins the ISR and is not registered", x.topic, x.index, id)
		case b.Fenced || b.InControlledShutdown:
			m.w.fail("I10", "%s-%d: broker %d joins the ISR, and is fenced (%t) or on its way out (%t)", x.topic, x.index, id, b.Fenced, b.InControlledShutdown)
		}
	}
}

// checkRegistration looks at a broker that was born again: without the proof of a
// clean stop it is in no ISR and no ELR, if there are ELRs; without them it may stay
// only where it is the last.
func (m *model) checkRegistration(rec *kraft.RegisterBroker, before, after metadata.Image) {
	p := m.w.broker(rec.BrokerID)
	old, known := before.Broker(rec.BrokerID)
	if known && old.IncarnationID == rec.IncarnationID {
		return // the same life again
	}
	p.registered = true
	for _, x := range m.parts {
		if x.reg != nil {
			m.forgetLosses(x)
		}
	}
	clean := known && m.proof == old.BrokerEpoch
	for _, x := range m.parts {
		reg := partitionOf(after, x)
		if reg == nil {
			continue
		}
		inISR, inELR := slices.Contains(reg.ISR, p.id), slices.Contains(reg.EligibleLeaderReplicas, p.id)
		if m.w.elr() && !clean && (inISR || inELR) || inISR && (len(reg.ISR) > 1 || m.w.elr()) {
			m.w.fail("I10", "%s-%d: broker %d registers anew (after a clean stop: %t), and is still in ISR %v, ELR %v",
				x.topic, x.index, p.id, clean, reg.ISR, reg.EligibleLeaderReplicas)
		}
	}
}
