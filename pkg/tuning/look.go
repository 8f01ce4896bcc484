package tuning

// Unknown is an offset or id that was not learned.
const Unknown = -1

// Partition names a partition.
type Partition struct {
	Topic string
	Index int32
}

// Look is one sample of a partition, taken from outside.
type Look struct {
	// AtMs is when the leader's LEO was read, in ms on one clock for all looks.
	AtMs int64
	// BeganMs is when the look began; 0 stands for AtMs. Brokers are asked after all are
	// connected: who stands still holds the look up, until it goes on or is given up.
	BeganMs int64
	// Leader is Unknown where there is none. LeaderEpoch may be Unknown; then only a
	// change of Leader tells of an election.
	Leader, LeaderEpoch int32
	// LEO is the leader's log end offset, read before the followers' and before HW.
	// Without it the look is a gap.
	LEO int64
	// HW is the leader's high watermark, Unknown where it was not read.
	HW        int64
	Followers []FollowerLook
}

// FollowerLook is a replica other than the leader.
type FollowerLook struct {
	Broker int32
	// LEO is the log end offset that the follower told itself, after the leader's was
	// read: whoever has Look.LEO then is not behind. Unknown where it did not answer.
	LEO int64
	// AtMs is when it answered, or was given up; 0 stands for Look.AtMs.
	AtMs int64
	// InISR is by the metadata of that moment.
	InISR bool
}

// silent reports whether some follower did not answer.
func (l *Look) silent() bool {
	for i := range l.Followers {
		if l.Followers[i].LEO == Unknown {
			return true
		}
	}
	return false
}

// sight is what the look tells of a follower; false where that is nothing.
//
// A broker that is frozen does not answer, and is just what matters. But while it is
// in the ISR the HW cannot pass it: where all others have more than the HW, the HW is
// what this follower has (Partition.maybeIncrementLeaderHW).
func (l *Look) sight(i int) (sight, bool) {
	f := &l.Followers[i]
	s := sight{offset: f.LEO, atMs: max(f.AtMs, l.AtMs), answered: true, heldHW: f.InISR && l.HW >= f.LEO, known: Unknown}
	if f.LEO != Unknown {
		if f.InISR && l.othersHave(i, l.LEO) {
			s.known = l.HW
		}
		s.heldUp = s.atMs-l.AtMs > slowAnswerMs || l.BeganMs > 0 && l.AtMs-l.BeganMs > slowAnswerMs && !l.silent()
		return s, true
	}
	if !f.InISR || l.HW == Unknown {
		return sight{}, false
	}
	s.offset, s.answered, s.heldHW = l.HW, false, true
	if l.HW >= l.LEO {
		return s, true
	}
	if !l.othersHave(i, l.HW+1) {
		return sight{}, false
	}
	return s, true
}

// othersHave reports whether all followers in the ISR but the i-th have told to have as much.
func (l *Look) othersHave(i int, offset int64) bool {
	for j := range l.Followers {
		if o := &l.Followers[j]; j != i && o.InISR && o.LEO < offset {
			return false
		}
	}
	return true
}
