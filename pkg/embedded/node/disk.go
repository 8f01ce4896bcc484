package node

import (
	"errors"
	"io/fs"
	"math"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// Orders for the disk. Those of a partition's own lane come one after another.
// What Kafka does beside the log's lock, so that appends go on, has a lane of its
// own: the files of the directory, and syncs that no producer waits for.
const (
	directoryLane uint64 = 0
	// Each log name has two lanes from firstLane on: appends, and background syncs.
	firstLane    uint64 = 2
	lanesPerName uint64 = 2
)

// laneOf is the lane of a log's name, the same for all logs that ever have it.
func (n *Node) laneOf(tp storage.TopicPartition) uint64 {
	lane, ok := n.lanes[tp]
	if !ok {
		lane = firstLane + lanesPerName*uint64(len(n.lanes))
		n.lanes[tp] = lane
	}
	return lane
}

func syncLane(p *partition) uint64 { return p.lane + 1 }

// order is an Order of this package: done is called in the step of its Ran.
type order interface {
	machine.Order
	done(n *Node)
}

func (n *Node) run(lane uint64, o order) {
	n.running++
	n.out = append(n.out, machine.Run{Lane: lane, Order: o})
}

func (n *Node) ran(o machine.Order) { o.(order).done(n) }

// order gives the disk the replica's one order.
func (n *Node) order(p *partition, o order) {
	p.busy = true
	n.run(p.lane, o)
}

// answer steps the answer to a replica's order. A log that was closed meanwhile
// has nobody to tell.
func (n *Node) answer(p *partition, err error, in replica.Input) {
	p.busy = false
	if p.entry.fetcher != nil {
		p.entry.fetcher.changed = true
	}
	switch {
	case p.closed:
	case err == nil:
		n.step(p, in)
		n.maybeFlush(p)
	default:
		n.diskFailed(err)
	}
}

// appendOrder appends batches.
type appendOrder struct {
	p        *partition
	bytes    []byte
	frame    *frame // of a producer's
	follower bool
	wall     int64
	err      error
}

// orderAppend finds the bytes that the replica means. A producer's get the offset
// and the epoch that they have from now on.
func (n *Node) orderAppend(p *partition, e replica.Append) {
	o := &appendOrder{p: p, wall: n.now.Wall}
	if e.LeaderEpoch == replica.NoEpoch {
		o.follower = true
		for _, f := range p.fetched {
			if f.token == e.Token {
				o.bytes = f.bytes[:f.ends[e.Batches-1]]
			}
		}
	} else {
		q := n.asked.produce(e.Token)
		o.bytes, o.frame = q.bytes, q.frame
		q.bytes, q.frame = nil, nil
		b := record.Batch(o.bytes)
		b.SetBaseOffset(int64(e.Base))
		b.SetLeaderEpoch(int32(e.LeaderEpoch))
	}
	n.order(p, o)
}

// Run is Order's.
func (o *appendOrder) Run() {
	o.err = o.p.log.Append(o.bytes, o.wall)
	if o.follower && errors.Is(o.err, storage.ErrTooLarge) {
		// The leader had the room: segment.bytes was changed since, and this broker has
		// heard of it before or after. Kafka's follower would give the partition up.
		cfg := o.p.cfg.log
		cfg.SegmentBytes = math.MaxInt32
		o.p.log.Configure(cfg)
		o.err = o.p.log.Append(o.bytes, o.wall)
		o.p.log.Configure(o.p.cfg.log)
	}
	o.bytes = nil
}

func (o *appendOrder) done(n *Node) {
	n.letGo(o.frame)
	if !o.follower && errors.Is(o.err, storage.ErrTooLarge) {
		n.answer(o.p, nil, replica.AppendRejected{Err: recordListTooLarge})
		return
	}
	n.answer(o.p, o.err, replica.Appended{})
}

// syncOrder makes records durable that a producer waits for.
type syncOrder struct {
	p    *partition
	upTo replica.Offset
	wall int64
	err  error
}

// Run is Order's.
func (o *syncOrder) Run() { o.err = o.p.log.Flush(o.upTo, o.wall) }

func (o *syncOrder) done(n *Node) { n.answer(o.p, o.err, replica.Synced{}) }

// truncateOrder cuts a log.
type truncateOrder struct {
	p       *partition
	to      replica.Offset
	restart bool
	wall    int64
	err     error
}

func (n *Node) orderTruncate(p *partition, e replica.Truncate) {
	if e.BelowHW {
		n.warnf("%s: cut to offset %d, below the high watermark: committed records are lost", p.name, e.To)
	}
	n.order(p, &truncateOrder{p: p, to: e.To, restart: e.Restart, wall: n.now.Wall})
}

// Run is Order's.
func (o *truncateOrder) Run() {
	if o.restart {
		o.err = o.p.log.TruncateFullyAndStartAt(o.to, o.wall)
		return
	}
	o.err = o.p.log.TruncateTo(o.to, o.wall)
}

func (o *truncateOrder) done(n *Node) {
	var in replica.Truncated
	if o.err == nil && !o.p.closed {
		in.Producers = o.p.log.Producers()
	}
	n.answer(o.p, o.err, in)
}

// epochOrder stores a new leader's epoch.
type epochOrder struct {
	p     *partition
	entry logstate.EpochStart
	err   error
}

// Run is Order's.
func (o *epochOrder) Run() { o.err = o.p.log.StoreEpoch(o.entry) }

func (o *epochOrder) done(n *Node) { n.answer(o.p, o.err, replica.EpochStored{}) }

// startOrder moves a log's start. The replica does not wait for it.
type startOrder struct {
	p     *partition
	start replica.Offset
	err   error
}

// Run is Order's.
func (o *startOrder) Run() { o.err = o.p.log.SetStart(o.start) }

func (o *startOrder) done(n *Node) {
	// Out of range: a follower's HW has fallen behind it since. It comes again.
	if o.err != nil && !o.p.closed && !errors.Is(o.err, storage.ErrOffsetOutOfRange) {
		n.diskFailed(o.err)
	}
}

// flushOrder is a sync that nobody waits for: of a segment that is complete, or
// by flush.ms.
type flushOrder struct {
	p    *partition
	upTo replica.Offset
	wall int64
	err  error
}

// maybeFlush orders such a sync if one is due, or sets the time for it.
func (n *Node) maybeFlush(p *partition) {
	if p.flushing || p.closed {
		return
	}
	upTo, dueMs, ok := p.log.SyncDue()
	if !ok {
		n.alarms.Clear(&p.flush)
		return
	}
	// The log knows the time of day, alarms the other clock.
	if wait := dueMs - n.now.Wall; wait > 0 {
		// That one may have been set back.
		n.alarms.set(&p.flush, n.now.Mono+max(min(wait, p.cfg.flushMs), 1))
		return
	}
	n.alarms.Clear(&p.flush)
	p.flushing = true
	n.run(syncLane(p), &flushOrder{p: p, upTo: upTo, wall: n.now.Wall})
}

// Run is Order's.
func (o *flushOrder) Run() { o.err = o.p.log.Flush(o.upTo, o.wall) }

func (o *flushOrder) done(n *Node) {
	o.p.flushing = false
	switch {
	case o.p.closed:
	case o.err != nil:
		n.diskFailed(o.err)
	default:
		n.maybeFlush(o.p)
	}
}

// openOrder makes a partition's log. What lies there of another topic of that
// name is set aside (KAFKA-14616).
type openOrder struct {
	n      *Node
	p      *partition
	unique string
	wall   int64
	stray  bool
	log    *storage.Log
	err    error
}

// Run is Order's.
func (o *openOrder) Run() {
	dir, id := o.n.dir, o.p.id.topic.String()
	o.log = dir.Log(o.p.name)
	if o.log != nil && o.log.TopicID() != id {
		o.stray, o.log = true, nil
		if o.err = dir.SetAside(o.p.name, o.unique); o.err != nil {
			return
		}
	}
	if o.log != nil {
		return
	}
	o.log, o.err = dir.Create(o.p.name, id, o.p.cfg.log, o.wall)
}

func (o *openOrder) done(n *Node) {
	p := o.p
	n.opening--
	switch {
	case o.err != nil:
		n.diskFailed(o.err)
		return
	case o.stray:
		n.notef("%s: the log of another topic of that name was set aside as %s.%s-stray", p.name, p.name, o.unique)
	}
	if !p.closed {
		p.log = o.log
	}
	n.startOpened(p)
}

// deleteOrder takes a log out of service.
type deleteOrder struct {
	n      *Node
	p      *partition
	unique string
	err    error
}

// Run is Order's.
func (o *deleteOrder) Run() { o.err = o.n.dir.Delete(o.p.name, o.unique) }

func (o *deleteOrder) done(n *Node) {
	if o.err != nil {
		n.diskFailed(o.err)
		return
	}
	n.upkeep.removeLater(n, o.p.cfg.deleteDelay)
}

// strayOrder sets a log aside that this broker is no longer to host.
type strayOrder struct {
	n      *Node
	tp     storage.TopicPartition
	unique string
	err    error
}

// Run is Order's.
func (o *strayOrder) Run() { o.err = o.n.dir.SetAside(o.tp, o.unique) }

func (o *strayOrder) done(n *Node) {
	if o.err != nil && !errors.Is(o.err, fs.ErrNotExist) {
		n.diskFailed(o.err)
		return
	}
	n.notef("%s: not this broker's any more: set aside as %s.%s-stray", o.tp, o.tp, o.unique)
}
