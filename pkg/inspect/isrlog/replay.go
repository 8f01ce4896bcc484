package isrlog

import (
	"time"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Position is where in the log a record lies.
type Position struct {
	Offset inspect.Offset
	// Epoch is that of the quorum when the record was written.
	Epoch inspect.Epoch
	// Time is the batch's: up to 25 ms before the record's operation
	// (controller.quorum.append.linger.ms).
	Time time.Time
}

// Replay turns the records of the metadata log into events. It keeps the state of
// every partition, and no event: each goes to emit as soon as its cause is certain.
//
// Causes are not written down in the log: they follow from a record's neighbours.
// When a broker is fenced the changes of its partitions come first and the record
// that fences it last, so that a change which could be a part of such a run is held
// until the run ends. The controller's no-op record, every 500 ms, ends one at the
// latest; where there are none, [Replay.Flush] does.
type Replay struct {
	emit    func(inspect.IsrEvent)
	source  inspect.IsrSource
	topics  map[kraft.UUID]*topic
	brokers map[inspect.BrokerID]*broker
	// held is the run that may turn out to be suspect's; see attribute.go.
	held    []change
	suspect inspect.BrokerID
	// after is whose record came last, where changes caused by it come behind it.
	after opening
	// open: a metadata transaction has begun (KIP-868), and buffered is what it
	// holds so far.
	open     bool
	buffered []positioned
	gaps     Gaps
	decoder  kraft.Decoder
	// only, where it is not nil, are the partitions of which anything is kept. The
	// changes of others neither count nor end a run.
	only only
	// watch, where it is not nil, takes every change with the cause of its first event.
	watch func(c *change, cause inspect.IsrCause)
}

// only are partitions by topic and index.
type only map[kraft.UUID]map[int32]bool

func (o only) has(topic kraft.UUID, index int32) bool { return o == nil || o[topic][index] }

func (o only) add(id partitionID) {
	if o[id.topic] == nil {
		o[id.topic] = map[int32]bool{}
	}
	o[id.topic][id.index] = true
}

func (o only) hasTopic(topic kraft.UUID) bool { return o == nil || o[topic] != nil }

// Gaps counts what could not be replayed.
type Gaps struct {
	// Strays are changes of partitions of which the log that was read tells
	// nothing: it begins after their topic was created, and without a snapshot.
	Strays int
	// Newer are records in versions that this program does not know.
	Newer int
}

type positioned struct {
	at  Position
	rec kraft.Record
}

// topic holds its partitions by number; a gap is nil.
type topic struct {
	name       string
	partitions []*partition
}

// broker is what is known of one life of a broker.
type broker struct {
	epoch    int64
	stopping bool // in controlled shutdown
	fenced   bool
	// fencedAt is when it was fenced, zero where that is not known, or it registered
	// fenced; back is when it was unfenced after that, silent how long it took.
	fencedAt, back time.Time
	silent         time.Duration
}

// maxBuffered bounds an open metadata transaction. Kafka opens them for a few
// records at its first start only; a log that holds more is damaged.
const maxBuffered = 1 << 20

// NewReplay returns one that knows nothing yet.
func NewReplay(source inspect.IsrSource, emit func(inspect.IsrEvent)) *Replay {
	return &Replay{
		emit: emit, source: source, suspect: inspect.NoBroker,
		topics: map[kraft.UUID]*topic{}, brokers: map[inspect.BrokerID]*broker{},
	}
}

// Gaps returns what could not be replayed so far.
func (r *Replay) Gaps() Gaps { return r.gaps }

// Load takes a record of a snapshot: state, of whose coming about nothing is known.
// No event comes of it. Records of the log come after.
func (r *Replay) Load(rec kraft.Record) {
	switch rec := rec.(type) {
	case *kraft.Topic:
		r.name(rec)
	case *kraft.Partition:
		r.place(rec, stateOf(rec))
	case *kraft.RegisterBroker:
		r.register(rec)
	}
}

// adopt takes from another replay what is not known here.
func (r *Replay) adopt(other *Replay) {
	for id, b := range other.brokers {
		if r.brokers[id] == nil {
			r.brokers[id] = b
		}
	}
	for id, t := range other.topics {
		known := r.topics[id]
		if known == nil {
			r.topics[id] = t
			continue
		}
		for i, p := range t.partitions {
			switch {
			case i >= len(known.partitions):
				known.partitions = append(known.partitions, p)
			case known.partitions[i] == nil:
				known.partitions[i] = p
			}
		}
	}
	r.gaps.Newer += other.gaps.Newer
}

// Record takes the next record of the log. Offsets ascend.
func (r *Replay) Record(at Position, rec kraft.Record) {
	switch rec.(type) {
	case *kraft.BeginTransaction:
		r.open = true
	case *kraft.EndTransaction:
		buffered := r.buffered
		r.open, r.buffered = false, nil
		for _, p := range buffered {
			r.apply(p.at, p.rec)
		}
	case *kraft.AbortTransaction:
		r.open, r.buffered = false, nil
	default:
		if r.open && len(r.buffered) < maxBuffered {
			r.buffered = append(r.buffered, positioned{at, rec})
			return
		}
		r.apply(at, rec)
	}
}

// Waiting is the first record of which events have not been told yet; false where there
// is none.
func (r *Replay) Waiting() (Position, bool) {
	switch {
	case len(r.held) > 0:
		return r.held[0].at, true
	case len(r.buffered) > 0:
		return r.buffered[0].at, true
	}
	return Position{}, false
}

// NewLeader takes the control record of a new active controller. What its
// predecessor left half written ends there.
func (r *Replay) NewLeader() { r.Flush() }

// Flush ends a run that is being held: nothing that belongs to it comes any more.
func (r *Replay) Flush() {
	r.settle(inspect.CauseUnknown)
	r.after = opening{}
}

func (r *Replay) apply(at Position, rec kraft.Record) {
	if rec, ok := rec.(*kraft.PartitionChange); ok {
		r.change(at, rec)
		return
	}
	r.endRun(rec)
	switch rec := rec.(type) {
	case *kraft.RegisterBroker:
		r.register(rec)
	case *kraft.UnregisterBroker:
		delete(r.brokers, inspect.BrokerID(rec.BrokerID))
	case *kraft.BrokerRegistrationChange:
		r.registrationChange(at, rec)
	case *kraft.FenceBroker:
		r.fence(inspect.BrokerID(rec.ID), true, at.Time)
	case *kraft.UnfenceBroker:
		r.fence(inspect.BrokerID(rec.ID), false, at.Time)
		r.after = opening{unfenced, inspect.BrokerID(rec.ID)}
	case *kraft.Topic:
		r.name(rec)
	case *kraft.Partition:
		r.create(at, rec)
	case *kraft.RemoveTopic:
		r.remove(at, rec)
	case *kraft.ClearELR:
		r.clearELR(at, rec)
	case *kraft.Unknown:
		r.gaps.Newer++
	}
}

func (r *Replay) name(rec *kraft.Topic) {
	if r.only.hasTopic(rec.TopicID) {
		r.topics[rec.TopicID] = &topic{name: rec.Name}
	}
}

func (r *Replay) register(rec *kraft.RegisterBroker) {
	r.brokers[inspect.BrokerID(rec.BrokerID)] = &broker{epoch: rec.BrokerEpoch, stopping: rec.InControlledShutdown, fenced: rec.Fenced}
}

func (r *Replay) fence(id inspect.BrokerID, fenced bool, at time.Time) {
	b := r.brokers[id]
	switch {
	case b == nil:
		return
	case fenced && !b.fenced:
		b.fencedAt = at
	case !fenced && !b.fencedAt.IsZero():
		b.silent, b.back, b.fencedAt = at.Sub(b.fencedAt), at, time.Time{}
	}
	b.fenced = fenced
}

// fencedFor is for how long a broker was fenced in this life of it, if that ended after
// since.
func (r *Replay) fencedFor(id inspect.BrokerID, since time.Time) inspect.Opt[time.Duration] {
	b := r.brokers[id]
	if b == nil || b.back.IsZero() || b.back.Before(since) {
		return inspect.Unknown[time.Duration]()
	}
	return inspect.Known(b.silent)
}

func (r *Replay) registrationChange(at Position, rec *kraft.BrokerRegistrationChange) {
	id := inspect.BrokerID(rec.BrokerID)
	if rec.InControlledShutdown == kraft.InControlledShutdown {
		r.after = opening{stopping, id}
		if b := r.brokers[id]; b != nil {
			b.stopping = true
		}
	}
	if rec.Fenced != kraft.FencingNoChange {
		r.fence(id, rec.Fenced == kraft.Fenced, at.Time)
	}
	if rec.Fenced == kraft.Unfenced {
		r.after = opening{unfenced, id}
	}
}

// isStopping reports whether the broker is in controlled shutdown, from which only a
// new registration leads back.
func (r *Replay) isStopping(id inspect.BrokerID) bool {
	b := r.brokers[id]
	return b != nil && b.stopping
}
