package replica

import "github.com/kafkaops/kafkaops/pkg/embedded/logstate"

// fetching is the state of a follower's fetcher entry (PartitionFetchState).
type fetching string

const (
	// idle: there is no leader.
	idle fetching = "idle"
	// asking: a FetchFrom stands.
	asking fetching = "asking"
	// writing: what the leader answered is being appended, or the log cut.
	writing fetching = "writing"
	// askingEnd and askingStart: the leader does not have the offset; what has it?
	askingEnd   fetching = "asking for the end"
	askingStart fetching = "asking for the start"
	// failed: until the metadata changes.
	failed fetching = "failed"
)

// follower is what only a follower knows. It reads on where its log ends: the
// fetch offset is always the log end offset.
//
//	idle <- new epoch without leader
//	asking <- new epoch; and from writing, askingEnd, askingStart when done
//	asking -> writing      records, or a divergence to cut at
//	asking -> askingEnd    OFFSET_OUT_OF_RANGE
//	askingEnd -> writing   the leader's log is shorter: cut
//	askingEnd -> askingStart -> writing   it begins after this one: drop all
//	asking -> failed       FENCED_LEADER_EPOCH
type follower struct {
	leader BrokerID
	state  fetching
	// applying is the response of which records are appended. While cut.again is
	// set it waits for the log to be cut.
	applying FetchResponse
	cut      cut
}

// cut is a truncation under way.
type cut struct {
	to Offset
	// restart drops everything.
	restart bool
	// again: then look at applying again.
	again bool
}

// startFetching begins a new leader epoch (AbstractFetcherThread.addPartitions,
// ReplicaManager.initialFetchOffset). The log is not cut to the HW: the HW
// trails, and what is above it may be committed (KIP-101). Where the logs part,
// the leader will say. Only a log without epochs cannot ask that.
func (r *Replica) startFetching() {
	f := r.follower
	f.state = idle
	if f.leader == NoBroker {
		return
	}
	if _, ok := r.log.epochs.Latest(); !ok && r.log.hw < r.log.end {
		r.truncate(cut{to: r.log.hw})
		return
	}
	r.renewFetch(0)
}

// position is what the follower asks for.
func (r *Replica) position() FetchPosition {
	return FetchPosition{
		Offset: r.log.end, LeaderEpoch: r.leaderEpoch, LastFetchedEpoch: r.log.epochs.LatestEpoch(),
	}
}

func (r *Replica) renewFetch(backoffMs int64) {
	f := r.follower
	if f.leader == NoBroker || f.state == failed {
		return
	}
	f.state = asking
	order := FetchFrom{Leader: f.leader, Position: r.position(), LogStart: r.log.start}
	if backoffMs > 0 {
		order.NotBeforeMs = r.nowMs + backoffMs
	}
	r.emit(order)
}

// fetchResponse takes the leader's answer (AbstractFetcherThread.processFetchRequest).
// One to an older question is void, but for the offsets that it may tell: the
// log or the epoch have moved since.
func (r *Replica) fetchResponse(in FetchResponse) {
	f := r.follower
	if f == nil || f.state != asking {
		return
	}
	if in.Position != r.position() {
		if in.OffsetsOnly() && in.Position.SamePlace(r.position()) {
			r.takeOffsets(in)
		}
		return
	}
	switch in.Err {
	case None:
		if in.Diverging.Defined() {
			r.truncateToDivergence(in.Diverging)
			return
		}
		r.takeRecords(in)
	case OffsetOutOfRange:
		f.state = askingEnd
		r.emit(AskOffset{Leader: f.leader, LeaderEpoch: r.leaderEpoch, Timestamp: Latest})
	default:
		r.fetchError(in.Err)
	}
}

// fetchError: the epoch was compared with the present one, so a leader that
// fences it knows of an election that the metadata has yet to tell. All else
// passes by itself.
func (r *Replica) fetchError(err Code) {
	if err == FencedLeaderEpoch {
		r.follower.state = failed
		r.emit(FetchFailed{Err: err})
		return
	}
	r.renewFetch(r.cfg.FetchBackoffMs)
}

// takeRecords appends (Partition.appendRecordsToFollowerOrFutureReplica), or
// takes the leader's offsets at once if there is nothing to append.
func (r *Replica) takeRecords(in FetchResponse) {
	f := r.follower
	sent := len(in.Batches)
	in.Batches = upToEpoch(in.Batches, r.leaderEpoch)
	switch {
	case sent == 0:
		r.takeOffsets(in)
		return
	case len(in.Batches) == 0:
		r.renewFetch(r.cfg.FetchBackoffMs)
		return
	}
	first := in.Batches[0]
	switch {
	case !inOrder(in.Batches):
		f.state = failed
		r.emit(FetchFailed{Err: CorruptMessage})
	case first.BaseOffset >= r.log.end:
		// Not only equal: compaction leaves holes.
		f.state, f.applying = writing, in
		r.order(appending, Append{Token: in.Token, Base: first.BaseOffset, LeaderEpoch: NoEpoch, Batches: len(in.Batches)})
	case (r.log.end == r.log.start || r.log.end <= in.LogStart) && first.LastOffset >= r.log.end:
		// The log is empty and starts within the batch, since DeleteRecords moved
		// the leader's start there: hold the whole batch (KAFKA-6975). So too where
		// the log has records, but none that the leader still has.
		f.applying = in
		r.truncate(cut{to: first.BaseOffset, restart: true, again: true})
	default:
		f.state = failed
		r.emit(FetchFailed{Err: CorruptMessage})
	}
}

