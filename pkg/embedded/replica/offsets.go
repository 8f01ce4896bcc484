package replica

import "github.com/kafkaops/kafkaops/pkg/embedded/logstate"

// Timestamps of ListOffsets that are names of offsets.
const (
	Latest                int64 = -1
	Earliest              int64 = -2
	MaxTimestamp          int64 = -3
	EarliestLocal         int64 = -4
	LatestTiered          int64 = -5
	EarliestPendingUpload int64 = -6
)

// Replica ids of ListOffsets that are no follower's.
const (
	consumerReplica  int32 = -1
	debuggingReplica int32 = -2
)

// ListOffsets is the question for one offset.
type ListOffsets struct {
	Version int16
	// ReplicaID is -1 for consumers, -2 to ask any replica for its own log; any
	// other is taken for a follower.
	ReplicaID     int32
	LeaderEpoch   Epoch // NoEpoch to have it not compared
	ReadCommitted bool
	Timestamp     int64
}

// ListedOffset is the answer.
type ListedOffset struct {
	Err         Code
	Offset      Offset
	LeaderEpoch Epoch
	// Search is set where only the log knows: the node looks for the first record
	// with this timestamp or a later one, or for MaxTimestamp the one that has the
	// largest, and lets Found judge it.
	Search bool
	// Below is the bound of what may be found, exclusive.
	Below Offset

	lagging bool // the HW is not yet that of the new epoch
	version int16
}

// ListOffsets answers from what is known of the log (Partition.fetchOffsetForTimestamp).
// It changes nothing.
func (r *Replica) ListOffsets(q ListOffsets) ListedOffset {
	none := ListedOffset{Offset: NoOffset, LeaderEpoch: NoEpoch, version: q.Version}
	if lowest, known := minListVersion(q.Timestamp); !known || q.Version < lowest {
		none.Err = UnsupportedVersion
		return none
	}
	if none.Err = r.readable(q.LeaderEpoch, q.ReplicaID != debuggingReplica); none.Err != None {
		return none
	}
	a := none
	a.Below = r.listBound(q)
	// A new leader's HW may be older than what the one before it told consumers:
	// until it has passed the start of the epoch, it would take offsets back
	// (KIP-207). A replica id -2 asks for this log, as it is.
	a.lagging = q.ReplicaID == consumerReplica && r.leader != nil && r.log.hw < r.leader.epochStart
	switch q.Timestamp {
	case Latest:
		if a.lagging {
			none.Err = offsetNotAvailable(q.Version)
			return none
		}
		a.Offset, a.LeaderEpoch = a.Below, r.leaderEpoch
	case Earliest, EarliestLocal:
		a.Offset = r.log.start
		if first, ok := r.log.epochs.Earliest(); ok && first.Start <= r.log.start {
			a.LeaderEpoch = first.Epoch
		}
	case LatestTiered, EarliestPendingUpload:
		// There is no tier: none.
		return none
	default:
		a.Search = true
	}
	return a
}

// Found completes an answer whose Search is set: ok says whether the log had
// such a record, at offset o with that leader epoch. What is not below the bound
// does not exist for who asked.
func (a ListedOffset) Found(o Offset, epoch Epoch, ok bool) ListedOffset {
	a.Search = false
	switch {
	case ok && o < a.Below:
		a.Offset, a.LeaderEpoch = o, epoch
	case a.lagging:
		a.Err = offsetNotAvailable(a.version)
	}
	return a
}

func (r *Replica) listBound(q ListOffsets) Offset {
	switch {
	case q.ReplicaID != consumerReplica:
		return r.log.end
	case q.ReadCommitted:
		return r.lastStable()
	default:
		return r.log.hw
	}
}

// minListVersion is the first version in which a timestamp has a meaning.
func minListVersion(timestamp int64) (int16, bool) {
	switch timestamp {
	case Latest, Earliest:
		return 1, true
	case MaxTimestamp:
		return 7, true
	case EarliestLocal:
		return 8, true
	case LatestTiered:
		return 9, true
	case EarliestPendingUpload:
		return 11, true
	}
	return 1, timestamp >= 0
}

// offsetNotAvailable: clients before v5 do not know OFFSET_NOT_AVAILABLE.
func offsetNotAvailable(version int16) Code {
	if version < 5 {
		return LeaderNotAvailable
	}
	return OffsetNotAvailable
}

// OffsetForLeaderEpoch answers where the records of an epoch end, to followers
// and clients alike: leaders only, and to the LEO, not the HW
// (Partition.lastOffsetForLeaderEpoch). It changes nothing. current is the epoch
// that the asker takes for the present one, NoEpoch to have it not compared.
func (r *Replica) OffsetForLeaderEpoch(current, epoch Epoch) (logstate.EpochEnd, Code) {
	if err := r.readable(current, true); err != None {
		return logstate.UndefinedEnd, err
	}
	return r.log.epochs.EndOffsetFor(epoch, r.log.end), None
}
