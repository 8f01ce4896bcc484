package replica

// deleteRecords moves the start of the log and waits until the live followers
// have moved theirs (Partition.deleteRecordsOnLeader, DelayedDeleteRecords), so
// that a deleted record does not come back with the next leader.
func (r *Replica) deleteRecords(d DeleteRecords) {
	before := d.Before
	if before == NoOffset {
		before = r.log.hw
	}
	err := None
	switch {
	case r.role == Offline:
		err = KafkaStorageError
	case r.leader == nil:
		err = NotLeaderOrFollower
	case before < 0 || before > r.log.hw:
		// Only what is committed can be deleted: a follower may not have the rest.
		err = OffsetOutOfRange
	}
	if err != None {
		r.emit(DeleteRecordsReply{Token: d.Token, Err: err, LowWatermark: NoOffset})
		return
	}
	r.advanceLogStart(before)
	if low := r.lowWatermark(); low >= before {
		r.emit(DeleteRecordsReply{Token: d.Token, LowWatermark: low})
		return
	}
	r.leader.deletes.add(waiting{token: d.Token, until: before, deadlineMs: r.nowMs + d.TimeoutMs})
}

// lowWatermark is the lowest log start offset of the replicas that live
// (Partition.lowWatermarkIfLeader).
func (r *Replica) lowWatermark() Offset {
	low := r.log.start
	for i := range r.leader.remotes {
		f := &r.leader.remotes[i]
		if b, ok := r.cfg.Brokers.Broker(f.id); ok && !b.Fenced {
			low = min(low, f.logStart)
		}
	}
	return low
}

func (r *Replica) completeDeletes() {
	ds := &r.leader.deletes
	if ds.len() == 0 {
		return
	}
	low := r.lowWatermark()
	for w, ok := ds.take(low); ok; w, ok = ds.take(low) {
		r.emit(DeleteRecordsReply{Token: w.token, LowWatermark: low})
	}
}

func (r *Replica) expireDeletes() {
	for _, w := range r.leader.deletes.takeExpired(r.nowMs) {
		r.emit(DeleteRecordsReply{Token: w.token, Err: RequestTimedOut, LowWatermark: r.lowWatermark()})
	}
}

// retained is after storage has deleted old segments.
func (r *Replica) retained(in Retained) {
	if !r.advanceLogStart(in.Start) {
		return
	}
	if r.leader != nil {
		r.completeDeletes()
	} else if r.follower != nil && r.follower.state == asking {
		r.renewFetch(0)
	}
}
