package sim

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// I3: a leader is in the ISR, or there is none; at most one broker leads in a leader
// epoch; leader epoch and partition epoch only grow. And an unclean election takes
// permission: it is the one way in which the controller may lose records.

// checkLeadership looks at a change of a partition.
func (m *model) checkLeadership(x *part, old, made *kraft.Partition, change *kraft.PartitionChange, before metadata.Image) {
	w, now := m.w, x.reg
	if now.Leader != kraft.NoLeader && !slices.Contains(now.ISR, now.Leader) {
		w.fail("I3", "%s-%d: leader %d is not in the ISR %v", x.topic, x.index, now.Leader, now.ISR)
	}
	if made == nil && old != nil {
		if now.LeaderEpoch < old.LeaderEpoch || now.PartitionEpoch <= old.PartitionEpoch && change != nil && now != old {
			w.fail("I3", "%s-%d: epochs went from %d/%d to %d/%d", x.topic, x.index, old.LeaderEpoch, old.PartitionEpoch, now.LeaderEpoch, now.PartitionEpoch)
		}
		if now.Leader != old.Leader && now.LeaderEpoch == old.LeaderEpoch {
			w.fail("I3", "%s-%d: the leader went from %d to %d within epoch %d", x.topic, x.index, old.Leader, now.Leader, now.LeaderEpoch)
		}
		w.stats.Elections++
		m.checkUnclean(x, old, change, before)
		if now.Leader != old.Leader {
			x.fromELR = kraft.NoLeader
			if slices.Contains(old.EligibleLeaderReplicas, now.Leader) && !slices.Contains(old.ISR, now.Leader) {
				x.fromELR = now.Leader
			}
		}
		if s := m.elected(x); s != nil && now.LeaderEpoch != old.LeaderEpoch {
			m.w.excuseElected(s)
		}
	}
	if len(now.EligibleLeaderReplicas) == 0 {
		x.lowFrom = -1
	}
}

// elected is the replica of the broker that is to lead, nil if there is none.
func (m *model) elected(x *part) *shadow {
	if x.reg.Leader == kraft.NoLeader {
		return nil
	}
	return m.w.broker(x.reg.Leader).shadowOf(x)
}

// excuseElected voids what is promised of a partition where the broker that is to lead
// lacks committed records and the controller could not know: as soon as both are seen,
// the election and what its disk holds, for from then on older leaders have a HW above it.
func (w *World) excuseElected(s *shadow) {
	x := s.part
	if x.void || s.end >= x.hw && x.agree(s.batches, x.committed, x.hw) {
		return
	}
	switch {
	// Where ISR and ELR are empty the last known leader leads, whatever its disk has lost:
	// Kafka calls that unclean. It takes no more than one lost disk after the ELR was
	// cleared, by a change of min.insync.replicas or by an unclean election.
	case x.lastKnown >= 0 && s.lacks:
		w.model.voidPart(x, "%s was the last known leader, and has lost records", s.p.name)
	// Between a higher min.insync.replicas at the controller and its word of it at the
	// leader, the leader goes on committing by the lower one, and the controller keeps
	// who leaves the ISR as eligible. What was committed before must be there.
	case x.fromELR == s.p.id && x.lowFrom >= 0 && s.end >= x.lowFrom && x.agree(s.batches, x.committed, x.lowFrom):
		w.model.voidPart(x, "%s was eligible by a min.insync.replicas that the leader had not heard of", s.p.name)
	}
}

// checkUnclean notes an unclean election, and that it was allowed.
func (m *model) checkUnclean(x *part, old *kraft.Partition, change *kraft.PartitionChange, before metadata.Image) {
	now := x.reg
	if change == nil || now.Leader == kraft.NoLeader || change.Leader == kraft.NoLeaderChange {
		return
	}
	reassigned := len(old.AddingReplicas)+len(old.RemovingReplicas) > 0 && len(now.AddingReplicas)+len(now.RemovingReplicas) == 0
	clean := slices.Contains(old.ISR, now.Leader) || slices.Contains(old.EligibleLeaderReplicas, now.Leader) || reassigned
	if clean && change.LeaderRecoveryState != kraft.Recovering {
		return
	}
	m.w.stats.Unclean++
	// The last known leader, where ISR and ELR have become empty: it may have all.
	if len(old.ISR) == 0 && len(now.EligibleLeaderReplicas) == 0 && slices.Contains(old.LastKnownELR, now.Leader) {
		x.lastKnown = now.LeaderEpoch
		return
	}
	m.voidPart(x, "an unclean election of %d, with ISR %v and ELR %v", now.Leader, old.ISR, old.EligibleLeaderReplicas)
	if m.uncleanAsked == 0 && topicConfig(before, x.topic, "unclean.leader.election.enable") != "true" &&
		topicConfig(m.newest(), x.topic, "unclean.leader.election.enable") != "true" {
		m.w.fail("I3", "%s-%d: broker %d was elected, with ISR %v and ELR %v, and nobody has allowed an unclean election",
			x.topic, x.index, now.Leader, old.ISR, old.EligibleLeaderReplicas)
	}
}

// voidPart ends what is promised of a partition.
func (m *model) voidPart(x *part, why string, args ...any) {
	if !x.void {
		x.void = true
		m.w.stats.Void++
		m.w.tell("nothing is promised of %s-%d any more: "+why, append([]any{x.topic, x.index}, args...)...)
	}
}

// checkLeader looks at a replica that leads: nobody else may have led in its epoch,
// and its ISR is what the controller said.
func (w *World) checkLeader(s *shadow) {
	if s.status.Role != replica.Leader {
		return
	}
	x, e := s.part, int(s.status.LeaderEpoch)
	for e >= len(x.leaders) {
		x.leaders = append(x.leaders, 0)
	}
	switch x.leaders[e] {
	case 0:
		x.leaders[e] = s.p.id
	case s.p.id:
	default:
		w.fail("I3", "%s leads %s-%d in epoch %d, in which broker %d has led", s.p.name, x.topic, x.index, e, x.leaders[e])
	}
	pe := int(s.status.PartitionEpoch)
	if pe < len(x.isr) && x.isr[pe] != nil && !sameISR(s.status.ISR, x.isr[pe]) {
		w.fail("I3", "%s leads %s-%d with ISR %v of partition epoch %d, of which the controller said %v", s.p.name, x.topic, x.index, s.status.ISR, pe, x.isr[pe])
	}
	if pe >= len(x.isr) {
		w.fail("I3", "%s leads %s-%d in partition epoch %d, and the controller is at %d", s.p.name, x.topic, x.index, pe, len(x.isr)-1)
	}
}

func sameISR(got []replica.BrokerID, want []int32) bool {
	if len(got) != len(want) {
		return false
	}
	for _, id := range got {
		if !slices.Contains(want, int32(id)) {
			return false
		}
	}
	return true
}
