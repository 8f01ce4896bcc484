package sim

import "github.com/kafkaops/kafkaops/pkg/embedded/replica"

// I1, log matching: a batch at an offset and of an epoch is the same on every
// replica, and so is all that is before it; below two HWs logs are always equal.

// checkMatches says what is wrong with a batch that another replica has otherwise.
func (w *World) checkMatches(s *shadow, b, known *batch) {
	what := "other bytes than its leader appended"
	if b.crc == known.crc && b.size == known.size {
		if s.part.void {
			return // what was before may be deleted, and not known any more
		}
		what = "a log before it that is not its leader's"
	}
	w.fail("I1", "%s %s-%d: the batch of epoch %d at %d has %s (%+v, the leader's %+v)", s.p.name, s.part.topic, s.part.index, b.epoch, b.base, what, *b, *known)
}

// checkAgreement compares a replica's log below its HW with what is committed, and
// lets a leader's HW commit more.
func (w *World) checkAgreement(s *shadow) {
	x := s.part
	hw := s.status.HW
	if x.void || s.excused && s.status.Role != replica.Leader || s.status.Role == replica.Offline {
		return
	}
	if led := min(s.ledHW, s.end); led > x.hw && x.agree(s.batches, x.committed, x.hw) {
		w.excuseTorn(x, led, s.ledEpoch)
		w.commit(s, led, s.ledEpoch)
	}
	s.ledHW = 0
	if o := min(hw, x.hw); !x.agree(s.batches, x.committed, o) && !w.onlyGhosts(s, o, int32(s.status.LeaderEpoch)) {
		w.fail("I1", "%s %s-%d: HW %d, and the log below it is not what was committed, up to %d", s.p.name, x.topic, x.index, hw, x.hw)
		return
	}
	if hw <= x.hw {
		return
	}
	if s.status.Role != replica.Leader {
		w.fail("I1", "%s %s-%d: HW %d, and no leader ever had one above %d", s.p.name, x.topic, x.index, hw, x.hw)
		return
	}
	w.excuseTorn(x, hw, s.status.LeaderEpoch)
	w.commit(s, hw, s.status.LeaderEpoch)
}

// commit takes what a leader's HW has passed as committed.
func (w *World) commit(s *shadow, hw Offset, epoch replica.Epoch) {
	x := s.part
	for int(epoch) >= len(x.hwAt) {
		x.hwAt = append(x.hwAt, 0)
	}
	x.hwAt[epoch] = max(x.hwAt[epoch], hw)
	if len(x.reg.EligibleLeaderReplicas) > 0 && x.lowFrom < 0 && w.minISRUnheard(s) {
		x.lowFrom = x.hw
	}
	i := at(s.batches, x.hw)
	x.hw = hw
	if i < 0 {
		return
	}
	for ; i < len(s.batches) && s.batches[i].last < hw; i++ {
		b := s.batches[i]
		if n := len(x.committed); n > 0 && x.committed[n-1].base >= b.base {
			continue
		}
		b.gone = false
		w.checkSequence(s, &b)
		for _, r := range x.recs[batchKey{b.epoch, b.base}] {
			x.lastOf[r.key] = r.offset
		}
		x.committed = append(x.committed, b)
	}
}
