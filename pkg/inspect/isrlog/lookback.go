package isrlog

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// lookBack finds the state that some partitions had at a place in the log, of which the
// rest is known. It is, in the order in which that is looked for,
//
//   - what the earliest snapshot has, if the partition epoch says that nothing happened
//     to the partition since;
//   - what the last record sets that sets it, if that lies shortly before;
//   - what follows from the records at the log's start and about the last starts of the
//     brokers, which are where an idle cluster's changes lie, if the partition epoch says
//     that there are no others: every change raises it by one;
//   - else what the last record sets that sets it, for which the log is read backwards
//     until all of it is found, if need be to its start.
//
// A topic that was deleted is read back to its creation.
type lookBack struct {
	r            *logReading
	place, start inspect.Offset
	first        stamp
	open         map[partitionID]*undo
	gone         map[kraft.UUID]bool
	// back is how far the log was read back from place, and seen what was there of what is
	// open, and of topics that are gone, in any order.
	back inspect.Offset
	seen []positioned
	// earliest is the state at the log's start, removed that of topics that are gone.
	earliest, removed *Replay
}

// reach is how much of the log is looked at, in records.
type reach struct {
	// near is looked at first; then steps back grow from least to most.
	near, least, most inspect.Offset
	// before and behind is what is looked at about a broker's start: what clears up behind
	// its last life, and what it catches up with. spots bounds all of it.
	before, behind, spots inspect.Offset
	// skew is by how much a span's beginning is looked for too early.
	skew time.Duration
	// whole: what is not found so is looked for up to the log's start.
	whole bool
}

// usual keeps all that is tried before the log is read to its start below 1.5 MB of no-op
// records, of 72 bytes. Near is the last 50 minutes of an idle log.
var usual = reach{near: 6000, least: 3000, most: 200_000, before: 100, behind: 1500, spots: 8000, skew: clockSkew, whole: true}

// find returns false where it cannot be found.
func (l *lookBack) find(ctx context.Context) (bool, error) {
	l.back = l.place
	if l.isDone() {
		return true, nil
	}
	if ok, err := l.begin(ctx); err != nil || !ok {
		return false, err
	}
	l.rest(true)
	if ok, err := l.read(ctx, max(l.start, l.place-l.r.reach.near)); err != nil || !ok {
		return false, err
	}
	if len(l.open) > 0 {
		if err := l.spots(ctx); err != nil {
			return false, err
		}
	}
	if l.isDone() || !l.r.reach.whole {
		return l.isDone(), nil
	}
	if ok, err := l.read(ctx, l.start); err != nil || !ok {
		return false, err
	}
	l.rest(false) // no record since the earliest snapshot has set it
	l.remains()
	return l.isDone(), nil
}

func (l *lookBack) isDone() bool { return len(l.open)+len(l.gone) == 0 }

// begin takes the state at the log's start.
func (l *lookBack) begin(ctx context.Context) (bool, error) {
	r := l.r
	l.earliest, l.removed = NewReplay(inspect.SourceMetadataLog, nil), NewReplay(inspect.SourceMetadataLog, func(inspect.IsrEvent) {})
	if l.start == 0 {
		return true, nil
	}
	if len(l.gone) == 0 { // else which partitions they had is not known
		l.earliest.only = only{}
		for id := range l.open {
			l.earliest.only.add(id)
		}
	}
	if ok, err := r.hasEarliest(ctx, l.start, l.first); err != nil || !ok {
		return false, err
	}
	r.earliest = snapshotID{l.start, l.first.epoch}
	kept := r.replay
	r.replay = l.earliest
	err := r.load(ctx, r.earliest)
	r.replay = kept
	return err == nil, err
}

// rest takes what is lacking from the earliest snapshot: of partitions that are the same
// as then, or else of all.
func (l *lookBack) rest(same bool) {
	for id, u := range l.open {
		_, p := l.earliest.find(id.topic, id.index)
		if p != nil && (!same || p.partitionEpoch == u.before.partitionEpoch) {
			l.take(id, &p.state, allFields)
		}
	}
}

func (l *lookBack) take(id partitionID, s *state, told fields) {
	u := l.open[id]
	u.take(s, told)
	if u.isFound() {
		delete(l.open, id)
	}
}

// read reads the log backwards, in steps that grow with what was read, for the last
// records that set what is lacking. False where the log cannot be had.
func (l *lookBack) read(ctx context.Context, end inspect.Offset) (bool, error) {
	for l.back > end && !l.isDone() {
		n := min(max(l.r.reach.least, (l.place-l.back)/4), l.r.reach.most)
		from := max(end, l.back-n)
		last := map[partitionID]*set{} // by the records of the step, of which later ones win
		ok, err := l.r.scan(ctx, from, l.back, nil, func(at Position, rec kraft.Record) {
			l.keep(at, rec)
			l.sets(last, rec)
		})
		if err != nil || !ok {
			return false, err
		}
		for id, found := range last {
			if l.open[id] != nil {
				l.take(id, &found.state, found.told)
			}
		}
		l.back = from
		l.created()
	}
	return true, nil
}

// set is what records set of a partition.
type set struct {
	told  fields
	state state
}

