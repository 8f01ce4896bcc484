package isrlog

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// The controller writes an operation's records one behind the other, without a mark
// where it begins or ends. Two kinds of neighbours tell a cause:
//
//   - what follows: a run of changes that all take the same broker away, directly
//     before a record about that broker (fenced, a log directory lost, registered
//     anew, unregistered). A lag shrink of the same broker just before is swallowed;
//   - what came before: a broker's controlled shutdown, or its unfencing, behind
//     which come the changes that it made possible.

// opening is a record behind which changes that it caused are to be expected.
type opening struct {
	kind   openingKind
	broker inspect.BrokerID
}

type openingKind int

const (
	nothing openingKind = iota
	stopping
	unfenced
)

// maxHeld is how many changes are held for one run: more than a broker has
// partitions. Beyond it causes are unknown rather than guessed.
const maxHeld = 1 << 18

// change takes a PartitionChange.
func (r *Replay) change(at Position, rec *kraft.PartitionChange) {
	t, p := r.find(rec.TopicID, rec.PartitionID)
	if p == nil && !r.only.has(rec.TopicID, rec.PartitionID) {
		return
	}
	if p == nil {
		r.gaps.Strays++
		r.settle(inspect.CauseUnknown)
		return
	}
	c := change{
		at: at, id: rec.TopicID, topic: t.name, index: rec.PartitionID, before: p.state, after: p.merge(rec),
		unclean: rec.LeaderRecoveryState == kraft.Recovering,
	}
	c.out = p.apply(c.after, at.Time)
	lost, suspicious := c.loses()
	switch {
	case r.after.kind == stopping && suspicious && lost == r.after.broker:
		r.told(&c, inspect.CauseControlledShutdown)
		return
	case r.after.kind == unfenced && c.before.leader == inspect.NoBroker && c.after.leader != inspect.NoBroker:
		r.told(&c, inspect.CauseBrokerReturned)
		return
	}
	r.after = opening{}
	if !suspicious || lost != r.suspect || len(r.held) >= maxHeld {
		r.settle(inspect.CauseUnknown)
	}
	if !suspicious {
		r.told(&c, inspect.CauseUnknown)
		return
	}
	r.suspect = lost
	r.held = append(r.held, c)
}

// loses names the one broker that the change takes something from; false where it is
// none, or several, which no record about one broker would do.
func (c *change) loses() (inspect.BrokerID, bool) {
	if left := minus(c.before.isr, c.after.isr); len(left) > 0 {
		return left[0], len(left) == 1
	}
	if c.before.leader != inspect.NoBroker && c.after.leader == inspect.NoBroker {
		return c.before.leader, true // without an ELR the last one stays in the ISR
	}
	if lost := minus(c.before.elr, union(c.after.elr, c.after.isr)); len(lost) > 0 {
		return lost[0], len(lost) == 1
	}
	return inspect.NoBroker, false
}

// endRun settles what is held by the record that came behind it.
func (r *Replay) endRun(rec kraft.Record) {
	id, cause := inspect.NoBroker, inspect.CauseUnknown
	switch rec := rec.(type) {
	case *kraft.BrokerRegistrationChange:
		id = inspect.BrokerID(rec.BrokerID)
		switch {
		case rec.Fenced == kraft.Fenced && r.isStopping(id):
			cause = inspect.CauseControlledShutdown
		case rec.Fenced == kraft.Fenced:
			cause = inspect.CauseBrokerFenced
		case len(rec.LogDirs) > 0:
			cause = inspect.CauseLogDirFailure
		}
	case *kraft.FenceBroker:
		id, cause = inspect.BrokerID(rec.ID), inspect.CauseBrokerFenced
	case *kraft.RegisterBroker:
		id, cause = inspect.BrokerID(rec.BrokerID), inspect.CauseUncleanRestart
	case *kraft.UnregisterBroker:
		id, cause = inspect.BrokerID(rec.BrokerID), inspect.CauseUnregistered
	}
	if id != r.suspect {
		cause = inspect.CauseUnknown
	}
	r.settle(cause)
	r.after = opening{}
}

// settle tells what is held. CauseUnknown: no record about the suspect followed.
func (r *Replay) settle(cause inspect.IsrCause) {
	for i := range r.held {
		r.told(&r.held[i], cause)
	}
	r.held, r.suspect = r.held[:0], inspect.NoBroker
	if cap(r.held) > 1<<10 { // one that was long is not kept for the next
		r.held = nil
	}
}

