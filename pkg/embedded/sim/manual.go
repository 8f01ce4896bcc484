package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/node"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// A world without faults of its own is moved by hand:
//
//	plan := sim.QuietPlan()
//	w := sim.New(sim.Options{Plan: &plan})
//	w.RunUntil(func() bool { return w.Active() == 3 }, 10_000)
//	call := w.Send(1, req)
//	w.RunUntil(call.Done, 5000)
//	w.Kill(2)
//	...
//	if err := w.Err(); err != nil { ... } // a rule was broken on the way
//
// Brokers go by their ids, from 1 on. Nothing starts again but by Start.

// End is an end of a link: a broker by its id, or one of the following.
type End int32

// The ends that are no brokers.
const (
	Controller End = -1
	Clients    End = -2 // all of them
)

func (w *World) endpoint(e End) int32 {
	switch e {
	case Controller:
		return w.controller().end
	case Clients:
		return w.net.clientEnd()
	}
	return int32(e) - 1
}

func (w *World) proc(e End) *proc { return w.procs[w.endpoint(e)] }

// Kill ends a process; its page cache stays. Nothing happens to one that is down.
func (w *World) Kill(e End) { w.endByHand(e, killed) }

// PowerLoss ends a process; of what was not synced, the disk keeps what the seed
// decides.
func (w *World) PowerLoss(e End) { w.endByHand(e, powerLost) }

func (w *World) endByHand(e End, how fate) {
	if p := w.proc(e); p.state != dead {
		w.tell("*** %s: %s", p.name, how)
		w.end(p, how)
	}
}

// PowerLossLeaving is PowerLoss, and rng decides what the disk keeps of what was not
// synced: see NothingUnsynced.
func (w *World) PowerLossLeaving(e End, rng *rand.Rand) {
	drawn := w.rng
	w.rng = rng
	w.endByHand(e, powerLost)
	w.rng = drawn
}

// lowest is the source of an rng that always draws the least.
type lowest struct{}

func (lowest) Uint64() uint64 { return 0 }

// NothingUnsynced is the rng of a power loss that leaves what was synced, and nothing
// else.
func NothingUnsynced() *rand.Rand { return rand.New(lowest{}) }

// CrashWithin makes a process end at the n-th change of its disk from now on, within an
// order, or within its recovery if it is down. With rng the power fails then, else it
// is killed. n 0 takes it back.
func (w *World) CrashWithin(e End, n int, rng *rand.Rand) {
	p := w.proc(e)
	p.trap = nil
	if n > 0 {
		p.setTrap(n, rng != nil, rng)
	}
}

// LettingArrive does something, and what is under way on the connections that it breaks
// arrives all the same: a process may be dead, its last packets are not.
func (w *World) LettingArrive(do func()) {
	w.ghosts = true
	do()
	w.ghosts = false
}

// CleanStop asks a broker for a controlled shutdown, which takes its time: see Up.
func (w *World) CleanStop(e End) {
	if p := w.proc(e); p.state == running && !p.stopping {
		w.tell("*** %s is to stop", p.name)
		p.stopping = true
		w.carryOut(p, p.shutdown())
	}
}

// Start starts a process that is down, on the disk that it has.
func (w *World) Start(e End) {
	if p := w.proc(e); p.state == dead {
		w.guard(func() { w.start(p) })
	}
}

// EmptyDisk gives a broker that is down an empty disk.
func (w *World) EmptyDisk(e End) {
	if p := w.proc(e); p.state == dead {
		w.tell("*** %s gets an empty disk", p.name)
		w.emptyDisk(p)
	}
}

// Up reports whether a process runs.
func (w *World) Up(e End) bool { return w.proc(e).state != dead }

// Pause stops a process as SIGSTOP does, Resume lets it go on.
func (w *World) Pause(e End) {
	if p := w.proc(e); p.state == running {
		w.tell("*** %s pauses", p.name)
		p.state = paused
	}
}

// Resume lets a paused process go on: what has come in meanwhile comes at once.
func (w *World) Resume(e End) {
	p := w.proc(e)
	w.tell("*** %s goes on", p.name)
	w.resume(p, p.life)
}

// Cut cuts the way from one end to another, in that direction; Heal heals it.
func (w *World) Cut(from, to End) {
	w.tell("*** cut from %d to %d", from, to)
	w.net.link(w.endpoint(from), w.endpoint(to)).cut = true
}

