package isrlog

import (
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// compare tells what is different. A cause is told where what was looked at leaves no
// other; most leave several, for between two looks a broker may have been fenced and
// come back.
func (l *look) compare(p *inspect.Partition, was, now *looked, minChanged bool) {
	before := len(l.events)
	tell := func(t inspect.IsrEventType, cause inspect.IsrCause, brokers []inspect.BrokerID) {
		if len(brokers) > 0 {
			l.tell(p.Topic, p.Index, was, now, t, cause, brokers)
		}
	}
	moved := differing(was.replicas, now.replicas)
	if was.moving && now.moving {
		moved = union(moved, differing(was.adding, now.adding), differing(was.removing, now.removing))
	}
	if len(moved) == 0 && !slices.Equal(was.replicas, now.replicas) {
		moved = now.replicas // in another order
	}
	elected := now.leader != was.leader && now.leader != inspect.NoBroker
	election := inspect.CauseUnknown
	if elected {
		election = l.electionCause(was, now)
	}

	left := minus(was.isr, now.isr)
	gone := minus(left, now.replicas)
	tell(inspect.IsrShrink, inspect.CauseReassignment, gone)
	stayed := minus(left, gone)
	fenced := slices.DeleteFunc(slices.Clone(stayed), func(id inspect.BrokerID) bool { return !l.isFenced(id) })
	tell(inspect.IsrShrink, inspect.CauseBrokerFenced, fenced)
	tell(inspect.IsrShrink, inspect.CauseUnknown, minus(stayed, fenced))

	came := minus(now.isr, was.isr)
	added := minus(came, minus(minus(was.replicas, was.adding), was.joining))
	tell(inspect.IsrExpand, inspect.CauseReassignment, added)
	back := minus(came, added)
	if elected && slices.Contains(back, now.leader) {
		tell(inspect.IsrExpand, election, []inspect.BrokerID{now.leader})
		back = minus(back, []inspect.BrokerID{now.leader})
	}
	tell(inspect.IsrExpand, inspect.CauseCaughtUp, back)
	now.absences(was, l.snap.TakenAt)

	switch {
	case elected:
		tell(inspect.IsrLeader, election, leaders(was.leader, now.leader))
	case now.leader != was.leader && l.isFenced(was.leader):
		tell(inspect.IsrLeader, inspect.CauseBrokerFenced, leaders(was.leader))
	case now.leader != was.leader:
		tell(inspect.IsrLeader, inspect.CauseUnknown, leaders(was.leader))
	}
	tell(inspect.IsrReassign, inspect.CauseReassignment, moved)
	if len(l.events) == before && was.elrKnown && now.elrKnown {
		cause := inspect.CauseUnknown
		if minChanged && len(now.elr)+len(now.lastKnown) == 0 {
			cause = inspect.CauseConfigChange
		}
		tell(inspect.IsrELR, cause, union(differing(was.elr, now.elr), differing(was.lastKnown, now.lastKnown)))
	}
}

// isFenced reports a broker that is registered and fenced, or that is not among those
// that live.
func (l *look) isFenced(id inspect.BrokerID) bool {
	b := l.snap.Broker(id)
	return b == nil || b.Fenced.Or(false)
}

func (l *look) electionCause(was, now *looked) inspect.IsrCause {
	switch {
	case l.isUnclean(was, now):
		return inspect.CauseUncleanElection
	case was.leader == inspect.NoBroker && was.elrKnown && slices.Contains(was.elr, now.leader):
		if len(now.elr) == 0 && (len(was.lastKnown) == 0 || slices.Contains(was.lastKnown, now.leader)) {
			// It may have come back from an unclean end, been struck off the ELR for that, and
			// been elected as the last known leader, which no look in between need have seen.
			return inspect.CauseUnknown
		}
		return inspect.CauseELRElection
	case was.leader == inspect.NoBroker && slices.Contains(was.isr, now.leader):
		return inspect.CauseBrokerReturned
	case was.leader != inspect.NoBroker && !slices.Contains(now.replicas, was.leader):
		return inspect.CauseReassignment
	case was.leader != inspect.NoBroker && l.isFenced(was.leader):
		return inspect.CauseBrokerFenced
	}
	return inspect.CauseUnknown
}

// isUnclean reports an election of a replica that was in neither the last ISR nor
// the ELR. Where that cannot be told it is none.
func (l *look) isUnclean(was, now *looked) bool {
	switch {
	case !was.sure, slices.Contains(was.clean, now.leader):
		return false
	case !slices.Contains(was.replicas, now.leader):
		return false // a reassignment made it a replica, and may have put it into the ISR
	case was.epoch.IsKnown() && now.epoch.IsKnown() && !below(was.epoch, now.epoch):
		return false
	}
	for _, id := range was.clean {
		if slices.Contains(now.isr, id) {
			return false // it had joined the ISR before it was elected: the others are still in it
		}
		if !slices.Contains(now.replicas, id) {
			return false // a reassignment took it away, and not before another had joined
		}
	}
	if was.leader == inspect.NoBroker {
		return true
	}
	// A leader that went straight to another leaves no time to ask for the ELR,
	// which is empty only as long as the ISR has its minimum. And where no unclean
	// election is allowed a partition stays without a leader until somebody asks for
	// one: this leader has joined the ISR since the last look, and then been elected.
	return !now.neverUnclean && (!l.snap.KeepsELR.Or(false) || was.least > 0 && len(was.isr) >= was.least)
}

// absences notes since when replicas have been out of the ISR: the look that missed
// them first.
func (p *looked) absences(was *looked, at time.Time) {
	for _, a := range was.out {
		if slices.Contains(p.replicas, a.broker) && !slices.Contains(p.isr, a.broker) {
			p.out = append(p.out, a)
		}
	}
	for _, id := range minus(was.isr, p.isr) {
		if slices.Contains(p.replicas, id) {
			p.out = append(p.out, absence{id, at})
		}
	}
}

// tell adds an event, whose time is that of the look.
func (l *look) tell(
	topic string, index int32, was, now *looked, t inspect.IsrEventType, cause inspect.IsrCause, brokers []inspect.BrokerID,
) {
	e := inspect.IsrEvent{
		Time: l.snap.TakenAt, Topic: topic, Partition: index, Type: t, Cause: cause, Brokers: brokers,
		Replicas: now.replicas, ISRBefore: was.isr, ISR: now.isr, Leader: now.leader, LeaderEpoch: now.epoch, Source: inspect.SourceMetadataDiff,
	}
	if now.elrKnown {
		e.ELR = inspect.Known(now.elr)
	}
	if t == inspect.IsrExpand {
		for _, a := range was.out {
			if slices.Contains(brokers, a.broker) {
				e.Out = inspect.Known(max(e.Out.Or(0), l.snap.TakenAt.Sub(a.since)))
			}
		}
	}
	l.events = append(l.events, e)
}
