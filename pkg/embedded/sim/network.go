package sim

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// The network carries requests over connections, as TCP does: in order, each once,
// or not at all. What a real one drops or delays TCP sends again, so a message on a
// bad link is late, and one on a cut link waits, until who asked gives up and
// closes the connection. A request may then have been carried out, or not, or will
// be yet: some of what was under way still arrives. A duplicate is therefore what
// it is in a real cluster: a request that was carried out, whose response was
// lost, and that its sender sent again, perhaps while the first one is still to
// come.

// conn is a connection from an endpoint to a process. A process has one for each
// peer and API, a client one for each broker.
type conn struct {
	id     uint64
	from   int32
	client int32 // whose it is, if from is where the clients are
	to     int32
	toLife uint32
	key    int16
	open   bool
	// known: the process has heard of it. Until then a cut of the way back is one of
	// the way there, as no connection is made without an answer.
	known bool

	// A message knows its number: it waits for those before it.
	sent, arrived     uint32
	replied, answered uint32
	lastArrive        int64
	lastAnswer        int64
	stuckUs           int64 // until when nothing gets through to the process

	// A process is given one request of a connection at a time, as Kafka mutes a
	// connection until it has answered.
	serving *flight
	waiting []*flight
	out     []*flight // not answered yet
}

// flight is a request and what becomes of it.
type flight struct {
	c        *conn
	fromLife uint32
	token    machine.Token // of a process that sent it
	serial   machine.Token // at the process that serves it
	n, an    uint32
	req      kmsg.Request
	resp     kmsg.Response
	sentAt   int64
	servedAt int64
	deadline int64
	// settled: who asked has been told, or is about to be.
	settled bool
	arrived bool
	told    bool // of one that was sent by hand: the answer is here, or there is none
	// ghost: its connection is gone, and it will be carried out all the same.
	ghost, late bool
	// want is what a client remembers of its request.
	want want
	// seen is what the checkers remember from when it was served.
	seen seen
}

// link is the way from one endpoint to another, in that direction.
type link struct {
	cut   bool
	addUs int64
}

type network struct {
	n     int32 // endpoints: brokers, controller, clients
	links []link
	conns uint64
	// flights that are being served, by the low bits of their serial.
	serving []*flight
	free    []int32
	serials uint64
}

func (n *network) init(endpoints int) {
	n.n = int32(endpoints)
	n.links = make([]link, endpoints*endpoints)
}

func (n *network) link(from, to int32) *link { return &n.links[from*n.n+to] }

// clientEnd is the endpoint of all clients.
func (n *network) clientEnd() int32 { return n.n - 1 }

// lanes are the connections that a process has to each peer, by API.
const lanes = 8

func laneOf(key int16) int32 {
	switch key {
	case 1:
		return 0
	case 2:
		return 1
	case 23:
		return 2
	case keyAlterPartition:
		return 3
	case 62:
		return 4
	case 63:
		return 5
	case 67:
		return 6
	}
	return 7
}

// delay draws how long a message is under way.
func (w *World) delay(from, to int32) int64 {
	d := w.plan.DelayUs + w.net.link(from, to).addUs
	if w.plan.JitterUs > 0 && !w.calm {
		d += w.rng.Int64N(w.plan.JitterUs)
	}
	if w.plan.Slow > 0 && !w.calm && w.rng.IntN(1000) < w.plan.Slow {
		d += w.rng.Int64N(100 * w.plan.DelayUs)
	}
	return d
}

// dial returns a connection, a new one if there is none.
func (w *World) dial(slot **conn, from, client, to int32, key int16) *conn {
	c := *slot
	if c == nil || !c.open {
		w.net.conns++
		c = &conn{id: w.net.conns, from: from, client: client, to: to, toLife: w.procs[to].life, key: key, open: true}
		*slot = c
	}
	return c
}

