package isrlog

import (
	"context"
	"time"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Onsets fills in since when each of these partitions has been without a leader or a
// replica, and why (Partition.Onset). It reads the newest snapshot and what came after
// it, which is an hour at most by Kafka's defaults, and for what was so in the snapshot
// already, before it, up to half a day of an idle log and until ctx ends. What is not
// found there is known to have been so in the snapshot, and no more. Onset stays nil
// where the log knows nothing of a partition, or nothing wrong with it: it may have
// changed since somebody looked. With an error all of them stay as they are.
//
// known is what earlier calls found.
func (l *Log) Onsets(ctx context.Context, of []*inspect.Partition, known *Earlier) error {
	o := newOnsets(of)
	if len(o.wanted) == 0 {
		return nil
	}
	at := l.at
	defer at.close()
	if err := at.find(ctx); err != nil {
		return err
	}
	r := &logReading{at: &at, reach: l.reach, once: true, replay: o.replay}
	r.reach.whole = false
	log, newest, err := r.survey(ctx)
	if err != nil {
		return err
	}
	if err := o.read(ctx, r, log, newest); err != nil {
		return err
	}
	o.readBefore(ctx, r, log, newest, known)
	o.fill()
	return nil
}

// onsets are those of some partitions.
type onsets struct {
	wanted map[partitionID]*inspect.Partition
	found  map[partitionID]inspect.Onset
	known  map[partitionID]inspect.Onset // of what lies before the snapshot
	replay *Replay
}

// partitionID is a partition's: topics may be deleted, and others take their names.
type partitionID struct {
	topic kraft.UUID
	index int32
}

func newOnsets(of []*inspect.Partition) *onsets {
	o := &onsets{wanted: map[partitionID]*inspect.Partition{}, found: map[partitionID]inspect.Onset{}}
	wanted := only{}
	for _, p := range of {
		id, err := kraft.ParseUUID(p.TopicID.Or(""))
		if err != nil {
			continue // the log names topics by their ids
		}
		wanted.add(partitionID{id, p.Index})
		o.wanted[partitionID{id, p.Index}] = p
	}
	o.watch(wanted)
	return o
}

// watch begins a replay of these.
func (o *onsets) watch(of only) {
	o.replay = NewReplay(inspect.SourceMetadataLog, func(inspect.IsrEvent) {})
	o.replay.only, o.replay.watch = of, o.change
}

func (o *onsets) read(ctx context.Context, r *logReading, log *fetched, newest snapshotID) error {
	r.target = log.hw
	if newest.offset >= 0 { // else all there is begins at 0, with nothing
		if err := r.beginAt(ctx, newest); err != nil {
			return err
		}
		o.load(r.loaded)
	}
	return o.readOn(ctx, r)
}

// readOn reads from next to the end.
func (o *onsets) readOn(ctx context.Context, r *logReading) error {
	for r.next < r.target {
		if _, err := r.poll(ctx); err != nil {
			return err
		}
	}
	r.replay.Flush()
	return nil
}

// load takes what is wrong in the snapshot.
func (o *onsets) load(at time.Time) {
	before := inspect.Unknown[time.Time]()
	if at.UnixMilli() > 0 { // else its writer did not say
		before = inspect.Known(at)
	}
	for id := range o.wanted {
		if _, p := o.replay.find(id.topic, id.index); p != nil && !p.isWhole() {
			o.found[id] = inspect.Onset{Before: before}
		}
	}
}

// change takes what happened to one of them.
func (o *onsets) change(c *change, cause inspect.IsrCause) {
	id := partitionID{c.id, c.index}
	if c.after.isWhole() {
		delete(o.found, id)
	} else if _, known := o.found[id]; !known {
		o.found[id] = inspect.Onset{Since: inspect.Known(c.at.Time), Cause: inspect.Known(cause)}
	}
}

func (o *onsets) fill() {
	for id, p := range o.wanted {
		// A topic that was deleted has left none.
		if found, ok := o.found[id]; ok && o.replay.topics[id.topic] != nil {
			p.Onset = &found
		}
	}
}

// isWhole reports whether the partition has a leader, and all replicas in the ISR that
// are not being added (see [inspect.Partition.Health]).
func (s *state) isWhole() bool {
	return s.leader != inspect.NoBroker && len(minus(minus(s.replicas, s.adding), s.isr)) == 0
}
