package sim

import (
	"fmt"
	"math/rand/v2"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/node"
	"github.com/kafkaops/kafkaops/pkg/embedded/quorum"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

type state uint8

const (
	dead state = iota
	running
	paused // as by SIGSTOP: what comes in waits
)

const (
	clusterID    = "simulated"
	controllerID = 100
)

// proc is a broker's process, or the controller's, with its machine: disk, clock.
type proc struct {
	w    *World
	end  int32 // its endpoint
	id   int32 // its node.id
	name string

	state state
	// life counts its starts: what was meant for an earlier one is not for this.
	life     uint32
	stopping bool
	m        machine.Machine
	node     *node.Node
	quorum   *quorum.Node

	mem   *vfs.Mem
	disk  *vfs.Faults
	noted vfs.Noted
	lanes map[uint64]*lane
	trap  *trap
	// trapClean is one for the next compaction.
	trapClean *trap
	diskUs    int64 // how much slower its disk is

	clock   clock
	wakeAt  int64 // when evWake is queued, 0 if it is not
	backlog []event
	conns   []*conn
	outbox  outbox

	// metadataUs makes the controller's words late here; metadataHeld keeps them
	// back altogether.
	metadataUs   int64
	metadataHeld bool
	// isrHeld keeps its AlterPartitions back.
	isrHeld bool

	shadow []*shadow // by partition: see shadow.go
	// touched are the partitions that the present step touched.
	touched []*shadow
	// rules are its disk's; badDisk says that one of them made or may make calls fail
	// since the process started.
	rules   []*diskRule
	badDisk bool
	stalls  int // rules that stall it
	// cleanly: the life before has ended so, and its registration may say so.
	cleanly bool
	// newDisk: it was given an empty disk.
	newDisk bool
	// registered: it has registered since it last lost data.
	registered bool
}

func (w *World) controller() *proc { return w.procs[len(w.procs)-1] }

// brokers are the processes without the controller.
func (w *World) brokers() []*proc { return w.procs[:len(w.procs)-1] }

func (w *World) broker(id int32) *proc { return w.procs[id-1] }

func (w *World) nameOf(end, client int32) string {
	if end == w.net.clientEnd() {
		return fmt.Sprintf("client %d", client)
	}
	return w.procs[end].name
}

func (w *World) makeProcesses() {
	for i := range int32(w.plan.Brokers) {
		w.procs = append(w.procs, &proc{w: w, end: i, id: i + 1, name: fmt.Sprintf("broker %d", i+1)})
	}
	w.procs = append(w.procs, &proc{w: w, end: int32(w.plan.Brokers), id: controllerID, name: "controller"})
	for _, p := range w.procs {
		p.conns = make([]*conn, int(w.net.n)*lanes)
		p.clock = clock{startUs: 0, baseMs: w.rng.Int64N(1_000_000), ppm: w.rng.Int64N(401) - 200, wallMs: w.rng.Int64N(201) - 100}
		if w.plan.Still {
			p.clock = clock{}
		}
		p.mem = w.newDisk()
	}
	if b := w.plan.SlowMetadata; b > 0 {
		w.broker(int32(b)).metadataUs = w.plan.SlowMetadataMs * ms
	}
	w.start(w.controller())
	for _, p := range w.brokers() {
		w.start(p)
	}
}

func (w *World) newDisk() *vfs.Mem { return vfs.NewMem(vfs.MemOptions{RefuseOpen: w.plan.RefuseOpen}) }

// start starts a process on the disk that it has. One that cannot tries again
// later.
func (w *World) start(p *proc) {
	p.life++
	p.state, p.stopping, p.wakeAt = running, false, 0
	p.lanes, p.backlog, p.outbox = map[uint64]*lane{}, nil, outbox{}
	clear(p.conns)
	w.tell("%s starts", p.name)
	w.hash.add(int64(p.end))
	err := w.open(p)
	if p.trap.sprung() {
		// The power failed while it recovered.
		w.tell("%s crashes while it starts", p.name)
		p.abandon()
		w.model.crashedAgain(p, p.trap.power)
		p.mem, p.trap, p.state = p.trap.disk, nil, dead
		w.stats.Crashes++
		w.startLater(p)
		return
	}
	if err != nil {
		w.tell("%s cannot start: %v", p.name, err)
		if !p.diskFaulty() {
			w.fail("I17", "%s does not start on its own disk: %v", p.name, err)
		}
		p.abandon()
		if p.loses() {
			// As in end: who starts next would take the page cache for what a later sync
			// makes durable.
			w.model.failedAgain(p)
			p.mem = p.mem.CrashClone(w.rng)
		}
		p.state = dead
		w.startLater(p)
		return
	}
	w.stats.Restarts++
	w.model.started(p)
	p.rewake()
}

func (w *World) open(p *proc) error {
	p.disk = vfs.NewFaults(p.mem, rand.New(rand.NewPCG(w.rng.Uint64(), 1)), &p.noted)
	w.reapplyDiskFaults(p)
	p.trap.set(p.mem)
	defer p.trap.unset(p.mem)
	rng := rand.New(rand.NewPCG(w.rng.Uint64(), 2))
	now := p.clock.at(w.now)
	p.m, p.node, p.quorum = nil, nil, nil
	if p.id == controllerID {
		q, err := quorum.Open(w.quorumOptions(p, rng), now)
		if err != nil {
			return err
		}
		p.m, p.quorum = q, q
		return nil
	}
	n, err := node.Open(w.nodeOptions(p, rng), now)
	if err != nil {
		return err
	}
	p.m, p.node = n, n
	p.noted.Take()
	return nil
}

func (w *World) nodeOptions(p *proc, rng *rand.Rand) node.Options {
	o := node.Options{
		ID: p.id, ClusterID: clusterID, FS: p.disk, Rand: rng, Static: w.plan.Static,
		EndPoints: []kraft.Endpoint{{Name: "PLAINTEXT", Host: fmt.Sprintf("b%d", p.id), Port: 9092}},
		Observe: func(part node.Partition, in replica.Input, out []replica.Effect) {
			w.model.observe(p, part, in, out)
		},
	}
	if w.plan.Racks {
		o.Rack = rackOf(p.id)
	}
	return o
}

func rackOf(id int32) string { return string('a' + id%2) }

func (w *World) quorumOptions(p *proc, rng *rand.Rand) quorum.Options {
	c := controller.DefaultOptions(controllerID, clusterID, rng)
	c.SessionTimeoutMs = w.plan.SessionMs
	c.LeaderImbalanceCheckMs, c.UncleanElectionCheckMs = w.plan.ImbalanceCheckMs, w.plan.UncleanCheckMs
	elr := kraft.FeatureLevel{Name: "eligible.leader.replicas.version"}
	if w.plan.ELR {
		elr.FeatureLevel = 1
	}
	return quorum.Options{
		Controller: c, FS: p.disk, Features: []kraft.FeatureLevel{elr},
		SnapshotBytes: w.plan.SnapshotBytes, RetainBytes: w.plan.RetainBytes, SegmentBytes: w.plan.MetadataSegment,
		Observe: func(b controller.Batch, after metadata.Image) { w.model.decided(b, after) },
	}
}

// step steps the process and carries out what comes of it.
func (p *proc) step(in machine.Input) {
	w := p.w
	w.carryOut(p, p.m.Step(p.clock.at(w.now), in, w.effects[:0]))
}

func (w *World) carryOut(p *proc, effects []machine.Effect) {
	w.effects = effects
	w.checkTouched(p)
	for _, e := range effects {
		switch e := e.(type) {
		case machine.Reply:
			w.reply(p, e)
		case machine.Send:
			w.sendFrom(p, e)
		case machine.Run:
			w.order(p, e)
		case machine.Note:
			if w.watch != nil {
				w.watch.Noted(p.name, e.Text)
			}
			if w.trace != nil {
				w.tell("%s notes: %s", p.name, e.Text)
			}
		case machine.Stop:
			w.stopped(p, e.Err)
			return
		}
		if w.err != nil || p.state == dead {
			return
		}
	}
	p.rewake()
}

func (w *World) sendFrom(p *proc, s machine.Send) {
	to := w.controller().end
	if s.To != machine.Controller {
		to = int32(s.To) - 1
	}
	f := &flight{fromLife: p.life, token: s.Token, req: s.Request}
	if to < 0 || int(to) >= len(w.procs) {
		w.fail("panic", "%s sends to broker %d, which there is not", p.name, s.To)
		return
	}
	if q, ok := s.Request.(*kmsg.BrokerRegistrationRequest); ok && q.PreviousBrokerEpoch >= 0 && !p.cleanly {
		w.fail("I10", "%s registers as one that has stopped cleanly in broker epoch %d, and has not", p.name, q.PreviousBrokerEpoch)
		return
	}
	key := s.Request.Key()
	f.c = w.dial(&p.conns[to*lanes+laneOf(key)], p.end, 0, to, key)
	if w.trace != nil {
		w.tell("%s sends to %s  %s", p.name, w.procs[to].name, describe(s.Request))
	}
	if q, ok := s.Request.(*kmsg.AlterPartitionRequest); ok {
		w.maybeReborn(p, q)
	}
	w.expect(&p.outbox, f, min(w.plan.TimeoutMs, machine.RequestTimeoutMs)*ms, p.end, p.life)
	w.send(f, true)
}

// rewake makes sure that the process is woken at its deadline. An event that is
// too early stays: it looks again when it comes.
func (p *proc) rewake() {
	d := p.m.NextDeadline()
	if d == machine.Never {
		return
	}
	at := max(p.clock.when(d), p.w.now)
	if p.wakeAt != 0 && p.wakeAt <= at {
		return
	}
	p.wakeAt = at
	p.w.queue.push(event{at: at, kind: evWake, who: p.end, life: p.life})
}

// takes reports whether the process takes in what was meant for one of its lives. What
// reaches one that is paused waits until it goes on.
func (p *proc) takes(e *event, life uint32) bool {
	if p.life != life || p.state == dead {
		return false
	}
	if p.state == paused {
		p.backlog = append(p.backlog, *e)
		return false
	}
	return true
}

func (w *World) wake(e *event) {
	p := w.procs[e.who]
	if p.wakeAt != e.at || !p.takes(e, e.life) {
		return
	}
	p.wakeAt = 0
	if d := p.m.NextDeadline(); d == machine.Never {
		return
	} else if d > p.clock.mono(w.now) {
		p.wakeAt = max(p.clock.when(d), w.now+1)
		w.queue.push(event{at: p.wakeAt, kind: evWake, who: p.end, life: p.life})
		return
	}
	w.count(&w.stats.Ticks, evWake, p.end)
	p.step(machine.Tick{})
}

// stopped is the end of a process by its own hand.
func (w *World) stopped(p *proc, err error) {
	w.tell("%s has stopped: %v", p.name, err)
	if w.watch != nil {
		w.watch.Stopped(p.name, err)
	}
	how := failed
	if err == nil {
		how = stoppedCleanly
	}
	w.end(p, how)
	w.startLater(p)
}

func (w *World) startLater(p *proc) {
	if w.byHand {
		return
	}
	w.queue.push(event{at: w.now + 50*ms + w.rng.Int64N(2*sec), kind: evStart, who: p.end, life: p.life})
}

func (w *World) startAgain(e *event) {
	p := w.procs[e.who]
	if p.state == dead && p.life == e.life {
		w.count(&w.stats.Faults, evStart, p.end)
		w.start(p)
	}
}

// shutdown asks the process to stop.
func (p *proc) shutdown() []machine.Effect {
	now, out := p.clock.at(p.w.now), p.w.effects[:0]
	if p.node != nil {
		return p.node.Shutdown(now, out)
	}
	return p.quorum.Shutdown(now, out)
}

func (p *proc) abandon() {
	switch {
	case p.node != nil:
		p.node.Abandon()
	case p.quorum != nil:
		p.quorum.Abandon()
	}
	p.node, p.quorum, p.m = nil, nil, nil
}

// end ends a process: how says what becomes of its disk.
func (w *World) end(p *proc, how fate) {
	w.hash.add(int64(how))
	w.model.died(p, how)
	switch how {
	case powerLost, failed:
		// After a sync that failed nobody knows what of the page cache is durable: the
		// next process finds what the disk has, as after a reboot.
		after := p.mem.CrashClone(w.rng)
		p.abandon()
		p.mem = after
	case crashed: // the trap has the disk
		p.abandon()
		p.mem = p.trap.disk
	default:
		p.abandon()
	}
	p.state, p.trap = dead, nil
	w.stats.Crashes++
	// Who was connected hears of it, as far as there is a way.
	for _, q := range w.procs {
		for _, c := range q.conns {
			if c != nil && c.open && (c.to == p.end || c.from == p.end) {
				w.reset(c, false)
			}
		}
	}
	for _, cl := range w.clients {
		for _, c := range cl.conns {
			if c != nil && c.open && c.to == p.end {
				w.reset(c, false)
			}
		}
	}
}
