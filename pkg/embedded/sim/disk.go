package sim

import (
	"math/rand/v2"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// fate is what became of a process and its disk.
type fate uint8

const (
	alive fate = iota
	stoppedCleanly
	killed    // the page cache stays
	crashed   // within an order: killed, or the power failed
	powerLost // what was not synced may be lost
	failed    // its disk failed, and what was not synced may be lost
	emptied   // it comes back with an empty disk
)

func (f fate) String() string {
	return [...]string{"alive", "stopped cleanly", "killed", "crashed within an order", "power lost", "failed", "emptied"}[f]
}

// lane is a queue of orders.
type lane struct {
	jobs []*job // the first one is being carried out
}

// job is an order of a disk. Whether its effects are there when it begins or when
// it ends the seed decides: who is killed meanwhile has them, or has not.
type job struct {
	lane  uint64
	order machine.Order
	ran   bool
	// stalled: it does not end before the disk's stall does.
	stalled bool
}

func (w *World) order(p *proc, r machine.Run) {
	l := p.lanes[r.Lane]
	if l == nil {
		l = &lane{}
		p.lanes[r.Lane] = l
	}
	l.jobs = append(l.jobs, &job{lane: r.Lane, order: r.Order})
	if len(l.jobs) == 1 {
		w.begin(p, l.jobs[0])
	}
}

func (w *World) begin(p *proc, j *job) {
	at := w.now + w.plan.DiskUs + p.diskUs
	if w.plan.DiskJitterUs > 0 && !w.calm {
		at += w.rng.Int64N(w.plan.DiskJitterUs)
	}
	if !w.plan.Still && chance(w.rng, 50) {
		d, ok := w.runOrder(p, j)
		if !ok {
			return
		}
		at += d
	}
	w.queue.push(event{at: at, kind: evDisk, who: p.end, life: p.life, j: j})
}

// runOrder carries an order out, and says how much longer it takes by the rules of
// the disk; false if the process died of it.
func (w *World) runOrder(p *proc, j *job) (us int64, ok bool) {
	j.ran = true
	if p.trapClean != nil && p.trap == nil && cleans(j.order) {
		p.trap, p.trapClean = p.trapClean, nil
		p.trap.power = p.trap.power && w.mayLoseMore(p, false)
	}
	if p.trap != nil {
		w.model.noteSynced(p)
	}
	p.trap.set(p.mem)
	j.order.Run()
	p.trap.unset(p.mem)
	if p.trap.sprung() {
		w.tell("%s crashes within an order of its disk", p.name)
		w.end(p, crashed)
		w.startLater(p)
		return 0, false
	}
	for _, wait := range p.noted.Take() {
		us += wait.Delay.Microseconds()
		j.stalled = j.stalled || wait.Released != nil
	}
	return us, true
}

// diskGoesOn ends an order, or carries it out first.
func (w *World) diskGoesOn(e *event) {
	p, j := w.procs[e.who], e.j
	if p.life != e.life || p.state == dead {
		return
	}
	if !j.ran {
		d, ok := w.runOrder(p, j)
		if !ok {
			return
		}
		if d > 0 {
			e.at = w.now + d
			w.queue.push(*e)
			return
		}
	}
	if j.stalled && p.stalls > 0 {
		e.at = w.now + 50*ms // look again
		w.queue.push(*e)
		return
	}
	if p.state == paused {
		p.backlog = append(p.backlog, *e)
		return
	}
	w.count(&w.stats.Orders, evDisk, p.end)
	l := p.lanes[j.lane]
	l.jobs = slices.Delete(l.jobs, 0, 1)
	if len(l.jobs) > 0 {
		w.begin(p, l.jobs[0])
		if p.state == dead {
			return
		}
	}
	if w.trace != nil {
		w.tell("%s: an order of its disk is done (%s)", p.name, describeOrder(j.order))
	}
	p.step(machine.Ran{Order: j.order})
}

// trap is a crash that waits for a change of the disk within an order: power that
// fails between two writes, or a kill.
type trap struct {
	after int // so many changes
	power bool
	rng   *rand.Rand
	disk  *vfs.Mem // as it was then
}

func (t *trap) set(m *vfs.Mem) {
	if t == nil || t.disk != nil {
		return
	}
	m.OnStep(func(vfs.Step) {
		if t.after--; t.after == 0 {
			if t.power {
				t.disk = m.CrashClone(t.rng)
			} else {
				t.disk = m.Clone()
			}
		}
	})
}

func (t *trap) unset(m *vfs.Mem) {
	if t != nil {
		m.OnStep(nil)
	}
}

func (t *trap) sprung() bool { return t != nil && t.disk != nil }
