package sim

import "github.com/kafkaops/kafkaops/pkg/embedded/replica"

// I5: what was acknowledged with acks=all is at the same offset in every later
// leader, unless an election was unclean, or more than minISR-1 members lost data.
// What consumers may have seen is held to the same: all that any leader's HW has
// passed.

// checkNewLeader looks at a broker that begins to lead.
func (w *World) checkNewLeader(s *shadow) {
	x := s.part
	if s.excused && s.end < x.hw && !w.elr() {
		w.model.voidPart(x, "without ELR, %s leads with a disk that has lost records", s.p.name)
	}
	if x.lastKnown >= 0 && int32(s.status.LeaderEpoch) >= x.lastKnown {
		w.excuseElected(s)
		x.lastKnown = -1
	}
	if x.void {
		return
	}
	// What leaders of earlier epochs have committed; a later one may lead already.
	hw := x.committedBy(s.status.LeaderEpoch - 1)
	if s.end < hw && !w.elr() && !w.heldAnywhere(x, hw) {
		w.model.voidPart(x, "without ELR, every replica that had what is committed up to %d has lost it", hw)
		return
	}
	if s.end < hw && hw > s.status.LogStart {
		w.fail("I5", "%s begins to lead %s-%d in epoch %d with a log that ends at %d, and %d is committed", s.p.name, x.topic, x.index, s.status.LeaderEpoch, s.end, hw)
	} else if !x.agree(s.batches, x.committed, hw) {
		w.fail("I5", "%s begins to lead %s-%d in epoch %d with a log that is not what was committed, up to %d", s.p.name, x.topic, x.index, s.status.LeaderEpoch, hw)
	}
}

// committedBy is the highest HW that a leader of an epoch up to this one had.
func (x *part) committedBy(epoch replica.Epoch) Offset {
	var hw Offset
	for e := range min(len(x.hwAt), int(epoch)+1) {
		hw = max(hw, x.hwAt[e])
	}
	return hw
}

// heldAnywhere reports whether a broker, alive or not, has all that is committed
// below an offset, and has not lost any of it.
func (w *World) heldAnywhere(x *part, hw Offset) bool {
	for _, p := range w.brokers() {
		if s := p.shadowOf(x); s != nil && !s.excused && s.end >= hw && x.agree(s.batches, x.committed, hw) {
			return true
		}
	}
	return false
}

// checkCut looks at what a replica is about to cut off: nothing that is committed,
// save what its leader has deleted.
//
// A replica by which nothing is promised, one outside of ISR and ELR, cuts by the word of
// the leader that it knows. A newer one may commit meanwhile what that leader has not:
// this replica gets it back from the newer one before it can join. And where compaction has
// left a leader nothing of an epoch, the leader answers with the epoch before it: who has
// that epoch cuts down to where it itself had the one before, as in Kafka.
func (w *World) checkCut(s *shadow) {
	x := s.part
	if x.void || s.excused {
		return
	}
	hw, holds := x.hw, w.model.holds(s)
	if !holds {
		hw = x.committedBy(s.status.LeaderEpoch)
	}
	for i := len(s.batches) - 1; i >= 0; i-- {
		b := &s.batches[i]
		if b.last < s.cutTo && !s.restart || b.last < x.start {
			return
		}
		if !holds && w.plan.Keys > 0 && w.mustStay(x, b, x.start) == nil {
			continue
		}
		if b.last < hw && x.agree(s.batches[:i+1], x.committed, b.last+1) && b.last >= s.status.LogStart {
			w.fail("I5", "%s %s-%d: cut to %d, and the batch at %d of epoch %d is committed (HW %d)", s.p.name, x.topic, x.index, s.cutTo, b.base, b.epoch, hw)
			return
		}
	}
}

// checkAck looks at an acknowledgement as it leaves the broker: with acks=all the
// batch is committed. It is the batch that was sent, duplicates too (I11).
func (w *World) checkAck(p *proc, x *part, acks int16, sent *batch, base int64) {
	s := p.shadowOf(x)
	if s == nil || s.r == nil {
		return // its topic was deleted since
	}
	i := at(s.batches, Offset(base))
	if i < 0 || s.batches[i].base != Offset(base) {
		if Offset(base) >= s.status.LogStart && !w.leftOut(s, Offset(base)) {
			w.fail("I5", "%s %s-%d: acknowledges offset %d, at which its log has no batch", p.name, x.topic, x.index, base)
		}
		return
	}
	b := &s.batches[i]
	if b.pid != sent.pid || b.pepoch != sent.pepoch || b.seq != sent.seq || b.last-b.base != sent.last-sent.base {
		w.fail("I11", "%s %s-%d: acknowledges producer %d/%d sequence %d at %d, where producer %d/%d has sequence %d",
			p.name, x.topic, x.index, sent.pid, sent.pepoch, sent.seq, base, b.pid, b.pepoch, b.seq)
		return
	}
	// Append, sync if the policy asks for it, reply.
	if unsynced := int64(b.last + 1 - s.log.Flushed()); s.flush > 0 && b.base >= s.flushFrom && b.epoch == int32(s.status.LeaderEpoch) && unsynced >= s.flush {
		w.fail("I5", "%s %s-%d: acknowledges the batch at %d to %d with %d records not synced, and flush.messages is %d",
			p.name, x.topic, x.index, b.base, b.last, unsynced, s.flush)
	}
	if acks != -1 {
		return
	}
	w.stats.Acked++
	if x.void {
		return
	}
	switch committed := b.last < x.hw; {
	case committed && x.agree(s.batches[:i+1], x.committed, b.last+1):
	case committed && w.onlyGhosts(s, b.last+1, int32(s.status.LeaderEpoch)):
		w.model.voidPart(x, "%s has the batch at %d in a gap of compaction, never committed, and acknowledges it as a duplicate", p.name, b.base)
	default:
		w.fail("I5", "%s %s-%d: acknowledges the batch at %d to %d with acks=all, and %d is committed", p.name, x.topic, x.index, b.base, b.last, x.hw)
	}
}

// leftOut reports whether a shadow does not know what a log had at an offset before
// compaction, since it was read again when what is committed was not known any more
// (fillHole): a producer may still be told of its batch there.
func (w *World) leftOut(s *shadow, o Offset) bool {
	i := at(s.batches, o)
	return w.plan.Keys > 0 && s.part.void && o < s.end && (i < 0 || s.batches[i].base > o)
}

// elr reports whether the cluster has ELRs.
func (w *World) elr() bool { return w.plan.ELR }