func (l *lookBack) sets(last map[partitionID]*set, rec kraft.Record) {
	of := func(id partitionID) *set {
		if last[id] == nil {
			last[id] = &set{}
		}
		return last[id]
	}
	switch rec := rec.(type) {
	case *kraft.Partition:
		if id := (partitionID{rec.TopicID, rec.PartitionID}); l.open[id] != nil {
			last[id] = &set{allFields, stateOf(rec)}
		}
	case *kraft.PartitionChange:
		if id := (partitionID{rec.TopicID, rec.PartitionID}); l.open[id] != nil {
			s := of(id)
			s.state = s.state.merge(rec)
			s.told.add(fieldsOf(rec))
		}
	case *kraft.ClearELR:
		for id := range l.open {
			if t := l.r.replay.topics[id.topic]; rec.TopicName == "" || t != nil && t.name == rec.TopicName {
				s := of(id)
				s.state.elr, s.state.lastKnown = nil, nil
				s.told.add(fields{elr: true, lastKnown: true})
			}
		}
	}
}

// keep keeps a record that says something of what is looked for.
func (l *lookBack) keep(at Position, rec kraft.Record) {
	wanted := false
	switch rec := rec.(type) {
	case *kraft.Topic:
		wanted = l.gone[rec.TopicID]
	case *kraft.Partition:
		wanted = l.gone[rec.TopicID] || l.open[partitionID{rec.TopicID, rec.PartitionID}] != nil
	case *kraft.PartitionChange:
		wanted = l.gone[rec.TopicID] || l.open[partitionID{rec.TopicID, rec.PartitionID}] != nil
	case *kraft.ClearELR:
		wanted = len(l.gone) > 0
	}
	if wanted {
		l.seen = append(l.seen, positioned{at, rec})
	}
}

// inOrder returns what was seen.
func (l *lookBack) inOrder() []positioned {
	slices.SortStableFunc(l.seen, func(a, b positioned) int { return cmp.Compare(a.at.Offset, b.at.Offset) })
	return l.seen
}

// created makes up topics that are gone and whose creation was read.
func (l *lookBack) created() {
	for id := range l.gone {
		if slices.ContainsFunc(l.seen, func(p positioned) bool {
			rec, ok := p.rec.(*kraft.Topic)
			return ok && rec.TopicID == id
		}) {
			l.remove(id)
		}
	}
}

// remains makes up topics that are gone and were there at the log's start.
func (l *lookBack) remains() {
	for id := range l.gone {
		if t := l.earliest.topics[id]; t != nil {
			l.removed.topics[id] = t
			l.remove(id)
		}
	}
}

// remove applies to one of them what was seen of it.
func (l *lookBack) remove(id kraft.UUID) {
	one := NewReplay(inspect.SourceMetadataLog, func(inspect.IsrEvent) {})
	if t := l.removed.topics[id]; t != nil {
		one.topics[id] = t
	}
	for _, p := range l.inOrder() {
		switch rec := p.rec.(type) {
		case *kraft.Topic:
			if rec.TopicID != id {
				continue
			}
		case *kraft.Partition:
			if rec.TopicID != id {
				continue
			}
		case *kraft.PartitionChange:
			if rec.TopicID != id {
				continue
			}
		}
		one.Record(p.at, p.rec)
	}
	l.removed.topics[id] = one.topics[id]
	delete(l.gone, id)
}

// spots reads where changes are to be expected, and takes what follows from them for
// partitions of which these are all.
func (l *lookBack) spots(ctx context.Context) error {
	seen := slices.Clone(l.seen)
	for _, s := range l.places() {
		at := len(l.seen)
		ok, err := l.r.scan(ctx, s.from, s.to, nil, l.keep)
		if err != nil {
			return err
		}
		if !ok { // a transaction lies across its end
			l.seen = l.seen[:at]
		}
	}
	l.prove()
	l.seen = seen // what is read again must not be seen twice
	return nil
}

type spot struct{ from, to inspect.Offset }

// places are the start of the log and those of the brokers' last lives, whose epochs are
// offsets, without what was read already.
func (l *lookBack) places() []spot {
	by := &l.r.reach
	all := []spot{{l.start, l.start + by.behind}}
	for _, b := range l.r.replay.brokers {
		all = append(all, spot{inspect.Offset(b.epoch) - by.before, inspect.Offset(b.epoch) + by.behind})
	}
	slices.SortFunc(all, func(a, b spot) int { return cmp.Compare(a.from, b.from) })
	var out []spot
	left, read := by.spots, l.start
	for _, s := range all {
		s = spot{max(s.from, read), min(s.to, l.back)}
		if s.to = min(s.to, s.from+left); s.from < s.to {
			out = append(out, s)
			left, read = left-(s.to-s.from), s.to
		}
	}
	return out
}

// prove applies what was seen. The epochs of the outcome are those that are known only if
// nothing is missing: an ELR that was cleared raises the partition's, and counts as missing.
func (l *lookBack) prove() {
	at := map[partitionID]*state{}
	for id := range l.open {
		if _, p := l.earliest.find(id.topic, id.index); p != nil {
			s := p.state
			at[id] = &s
		}
	}
	for _, p := range l.inOrder() {
		switch rec := p.rec.(type) {
		case *kraft.Partition:
			s := stateOf(rec)
			at[partitionID{rec.TopicID, rec.PartitionID}] = &s
		case *kraft.PartitionChange:
			if s := at[partitionID{rec.TopicID, rec.PartitionID}]; s != nil {
				*s = s.merge(rec)
			}
		}
	}
	for _, id := range slices.Collect(maps.Keys(l.open)) {
		want := &l.open[id].before
		if s := at[id]; s != nil && s.partitionEpoch == want.partitionEpoch && s.leaderEpoch == want.leaderEpoch {
			l.take(id, s, allFields)
		}
	}
}
