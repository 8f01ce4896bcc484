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
