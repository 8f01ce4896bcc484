package sim

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// Options say which world to make.
type Options struct {
	Seed uint64
	// Events is how many events a run has before its faults end; 0: DefaultEvents.
	Events int
	// Plan is nil to have it drawn from the seed.
	Plan *Plan
	// Trace, if set, is told every event and every effect in words. A run without
	// it is some times as fast.
	Trace func(line string)
}

// DefaultEvents is how long a run is if nobody says.
const DefaultEvents = 5000

// World is a cluster, its clients and everything between them, in one event loop:
// the same seed gives the same history. It is for one goroutine.
//
// Run lets the seed decide about all; a scenario makes a World of a Plan without
// clients and faults, and moves it by hand: see manual.go.
type World struct {
	plan  Plan
	rng   *rand.Rand
	trace func(string)

	now    int64 // in us
	events int
	limit  int
	queue  queue
	hash   hash
	// calm says that the faults are over: see liveness.go.
	calm   bool
	calmUs int64 // since when

	procs   []*proc // the brokers, and the controller as the last one
	clients []*client
	// hand is the client of what is sent by hand, and byHand says that the world does
	// nothing by itself.
	hand      *client
	handConns map[[2]int32]int
	byHand    bool
	net       network
	faults    []*fault // in force; nil where one has ended
	// rebornArmed says that the next fit proposal meets the fault of reborn.go.
	rebornArmed bool
	model       model

	// For worlds that are moved by hand: see watch.go and LettingArrive.
	watch  *Watch
	ghosts bool

	effects []machine.Effect
	stats   Stats
	err     error
}

// Stats count what happened in a run.
type Stats struct {
	Delivered, Orders, Ticks, Actions, Faults                 int
	Acked, Refused, Consumed, Elections, Unclean, Truncations int
	Crashes, Restarts                                         int
	// Removed counts the batches that replicas had no more after compaction.
	Removed int
	// Ghosts counts the batches that were taken in beside ones that were never committed, in
	// gaps that compaction has made: see onlyGhosts.
	Ghosts int
	// Void counts the partitions whose promises a fault has voided.
	Void int
}

// Add adds o to s.
func (s *Stats) Add(o Stats) {
	s.Delivered, s.Orders, s.Ticks, s.Actions, s.Faults = s.Delivered+o.Delivered, s.Orders+o.Orders, s.Ticks+o.Ticks, s.Actions+o.Actions, s.Faults+o.Faults
	s.Acked, s.Refused, s.Consumed, s.Elections = s.Acked+o.Acked, s.Refused+o.Refused, s.Consumed+o.Consumed, s.Elections+o.Elections
	s.Unclean, s.Truncations, s.Crashes, s.Restarts = s.Unclean+o.Unclean, s.Truncations+o.Truncations, s.Crashes+o.Crashes, s.Restarts+o.Restarts
	s.Removed, s.Ghosts, s.Void = s.Removed+o.Removed, s.Ghosts+o.Ghosts, s.Void+o.Void
}

// Result is what became of a run.
type Result struct {
	Seed uint64
	Plan Plan
	// Hash is of all events and effects: the same for every run of a seed.
	Hash      uint64
	Events    int
	VirtualMs int64
	Stats     Stats
	// Err is nil, or a *ViolationError.
	Err error
}

// ViolationError says which rule was broken, and how.
type ViolationError struct {
	// Rule is the id of an invariant, I1 to I20 or L1 to L6, or "panic".
	Rule   string
	AtMs   int64
	Event  int
	Reason string
}

func (v *ViolationError) Error() string {
	return fmt.Sprintf("%s violated at %d ms, event %d: %s", v.Rule, v.AtMs, v.Event, v.Reason)
}

// Run makes a world and lets it go on until its events are used up, its faults
// have ended and it has come to rest, or a rule is broken.
func Run(opts Options) Result {
	w := New(opts)
	w.run()
	return Result{
		Seed: opts.Seed, Plan: w.plan, Hash: uint64(w.hash), Events: w.events, VirtualMs: w.now / ms, Stats: w.stats, Err: w.err,
	}
}

// New makes a world whose processes have just started.
func New(opts Options) *World {
	w := &World{rng: rand.New(rand.NewPCG(opts.Seed, 0x6b61666b61)), trace: opts.Trace, limit: opts.Events, hash: fnvOffset}
	if w.limit == 0 {
		w.limit = DefaultEvents
	}
	if opts.Plan != nil {
		w.plan = *opts.Plan
	} else {
		w.plan = drawPlan(w.rng)
	}
	w.model.init(w)
	w.net.init(w.plan.Brokers + 2)
	w.guard(w.makeProcesses)
	w.byHand = w.plan.FaultEveryUs == 0
	w.makeClients()
	if w.plan.FaultEveryUs > 0 {
		w.queue.push(event{at: 2*sec + w.rng.Int64N(w.plan.FaultEveryUs), kind: evFault})
	}
	w.queue.push(event{at: checkEveryUs, kind: evCheck})
	return w
}

func (w *World) run() {
	for w.err == nil && w.events < w.limit && w.step() {
	}
	if w.err == nil {
		w.guard(w.comeToRest)
	}
}

// Err is the first rule that was broken, nil if none was.
func (w *World) Err() error { return w.err }

// NowMs is the world's time.
func (w *World) NowMs() int64 { return w.now / ms }

// step lets the next event happen; false if there is none.
func (w *World) step() bool {
	if w.queue.len() == 0 {
		return false
	}
	e := w.queue.pop()
	w.now = max(w.now, e.at)
	w.guard(func() { w.happen(&e) })
	return true
}

// guard makes a panic of the engine a violation. A driver that goes on after one
// would only see its consequences.
func (w *World) guard(f func()) {
	defer func() {
		if r := recover(); r != nil && w.err == nil {
			w.err = &ViolationError{Rule: "panic", AtMs: w.now / ms, Event: w.events, Reason: fmt.Sprintf("%v\n%s", r, debug.Stack())}
		}
	}()
	f()
}

func (w *World) happen(e *event) {
	switch e.kind {
	case evArrive:
		w.arrive(e)
	case evServe:
		w.serve(e)
	case evAnswer:
		w.answer(e)
	case evLost:
		w.lost(e)
	case evClosed:
		w.closed(e)
	case evDisk:
		w.diskGoesOn(e)
	case evWake:
		w.wake(e)
	case evTimeout:
		w.timeout(e)
	case evClient:
		w.clientActs(e)
	case evFault:
		w.nextFault()
	case evUndo:
		w.undo(int(e.who))
	case evStart:
		w.startAgain(e)
	case evCheck:
		w.checkAll()
		w.queue.push(event{at: w.now + checkEveryUs, kind: evCheck})
	}
}

// count counts an event, by what a person would call one: a message, an order
// done, a timer, a client's action, a fault.
func (w *World) count(n *int, k kind, who int32) {
	*n++
	w.events++
	w.hash.add(w.now)
	w.hash.add(int64(k)<<32 | int64(who))
}

// fail notes the first rule that is broken.
func (w *World) fail(rule, format string, args ...any) {
	if w.err == nil {
		w.err = &ViolationError{Rule: rule, AtMs: w.now / ms, Event: w.events, Reason: fmt.Sprintf(format, args...)}
		w.tell("!!! %v", w.err)
	}
}

// tell tells a trace what happens.
func (w *World) tell(format string, args ...any) {
	if w.trace != nil {
		w.trace(fmt.Sprintf("%10.3f  ", float64(w.now)/1000) + fmt.Sprintf(format, args...))
	}
}
