package replica

// The high watermark: the first offset that is not committed. Consumers read up
// to it, an acks=all produce is acknowledged by it, and a new leader has
// everything below it. This file holds all that moves it but truncation, which
// lowers it to the log's new end.

// maybeAdvanceHW is Partition.maybeIncrementLeaderHW. It is tried when something
// it depends on has changed, not by a timer: after an append, a follower's fetch
// that brought news, a change of the ISR, and an election.
func (r *Replica) maybeAdvanceHW() {
	l := r.leader
	// While fewer than min.insync.replicas hold the records nothing more is
	// committed, whatever the acks (KAFKA-15583, KIP-966): otherwise the last
	// replica standing would commit alone what dies with it.
	if r.underMinISR() {
		return
	}
	candidate := r.log.end
	for i := range l.remotes {
		f := &l.remotes[i]
		// A member that was not heard of in this epoch has end -1 and so blocks.
		if f.end() < candidate && (l.isr.inMaximal(f.id) || r.aboutToJoin(f)) {
			candidate = f.end()
		}
	}
	if candidate <= r.log.hw {
		// It never falls under a leader: a member that comes back with less was
		// not in the ISR when the rest was committed.
		return
	}
	r.log.hw = candidate
	r.emit(HWMoved{HW: candidate})
	r.completeProduces()
}

// aboutToJoin: a follower that is not in the ISR but keeps up is waited for as
// well. Else with ISR = {leader} the HW would run with the leader's end and the
// follower, always a moment behind, could never reach it to join
// (shouldWaitForReplicaToJoinIsr in Partition.maybeIncrementLeaderHW).
func (r *Replica) aboutToJoin(f *remote) bool {
	return f.CaughtUp(int64(r.log.end), r.nowMs, r.cfg.LagTimeMaxMs) && r.eligible(f)
}

// underMinISR counts the committed ISR alone: a member that is only proposed may
// be refused.
func (r *Replica) underMinISR() bool {
	return len(r.leader.isr.committed) < r.effectiveMinISR()
}

// effectiveMinISR is min.insync.replicas, which may exceed the replicas there
// are (Partition.effectiveMinIsr).
func (r *Replica) effectiveMinISR() int {
	return min(r.settings.MinISR, len(r.leader.remotes)+1)
}

// takeLeaderHW is a follower's rule (UnifiedLog.maybeUpdateHighWatermark): the
// leader's HW as of its answer, within the own log. It may fall: after an
// election the new leader knows less of what is committed than the old one did.
// It is only called when the log agrees with the leader's up to its end
// (KAFKA-14704): an answer that says the logs diverge moves nothing.
func (r *Replica) takeLeaderHW(leaderHW Offset) {
	hw := min(max(leaderHW, r.log.start), r.log.end)
	if hw == r.log.hw {
		return
	}
	r.log.hw = hw
	r.emit(HWMoved{HW: hw})
}

// lastStable is the LSO, up to which a read_committed consumer reads: the HW or
// the first offset of an open transaction.
func (r *Replica) lastStable() Offset {
	if first, open := r.log.producers.FirstUnstable(); open {
		return min(first, r.log.hw)
	}
	return r.log.hw
}

// advanceLogStart moves the start of the log, never beyond the HW
// (UnifiedLog.maybeIncrementLogStartOffset). It reports whether it moved.
func (r *Replica) advanceLogStart(to Offset) bool {
	to = min(to, r.log.hw)
	if to <= r.log.start {
		return false
	}
	r.log.start = to
	r.log.epochs.TruncateFromStart(to)
	r.emit(LogStartMoved{Start: to})
	return true
}
