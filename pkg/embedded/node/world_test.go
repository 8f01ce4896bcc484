package node

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// world is a few nodes, a controller and a clock. A message takes 1 ms, a disk's
// order none unless it is told otherwise.
type world struct {
	t     testing.TB
	nowMs int64
	seq   uint64
	queue events
	hosts map[int32]*host
	ctl   *testController
	rnd   *rand.Rand
	// static is for all nodes.
	static map[string]string
	// cut are directions in which nothing gets through: from, to.
	cut   map[[2]machine.Peer]bool
	calls map[machine.Token]*call
	token machine.Token
	notes []string
	// fetches are those in flight between brokers, asked how many there were.
	fetches, asked map[[2]machine.Peer]int
	// fetched, if set, is told of fetches between brokers.
	fetched func(from int32, req *kmsg.FetchRequest)
	// observe, if set, is told what replicas do.
	observe func(broker int32, p Partition, in replica.Input, out []replica.Effect)
	buffers buffers
}

// wallMs is what the clock Wall shows at 0.
const wallMs = 1_700_000_000_000

// host is a machine with a disk, on which a node may run.
type host struct {
	id     int32
	node   *Node
	mem    *vfs.Mem
	disk   *vfs.Faults
	life   int
	rack   string
	stop   *machine.Stop
	effect []machine.Effect
	// lanes are orders that wait for their turn; holds says which orders do not end
	// by themselves.
	lanes map[uint64][]machine.Order
	holds func(o machine.Order) bool
	held  []machine.Order
	ticks uint64
}

type event struct {
	atMs int64
	seq  uint64
	do   func()
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].atMs < q[j].atMs || q[i].atMs == q[j].atMs && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	e := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return e
}

// call is a client's request.
type call struct {
	done, closed bool
	atMs         int64
	resp         kmsg.Response
}

func newWorld(t testing.TB, brokers int, static map[string]string) *world {
	w := &world{
		t: t, hosts: map[int32]*host{}, rnd: rand.New(rand.NewPCG(1, 1)), static: static,
		cut: map[[2]machine.Peer]bool{}, calls: map[machine.Token]*call{},
		fetches: map[[2]machine.Peer]int{}, asked: map[[2]machine.Peer]int{},
		buffers: buffers{t: t, out: map[*byte]int{}},
	}
	w.ctl = newTestController(t, 1, nil)
	for id := int32(1); id <= int32(brokers); id++ {
		mem := vfs.NewMem(vfs.MemOptions{})
		w.hosts[id] = &host{id: id, mem: mem}
	}
	w.at(0, w.controllerTick)
	return w
}