// send puts a request on its way.
func (w *World) send(f *flight, answered bool) {
	c := f.c
	f.sentAt, f.n = w.now, c.sent
	c.sent++
	c.lastArrive = max(w.now+w.delay(c.from, c.to), c.lastArrive+1)
	w.queue.push(event{at: c.lastArrive, kind: evArrive, who: c.to, f: f})
	if answered {
		c.out = append(c.out, f)
	} else {
		f.settled = true
	}
}

// arrive is a request at the door of a process.
func (w *World) arrive(e *event) {
	f, c := e.f, e.f.c
	p := w.procs[c.to]
	if !c.open && !f.ghost {
		return
	}
	if w.heldBack(c) {
		e.at = w.now + w.retransmit()
		w.queue.push(*e)
		return
	}
	if f.ghost {
		if !f.late && !w.plan.Still {
			// It lies in a buffer for a while, and others overtake it.
			f.late = true
			e.at = w.now + w.rng.Int64N(oneOf(w.rng, 10*ms, 1*sec, 4*sec))
			w.queue.push(*e)
			return
		}
		if w.net.link(c.from, c.to).cut || p.state != running || p.life != c.toLife {
			return // it ends here
		}
		w.take(p, f)
		return
	}
	if w.now < c.stuckUs || w.net.link(c.from, c.to).cut || !c.known && w.net.link(c.to, c.from).cut || f.n != c.arrived {
		// TCP sends again until somebody gives up.
		if f.settled && w.now > f.sentAt+60*sec || !f.settled && w.now > f.deadline {
			return
		}
		c.lastArrive = max(w.now+w.retransmit(), c.lastArrive+1)
		w.queue.push(event{at: c.lastArrive, kind: evArrive, who: c.to, f: f})
		return
	}
	if p.state == dead || p.life != c.toLife {
		// Nobody listens, or one who does not know this connection.
		w.reset(c, false)
		return
	}
	if p.state == paused {
		p.backlog = append(p.backlog, *e)
		return
	}
	c.arrived++
	c.known, f.arrived = true, true
	if c.serving != nil || len(c.waiting) > 0 {
		c.waiting = append(c.waiting, f)
		return
	}
	w.take(p, f)
}

// retransmit draws when TCP sends again what was not acknowledged.
func (w *World) retransmit() int64 {
	if w.plan.Still {
		return 100 * ms
	}
	return 100*ms + w.rng.Int64N(400*ms)
}

// survives draws whether a request that was under way when its connection was lost
// is carried out all the same.
func (w *World) survives(percent int) bool {
	if w.plan.Still {
		return w.ghosts
	}
	return chance(w.rng, percent)
}

// take hands a process a request.
func (w *World) take(p *proc, f *flight) {
	w.count(&w.stats.Delivered, evArrive, p.end)
	conn := f.c.id
	if f.ghost {
		w.net.conns++
		conn = w.net.conns
	} else {
		f.c.serving = f
	}
	f.servedAt = w.now
	f.serial = w.net.register(f)
	w.hashRequest(f.req)
	if w.trace != nil {
		w.tell("%s <- %s  %s%s", p.name, w.nameOf(f.c.from, f.c.client), describe(f.req), map[bool]string{true: "  (late, its connection is gone)"}[f.ghost])
	}
	if q, ok := f.req.(*kmsg.BrokerRegistrationRequest); ok {
		w.model.proof = q.PreviousBrokerEpoch
	}
	w.beforeServe(p, f)
	p.step(machine.Request{Token: f.serial, Conn: conn, Body: f.req})
	if f.ghost && p.state == running {
		p.step(machine.Closed{Conn: conn})
	}
}

// register gives a flight a token by which it is found again.
func (n *network) register(f *flight) machine.Token {
	var i int32
	if k := len(n.free); k > 0 {
		i = n.free[k-1]
		n.free = n.free[:k-1]
		n.serving[i] = f
	} else {
		i = int32(len(n.serving))
		n.serving = append(n.serving, f)
	}
	n.serials++
	return machine.Token(n.serials<<20 | uint64(i))
}

