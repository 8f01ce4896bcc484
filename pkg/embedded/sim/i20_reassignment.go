package sim

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// I20: a reassignment is complete when the ISR holds every adding replica and at
// least one more, and the whole target if fewer are added than removed; cancelled,
// it restores what was.

func (m *model) checkReassignment(x *part, old *kraft.Partition) {
	now := x.reg
	if len(old.AddingReplicas)+len(old.RemovingReplicas) == 0 || len(now.AddingReplicas)+len(now.RemovingReplicas) > 0 {
		return
	}
	without := func(ids, gone []int32) []int32 {
		return slices.DeleteFunc(slices.Clone(ids), func(id int32) bool { return slices.Contains(gone, id) })
	}
	source := without(old.Replicas, old.AddingReplicas)
	added, removed := without(now.Replicas, source), without(source, now.Replicas)
	if len(added)+len(removed) == 0 {
		return // back to what was
	}
	// The same change may go on to an unclean election, which leaves the ISR to one
	// (PartitionChangeBuilder.build): the move was complete before.
	isr := now.ISR
	if now.LeaderRecoveryState == kraft.Recovering && len(isr) == 1 && isr[0] == now.Leader && now.Leader != old.Leader && !slices.Contains(old.ISR, now.Leader) {
		isr = without(old.ISR, removed)
	}
	if missing := without(added, isr); len(missing) > 0 || len(isr) == 0 {
		m.w.fail("I20", "%s-%d: moved from %v to %v, and %v of it is not in the ISR %v", x.topic, x.index, source, now.Replicas, missing, isr)
	}
	if missing := without(now.Replicas, isr); len(added) < len(removed) && len(missing) > 0 {
		m.w.fail("I20", "%s-%d: moved from %v to the smaller %v, and %v of it is not in the ISR %v", x.topic, x.index, source, now.Replicas, missing, isr)
	}
	if without(now.ISR, now.Replicas) != nil && len(without(now.ISR, now.Replicas)) > 0 {
		m.w.fail("I20", "%s-%d: moved from %v to %v, and the ISR is %v", x.topic, x.index, source, now.Replicas, now.ISR)
	}
}

// uncleanRevert: where a move is cancelled whose ISR is empty or all replicas that it added,
// the first of the others becomes the ISR, records or not, and alive or not; topics must
// allow for unclean elections (PartitionReassignmentRevert). One of the ELR has all.
func (m *model) uncleanRevert(x *part, old *kraft.Partition, before metadata.Image) bool {
	now := x.reg
	added := func(id int32) bool { return slices.Contains(old.AddingReplicas, id) }
	stays := func(id int32) bool { return !added(id) }
	if len(old.AddingReplicas)+len(old.RemovingReplicas) == 0 || len(now.AddingReplicas)+len(now.RemovingReplicas) > 0 ||
		!slices.Equal(now.Replicas, slices.DeleteFunc(slices.Clone(old.Replicas), added)) ||
		slices.ContainsFunc(old.ISR, stays) || len(now.ISR) != 1 || added(now.ISR[0]) {
		return false
	}
	if topicConfig(before, x.topic, "unclean.leader.election.enable") != "true" {
		m.w.fail("I20", "%s-%d: a cancelled move leaves ISR %v of %v, and nobody has allowed an unclean election", x.topic, x.index, now.ISR, old.ISR)
	}
	m.w.stats.Unclean++
	if !slices.Contains(old.EligibleLeaderReplicas, now.ISR[0]) {
		m.voidPart(x, "a cancelled move leaves ISR %v of %v", now.ISR, old.ISR)
	}
	return true
}
