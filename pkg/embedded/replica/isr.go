package replica

import (
	"math"
	"slices"

	"github.com/kafkaops/kafkaops/internal/isrrule"
)

// The in-sync replicas. A leader only proposes; the controller decides, and the
// ISR is what it answered or what the metadata says. Between proposal and answer
// the leader obeys whichever set is harder on it (KIP-497):
//
//	Committed      -> PendingExpand  a follower has caught up    maximal = ISR + it
//	Committed      -> PendingShrink  members lag                 maximal = ISR
//	Pending        -> Committed      answered, refused for good, or newer metadata
//	Pending        -> Pending        any other error: proposed again
type isr struct {
	committed []BrokerID
	// pending is nil in state Committed.
	pending *proposal
	// checkedMs is when members were last looked for that lag, or when that became
	// possible again.
	checkedMs int64
}

// proposal is an AlterPartition without answer.
type proposal struct {
	AlterPartition
	// joins is who expands the ISR, NoBroker in a shrink.
	joins BrokerID
}

func (s *isr) inFlight() bool            { return s.pending != nil }
func (s *isr) contains(id BrokerID) bool { return slices.Contains(s.committed, id) }

// inMaximal reports whether id is in the maximal ISR: acknowledgements and the
// HW wait for it.
func (s *isr) inMaximal(id BrokerID) bool {
	return s.contains(id) || s.pending != nil && s.pending.joins == id
}

func (s *isr) maximalSize() int {
	if s.pending != nil && s.pending.joins != NoBroker {
		return len(s.committed) + 1
	}
	return len(s.committed)
}

func (s *isr) maximalIDs() []BrokerID {
	ids := slices.Clone(s.committed)
	if s.pending != nil && s.pending.joins != NoBroker {
		ids = append(ids, s.pending.joins)
	}
	return ids
}

// commit ends whatever is in flight. Lag is looked for at the next half of the
// lag time, not at those that went by meanwhile.
func (s *isr) commit(ids []BrokerID, nowMs int64) {
	s.committed, s.pending, s.checkedMs = slices.Clone(ids), nil, nowMs
}

// maybeExpandISR proposes a follower that has just fetched (Partition.maybeExpandIsr,
// isFollowerInSync). Time does not matter. It must have all that is committed,
// and all that there was when this leader took over: below that, the HW that the
// leader knows may be older than what is committed (KIP-320, rule 4).
func (r *Replica) maybeExpandISR(f *remote) {
	if r.mayJoin(f) {
		r.propose(append(slices.Clone(r.leader.isr.committed), f.id), f.id)
	}
}

func (r *Replica) mayJoin(f *remote) bool {
	l := r.leader
	return !l.isr.inFlight() && !l.isr.contains(f.id) && r.eligible(f) && f.end() >= r.log.hw && f.end() >= l.epochStart
}

// eligible reports whether the controller would take f (Partition.isReplicaIsrEligible,
// KIP-841), and whether the broker that fetched is the one that is registered:
// one that was reborn without its disk is not (KIP-903).
func (r *Replica) eligible(f *remote) bool {
	b, ok := r.cfg.Brokers.Broker(f.id)
	if !ok || b.Fenced || b.ShuttingDown {
		return false
	}
	return f.brokerEpoch == NoBrokerEpoch || f.brokerEpoch == b.Epoch
}

// maybeShrinkISR proposes to drop all members that lag (Partition.maybeShrinkIsr).
func (r *Replica) maybeShrinkISR() {
	l := r.leader
	l.isr.checkedMs = r.nowMs
	out := isrrule.OutOfSync(l.isr.committed, isrrule.Leader[BrokerID]{ID: r.cfg.Self, LEO: int64(r.log.end)},
		func(id BrokerID) (isrrule.Progress, bool) {
			if f := l.remote(id); f != nil {
				return f.Progress, true
			}
			return isrrule.Progress{}, false
		}, r.nowMs, r.cfg.LagTimeMaxMs)
	if len(out) > 0 {
		r.propose(without(l.isr.committed, out), NoBroker)
	}
}