// served finds the flight that a token names and forgets it; nil if it was
// answered already.
func (n *network) served(t machine.Token) *flight {
	i := int32(t & (1<<20 - 1))
	if int(i) >= len(n.serving) || n.serving[i] == nil || n.serving[i].serial != t {
		return nil
	}
	f := n.serving[i]
	n.serving[i] = nil
	n.free = append(n.free, i)
	return f
}

// serve takes up the next request of a connection.
func (w *World) serve(e *event) {
	c := e.c
	p := w.procs[c.to]
	if !p.takes(e, c.toLife) {
		return
	}
	if c.serving != nil || len(c.waiting) == 0 {
		return
	}
	f := c.waiting[0]
	c.waiting = slices.Delete(c.waiting, 0, 1)
	w.take(p, f)
}

// reply sends a response back, and lets the connection go on.
func (w *World) reply(p *proc, r machine.Reply) {
	f := w.net.served(r.Token)
	if f == nil {
		w.fail("I21", "%s answers a request that it was not asked, or has answered", p.name)
		return
	}
	c := f.c
	if w.trace != nil {
		w.tell("%s -> %s  %s", p.name, w.nameOf(c.from, c.client), describe(r.Response))
	}
	w.hashResponse(r.Response)
	if q, ok := f.req.(*kmsg.ProduceRequest); ok && !r.Close && (q.Acks == 0) != (r.Response == nil) {
		w.fail("I21", "%s answers a produce with acks %d with %s", p.name, q.Acks, describe(r.Response))
	}
	w.afterServe(p, f, r.Response)
	if c.serving == f {
		c.serving = nil
		if len(c.waiting) > 0 {
			w.queue.push(event{at: w.now, kind: evServe, who: c.to, c: c})
		} else if !c.open {
			w.queue.push(event{at: w.now, kind: evClosed, who: c.to, c: c})
		}
	}
	if r.Response == nil || !c.open || f.ghost || f.settled {
		if r.Close {
			w.reset(c, false)
		}
		return
	}
	f.resp, f.an = r.Response, c.replied
	c.replied++
	d := w.delay(c.to, c.from)
	if c.to == w.controller().end && c.key == 1 {
		d += w.procs[c.from].metadataUs
	}
	c.lastAnswer = max(w.now+d, c.lastAnswer+1)
	w.queue.push(event{at: c.lastAnswer, kind: evAnswer, who: c.from, life: f.fromLife, f: f})
	if r.Close {
		w.reset(c, false)
	}
}

// answer is a response at the door of who asked.
func (w *World) answer(e *event) {
	f, c := e.f, e.f.c
	if f.settled || !c.open {
		return
	}
	held := c.from < w.net.n-2 && c.to == w.controller().end && c.key == 1 && w.procs[c.from].metadataHeld
	if w.net.link(c.to, c.from).cut || held || f.an != c.answered {
		if w.now > f.deadline {
			return
		}
		c.lastAnswer = max(w.now+w.retransmit(), c.lastAnswer+1)
		e.at = c.lastAnswer
		w.queue.push(*e)
		return
	}
	if c.from == w.net.clientEnd() {
		c.answered++
		w.settle(f)
		w.count(&w.stats.Delivered, evAnswer, c.client)
		w.clientAnswered(f)
		return
	}
	p := w.procs[c.from]
	if !p.takes(e, f.fromLife) {
		return
	}
	c.answered++
	w.settle(f)
	w.count(&w.stats.Delivered, evAnswer, p.end)
	if w.trace != nil {
		w.tell("%s hears from %s  %s", p.name, w.procs[c.to].name, describe(f.resp))
	}
	p.step(machine.Response{Token: f.token, Body: f.resp})
}

func (w *World) settle(f *flight) {
	f.settled = true
	if i := slices.Index(f.c.out, f); i >= 0 {
		f.c.out = slices.Delete(f.c.out, i, i+1)
	}
}

