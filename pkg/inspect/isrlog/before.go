package isrlog

import (
	"context"
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Where a span begins before the newest snapshot, and something changed between the
// two, the state at its beginning is that of the snapshot, with what was changed taken
// back: a change says what it sets and not what that was before. lookback.go has where
// that is found.

// touched is what happened between two offsets.
type touched struct {
	topics  map[kraft.UUID]bool // created
	names   map[string]bool     // theirs
	gone    map[kraft.UUID]bool // deleted, and created before
	cleared []string            // ELRs of these topics, of all for an empty name
	changed map[partitionID]*undo
	// brokers are those that began or ended a controlled shutdown.
	brokers map[inspect.BrokerID]bool
	// some: something else, that an event may come of.
	some bool
	// hard: something among it that cannot be taken back.
	hard bool
}

func (c *touched) isNothing() bool {
	return !c.hard && !c.some && len(c.topics)+len(c.gone)+len(c.cleared)+len(c.changed)+len(c.brokers) == 0
}

// undo is what a partition's changes set, and what was found of the state before.
type undo struct {
	created          bool
	changes, leaders int // how many there are, and how many that name a leader
	lacks            fields
	before           state
}

// fields are those of a partition that a change may set.
type fields struct{ replicas, adding, removing, isr, elr, lastKnown, leader bool }

func fieldsOf(rec *kraft.PartitionChange) fields {
	return fields{
		replicas: rec.Replicas != nil, adding: rec.AddingReplicas != nil, removing: rec.RemovingReplicas != nil,
		isr: rec.ISR != nil, elr: rec.EligibleLeaderReplicas != nil, lastKnown: rec.LastKnownELR != nil,
		leader: rec.Leader != kraft.NoLeaderChange,
	}
}

func (f *fields) add(g fields) {
	f.replicas, f.adding, f.removing = f.replicas || g.replicas, f.adding || g.adding, f.removing || g.removing
	f.isr, f.elr, f.lastKnown, f.leader = f.isr || g.isr, f.elr || g.elr, f.lastKnown || g.lastKnown, f.leader || g.leader
}

// take fills in from s what is lacking and told of.
func (u *undo) take(s *state, told fields) {
	for _, list := range []struct {
		lacks       *bool
		told        bool
		kept, other *[]inspect.BrokerID
	}{
		{&u.lacks.replicas, told.replicas, &u.before.replicas, &s.replicas},
		{&u.lacks.adding, told.adding, &u.before.adding, &s.adding},
		{&u.lacks.removing, told.removing, &u.before.removing, &s.removing},
		{&u.lacks.isr, told.isr, &u.before.isr, &s.isr},
		{&u.lacks.elr, told.elr, &u.before.elr, &s.elr},
		{&u.lacks.lastKnown, told.lastKnown, &u.before.lastKnown, &s.lastKnown},
	} {
		if *list.lacks && list.told {
			*list.kept, *list.lacks = *list.other, false
		}
	}
	if u.lacks.leader && told.leader {
		u.before.leader, u.lacks.leader = s.leader, false
	}
}

var allFields = fields{true, true, true, true, true, true, true}

// isFound reports whether nothing is lacking. Kafka keeps no ELR beside a whole ISR, and
// no last known one beside a leader (PartitionChangeBuilder).
func (u *undo) isFound() bool {
	l, b := &u.lacks, &u.before
	if l.elr && !l.isr && !l.replicas && len(minus(b.replicas, b.isr)) == 0 {
		l.elr, b.elr = false, nil
	}
	if l.lastKnown && !l.leader && b.leader != inspect.NoBroker {
		l.lastKnown, b.lastKnown = false, nil
	}
	return *l == fields{}
}

// touchedBetween collects what happened. What it read is kept, to be read again.
func (r *logReading) touchedBetween(ctx context.Context, from, to inspect.Offset) (*touched, bool, error) {
	c := &touched{
		topics: map[kraft.UUID]bool{}, names: map[string]bool{}, gone: map[kraft.UUID]bool{},
		changed: map[partitionID]*undo{}, brokers: map[inspect.BrokerID]bool{},
	}
	r.ahead = ahead{from: from}
	ok, err := r.scan(ctx, from, to, r.ahead.keep, func(_ Position, rec kraft.Record) { c.add(rec) })
	return c, ok, err
}

func (c *touched) add(rec kraft.Record) {
	switch rec := rec.(type) {
	case *kraft.Topic:
		c.topics[rec.TopicID], c.names[rec.Name] = true, true
	case *kraft.RemoveTopic:
		if !c.topics[rec.TopicID] {
			c.gone[rec.TopicID] = true
		}
	case *kraft.ClearELR:
		if !c.names[rec.TopicName] { // a new topic has none
			c.cleared = append(c.cleared, rec.TopicName)
		}
	case *kraft.Partition:
		if u := c.of(rec.TopicID, rec.PartitionID); u.changes == 0 {
			u.created = true
		}
	case *kraft.PartitionChange:
		u := c.of(rec.TopicID, rec.PartitionID)
		u.changes++
		if rec.Leader != kraft.NoLeaderChange {
			u.leaders++
		}
		u.lacks.add(fieldsOf(rec))
	case *kraft.RegisterBroker:
		c.brokers[inspect.BrokerID(rec.BrokerID)] = true
	case *kraft.UnregisterBroker:
		c.brokers[inspect.BrokerID(rec.BrokerID)] = true
	case *kraft.BrokerRegistrationChange:
		if rec.InControlledShutdown == kraft.InControlledShutdown {
			c.brokers[inspect.BrokerID(rec.BrokerID)] = true
		}
		c.some = true
	case *kraft.FenceBroker, *kraft.UnfenceBroker: // leave no state behind
		c.some = true
	default: // newer than this program
		c.hard = true
	}
}

func (c *touched) of(topic kraft.UUID, index int32) *undo {
	id := partitionID{topic, index}
	if c.changed[id] == nil {
		c.changed[id] = &undo{}
	}
	return c.changed[id]
}

// isCleared reports whether an ELR may have been cleared that the partition had: Kafka
// keeps none beside a whole ISR, and no last known one beside a leader.
func (c *touched) isCleared(id partitionID, topic string, s *state) bool {
	if !slices.Contains(c.cleared, "") && !slices.Contains(c.cleared, topic) {
		return false
	}
	return c.changed[id] != nil || s.leader == inspect.NoBroker || len(minus(s.replicas, s.isr)) > 0
}

// beginBefore begins at place, before the newest snapshot, with that one's state and
// what happened in between taken back. False where it cannot be. Of what is not found
// within the reach nothing is replayed any more.
func (r *logReading) beginBefore(ctx context.Context, place inspect.Offset, newest snapshotID, first stamp, start inspect.Offset, c *touched) (bool, error) {
	if c.hard {
		return false, nil
	}
	if err := r.beginAt(ctx, newest); err != nil {
		return false, err
	}
	if len(c.cleared) > 0 && r.anyCleared(c) {
		return false, nil
	}
	l := lookBack{r: r, place: place, start: start, first: first, open: map[partitionID]*undo{}, gone: map[kraft.UUID]bool{}}
	for id := range c.gone {
		if r.replay.only.hasTopic(id) {
			l.gone[id] = true
		}
	}
	for id, u := range c.changed {
		if !r.replay.only.has(id.topic, id.index) {
			continue
		}
		_, p := r.replay.find(id.topic, id.index)
		switch {
		case c.topics[id.topic] || u.created || c.gone[id.topic]:
		case p == nil:
			return false, nil
		default:
			u.before = p.state
			u.before.partitionEpoch -= int32(u.changes)
			u.before.leaderEpoch -= inspect.Epoch(u.leaders)
			if !u.isFound() {
				l.open[id] = u
			}
		}
	}
	ok, err := l.find(ctx)
	if err != nil || !ok && r.reach.whole {
		return false, err
	}
	for id := range l.open { // not to be had without reading all of it
		delete(r.replay.only[id.topic], id.index)
	}
	for id := range c.topics {
		delete(r.replay.topics, id)
	}
	for id := range c.gone {
		if l.removed != nil && l.removed.topics[id] != nil {
			r.replay.topics[id] = l.removed.topics[id]
		}
	}
	for id, u := range c.changed {
		if t := r.replay.topics[id.topic]; t == nil || c.gone[id.topic] || !r.replay.only.has(id.topic, id.index) {
			continue
		} else if u.created {
			t.partitions[id.index] = nil
		} else {
			t.partitions[id.index].state = u.before
		}
	}
	// Who was in controlled shutdown then is taken not to have been: what that changed
	// lies right behind its beginning.
	for id := range c.brokers {
		r.replay.brokers[id] = &broker{}
	}
	r.next, r.from, r.lastEpoch = place, place, r.at.epoch
	return true, nil
}

func (r *logReading) anyCleared(c *touched) bool {
	for id, t := range r.replay.topics {
		for i, p := range t.partitions {
			if p != nil && !c.topics[id] && c.isCleared(partitionID{id, int32(i)}, t.name, &p.state) {
				return true
			}
		}
	}
	return false
}
