package isrlog

import (
	"context"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// stepsBefore are how far before the newest snapshot the beginning of what was wrong in it
// is looked for, in records: an hour of an idle log, four, fourteen. It is 10 MB at most.
var stepsBefore = []inspect.Offset{7200, 28_800, 100_000}

// Earlier remembers what [Log.Onsets] found before the newest snapshot, so that who asks
// again and again has it read once for each. The zero value remembers nothing yet.
type Earlier struct {
	snapshot snapshotID
	found    map[partitionID]inspect.Onset // without Since where it was not found
}

// of returns what is remembered of what lies before that snapshot.
func (e *Earlier) of(id snapshotID) map[partitionID]inspect.Onset {
	if e.found == nil || e.snapshot != id {
		e.snapshot, e.found = id, map[partitionID]inspect.Onset{}
	}
	return e.found
}

// readBefore looks for what lies before the newest snapshot. An error ends it, and what is
// not found stays as it is.
func (o *onsets) readBefore(ctx context.Context, r *logReading, log *fetched, newest snapshotID, known *Earlier) {
	if newest.offset < 0 {
		return
	}
	o.known = known.of(newest)
	for id := range o.found {
		if earlier, ok := o.known[id]; ok && earlier.Since.IsKnown() && !o.found[id].Since.IsKnown() {
			o.found[id] = earlier
		}
	}
	if len(o.pending()) > 0 && o.searchBefore(ctx, r, log, newest) == nil {
		for _, id := range o.pending() {
			o.known[id] = o.found[id]
		}
	}
}

func (o *onsets) searchBefore(ctx context.Context, r *logReading, log *fetched, newest snapshotID) error {
	first, err := r.stamp(ctx, log.start+1)
	if err != nil {
		return err
	}
	for _, n := range stepsBefore {
		place := max(newest.offset-n, first.next)
		if place >= newest.offset || len(o.pending()) == 0 {
			return nil
		}
		if err := o.readFrom(ctx, r, place, newest, first, log); err != nil {
			return err
		}
	}
	return nil
}

// pending are those that were so in the snapshot, and of which no more is known.
func (o *onsets) pending() (ids []partitionID) {
	for id, found := range o.found {
		if _, asked := o.known[id]; !asked && !found.Since.IsKnown() {
			ids = append(ids, id)
		}
	}
	return ids
}

// readFrom takes those that came to be so behind place, but not right behind it: who was in
// controlled shutdown there is not known.
func (o *onsets) readFrom(ctx context.Context, r *logReading, place inspect.Offset, newest snapshotID, first stamp, log *fetched) error {
	c, ok, err := r.touchedBetween(ctx, place, newest.offset)
	pending := o.pending()
	if err != nil || !ok || !slices.ContainsFunc(pending, c.touches) {
		return err
	}
	at, err := r.stamp(ctx, place)
	if err != nil {
		return err
	}
	earlier := &onsets{wanted: map[partitionID]*inspect.Partition{}, found: map[partitionID]inspect.Onset{}}
	wanted := only{}
	for _, id := range pending {
		wanted.add(id)
		earlier.wanted[id] = o.wanted[id]
	}
	earlier.watch(wanted)
	r.replay = earlier.replay
	if ok, err := r.beginBefore(ctx, place, newest, first, log.start, c); err != nil || !ok {
		return err
	}
	earlier.load(r.loaded)
	if err := earlier.readOn(ctx, r); err != nil {
		return err
	}
	for _, id := range pending {
		found := earlier.found[id]
		if since, ok := found.Since.Get(); ok && !since.Before(at.time.Add(clockSkew)) {
			o.found[id], o.known[id] = found, found
		}
	}
	return nil
}

// touches reports whether something of that partition was changed.
func (c *touched) touches(id partitionID) bool {
	return c.changed[id] != nil || c.topics[id.topic]
}