// lost is the word that no response will come.
func (w *World) lost(e *event) {
	f, c := e.f, e.f.c
	if c.from == w.net.clientEnd() {
		w.count(&w.stats.Delivered, evLost, c.client)
		f.resp = nil
		w.clientAnswered(f)
		return
	}
	p := w.procs[c.from]
	if !p.takes(e, f.fromLife) {
		return
	}
	w.count(&w.stats.Delivered, evLost, p.end)
	if w.trace != nil {
		w.tell("%s hears nothing from %s to  %s", p.name, w.procs[c.to].name, describe(f.req))
	}
	p.step(machine.Response{Token: f.token})
}

// reset ends a connection. By its own hand (a timeout) the sender knows at once;
// else it hears of it if there is a way, or by its timeout.
func (w *World) reset(c *conn, own bool) {
	if !c.open {
		return
	}
	c.open = false
	if w.trace != nil {
		w.tell("the connection of %s to %s is lost", w.nameOf(c.from, c.client), w.procs[c.to].name)
	}
	for _, f := range c.out {
		if f.settled {
			continue
		}
		f.settled = true
		at := w.now
		if !own {
			at += w.delay(c.to, c.from)
			if w.net.link(c.to, c.from).cut {
				at = max(at, f.deadline)
			}
		}
		w.queue.push(event{at: at, kind: evLost, who: c.from, life: f.fromLife, f: f})
		switch {
		case f.arrived || w.calm:
		case w.heldBack(c):
			f.ghost, f.late = true, true // it has waited long enough
		default:
			f.ghost = w.survives(30)
		}
	}
	c.out = nil
	// What was read from the socket already is carried out; the rest is not.
	kept := c.waiting[:0]
	for _, f := range c.waiting {
		if w.survives(50) {
			kept = append(kept, f)
		}
	}
	c.waiting = kept
	if c.serving == nil && len(c.waiting) == 0 {
		w.queue.push(event{at: w.now + w.delay(c.from, c.to), kind: evClosed, who: c.to, c: c})
	}
}

// closed tells a process that a connection has ended.
func (w *World) closed(e *event) {
	p := w.procs[e.c.to]
	if !p.takes(e, e.c.toLife) {
		return
	}
	w.count(&w.stats.Delivered, evClosed, p.end)
	p.step(machine.Closed{Conn: e.c.id})
}

// outbox is what a sender waits for, the oldest first: all wait equally long.
type outbox struct {
	flights []*flight
	head    int
	armed   bool
}

// expect makes sure that a request ends.
func (w *World) expect(o *outbox, f *flight, timeoutUs int64, who int32, life uint32) {
	f.deadline = w.now + timeoutUs
	if o.head > 64 && o.head*2 > len(o.flights) {
		o.flights = append(o.flights[:0], o.flights[o.head:]...)
		o.head = 0
	}
	o.flights = append(o.flights, f)
	if !o.armed {
		o.armed = true
		w.queue.push(event{at: f.deadline, kind: evTimeout, who: who, life: life})
	}
}

// overdue returns the requests whose time is up, and when the next one's is.
func (o *outbox) overdue(now int64, each func(*flight)) (next int64) {
	for ; o.head < len(o.flights); o.head++ {
		f := o.flights[o.head]
		if f.settled {
			o.flights[o.head] = nil
			continue
		}
		if f.deadline > now {
			return f.deadline
		}
		o.flights[o.head] = nil
		each(f)
	}
	return 0
}

// timeout gives up what takes too long. who is a process's endpoint, or a client
// behind the last endpoint.
func (w *World) timeout(e *event) {
	var o *outbox
	if e.who >= w.net.n {
		o = &w.clients[e.who-w.net.n].outbox
	} else {
		p := w.procs[e.who]
		if !p.takes(e, e.life) {
			return
		}
		o = &p.outbox
	}
	o.armed = false
	next := o.overdue(w.now, func(f *flight) { w.reset(f.c, true) })
	if next > 0 && !o.armed {
		o.armed = true
		w.queue.push(event{at: next, kind: evTimeout, who: e.who, life: e.life})
	}
}
