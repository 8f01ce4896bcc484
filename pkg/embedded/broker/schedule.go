package broker

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// schedule carries out the node's orders: those of a lane one after another, those of
// different lanes beside each other as far as they wait. It is the owner's.
type schedule struct {
	s    *Server
	disk *Disk
	// lanes have their orders, the first of which is being carried out. A lane that has
	// none is not there.
	lanes map[uint64][]*job
	// unsynced are the syncs under way, oldest first.
	unsynced []*batch
	timers   map[*job]*time.Timer
}

// job is an order on its way.
type job struct {
	lane  uint64
	order machine.Order
	ran   bool
	// waits counts what must come to pass before it is run, or once it has run, before
	// it is reported.
	waits int
}

// batch is what one order has left to be synced, and who waits for that.
type batch struct {
	pair  uint64
	syncs []leftSync
	jobs  []*job
}

// pair is what two lanes of one log have in common: see machine.Run.
func pair(lane uint64) uint64 { return lane / 2 }

// lastingLane is where a node writes down what is durable: checkpoints.
const lastingLane uint64 = 0

func (d *schedule) init(s *Server, disk *Disk) {
	d.s, d.disk = s, disk
	d.lanes, d.timers = map[uint64][]*job{}, map[*job]*time.Timer{}
}

func (d *schedule) order(e machine.Run) {
	j := &job{lane: e.Lane, order: e.Order}
	d.lanes[e.Lane] = append(d.lanes[e.Lane], j)
	if len(d.lanes[e.Lane]) == 1 {
		d.begin(j)
	}
}

// begin runs an order whose turn it is. What says which data is durable is not run
// before that data is.
func (d *schedule) begin(j *job) {
	if j.lane == lastingLane {
		d.await(j, func(*batch) bool { return true })
	}
	d.proceed(j)
}

// await makes a job wait for the syncs that are under way.
func (d *schedule) await(j *job, which func(*batch) bool) {
	for _, b := range d.unsynced {
		if which(b) {
			b.jobs = append(b.jobs, j)
			j.waits++
		}
	}
}

// proceed takes a job as far as it can go now.
func (d *schedule) proceed(j *job) {
	if j.waits > 0 {
		return
	}
	if !j.ran {
		d.run(j)
		if j.waits > 0 {
			return
		}
	}
	d.report(j)
}

func (d *schedule) run(j *job) {
	j.ran = true
	d.disk.waits.take() // of reads between orders
	if d.disk.syncs == nil {
		j.order.Run()
	} else {
		d.runDeferring(j)
	}
	if delay := d.disk.waits.take(); delay > 0 {
		j.waits++
		d.timers[j] = time.AfterFunc(delay, func() { d.s.post(event{do: func() { d.late(j) }}) })
	}
}

// runDeferring runs an order and leaves its syncs to a goroutine. An order that has
// left some, or that has written nothing at all, may rely on what other orders of its
// log have left: a log believes of itself that it is synced as soon as it has asked
// for it.
func (d *schedule) runDeferring(j *job) {
	d.disk.syncs.begin()
	j.order.Run()
	left, wrote := d.disk.syncs.end()
	if len(left) > 0 || !wrote {
		d.await(j, func(b *batch) bool { return b.pair == pair(j.lane) })
	}
	if len(left) == 0 {
		return
	}
	b := &batch{pair: pair(j.lane), syncs: left, jobs: []*job{j}}
	j.waits++
	d.unsynced = append(d.unsynced, b)
	d.s.wg.Add(1)
	go func() {
		defer d.s.wg.Done()
		err := d.disk.syncs.carryOut(b.syncs)
		d.s.post(event{do: func() { d.synced(b, err) }})
	}()
}

func (d *schedule) synced(b *batch, err error) {
	if err != nil {
		// The log has taken it for done, so nothing that it says can be believed.
		d.s.end(fmt.Errorf("%s: the log directory failed: %w", d.s.opts.Name, err))
		return
	}
	d.unsynced = remove(d.unsynced, b)
	for _, j := range b.jobs {
		d.passed(j)
	}
}

// passed takes in that one thing has come to pass that a job waited for.
func (d *schedule) passed(j *job) {
	j.waits--
	d.proceed(j)
}

// report tells the node that an order is done, and begins the next one of its lane.
func (d *schedule) report(j *job) {
	rest := d.lanes[j.lane][1:]
	if len(rest) == 0 {
		delete(d.lanes, j.lane)
	} else {
		d.lanes[j.lane] = rest
	}
	d.s.ready = append(d.s.ready, machine.Ran{Order: j.order})
	if len(rest) > 0 {
		d.begin(rest[0])
	}
}

// late ends what a slow disk has held up.
func (d *schedule) late(j *job) {
	if d.timers[j] != nil {
		d.timers[j].Stop()
		delete(d.timers, j)
		d.passed(j)
	}
}

// hurry ends all of that now.
func (d *schedule) hurry() {
	for _, j := range slices.Collect(maps.Keys(d.timers)) {
		d.late(j)
	}
}

// stop forgets what is held up. Syncs that have not begun do not happen, as a process
// that was killed asks for no more.
func (d *schedule) stop() {
	if d.disk.syncs != nil {
		d.disk.syncs.over.Store(true)
	}
	for _, t := range d.timers {
		t.Stop()
	}
}