// Heal heals the way from one end to another.
func (w *World) Heal(from, to End) {
	w.tell("*** healed from %d to %d", from, to)
	w.net.link(w.endpoint(from), w.endpoint(to)).cut = false
}

// Part cuts both ways between an end and all others that are given, Join heals them.
func (w *World) Part(e End, others ...End) {
	for _, o := range others {
		w.Cut(e, o)
		w.Cut(o, e)
	}
}

// Join heals both ways between an end and others.
func (w *World) Join(e End, others ...End) {
	for _, o := range others {
		w.Heal(e, o)
		w.Heal(o, e)
	}
}

// DelayLink makes messages from one end to another so much later.
func (w *World) DelayLink(from, to End, delayMs int64) {
	w.net.link(w.endpoint(from), w.endpoint(to)).addUs = delayMs * ms
}

// HoldMetadata keeps from a broker what the controller decides, until it is called
// with false.
func (w *World) HoldMetadata(e End, hold bool) { w.proc(e).metadataHeld = hold }

// SlowDisk makes each order of a process's disk so much longer; 0 ends that.
func (w *World) SlowDisk(e End, delayMs int64) { w.proc(e).diskUs = delayMs * ms }

// DiskFault makes calls of a disk go wrong, until the function that it returns is
// called.
func (w *World) DiskFault(e End, r vfs.Rule) (undo func()) {
	w.diskFault(w.proc(e), r, 1<<50)
	i := len(w.faults) - 1
	return func() { w.undo(i) }
}

// AllowUnclean says that whoever moves the world asks for an unclean election: it is not
// to be held against the controller.
func (w *World) AllowUnclean() { w.model.uncleanAsked++ }

// Call is a request that was sent by hand.
type Call struct{ f *flight }

// Done reports whether it was answered, or never will be.
func (c *Call) Done() bool { return c.f.settled && c.f.told }

// Response is the answer, nil if there is none (yet).
func (c *Call) Response() kmsg.Response {
	if !c.Done() {
		return nil
	}
	return c.f.resp
}

// Send sends a request to a broker, or to the controller, over a connection of its
// own. The request's version must be set.
func (w *World) Send(to End, req kmsg.Request) *Call {
	w.hand.conns = append(w.hand.conns, nil)
	return w.sendOver(&w.hand.conns[len(w.hand.conns)-1], to, req)
}

// SendOn sends a request over a connection that has a number: a broker carries out
// the requests of one connection in their order, one at a time.
func (w *World) SendOn(conn int, to End, req kmsg.Request) *Call {
	key := [2]int32{int32(conn), int32(to)}
	slot, ok := w.handConns[key]
	if !ok {
		slot = len(w.hand.conns)
		w.hand.conns = append(w.hand.conns, nil)
		w.handConns[key] = slot
	}
	return w.sendOver(&w.hand.conns[slot], to, req)
}

func (w *World) sendOver(slot **conn, to End, req kmsg.Request) *Call {
	end := w.endpoint(to)
	f := &flight{req: req, want: wantOf(req)}
	f.c = w.dial(slot, w.net.clientEnd(), w.hand.n, end, req.Key())
	w.tell("*** sent to %s  %s", w.procs[end].name, describe(req))
	answered := true
	if p, ok := req.(*kmsg.ProduceRequest); ok && p.Acks == 0 {
		answered, f.told = false, true
	}
	if answered {
		w.expect(&w.hand.outbox, f, 60*sec, w.net.n+w.hand.n, 0)
	}
	w.send(f, answered)
	return &Call{f}
}

// RunFor lets so much time pass.
func (w *World) RunFor(forMs int64) { w.RunUntil(func() bool { return false }, forMs) }

// RunUntil lets time pass until cond holds, which is asked after each event, but not
// longer than that; it reports whether cond held. It stops at once where a rule is
// broken.
func (w *World) RunUntil(cond func() bool, withinMs int64) bool {
	end := w.now + withinMs*ms
	for w.err == nil {
		if cond() {
			return true
		}
		if w.queue.len() == 0 || w.queue.heap[0].at > end {
			w.now = end
			return cond()
		}
		w.step()
	}
	return false
}

// Step lets the next event happen.
func (w *World) Step() bool { return w.err == nil && w.step() }

// Check holds everything to all rules, as is done every few seconds anyhow.
func (w *World) Check() error {
	w.guard(w.checkAll)
	return w.err
}

