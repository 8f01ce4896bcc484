package sim

import (
	"math/bits"
	"slices"
)

// What a fault may take from a disk decides what is still promised: a member that
// has lost what it held is excused until it has left the ISR, and where more than
// minISR-1 members have lost something, nothing is promised any more (I5).

// died notes what the end of a process means for its replicas.
func (m *model) died(p *proc, how fate) {
	if p.quorum != nil {
		m.controllerDied(p.quorum.DurableOffset())
	}
	// Who is killed while it stops may have closed its directory already.
	p.cleanly = how == stoppedCleanly || p.stopping
	what := how
	if how == crashed {
		what = killed
		if p.trap.power {
			what = powerLost
		}
	}
	if how == killed && p.disk.Lost() {
		// A sync has failed, and the node was killed before it heard of it.
		what = failed
	}
	for _, s := range p.shadow {
		if s == nil {
			continue
		}
		if s.log != nil {
			s.end, s.unwritten = s.end-s.unwritten, 0
			s.hadEnd, s.hadStart = s.end, s.log.Start()
			if how != crashed {
				s.synced = s.log.Flushed()
			}
			s.synced = min(s.synced, s.end)
			s.died = what
		} else {
			s.died = max(s.died, what)
		}
		s.r, s.log = nil, nil
		clear(s.waiting)
		if what == powerLost || what == failed {
			m.mayLose(s, s.synced)
		}
	}
}

// emptied notes that a dead process's disk was replaced.
func (m *model) emptied(p *proc) {
	p.cleanly, p.newDisk = false, true
	for _, s := range p.shadow {
		if s != nil {
			s.died, s.hadEnd = emptied, max(s.hadEnd, s.end)
			m.mayLose(s, 0)
			s.batches, s.end = nil, 0
		}
	}
}

// crashedAgain notes that the power failed while a process recovered.
func (m *model) crashedAgain(p *proc, power bool) {
	if power {
		m.diedAgain(p, powerLost)
	}
}

// failedAgain notes that a disk has failed while a process recovered.
func (m *model) failedAgain(p *proc) { m.diedAgain(p, failed) }

func (m *model) diedAgain(p *proc, how fate) {
	for _, s := range p.shadow {
		if s != nil && s.died != alive && s.died != emptied {
			s.died = max(s.died, how)
			m.mayLose(s, s.synced)
		}
	}
}

// mayLose notes that of a replica only what is before kept is sure to be left.
func (m *model) mayLose(s *shadow, kept Offset) {
	if kept >= s.end || s.end == 0 {
		return
	}
	s.excused, s.p.registered = true, false
	m.w.tell("%s may have lost what it had of %s-%d from %d to %d", s.p.name, s.part.topic, s.part.index, kept, s.end)
	if m.holds(s) {
		m.loses(s)
	}
}

// loses counts a member that has lost data.
func (m *model) loses(s *shadow) {
	s.part.losers |= 1 << s.p.id
	if m.tooMany(s.part, s.part.losers) {
		m.voidPart(s.part, "the disks of %d members have lost data", bits.OnesCount32(s.part.losers))
	}
}

// holds reports whether a replica is one by which committed records are safe.
func (m *model) holds(s *shadow) bool {
	reg := s.part.reg
	return s.part.exists && reg != nil &&
		(slices.Contains(reg.ISR, s.p.id) || slices.Contains(reg.EligibleLeaderReplicas, s.p.id) || slices.Contains(reg.LastKnownELR, s.p.id))
}

func (m *model) tooMany(x *part, losers uint32) bool {
	return bits.OnesCount32(losers) > min(x.minISR, len(x.reg.Replicas))-1
}

// affordable reports whether a process may lose what is not synced, or all, without
// voiding a promise.
func (m *model) affordable(p *proc, all bool) bool {
	for _, s := range p.shadow {
		if s == nil || s.part.void || !m.holds(s) || s.end == 0 {
			continue
		}
		synced := s.synced
		if s.log != nil {
			synced = s.log.Flushed()
		}
		if (all || synced < s.end) && m.tooMany(s.part, s.part.losers|1<<p.id) {
			return false
		}
	}
	return true
}

// noteSynced remembers what is durable before an order within which the process is
// to crash.
func (m *model) noteSynced(p *proc) {
	for _, s := range p.shadow {
		if s != nil && s.log != nil {
			s.synced = s.log.Flushed()
		}
	}
}

// started takes over what a controller has found in its log.
func (m *model) started(p *proc) {
	if p.quorum != nil {
		m.checkPromise(p.quorum.DurableOffset())
		m.controllerStarted(p.quorum.Image(), p.quorum.DurableOffset())
	}
}
