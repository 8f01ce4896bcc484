package replica

import (
	"github.com/kafkaops/kafkaops/internal/isrrule"
	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// Isolation is how far a reader may read (FetchIsolation).
type Isolation string

// The isolations.
const (
	// LogEnd is for followers, and for the replica id -3 of log directory moves.
	LogEnd          Isolation = "log end"
	ReadUncommitted Isolation = "read uncommitted" // to the HW
	ReadCommitted   Isolation = "read committed"   // to the LSO
)

// FetchBounds is what a fetch may read.
type FetchBounds struct {
	// Err is None or why nothing may be read; then all offsets are NoOffset.
	Err Code
	// Records in [From, UpTo) may be sent. The first batch may begin before From.
	From, UpTo Offset
	// Those of the answering replica, at the time of the read.
	HW, LSO, LogStart Offset
	// Diverging is to be sent at once, without records, if it is defined: the
	// fetcher's log is not a prefix of this one (KIP-595).
	Diverging logstate.EpochEnd
}

func fetchError(err Code) FetchBounds {
	return FetchBounds{
		Err: err, From: NoOffset, UpTo: NoOffset, HW: NoOffset, LSO: NoOffset, LogStart: NoOffset,
		Diverging: logstate.UndefinedEnd,
	}
}

// Fetch is a fetch that is not a follower's.
type Fetch struct {
	Position  FetchPosition
	Isolation Isolation
	// LeaderOnly is set for versions before 11: only newer clients know that a
	// follower may answer (KIP-392).
	LeaderOnly bool
}

// Fetch says what a consumer may read here. It changes nothing. A follower
// answers too, up to its own HW, whether it is in the ISR or not.
func (r *Replica) Fetch(f Fetch) FetchBounds {
	if err := r.readable(f.Position.LeaderEpoch, f.LeaderOnly); err != None {
		return fetchError(err)
	}
	return r.read(f.Position, f.Isolation)
}

// readable is Partition.getLocalLog: the epoch is compared first, on followers
// too, so that a client with older metadata learns that before anything else
// (KIP-320).
func (r *Replica) readable(epoch Epoch, leaderOnly bool) Code {
	switch {
	case r.role == Offline:
		return KafkaStorageError
	case epoch != NoEpoch && epoch < r.leaderEpoch:
		return FencedLeaderEpoch
	case epoch != NoEpoch && epoch > r.leaderEpoch:
		return UnknownLeaderEpoch
	case r.role == NoRole, leaderOnly && r.leader == nil:
		return NotLeaderOrFollower
	}
	return None
}

// read is Partition.readRecords and UnifiedLog.read: where the fetcher's log
// parts from this one, or what there is for it. The upper limit is the LEO for
// all: at or beyond the bound, but not beyond the LEO, a consumer waits.
func (r *Replica) read(pos FetchPosition, isolation Isolation) FetchBounds {
	l := &r.log
	b := FetchBounds{
		From: pos.Offset, UpTo: l.end, HW: l.hw, LSO: r.lastStable(), LogStart: l.start, Diverging: logstate.UndefinedEnd,
	}
	if pos.LastFetchedEpoch != NoEpoch {
		end := l.epochs.EndOffsetFor(pos.LastFetchedEpoch, l.end)
		switch {
		case !end.Defined(), pos.Offset < l.start:
			return fetchError(OffsetOutOfRange)
		case end.Epoch < pos.LastFetchedEpoch, end.End < pos.Offset:
			b.UpTo, b.Diverging = b.From, end
			return b
		}
	}
	if pos.Offset < l.start || pos.Offset > l.end {
		return fetchError(OffsetOutOfRange)
	}
	switch isolation {
	case ReadUncommitted:
		b.UpTo = b.HW
	case ReadCommitted:
		b.UpTo = b.LSO
	}
	b.UpTo = max(b.UpTo, b.From)
	return b
}

// followerFetch answers a follower and learns from it what it has
// (Partition.fetchRecords). Only the read and the record of it are done while
// the disk works; see fetchRecorded for the rest.
func (r *Replica) followerFetch(f FollowerFetch) {
	bounds, from := r.readForFollower(f)
	reply := FetchReply{Token: f.Token, Bounds: bounds}
	if bounds.Err != None || bounds.Diverging.Defined() || f.Reread {
		// It has shown nothing new: what it holds may not be this log.
		r.emit(reply)
		return
	}
	moved := from.end() != f.Position.Offset
	startMoved := from.logStart != f.LogStart
	if from.end() == r.log.end {
		from.behindMs = r.nowMs // if it is, now: it was cut
	}
	from.Fetched(isrrule.Fetch{
		Offset: int64(f.Position.Offset), LeaderLEO: int64(r.log.end), AtMs: r.nowMs,
	})
	from.logStart, from.brokerEpoch = f.LogStart, f.BrokerEpoch
	next := fetchRecorded{reply: reply, from: f.From, moved: moved, startMoved: startMoved}
	if r.disk.busy() && (moved || startMoved && r.leader.deletes.len() > 0 || r.mayJoin(from)) {
		r.disk.wait(next)
		return
	}
	r.fetchRecorded(next)
}

// Settled reports whether a follower's fetch that is like its last one would find
// and change nothing but the time at which it was caught up: it has the whole log, it is in
// the ISR, and the disk is at rest. That holds until the replica is stepped with
// anything but a fetch that moves nothing. The node need not step such fetches one by
// one; see FetchesRepeated.
func (r *Replica) Settled(f FollowerFetch) bool {
	if r.leader == nil || r.disk.busy() || f.Position.Offset != r.log.end || r.readable(f.Position.LeaderEpoch, true) != None {
		return false
	}
	from := r.leader.remote(f.From)
	return from != nil && from.end() == r.log.end && from.logStart == f.LogStart && from.brokerEpoch == f.BrokerEpoch &&
		r.leader.isr.contains(f.From)
}

// fetchesRepeated records the last of the fetches that were not stepped. Those
// before it have left no other trace in Progress than it does.
func (r *Replica) fetchesRepeated(in FetchesRepeated) {
	if r.leader == nil {
		return
	}
	from := r.leader.remote(in.From)
	if from == nil || from.end() != r.log.end || in.AtMs <= from.LastFetchMs {
		return
	}
	from.Fetched(isrrule.Fetch{Offset: from.LEO, LeaderLEO: int64(r.log.end), AtMs: in.AtMs})
}

func (r *Replica) readForFollower(f FollowerFetch) (FetchBounds, *remote) {
	if err := r.readable(f.Position.LeaderEpoch, true); err != None {
		return fetchError(err), nil
	}
	from := r.leader.remote(f.From)
	if from == nil {
		// It may know an assignment that this broker does not yet, or none
		// (Partition.followerReplicaOrThrow).
		if f.Position.LeaderEpoch != NoEpoch {
			return fetchError(UnknownLeaderEpoch), nil
		}
		return fetchError(NotLeaderOrFollower), nil
	}
	bounds := r.read(f.Position, LogEnd)
	if bounds.Err == None && !bounds.Diverging.Defined() && !f.Reread && r.staleBroker(f) {
		return fetchError(NotLeaderOrFollower), nil
	}
	return bounds, from
}

// staleBroker: the fetch was sent before its broker registered anew, and speaks
// of a log that may be gone (KIP-903, Replica.updateFetchStateOrThrow).
func (r *Replica) staleBroker(f FollowerFetch) bool {
	b, ok := r.cfg.Brokers.Broker(f.From)
	return ok && f.BrokerEpoch != NoBrokerEpoch && f.BrokerEpoch < b.Epoch
}

// fetchRecorded is the second half of a follower's fetch: an input that a
// replica gives itself.
type fetchRecorded struct {
	reply             FetchReply
	from              BrokerID
	moved, startMoved bool
}

func (fetchRecorded) isInput() {}

// fetchRecorded draws the conclusions (Partition.updateFollowerFetchState): the
// ISR first, so that the HW counts who is about to join. The follower learns of
// a HW that moves here with its next fetch.
func (r *Replica) fetchRecorded(in fetchRecorded) {
	if r.role == Offline {
		in.reply.Bounds = fetchError(KafkaStorageError)
	}
	if r.leader != nil {
		if f := r.leader.remote(in.from); f != nil {
			r.maybeExpandISR(f)
			if in.moved {
				r.maybeAdvanceHW()
			}
			if in.startMoved {
				r.completeDeletes()
			}
		}
	}
	r.emit(in.reply)
}
