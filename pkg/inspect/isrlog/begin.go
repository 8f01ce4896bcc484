package isrlog

import (
	"context"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// begin finds out where to read from, with the state of that place. The log may be
// 100 MB long, and most of it no-op records: where the span begins late, its place is
// searched for, and what lies before is read only if the state cannot be had
// otherwise.
func (r *logReading) begin(ctx context.Context) error {
	r.restart()
	log, newest, err := r.survey(ctx)
	if err != nil {
		return err
	}
	r.target = log.hw
	// Of what followed on what was read already nothing is left out; and where that was
	// another log, or a longer one, this one begins at its end.
	r.live = min(r.live, log.hw)
	if err := r.checkAfter(ctx, log.start); err != nil {
		return err
	}
	err = r.place(ctx, log, newest)
	if err == nil {
		r.goOn()
	}
	return err
}

// checkAfter finds out whether the log is the one in which the place to go on from lies.
// One that is not was restored from a copy, or lost its end with a majority of its disks.
func (r *logReading) checkAfter(ctx context.Context, start inspect.Offset) error {
	after, ok := r.span.After.Get()
	if !ok || after.Offset <= start {
		return nil
	}
	same := int32(after.Epoch) <= r.at.epoch
	if same {
		got, err := r.at.fetch(ctx, fetchQuery{offset: after.Offset, lastEpoch: int32(after.Epoch), maxBytes: 1})
		switch {
		case err != nil:
			return err
		case got.code != 0:
			return fmt.Errorf("controller %s: %w", r.at.addr, errMoved)
		}
		same = !got.diverged
	}
	if same {
		return nil
	}
	r.to.Note(fmt.Sprintf("%s does not have what was read before up to offset %d: its log was lost, or restored from a copy, and counts as another one", r.evidence.Where, after.Offset), true)
	r.span.After = inspect.Unknown[Place]()
	r.span.Since = maxTime(r.span.Since, after.Time)
	r.evidence.Anew = true
	return nil
}

// goOn says from where nothing is missing, where a place to go on from is given.
func (r *logReading) goOn() {
	after, ok := r.span.After.Get()
	if !ok {
		return
	}
	if from, ok := r.evidence.From.Get(); ok && from <= after.Offset || r.from <= after.Offset {
		r.evidence.From, r.evidence.Since = inspect.Known(after.Offset), inspect.Known(after.Time)
		return
	}
	// What begins with a snapshot right at the log's start has all of it.
	from := min(r.evidence.From.Or(r.from), r.from)
	r.evidence.From = inspect.Known(from)
	r.to.Note(fmt.Sprintf("%s no longer has offsets %d to %d: what happened between %s and then is missing",
		r.evidence.Where, after.Offset, from-1, after.Time.UTC().Format(time.RFC3339)), true)
}

// place finds out where to read from, and takes the state of that place.
func (r *logReading) place(ctx context.Context, log *fetched, newest snapshotID) error {
	if newest.offset < 0 { // all there is begins at 0, with nothing
		r.next, r.from, r.lastEpoch = 0, 0, 0
		if r.span.FromEnd {
			return nil
		}
		if b, _, err := cutBatch(log.data); err == nil {
			r.evidence.From, r.evidence.Since = inspect.Known(inspect.Offset(b.FirstOffset)), inspect.Known(b.time())
		}
		return nil
	}
	if r.span.FromEnd {
		return r.beginAt(ctx, newest)
	}
	first, err := r.stamp(ctx, log.start+1)
	if err != nil {
		return err
	}
	// A single record at the start itself cannot be had: a controller offers the
	// snapshot instead.
	r.evidence.From, r.evidence.Since = inspect.Known(first.base), inspect.Known(first.time)
	since, after := r.span.Since, log.hw
	if p, ok := r.span.After.Get(); ok {
		since, after = p.Time, p.Offset
	}
	if !since.IsZero() {
		from := since.Add(-r.reach.skew)
		place, err := r.search(ctx, first, log.hw, from)
		if err != nil {
			return err
		}
		if place = min(place, after); place > first.base {
			if done, err := r.beginLate(ctx, place, newest, first, log.start); err != nil || done {
				return err
			}
			r.restart()
		}
	}
	return r.beginAtStart(ctx, log.start, first, newest)
}

// beginLate begins behind the log's start, at place. False where it cannot.
func (r *logReading) beginLate(ctx context.Context, place inspect.Offset, newest snapshotID, first stamp, start inspect.Offset) (bool, error) {
	if place >= newest.offset {
		return true, r.beginAt(ctx, newest)
	}
	c, ok, err := r.touchedBetween(ctx, place, newest.offset)
	switch {
	case err != nil || !ok:
		return false, err
	case c.isNothing():
		return true, r.beginAt(ctx, newest)
	}
	return r.beginBefore(ctx, place, newest, first, start, c)
}

// beginAt takes the state from a snapshot, and reads on from that offset.
func (r *logReading) beginAt(ctx context.Context, id snapshotID) error {
	if err := r.load(ctx, id); err != nil {
		return err
	}
	// The snapshot's epoch is that of what lies before. At the log's start no other is
	// valid: a controller offers the same snapshot again.
	r.next, r.from, r.lastEpoch = id.offset, id.offset, id.epoch
	return nil
}

// beginAtStart reads all that there is.
func (r *logReading) beginAtStart(ctx context.Context, start inspect.Offset, first stamp, newest snapshotID) error {
	if start == 0 {
		// The batch that holds offset 1 comes whole. An election's record that lies
		// alone at 0 is missed.
		r.next, r.from, r.lastEpoch = 1, 0, r.at.epoch
		return nil
	}
	if newest.offset == start {
		return r.beginAt(ctx, newest)
	}
	ok, err := r.hasEarliest(ctx, start, first)
	if err != nil {
		return err
	}
	if ok {
		if err := r.load(ctx, snapshotID{start, first.epoch}); err != nil {
			return err
		}
		r.next, r.from, r.lastEpoch = start, start, first.epoch
		return nil
	}
	if after, ok := r.span.After.Get(); !ok || after.Offset < newest.offset {
		r.to.Note(fmt.Sprintf("%s: the snapshot of offset %d, where its log begins, cannot be had: events from %d on", r.evidence.Where, start, newest.offset), true)
	}
	r.evidence.restart()
	return r.beginAt(ctx, newest)
}

// hasEarliest reports whether the snapshot of the log's start can be had, in the epoch
// in which the log goes on, unless that began right there. Fetch tells, which
// FetchSnapshot would not.
func (r *logReading) hasEarliest(ctx context.Context, start inspect.Offset, first stamp) (bool, error) {
	got, err := r.at.fetch(ctx, fetchQuery{offset: start, lastEpoch: first.epoch, maxBytes: 1})
	if err != nil {
		return false, err
	}
	return got.code == 0 && got.snapshot.offset < 0 && !got.diverged, nil
}

// survey asks for the log's bounds and its newest snapshot, whose offset is −1 where
// there is none yet.
func (r *logReading) survey(ctx context.Context) (*fetched, snapshotID, error) {
	got, err := r.at.fetch(ctx, fetchQuery{maxBytes: 1})
	switch {
	case err != nil:
		return nil, snapshotID{}, err
	case got.code != 0:
		return nil, snapshotID{}, fmt.Errorf("controller %s: %w", r.at.addr, errMoved)
	}
	return got, got.snapshot, nil
}

// stamp is a batch's place in time.
type stamp struct {
	base, next inspect.Offset
	time       time.Time
	epoch      int32
}

// stamp asks for the batch that holds an offset.
func (r *logReading) stamp(ctx context.Context, at inspect.Offset) (stamp, error) {
	got, err := r.at.fetch(ctx, fetchQuery{offset: at, lastEpoch: r.at.epoch, maxBytes: 1})
	if err != nil {
		return stamp{}, err
	}
	if got.code != 0 || got.snapshot.offset >= 0 || got.diverged {
		return stamp{}, fmt.Errorf("controller %s: offset %d: %w", r.at.addr, at, errMoved)
	}
	b, _, err := cutBatch(got.data)
	if err != nil {
		return stamp{}, fmt.Errorf("controller %s: offset %d: %w", r.at.addr, at, err)
	}
	return stamp{inspect.Offset(b.FirstOffset), b.next(), b.time(), b.PartitionLeaderEpoch}, nil
}

// search returns an offset from which on everything is at or after t, and little is
// before. The offsets of an idle log are its time: so it guesses where t should be,
// and halves where that does not help.
func (r *logReading) search(ctx context.Context, first stamp, end inspect.Offset, t time.Time) (inspect.Offset, error) {
	const near, most = 200, 64 // batches of 72 bytes; requests
	if !first.time.Before(t) || end-first.base < near {
		return first.base, nil
	}
	last, err := r.stamp(ctx, end-1)
	if err != nil {
		return 0, err
	}
	low, high := first, last
	for n := 0; high.base-low.next > near && n < most; n++ {
		if !high.time.After(t) {
			return high.base, nil
		}
		middle := low.next + (high.base-low.next)/2
		if span := high.time.Sub(low.time); n%2 == 0 && span > 0 {
			share := float64(t.Sub(low.time)) / float64(span)
			guess := low.next + inspect.Offset(share*float64(high.base-low.next)) - near/2
			middle = min(max(guess, low.next), high.base-1)
		}
		at, err := r.stamp(ctx, middle)
		if err != nil {
			return 0, err
		}
		if at.time.Before(t) {
			low = at
		} else {
			high = at
		}
	}
	return low.base, nil
}