// upToEpoch drops batches of a later epoch than the one that was asked in, which
// no such leader can have sent in good faith (KAFKA-18723).
func upToEpoch(batches []Batch, epoch Epoch) []Batch {
	for i, b := range batches {
		if b.LeaderEpoch > epoch {
			return batches[:i]
		}
	}
	return batches
}

// inOrder reports whether offsets ascend (UnifiedLog's OffsetsOutOfOrderException).
func inOrder(batches []Batch) bool {
	for i, b := range batches {
		if b.LastOffset < b.BaseOffset || i > 0 && b.BaseOffset <= batches[i-1].LastOffset {
			return false
		}
	}
	return true
}

// responseAppended is after the records of a response are appended.
func (r *Replica) responseAppended() {
	in := r.follower.applying
	r.follower.applying = FetchResponse{}
	r.takeLeaderHW(in.HW)
	r.advanceLogStart(in.LogStart)
	r.renewFetch(0)
}

// takeOffsets is a response without records. The standing order still stands,
// unless it says something that has changed.
func (r *Replica) takeOffsets(in FetchResponse) {
	r.takeLeaderHW(in.HW)
	if r.advanceLogStart(in.LogStart) {
		r.renewFetch(0)
	}
}

// offsetResponse ends an OFFSET_OUT_OF_RANGE (AbstractFetcherThread.fetchOffsetAndTruncate).
func (r *Replica) offsetResponse(in OffsetResponse) {
	f := r.follower
	if f == nil || in.LeaderEpoch != r.leaderEpoch {
		return
	}
	switch {
	case f.state == askingEnd && in.Timestamp == Latest:
	case f.state == askingStart && in.Timestamp == Earliest:
	default:
		return
	}
	switch {
	case in.Err != None:
		r.fetchError(in.Err)
	case f.state == askingEnd && in.Offset < r.log.end:
		// The leader has lost records, or won an unclean election (KAFKA-7414).
		r.truncate(cut{to: in.Offset})
	case f.state == askingEnd:
		f.state = askingStart
		r.emit(AskOffset{Leader: f.leader, LeaderEpoch: r.leaderEpoch, Timestamp: Earliest})
	case in.Offset > r.log.end:
		// Retention overtook this follower: there is nothing to join on to.
		r.truncate(cut{to: in.Offset, restart: true})
	default:
		r.renewFetch(0)
	}
}

// truncateToDivergence cuts to where the logs may agree. The leader named its
// largest epoch that is not above ours, and its end.
func (r *Replica) truncateToDivergence(leaders logstate.EpochEnd) {
	r.truncate(cut{to: r.truncationPoint(leaders)})
}

// truncationPoint is AbstractFetcherThread.getOffsetTruncationState (KIP-279).
// Where this log lacks that epoch too, it is cut to the end of the one before,
// and the next fetch asks about that: each round leaves at least an epoch behind.
func (r *Replica) truncationPoint(leaders logstate.EpochEnd) Offset {
	own := r.log.epochs.EndOffsetFor(leaders.Epoch, r.log.end)
	switch {
	case !own.Defined():
		return min(leaders.End, r.log.end)
	case own.Epoch != leaders.Epoch:
		return min(own.End, r.log.end)
	default:
		return min(own.End, leaders.End, r.log.end)
	}
}

// truncate cuts the log; what follows from it waits for the disk.
func (r *Replica) truncate(c cut) {
	r.follower.state, r.follower.cut = writing, c
	r.order(truncating, Truncate{To: c.to, Restart: c.restart, BelowHW: !c.restart && c.to < r.log.hw})
}

// truncated is after the cut (UnifiedLog.truncateTo, truncateFullyAndStartAt).
// The HW falls with the log's end before anything else is done with it.
func (r *Replica) truncated(in Truncated) {
	f, l := r.follower, &r.log
	c := f.cut
	f.cut = cut{}
	if c.restart || c.to < l.start {
		l.start, l.end, l.hw = c.to, c.to, c.to
		l.epochs = logstate.Epochs{}
		r.emit(LogStartMoved{Start: c.to})
		r.emit(HWMoved{HW: c.to})
	} else {
		l.end = min(l.end, c.to)
		l.epochs.TruncateFromEnd(c.to)
		if l.hw > l.end {
			l.hw = l.end
			r.emit(HWMoved{HW: l.hw})
		}
	}
	l.flushed = min(l.flushed, l.end)
	l.producers = in.Producers
	if c.again {
		in := f.applying
		f.applying = FetchResponse{}
		r.takeRecords(in)
		return
	}
	r.renewFetch(0)
}