func (w *world) ids() []int32 {
	var ids []int32
	for id := range w.hosts {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (w *world) at(ms int64, do func()) {
	w.seq++
	heap.Push(&w.queue, event{ms, w.seq, do})
}

func (w *world) controllerTick() {
	w.ctl.tick(w.nowMs)
	w.at(w.nowMs+100, w.controllerTick)
}

func (w *world) time() machine.Time { return machine.Time{Mono: w.nowMs, Wall: wallMs + w.nowMs} }

// start starts the host's node on the disk as it is.
func (w *world) start(id int32) {
	h := w.hosts[id]
	h.life++
	h.disk = vfs.NewFaults(h.mem, rand.New(rand.NewPCG(uint64(id), uint64(h.life))), vfs.RealTime{})
	h.lanes, h.held, h.stop = map[uint64][]machine.Order{}, nil, nil
	for link := range w.fetches {
		if link[0] == machine.Peer(id) {
			w.fetches[link] = 0 // of the life before
		}
	}
	var observe func(p Partition, in replica.Input, out []replica.Effect)
	if w.observe != nil {
		observe = func(p Partition, in replica.Input, out []replica.Effect) { w.observe(id, p, in, out) }
	}
	var err error
	h.node, err = Open(Options{
		Observe: observe,
		ID:      id, ClusterID: "cluster", Rack: h.rack, FS: h.disk, Static: w.static,
		EndPoints: []kraft.Endpoint{{Name: "PLAINTEXT", Host: fmt.Sprintf("b%d", id), Port: 9092}},
		Buffers:   &w.buffers,
		Rand:      rand.New(rand.NewPCG(uint64(id), uint64(h.life)+100)),
	}, w.time())
	if err != nil {
		w.t.Fatal(err)
	}
	w.schedule(h)
}

// kill ends the process; power says that the disk's unsynced data may be lost.
func (w *world) kill(id int32, power bool) {
	h := w.hosts[id]
	if h.node == nil {
		return
	}
	h.node.Abandon()
	h.node = nil
	if power {
		h.mem = h.mem.CrashClone(w.rnd)
	} else {
		h.mem = h.mem.Clone()
	}
}

func (w *world) schedule(h *host) {
	if h.node == nil {
		return
	}
	h.ticks++
	ticks, node := h.ticks, h.node
	if at := node.NextDeadline(); at != machine.Never {
		w.at(max(at, w.nowMs), func() {
			if h.node == node && h.ticks == ticks {
				w.step(h, machine.Tick{})
			}
		})
	}
}

func (w *world) step(h *host, in machine.Input) {
	if h.node == nil {
		return
	}
	h.effect = h.node.Step(w.time(), in, h.effect[:0])
	w.carryOut(h)
}

func (w *world) carryOut(h *host) {
	node := h.node
	for _, e := range slices.Clone(h.effect) {
		switch e := e.(type) {
		case machine.Reply:
			c := w.calls[e.Token]
			if c.done {
				w.t.Fatalf("two replies to request %d", e.Token)
			}
			c.done, c.closed, c.atMs = true, e.Close, w.nowMs
			if e.Response != nil {
				c.resp, _ = w.response(e.Response)
				w.buffers.takeBack(e.Response)
			}
		case machine.Send:
			w.send(h, e)
		case machine.Run:
			h.lanes[e.Lane] = append(h.lanes[e.Lane], e.Order)
			if len(h.lanes[e.Lane]) == 1 {
				w.runNext(h, node, e.Lane)
			}
		case machine.Note:
			w.notes = append(w.notes, fmt.Sprintf("%d: note: %s", h.id, e.Text))
		case machine.Stop:
			h.stop = &e
			node.Abandon()
			h.node = nil
			text := "stopped"
			if e.Err != nil {
				text = e.Err.Error()
			}
			w.notes = append(w.notes, fmt.Sprintf("%d: stop: %s", h.id, text))
			return
		}
	}
	w.schedule(h)
}

// runNext lets the disk begin a lane's first order.
func (w *world) runNext(h *host, node *Node, lane uint64) {
	o := h.lanes[lane][0]
	if h.holds != nil && h.holds(o) {
		h.held = append(h.held, o)
		return
	}
	w.at(w.nowMs, func() { w.end(h, node, lane) })
}

// end ends it.
func (w *world) end(h *host, node *Node, lane uint64) {
	if h.node != node {
		return
	}
	o := h.lanes[lane][0]
	o.Run()
	h.lanes[lane] = h.lanes[lane][1:]
	if len(h.lanes[lane]) > 0 {
		w.runNext(h, node, lane)
	}
	w.step(h, machine.Ran{Order: o})
}

// release ends the orders that are held.
func (w *world) release(h *host) {
	h.holds = nil
	held := h.held
	h.held = nil
	var lanes []uint64
	for lane, orders := range h.lanes {
		if len(orders) > 0 && slices.Contains(held, orders[0]) {
			lanes = append(lanes, lane)
		}
	}
	slices.Sort(lanes)
	for _, lane := range lanes {
		w.end(h, h.node, lane)
	}
}

// send carries a request and its answer as bytes.
func (w *world) send(from *host, e machine.Send) {
	node := from.node
	answer := func(resp kmsg.Response) {
		w.at(w.nowMs+1, func() {
			if from.node != node {
				return
			}
			in := machine.Response{Token: e.Token}
			if resp != nil && !w.cut[[2]machine.Peer{e.To, machine.Peer(from.id)}] {
				in.Body, in.Frame = w.response(resp)
				w.buffers.give(in.Frame)
			}
			w.fetchEnds(from.id, e)
			w.step(from, in)
		})
	}
	req, _ := w.request(e.Request)
	w.fetchBegins(from.id, e)
	w.at(w.nowMs+1, func() {
		to := w.hosts[int32(e.To)]
		switch {
		case w.cut[[2]machine.Peer{machine.Peer(from.id), e.To}]:
			answer(nil)
		case e.To == machine.Controller:
			w.ctl.handle(w.nowMs, req, answer)
		case to == nil || to.node == nil:
			answer(nil)
		default:
			w.ask(to, req, answer)
		}
	})
}

// fetchBegins: a fetcher has one request in flight.
func (w *world) fetchBegins(from int32, e machine.Send) {
	if _, ok := e.Request.(*kmsg.FetchRequest); !ok {
		return
	}
	link := [2]machine.Peer{machine.Peer(from), e.To}
	if w.fetched != nil && e.To != machine.Controller {
		w.fetched(from, e.Request.(*kmsg.FetchRequest))
	}
	if req := e.Request.(*kmsg.FetchRequest); e.To != machine.Controller && (req.ReplicaState.ID != from || req.ReplicaState.Epoch < 0) {
		w.t.Errorf("a fetch from %d says %+v", from, req.ReplicaState)
	}
	w.fetches[link]++
	w.asked[link]++
	if w.fetches[link] > 1 {
		w.t.Errorf("%d fetches in flight from %d to %d", w.fetches[link], from, e.To)
	}
}

func (w *world) fetchEnds(from int32, e machine.Send) {
	if _, ok := e.Request.(*kmsg.FetchRequest); ok {
		w.fetches[[2]machine.Peer{machine.Peer(from), e.To}]--
	}
}

// ask gives a node a request.
func (w *world) ask(h *host, req kmsg.Request, answer func(kmsg.Response)) *call {
	w.token++
	c := &call{}
	w.calls[w.token] = c
	node := h.node
	body, frame := w.request(req)
	w.buffers.give(frame)
	w.step(h, machine.Request{Token: w.token, Conn: 1, Body: body, Frame: frame})
	var look func()
	look = func() {
		switch {
		case c.done:
			answer(c.resp)
		case h.node != node:
			c.done, c.closed = true, true
			answer(nil)
		default:
			w.at(w.nowMs+1, look)
		}
	}
	look()
	return c
}

// request is what a server would read of it, and from where.
func (w *world) request(req kmsg.Request) (out kmsg.Request, frame []byte) {
	out, frame = kmsg.RequestForKey(req.Key()), req.AppendTo(nil)
	out.SetVersion(req.GetVersion())
	if err := out.ReadFrom(frame); err != nil {
		w.t.Fatalf("%T v%d: %v", req, req.GetVersion(), err)
	}
	return out, frame
}

func (w *world) response(resp kmsg.Response) (out kmsg.Response, frame []byte) {
	out, frame = kmsg.ResponseForKey(resp.Key()), resp.AppendTo(nil)
	out.SetVersion(resp.GetVersion())
	if err := out.ReadFrom(frame); err != nil {
		w.t.Fatalf("%T v%d: %v", resp, resp.GetVersion(), err)
	}
	return out, frame
}

// run lets time pass until cond holds, or so many ms are over; it reports which.
func (w *world) run(ms int64, cond func() bool) bool {
	end := w.nowMs + ms
	for cond == nil || !cond() {
		if len(w.queue) == 0 || w.queue[0].atMs > end {
			w.nowMs = end
			return cond == nil
		}
		e := heap.Pop(&w.queue).(event)
		w.nowMs = max(w.nowMs, e.atMs)
		e.do()
	}
	return true
}

func (w *world) unfenced() bool {
	for _, id := range w.ids() {
		b, ok := w.ctl.c.Image().Broker(id)
		if !ok || b.Fenced {
			return false
		}
	}
	return true
}

func (w *world) takeNotes() string {
	notes := w.notes
	w.notes = nil
	return strings.Join(notes, "\n")
}