const never int64 = math.MaxInt64

// shrinkDueMs is when maybeShrinkISR will find a member that lags, if nothing
// happens before. Kafka looks at every partition each half of
// replica.lag.time.max.ms; this is the first such moment that has something to
// find, so that idle partitions need no looking at.
func (r *Replica) shrinkDueMs() int64 {
	l := r.leader
	if l.isr.inFlight() || r.disk.busy() {
		return never
	}
	due := never
	for _, id := range l.isr.committed {
		f := l.remote(id)
		switch {
		case id == r.cfg.Self:
		case f == nil:
			due = 0
		case f.end() != r.log.end:
			due = min(due, max(f.LastCaughtUpMs+r.cfg.LagTimeMaxMs+1, f.behindMs))
		}
	}
	if due == never {
		return never
	}
	period := max(isrrule.ShrinkCheckMs(r.cfg.LagTimeMaxMs), 1)
	return (max(due, l.isr.checkedMs+1) + period - 1) / period * period
}

// propose asks the controller for this ISR (Partition.prepareIsrExpand,
// prepareIsrShrink).
func (r *Replica) propose(ids []BrokerID, joins BrokerID) {
	r.proposals++
	p := &proposal{joins: joins, AlterPartition: AlterPartition{
		Proposal: r.proposals, LeaderEpoch: r.leaderEpoch, PartitionEpoch: r.partitionEpoch, ISR: make([]Member, len(ids)),
	}}
	for i, id := range ids {
		p.ISR[i] = Member{ID: id, BrokerEpoch: r.brokerEpoch(id)}
	}
	r.leader.isr.pending = p
	r.emit(p.AlterPartition)
}

// brokerEpoch is Partition.addBrokerEpochToIsr.
func (r *Replica) brokerEpoch(id BrokerID) int64 {
	if f := r.leader.remote(id); f != nil {
		return max(f.brokerEpoch, NoBrokerEpoch)
	}
	b, ok := r.cfg.Brokers.Broker(id)
	if id != r.cfg.Self || !ok {
		return NoBrokerEpoch
	}
	return b.Epoch
}

// alterPartitionResponse is what follows from the answer
// (Partition.handleAlterPartitionUpdate, handleAlterPartitionError). An answer to
// a proposal that newer metadata has overtaken is ignored.
func (r *Replica) alterPartitionResponse(in AlterPartitionResponse) {
	if r.leader == nil || !r.leader.isr.inFlight() || r.leader.isr.pending.Proposal != in.Proposal {
		return
	}
	s := &r.leader.isr
	if in.Err != None {
		r.emit(ISRChanged{What: ISRFailed})
	}
	switch in.Err {
	case None:
		r.isrAnswered(in)
	case OperationNotAttempted, IneligibleReplica:
		// Nothing has changed, and asking the same again would not help.
		s.commit(s.committed, r.nowMs)
	case UnknownTopicID, UnknownTopicOrPartition, FencedLeaderEpoch, InvalidUpdateVersion, InvalidRequest,
		NewLeaderElected:
		// The controller knows something newer. Until the metadata says what, the
		// proposal might yet be in force: stay pending.
	default:
		r.emit(s.pending.AlterPartition)
	}
}

func (r *Replica) isrAnswered(in AlterPartitionResponse) {
	s := &r.leader.isr
	if in.LeaderEpoch != r.leaderEpoch || in.PartitionEpoch < r.partitionEpoch {
		r.emit(ISRChanged{What: ISRFailed})
		return
	}
	what := ISRShrunk
	if s.pending.joins != NoBroker {
		what = ISRExpanded
	}
	r.partitionEpoch = in.PartitionEpoch
	s.commit(in.ISR, r.nowMs)
	r.emit(ISRChanged{What: what})
	// A shrink lets the HW go on without those who lagged; so may an expansion,
	// where it lifts the ISR to the minimum.
	r.maybeAdvanceHW()
}