// Rest ends all faults, starts who is down, and waits for the cluster to come to rest:
// the liveness rules, and a last look at everything.
func (w *World) Rest() error {
	if w.err == nil {
		w.guard(w.comeToRest)
	}
	return w.err
}

// Void reports whether a fault has voided what was promised of a partition.
func (w *World) Void(topic string, index int32) bool {
	x := w.partNow(topic, index)
	return x != nil && x.void
}

// Active is how many brokers are neither fenced nor on their way out.
func (w *World) Active() int {
	n := 0
	for _, b := range w.model.newest().Brokers() {
		if b.Active() {
			n++
		}
	}
	return n
}

// Image is what the controller has decided, durable or not.
func (w *World) Image() metadata.Image { return w.model.newest() }

// Partition is what the controller has decided of a partition, nil if there is none.
func (w *World) Partition(topic string, index int32) *kraft.Partition {
	t, ok := w.Image().Topic(topic)
	if !ok {
		return nil
	}
	p, _ := t.Partition(index)
	return p
}

func (w *World) partNow(topic string, index int32) *part {
	t, ok := w.Image().Topic(topic)
	if !ok {
		return nil
	}
	return w.model.part(t.ID, index)
}

// Node is a broker's node, nil while it is down.
func (w *World) Node(e End) *node.Node { return w.proc(e).node }

// HasAllMetadata reports whether a broker has applied all that the controller decided.
func (w *World) HasAllMetadata(e End) bool {
	n := w.Node(e)
	return n != nil && n.MetadataOffset() >= w.model.images[len(w.model.images)-1].offset
}

// Disk is a process's disk, of one that is down too.
func (w *World) Disk(e End) *vfs.Mem { return w.proc(e).mem }

// Replica is a broker's replica of a partition and its log; false if it has none.
// The log is to be read only.
func (w *World) Replica(e End, topic string, index int32) (replica.Status, *storage.Log, bool) {
	n := w.Node(e)
	if n == nil {
		return replica.Status{}, nil, false
	}
	r, log := n.Replica(topic, index)
	if r == nil {
		return replica.Status{}, nil, false
	}
	return r.Status(), log, true
}

// LogBytes is what a broker's log holds of a partition, from its start on.
func (w *World) LogBytes(e End, topic string, index int32) ([]byte, error) {
	_, log, ok := w.Replica(e, topic, index)
	if !ok {
		return nil, fmt.Errorf("broker %d has no replica of %s-%d", e, topic, index)
	}
	var out []byte
	for o := log.Start(); o < log.End(); {
		before := len(out)
		var err error
		if out, err = log.Read(out, fetchAll(o, log.End())); err != nil {
			return out, err
		}
		if len(out) == before {
			return out, fmt.Errorf("nothing is read at %d", o)
		}
		o = nextOffset(out[before:])
	}
	return out, nil
}

// wantOf is what the checkers need to know of a request about one partition.
func wantOf(req kmsg.Request) want {
	wa := want{byHand: true}
	switch req := req.(type) {
	case *kmsg.ProduceRequest:
		t := &req.Topics[0]
		p := &t.Partitions[0]
		wa.topic, wa.id, wa.index, wa.acks = t.Topic, t.TopicID, p.Partition, req.Acks
		if b := record.Batch(p.Records); len(b) >= record.HeaderSize {
			wa.sent = []sentBatch{{p.Partition, batch{last: Offset(b.LastOffset()), pid: b.ProducerID(), pepoch: b.ProducerEpoch(), seq: b.BaseSequence()}, nil}}
		}
	case *kmsg.FetchRequest:
		t := &req.Topics[0]
		wa.topic, wa.id, wa.index = t.Topic, t.TopicID, t.Partitions[0].Partition
	case *kmsg.ListOffsetsRequest:
		wa.topic, wa.index, wa.latest, wa.listedEpoch = req.Topics[0].Topic, req.Topics[0].Partitions[0].Partition, true, -1
	case *kmsg.OffsetForLeaderEpochRequest:
		wa.topic, wa.index = req.Topics[0].Topic, req.Topics[0].Partitions[0].Partition
	}
	return wa
}

func nextOffset(b []byte) Offset {
	var next Offset
	for scan := record.Scan(b); scan.Next(); {
		next = Offset(scan.Batch().NextOffset())
	}
	return next
}
