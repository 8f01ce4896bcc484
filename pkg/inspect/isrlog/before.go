package isrlog

import (
	"context"
	"fmt"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Where a span begins before the newest snapshot, and something changed between the
// two, the state at its beginning is that of the snapshot, with what was changed taken
// back: a change says what it sets and not what that was before. That is
//
//   - what the earliest snapshot has, if the partition epoch says that nothing happened
//     to the partition since;
//   - else what the last record sets that sets it, for which the log is read backwards
//     until all of it is found.

// touched is what happened between two offsets.
type touched struct {
	topics  map[kraft.UUID]bool // created
	changed map[partitionID]*undo
	// brokers are those that began or ended a controlled shutdown.
	brokers map[inspect.BrokerID]bool
	// some: something else, that an event may come of.
	some bool
	// hard: something among it that cannot be taken back.
	hard bool
}

func (c *touched) isNothing() bool {
	return !c.hard && !c.some && len(c.topics)+len(c.changed)+len(c.brokers) == 0
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

// scan reads batches from one offset up to another; false: they cannot be had.
func (r *logReading) scan(ctx context.Context, from, to inspect.Offset, take func(Position, kraft.Record)) (bool, error) {
	const idle = 96 // bytes of a no-op record, and some air
	for from < to {
		epoch := r.at.epoch
		if from > 0 && from == r.earliest.offset { // where no other is valid
			epoch = r.earliest.epoch
		}
		got, err := r.at.fetch(ctx, fetchQuery{
			// At 0 there is the snapshot alone; the batch that holds 1 comes whole.
			offset: max(from, 1), lastEpoch: epoch, maxBytes: int32(min(fetchBytes, int64(to-from)*idle+idle)),
		})
		if err != nil {
			return false, err
		}
		if got.code != 0 || got.snapshot.offset >= 0 || got.diverged || len(got.data) == 0 {
			return false, nil
		}
		for data := got.data; len(data) > 0 && from < to; {
			b, size, err := cutBatch(data)
			if err != nil {
				break
			}
			if err := b.tell(from, to, take); err != nil {
				return false, err
			}
			from, data = b.next(), data[size:]
		}
	}
	return true, nil
}

// tell decodes the records that events come from.
func (b *batch) tell(from, to inspect.Offset, take func(Position, kraft.Record)) error {
	if b.isControl() {
		return nil
	}
	return b.each(func(at Position, rec *kmsg.Record) error {
		if at.Offset < from || at.Offset >= to {
			return nil
		}
		key, err := typeOf(rec.Value)
		switch {
		case err != nil:
			return err
		case key > kraft.TypeUnregisterController:
			take(at, &kraft.Unknown{Of: key})
		case matters(key):
			one, err := kraft.Decode(rec.Value)
			if err != nil {
				return err
			}
			take(at, one)
		}
		return nil
	})
}

// touchedBetween collects what happened.
func (r *logReading) touchedBetween(ctx context.Context, from, to inspect.Offset) (*touched, bool, error) {
	c := &touched{topics: map[kraft.UUID]bool{}, changed: map[partitionID]*undo{}, brokers: map[inspect.BrokerID]bool{}}
	ok, err := r.scan(ctx, from, to, func(_ Position, rec kraft.Record) { c.add(rec) })
	return c, ok, err
}

func (c *touched) add(rec kraft.Record) {
	switch rec := rec.(type) {
	case *kraft.Topic:
		c.topics[rec.TopicID] = true
	case *kraft.RemoveTopic:
		c.hard = c.hard || !c.topics[rec.TopicID]
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
	default: // transactions, and what changes partitions without naming them
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

// beginBefore begins at place, before the newest snapshot, with that one's state and
// what happened in between taken back. False where it cannot be.
func (r *logReading) beginBefore(ctx context.Context, place inspect.Offset, newest snapshotID, first stamp, start inspect.Offset, c *touched) (bool, error) {
	if c.hard {
		return false, nil
	}
	if err := r.beginAt(ctx, newest); err != nil {
		return false, err
	}
	open := map[partitionID]*undo{}
	for id, u := range c.changed {
		_, p := r.replay.find(id.topic, id.index)
		switch {
		case c.topics[id.topic] || u.created:
		case p == nil:
			return false, nil
		default:
			u.before = p.state
			u.before.partitionEpoch -= int32(u.changes)
			u.before.leaderEpoch -= inspect.Epoch(u.leaders)
			if !u.isFound() {
				open[id] = u
			}
		}
	}
	if ok, err := r.findBefore(ctx, place, first, start, open); err != nil || !ok {
		return false, err
	}
	for id := range c.topics {
		delete(r.replay.topics, id)
	}
	for id, u := range c.changed {
		if t := r.replay.topics[id.topic]; t == nil {
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

// findBefore finds what is lacking of the states at place.
func (r *logReading) findBefore(ctx context.Context, place inspect.Offset, first stamp, start inspect.Offset, open map[partitionID]*undo) (bool, error) {
	if len(open) == 0 {
		return true, nil
	}
	earliest := NewReplay(inspect.SourceMetadataLog, nil)
	earliest.only = only{}
	for id := range open {
		earliest.only.add(id)
	}
	if start > 0 {
		if ok, err := r.hasEarliest(ctx, start, first); err != nil || !ok {
			return false, err
		}
		r.earliest = snapshotID{start, first.epoch}
		kept := r.replay
		r.replay = earliest
		err := r.load(ctx, r.earliest)
		r.replay = kept
		if err != nil {
			return false, err
		}
	}
	rest := func(same bool) {
		for id, u := range open {
			_, p := earliest.find(id.topic, id.index)
			if p != nil && (!same || p.partitionEpoch == u.before.partitionEpoch) {
				u.take(&p.state, allFields)
			}
			if u.isFound() {
				delete(open, id)
			}
		}
	}
	rest(true)
	if err := r.lookBack(ctx, place, start, open); err != nil {
		return false, err
	}
	rest(false) // no record since the earliest snapshot has set it
	return len(open) == 0, nil
}

// lookBack reads the log backwards, in steps that grow, for the last records that set
// what is lacking.
func (r *logReading) lookBack(ctx context.Context, to, end inspect.Offset, open map[partitionID]*undo) error {
	const step, most = 10_000, 200_000
	for n := inspect.Offset(step); to > end && len(open) > 0; n = min(2*n, most) {
		from := max(end, to-n)
		type set struct {
			told  fields
			state state
		}
		last := map[partitionID]*set{} // by the records of the step, of which later ones win
		ok, err := r.scan(ctx, from, to, func(_ Position, rec kraft.Record) {
			switch rec := rec.(type) {
			case *kraft.Partition:
				if id := (partitionID{rec.TopicID, rec.PartitionID}); open[id] != nil {
					last[id] = &set{allFields, stateOf(rec)}
				}
			case *kraft.PartitionChange:
				id := partitionID{rec.TopicID, rec.PartitionID}
				if open[id] == nil {
					return
				}
				if last[id] == nil {
					last[id] = &set{}
				}
				last[id].state = last[id].state.merge(rec)
				last[id].told.add(fieldsOf(rec))
			}
		})
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("controller %s: offset %d: %w", r.at.addr, from, errMoved)
		}
		for id, found := range last {
			u := open[id]
			u.take(&found.state, found.told)
			if u.isFound() {
				delete(open, id)
			}
		}
		to = from
	}
	return nil
}
