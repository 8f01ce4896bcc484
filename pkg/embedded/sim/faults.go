package sim

import (
	"math/rand/v2"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// faultKind is something that goes wrong.
type faultKind int

const (
	faultKill faultKind = iota
	faultPower
	faultWithinOrder // a crash between two writes of one order
	faultAgain       // a kill, and a second crash while it recovers
	faultCleanStop
	faultPause
	faultEmpty // it comes back with an empty disk
	faultOneWay
	faultPair
	faultIsolate    // from other brokers and the controller, not from clients
	faultSplit      // brokers in two sets; the controller is in one
	faultController // a broker from the controller alone
	faultClients    // a broker from clients alone
	faultSlowLink
	faultReset // connections break
	faultStuck // connections get stuck, and others of the same pair do not
	faultSlowDisk
	faultStall
	faultFailDisk
	faultFullDisk
	faultClock
	faultMetadata // the controller's words do not reach a broker
	faultKillController
	faultPowerController
	faultPauseController
	faultFlap        // one leader after the other is isolated, while clients go on with it
	faultFlip        // bits of an index of a broker that is down
	faultReborn      // the next broker that is to join an ISR is another one when it does: see reborn.go
	faultCross       // two lead in turn, and neither has the other's records: see crossed.go
	faultWithinClean // a crash between two writes of a compaction
	faultKinds
)

var faultNames = [faultKinds]string{
	"kill", "power", "crash within an order", "crash while recovering", "clean stop", "pause", "empty disk", "one-way cut", "cut of a pair",
	"isolation", "split", "cut from the controller", "cut from clients", "slow link", "lost connections", "stuck connections", "slow disk", "stalled disk", "failing disk",
	"full disk", "clock jump", "late metadata", "controller kill", "controller power", "controller pause", "flapping leader", "flipped bits",
	"reborn member", "crossed leaders", "crash within a compaction",
}

func (k faultKind) String() string { return faultNames[k] }

// fault is one that is in force: undo ends it.
type fault struct{ undo func() }

func (p *Plan) drawFaults(rng *rand.Rand) {
	p.FaultEveryUs = oneOf(rng, 200*ms, 500*ms, 2*sec)
	for k := range p.Faults {
		if chance(rng, 40) {
			p.Faults[k] = 1 + rng.IntN(4)
		}
	}
	p.Faults[oneOf(rng, faultKill, faultPower, faultIsolate, faultOneWay, faultPause)] += 3
}

// nextFault lets something go wrong, and says when the next thing does.
func (w *World) nextFault() {
	if w.calm {
		return
	}
	w.queue.push(event{at: w.now + 1 + w.rng.Int64N(2*w.plan.FaultEveryUs), kind: evFault})
	total := 0
	for _, n := range w.plan.Faults {
		total += n
	}
	if total == 0 {
		return
	}
	draw := w.rng.IntN(total)
	for k, n := range w.plan.Faults {
		if draw < n {
			w.inflict(faultKind(k))
			return
		}
		draw -= n
	}
}

// inflict lets one thing go wrong, for a while.
//
//nolint:funlen // One case for each kind of fault.
func (w *World) inflict(k faultKind) {
	w.count(&w.stats.Faults, evFault, int32(k))
	p := w.victim()
	w.tell("*** %s of %s", k, p.name)
	// How long: most are over before a session ends, some are not.
	d := 20*ms + w.rng.Int64N(oneOf[int64](w.rng, 1, 1, 1, 3)*w.plan.SessionMs*ms)
	switch k {
	case faultKill:
		w.downFor(p, killed, d)
	case faultPower:
		w.downFor(p, w.ifAffordable(p, powerLost), d)
	case faultWithinOrder:
		w.trapNext(p, d)
	case faultAgain:
		w.downFor(p, killed, d)
		if power := chance(w.rng, 50); p.state == dead && (!power || w.mayLoseMore(p, false)) {
			p.setTrap(1+w.rng.IntN(20), power, w.rng)
		}
	case faultCleanStop:
		w.cleanStop(p, d)
	case faultPause, faultPauseController:
		if k == faultPauseController {
			p = w.controller()
		}
		if p.state == running {
			p.state = paused
			life := p.life
			w.until(d, func() { w.resume(p, life) })
		}
	case faultEmpty:
		if w.mayLoseMore(p, true) {
			w.downFor(p, killed, d)
			if p.state == dead {
				w.emptyDisk(p)
			}
		}
	case faultOneWay, faultPair, faultIsolate, faultSplit, faultController, faultClients:
		w.cutFor(k, p, d)
	case faultSlowLink:
		l := w.net.link(p.end, w.rng.Int32N(w.net.n))
		l.addUs = w.rng.Int64N(oneOf(w.rng, 20*ms, 500*ms, 3*sec))
		w.until(d, func() { l.addUs = 0 })
	case faultReset:
		w.someConns(p, func(c *conn) { w.reset(c, false) })
	case faultStuck:
		w.someConns(p, func(c *conn) { c.stuckUs = w.now + 5*d })
	case faultSlowDisk:
		p.diskUs = w.rng.Int64N(oneOf(w.rng, 5*ms, 100*ms, 2*sec))
		w.until(d, func() { p.diskUs = 0 })
	case faultStall:
		w.diskFault(p, vfs.Rule{Ops: vfs.OpSync | vfs.OpWrite, Stall: true, Times: 1 + w.rng.IntN(3)}, d)
	case faultFailDisk:
		if w.mayLoseMore(p, false) {
			op := oneOf(w.rng, vfs.OpSync, vfs.OpWrite, vfs.OpSync|vfs.OpWrite)
			w.diskFault(p, vfs.Rule{Ops: op, Err: vfs.ErrIO, Done: chance(w.rng, 30), LoseUnsynced: true, Probability: oneOf(w.rng, 1.0, 0.2)}, d)
		}
	case faultFullDisk:
		if w.mayLoseMore(p, false) {
			w.diskFault(p, vfs.Rule{Ops: vfs.OpWrite, Err: vfs.ErrNoSpace, Short: chance(w.rng, 50)}, d)
		}
	case faultClock:
		p.clock.wallMs += w.rng.Int64N(20_001) - 10_000
	case faultMetadata:
		p.metadataHeld = true
		w.until(d, func() { p.metadataHeld = false })
	case faultKillController:
		w.downFor(w.controller(), killed, min(d, 3*sec))
	case faultPowerController:
		w.downFor(w.controller(), powerLost, min(d, 3*sec))
	case faultFlap:
		if n := len(w.model.parts); n > 0 {
			w.flap(w.model.parts[w.rng.IntN(n)], 2+w.rng.IntN(3))
		}
	case faultReborn:
		w.rebornArmed = true
	case faultWithinClean:
		if w.plan.Keys > 0 {
			p.trapClean = &trap{after: 1 + w.rng.IntN(oneOf(w.rng, 12, 60)), power: chance(w.rng, 60), rng: w.rng}
		}
	case faultCross:
		w.cross(w.now + 10*sec)
	case faultFlip:
		if p.state == dead {
			w.flipIndex(p)
		}
	}
}

// someConns calls f for about half of the connections that a broker has made, and
// that clients have made to it.
func (w *World) someConns(p *proc, f func(*conn)) {
	for _, c := range p.conns {
		if c != nil && c.open && chance(w.rng, 50) {
			f(c)
		}
	}
	for _, cl := range w.clients {
		for _, c := range cl.conns {
			if c != nil && c.to == p.end && c.open && chance(w.rng, 50) {
				f(c)
			}
		}
	}
}

// victim draws a broker, more often one that leads something.
func (w *World) victim() *proc {
	if n := len(w.model.parts); n > 0 && chance(w.rng, 60) {
		if x := w.model.parts[w.rng.IntN(n)]; x.exists && x.reg.Leader > 0 {
			return w.broker(x.reg.Leader)
		}
	}
	return w.brokers()[w.rng.IntN(w.plan.Brokers)]
}

// until ends a fault after a while, or when all faults end.
func (w *World) until(us int64, undo func()) {
	w.faults = append(w.faults, &fault{undo: undo})
	w.queue.push(event{at: w.now + us, kind: evUndo, who: int32(len(w.faults) - 1)})
}

func (w *World) undo(i int) {
	if f := w.faults[i]; f != nil {
		w.faults[i] = nil
		w.hash.add(int64(i))
		f.undo()
	}
}

// downFor ends a process, and starts it again later.
func (w *World) downFor(p *proc, how fate, us int64) {
	if p.state == dead {
		return
	}
	w.end(p, how)
	life := p.life
	w.until(us, func() {
		if p.state == dead && p.life == life {
			w.start(p)
		}
	})
}

func (w *World) ifAffordable(p *proc, how fate) fate {
	if w.mayLoseMore(p, false) {
		return how
	}
	return killed
}

// mayLoseMore reports whether a broker may lose what it has not synced, or all.
func (w *World) mayLoseMore(p *proc, all bool) bool {
	return w.plan.Reckless || w.model.affordable(p, all)
}

func (w *World) cleanStop(p *proc, us int64) {
	if p.state != running || p.stopping {
		return
	}
	p.stopping = true
	life := p.life
	w.carryOut(p, p.shutdown())
	w.until(us+5*sec, func() {
		if p.life == life && p.state != dead {
			w.downFor(p, killed, us)
		}
	})
}

func (w *World) resume(p *proc, life uint32) {
	if p.state != paused || p.life != life {
		return
	}
	p.state = running
	backlog := p.backlog
	p.backlog = nil
	for _, e := range backlog {
		if e.kind == evWake {
			p.wakeAt = w.now
		}
		e.at = w.now
		w.queue.push(e)
	}
}

// trapNext lets a process crash within one of its next orders.
func (w *World) trapNext(p *proc, us int64) {
	if p.state == dead || p.trap != nil {
		return
	}
	power := chance(w.rng, 60) && w.mayLoseMore(p, false)
	p.setTrap(1+w.rng.IntN(4), power, w.rng)
	life := p.life
	w.until(us, func() {
		if p.life == life && p.state != dead {
			p.trap = nil
		}
	})
}

func (p *proc) setTrap(after int, power bool, rng *rand.Rand) {
	p.trap = &trap{after: after, power: power, rng: rng}
}

func (w *World) emptyDisk(p *proc) {
	p.mem = w.newDisk()
	p.trap = nil
	w.model.emptied(p)
}

// cutFor cuts links for a while.
func (w *World) cutFor(k faultKind, p *proc, us int64) {
	n, end, ctl := w.net.n, p.end, w.controller().end
	side := make([]bool, n)
	for i := range side {
		side[i] = chance(w.rng, 50)
	}
	other := w.rng.Int32N(n)
	var cut []*link
	for from := range n {
		for to := range n {
			if from == to {
				continue
			}
			clients := from == w.net.clientEnd() || to == w.net.clientEnd()
			here := from == end || to == end
			if k == faultOneWay && from == end && to == other ||
				k == faultPair && here && (from == other || to == other) ||
				k == faultIsolate && here && !clients ||
				k == faultSplit && side[from] != side[to] && !clients ||
				k == faultController && here && (from == ctl || to == ctl) ||
				k == faultClients && here && clients {
				if l := w.net.link(from, to); !l.cut {
					l.cut = true
					cut = append(cut, l)
				}
			}
		}
	}
	w.until(us, func() {
		for _, l := range cut {
			l.cut = false
		}
	})
}

// flap isolates whoever leads a partition for about as long as a session, some times
// in a row: each has records of its own then, of epochs that the others lack.
func (w *World) flap(x *part, times int) {
	if times == 0 || w.calm || !x.exists {
		return
	}
	d := w.plan.SessionMs*ms + w.rng.Int64N(w.plan.SessionMs*ms)
	if x.reg.Leader > 0 {
		w.cutFor(faultIsolate, w.broker(x.reg.Leader), d)
	}
	w.until(d+1+w.rng.Int64N(50*ms), func() { w.flap(x, times-1) })
}

// diskRule is a rule of a disk that outlives the process.
type diskRule struct {
	rule   vfs.Rule
	active *vfs.ActiveRule
}

// diskFault puts a rule into force for a while.
func (w *World) diskFault(p *proc, r vfs.Rule, us int64) {
	d := &diskRule{rule: r}
	p.rules = append(p.rules, d)
	if r.Err != nil || r.Short || r.FlipBits > 0 {
		p.badDisk = true
	}
	if p.state != dead {
		d.active = p.disk.Add(r)
	}
	if r.Stall {
		p.stalls++
	}
	w.until(us, func() {
		if r.Stall {
			p.stalls--
		}
		for i, q := range p.rules {
			if q == d {
				p.rules = append(p.rules[:i], p.rules[i+1:]...)
				break
			}
		}
		if d.active != nil {
			d.active.Remove()
		}
	})
}

// reapplyDiskFaults gives a process that starts the disk that it had.
func (w *World) reapplyDiskFaults(p *proc) {
	p.badDisk = false
	for _, d := range p.rules {
		d.active = p.disk.Add(d.rule)
		if d.rule.Err != nil || d.rule.Short || d.rule.FlipBits > 0 {
			p.badDisk = true
		}
	}
}

// loses reports whether a sync that fails now may lose what was to be synced.
func (p *proc) loses() bool {
	return slices.ContainsFunc(p.rules, func(d *diskRule) bool { return d.rule.LoseUnsynced })
}

// diskFaulty reports whether a failure of this process may be its disk's.
func (p *proc) diskFaulty() bool { return p.badDisk }
