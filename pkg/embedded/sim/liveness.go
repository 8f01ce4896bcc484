package sim

import (
	"fmt"
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// When the faults have ended, the cluster must come to rest within a bound:
//
//	L1 each partition with an eligible replica has a leader
//	L2 the ISR is all live replicas, and everywhere the HW is the LEO
//	L4 a long poll is answered by its max.wait
//	L5 no partition stays under-replicated without a dead broker
//	L6 with one broker that hears nothing, for good, the others keep serving

// restBoundUs is how long that may take: sessions, lag and timeouts are the longest
// waits, and one may come after another.
func (w *World) restBoundUs() int64 {
	return (60_000 + 4*w.plan.SessionMs + 4*w.plan.TimeoutMs + 2*30_000) * ms
}

// comeToRest ends all faults, and waits.
func (w *World) comeToRest() {
	w.endFaults()
	deaf := w.deafen()
	deadline := w.now + w.restBoundUs()
	why := ""
	for w.err == nil {
		until := w.now + 500*ms
		for w.err == nil && w.queue.len() > 0 && w.queue.heap[0].at <= until {
			w.step()
		}
		w.now = max(w.now, until)
		if why = w.unrest(deaf); why == "" || w.now > deadline {
			break
		}
	}
	if w.err != nil {
		return
	}
	if why != "" {
		rule := "L2"
		switch {
		case deaf != nil:
			rule = "L6"
		case w.leaderless(deaf) != "":
			rule = "L1"
		}
		w.fail(rule, "%d s after the faults have ended: %s", w.restBoundUs()/sec, why)
		return
	}
	w.checkAtRest()
}

func (w *World) endFaults() {
	w.tell("*** all faults end")
	w.calm, w.calmUs, w.rebornArmed = true, w.now, false
	for i := range w.faults {
		w.undo(i)
	}
	for i := range w.net.links {
		w.net.links[i] = link{}
	}
	for _, p := range w.procs {
		w.unstick(p.conns)
	}
	for _, c := range w.clients {
		w.unstick(c.conns)
	}
	for _, p := range w.procs {
		p.metadataUs, p.metadataHeld, p.diskUs, p.trap, p.trapClean = 0, false, 0, nil, nil
		if p.state == paused {
			w.resume(p, p.life)
		}
		if p.stopping && p.state == running {
			w.end(p, killed)
		}
		if p.state == dead {
			w.start(p)
		}
	}
}

func (w *World) unstick(conns []*conn) {
	for _, c := range conns {
		if c != nil {
			c.stuckUs = 0
		}
	}
}

// deafen cuts what one broker hears, for good, if the plan has it so (L6).
func (w *World) deafen() *proc {
	if !w.plan.OneWay || w.plan.Brokers < 3 {
		return nil
	}
	p := w.brokers()[w.rng.IntN(w.plan.Brokers)]
	w.tell("*** from now on %s hears nothing", p.name)
	for from := range w.net.n {
		if from != p.end {
			w.net.link(from, p.end).cut = true
		}
	}
	return p
}

// recordsWhenCalm is how many of a hundred times a producer that may still adds a record.
func (w *World) recordsWhenCalm() int {
	if w.now > w.calmUs+w.restBoundUs()/2 {
		return 10
	}
	return 1
}

// unrest says what is not yet as it should be, "" if all is.
func (w *World) unrest(deaf *proc) string {
	if why := w.leaderless(deaf); why != "" {
		return why
	}
	for _, x := range w.model.parts {
		if x.exists && x.reg.Leader != kraft.NoLeader {
			if why := w.unrestOf(x, deaf); why != "" {
				return why
			}
		}
	}
	for _, c := range w.clients {
		if p, ok := c.actor.(*producer); ok && deaf == nil {
			for _, l := range p.lanes {
				if x := w.model.part(l.id, l.index); x != nil && x.exists && x.reg.Leader != kraft.NoLeader && len(l.batches) > 0 && len(x.reg.ISR) >= w.minISRNow(x) {
					return fmt.Sprintf("client %d still waits to produce %d batches to %s-%d", c.n, len(l.batches), l.topic, l.index)
				}
			}
		}
	}
	return ""
}

func (w *World) minISRNow(x *part) int { return w.model.effectiveMinISR(x, w.model.newest()) }

// leaderless names a partition without a leader that could have one.
func (w *World) leaderless(deaf *proc) string {
	for _, x := range w.model.parts {
		if !x.exists || x.reg.Leader != kraft.NoLeader {
			continue
		}
		// A broker with a new disk has another directory than the controller knows. It
		// says so once it is active, and then nobody elects, in Kafka neither
		// (handleAssignReplicasToDirs).
		for _, id := range eligible(x) {
			if p := w.broker(id); p != deaf && w.active(id) && w.dirOnline(x, id) && !p.newDisk {
				return fmt.Sprintf("%s-%d has no leader, and broker %d of ISR %v, ELR %v lives", x.topic, x.index, id, x.reg.ISR, x.reg.EligibleLeaderReplicas)
			}
		}
	}
	for _, p := range w.brokers() {
		if p != deaf && !w.active(p.id) {
			return fmt.Sprintf("%s is not active", p.name)
		}
	}
	return ""
}

func (w *World) active(id int32) bool {
	b, ok := w.model.newest().Broker(id)
	return ok && b.Active()
}

// eligible are the brokers of which one may lead: the ISR, or the ELR where that is
// empty.
func eligible(x *part) []int32 {
	if len(x.reg.ISR) > 0 {
		return x.reg.ISR
	}
	return x.reg.EligibleLeaderReplicas
}

// dirOnline reports whether the directory in which the controller takes a replica to
// be is there: no other broker leads (KIP-858).
func (w *World) dirOnline(x *part, id int32) bool {
	b, ok := w.model.newest().Broker(id)
	i := slices.Index(x.reg.Replicas, id)
	return ok && i >= 0 && slices.Contains(b.LogDirs, x.reg.Directories[i])
}

// unrestOf looks at one partition.
func (w *World) unrestOf(x *part, deaf *proc) string {
	if deaf != nil && x.reg.Leader == deaf.id {
		for _, id := range eligible(x) {
			if id != deaf.id && w.active(id) && w.dirOnline(x, id) {
				return fmt.Sprintf("%s-%d is led by the deaf broker %d, and %d could", x.topic, x.index, deaf.id, id)
			}
		}
		return ""
	}
	leader := w.broker(x.reg.Leader).shadowOf(x)
	if leader == nil || leader.r == nil || leader.status.Role != replica.Leader {
		return fmt.Sprintf("broker %d does not lead %s-%d yet", x.reg.Leader, x.topic, x.index)
	}
	live := 0
	for _, id := range x.reg.Replicas {
		if deaf != nil && id == deaf.id {
			continue
		}
		live++
		if !slices.Contains(x.reg.ISR, id) {
			return fmt.Sprintf("%s-%d: broker %d is not in the ISR %v", x.topic, x.index, id, x.reg.ISR)
		}
		s := w.broker(id).shadowOf(x)
		if s == nil || s.r == nil {
			return fmt.Sprintf("%s-%d: broker %d has no replica", x.topic, x.index, id)
		}
		if len(x.reg.ISR) < w.minISRNow(x) {
			continue // the HW may stand
		}
		if st := s.status; st.HW != leader.status.LEO || st.LEO != leader.status.LEO {
			return fmt.Sprintf("%s-%d: broker %d has HW %d, LEO %d, and the leader's LEO is %d", x.topic, x.index, id, st.HW, st.LEO, leader.status.LEO)
		}
	}
	// A second move on top of a first one may leave a replica that is to be added and
	// removed: that never ends, in Kafka neither (changePartitionReassignment).
	stuck := slices.ContainsFunc(x.reg.AddingReplicas, func(id int32) bool { return slices.Contains(x.reg.RemovingReplicas, id) })
	if len(x.reg.AddingReplicas)+len(x.reg.RemovingReplicas) > 0 && deaf == nil && !stuck {
		return fmt.Sprintf("%s-%d: a reassignment goes on: %v, adding %v, removing %v", x.topic, x.index, x.reg.Replicas, x.reg.AddingReplicas, x.reg.RemovingReplicas)
	}
	return ""
}

// checkWait is L4: in a calm world a fetch is answered by its max.wait.
func (w *World) checkWait(f *flight, maxWaitMs int64) {
	if w.calm && w.now-f.servedAt > (maxWaitMs+1000)*ms && f.servedAt > w.calmUs+5*sec {
		w.fail("L4", "a fetch with max.wait %d ms was answered after %d ms", maxWaitMs, (w.now-f.servedAt)/ms)
	}
}