// told makes the events of a change that happened because of something that its
// neighbours tell, or CauseUnknown.
func (r *Replay) told(c *change, because inspect.IsrCause) {
	before, after := &c.before, &c.after
	replicas := differing(before.replicas, after.replicas)
	moving := union(replicas, differing(before.adding, after.adding), differing(before.removing, after.removing))
	reassigned := len(moving) > 0 || !slices.Equal(before.replicas, after.replicas)
	elected := before.leader != after.leader && after.leader != inspect.NoBroker
	tells := false
	first := because
	tell := func(t inspect.IsrEventType, cause inspect.IsrCause, brokers []inspect.BrokerID) {
		if len(brokers) > 0 {
			if !tells {
				first = cause
			}
			tells = true
			r.tell(c, t, cause, brokers)
		}
	}
	defer func() { r.watched(c, first) }()

	left := minus(before.isr, after.isr)
	stayed := minus(left, minus(left, after.replicas))
	tell(inspect.IsrShrink, inspect.CauseReassignment, minus(left, stayed))
	tell(inspect.IsrShrink, c.shrinkCause(because), stayed)
	came := minus(after.isr, before.isr)
	added := minus(came, minus(came, union(before.adding, minus(after.replicas, before.replicas))))
	tell(inspect.IsrExpand, inspect.CauseReassignment, added)
	tell(inspect.IsrExpand, c.expandCause(reassigned), minus(came, added))
	switch {
	case elected:
		tell(inspect.IsrLeader, c.electionCause(because, reassigned), leaders(before.leader, after.leader))
	case before.leader != after.leader:
		tell(inspect.IsrLeader, because, leaders(before.leader, after.leader))
	}
	if reassigned {
		if len(moving) == 0 {
			moving = after.replicas // in another order
		}
		tell(inspect.IsrReassign, inspect.CauseReassignment, moving)
	}
	if !tells { // an ELR that follows from what was told is no event of its own
		tell(inspect.IsrELR, because, union(differing(before.elr, after.elr), differing(before.lastKnown, after.lastKnown)))
	}
}

func (r *Replay) watched(c *change, cause inspect.IsrCause) {
	if r.watch != nil {
		r.watch(c, cause)
	}
}

// leaders are those there are.
func leaders(ids ...inspect.BrokerID) []inspect.BrokerID {
	return minus(ids, []inspect.BrokerID{inspect.NoBroker})
}

// shrinkCause: a leader that drops a follower names no leader. A record that does was
// written by the controller alone.
func (c *change) shrinkCause(because inspect.IsrCause) inspect.IsrCause {
	switch {
	case because != inspect.CauseUnknown:
		return because
	case c.before.leader == c.after.leader && c.after.leader != inspect.NoBroker:
		return inspect.CauseReplicaLag
	case c.unclean:
		return inspect.CauseUncleanElection
	}
	return inspect.CauseUnknown
}

// expandCause: who was elected from outside the ISR enters it by that.
func (c *change) expandCause(reassigned bool) inspect.IsrCause {
	if kind := c.outside(reassigned); kind != inspect.CauseUnknown {
		return kind
	}
	return inspect.CauseCaughtUp
}

// outside says from where a leader came that was not in the ISR; CauseUnknown where
// there is none. That the partition is to recover is said once: where an election
// follows another one before it has, the record is silent about it.
func (c *change) outside(reassigned bool) inspect.IsrCause {
	leader := c.after.leader
	switch {
	case leader == inspect.NoBroker, leader == c.before.leader && !c.unclean, slices.Contains(c.before.isr, leader):
		return inspect.CauseUnknown
	case !c.unclean && slices.Contains(c.before.elr, leader):
		return inspect.CauseELRElection
	case len(c.before.isr)+len(c.before.elr) == 0 && slices.Equal(c.before.lastKnown, []inspect.BrokerID{leader}):
		return inspect.CauseLastKnownLeader
	case c.unclean || !reassigned: // the last one to catch up in a reassignment may lead from then on
		return inspect.CauseUncleanElection
	}
	return inspect.CauseUnknown
}

func (c *change) electionCause(because inspect.IsrCause, reassigned bool) inspect.IsrCause {
	kind := c.outside(reassigned)
	switch {
	case kind != inspect.CauseUnknown:
		return kind
	case because != inspect.CauseUnknown:
		return because
	case reassigned:
		return inspect.CauseReassignment
	case c.before.leader != inspect.NoBroker && len(c.after.replicas) > 0 && c.after.leader == c.after.replicas[0]:
		return inspect.CausePreferredElection
	}
	return inspect.CauseUnknown
}

// tell emits one event.
func (r *Replay) tell(c *change, t inspect.IsrEventType, cause inspect.IsrCause, brokers []inspect.BrokerID) {
	e := inspect.IsrEvent{
		Time: c.at.Time, Topic: c.topic, Partition: c.index, Type: t, Cause: cause,
		Brokers: brokers, Replicas: c.after.replicas, ISRBefore: c.before.isr, ISR: c.after.isr, ELR: inspect.Known(c.after.elr),
		Leader: c.after.leader, LeaderEpoch: inspect.Known(c.after.leaderEpoch),
		PartitionEpoch: inspect.Known(c.after.partitionEpoch), Offset: inspect.Known(c.at.Offset), Source: r.source,
	}
	switch out, ok := c.out.Get(); {
	case t == inspect.IsrExpand && cause != inspect.CauseReassignment:
		e.Out = c.out
		if ok && len(brokers) == 1 {
			e.FencedFor = r.fencedFor(brokers[0], c.at.Time.Add(-out))
		}
	case t == inspect.IsrLeader && cause == inspect.CauseBrokerReturned:
		e.FencedFor = r.fencedFor(c.after.leader, c.at.Time)
	}
	r.emit(e)
}
