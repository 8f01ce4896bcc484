package sim

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

// A member that is reborn while it is to join the ISR (KIP-903): its leader has seen
// that it has everything and asks the controller to take it in; before that arrives, the
// member loses its power and records, starts at once, waits until the session of its
// last life is over, and is registered and unfenced. What the leader says of it is of
// another life. Leader, partition epoch and log directory have not changed meanwhile,
// so that only the member's broker epoch tells.
//
// By chance all that does not come together in thousands of runs. The fault waits for
// such a proposal and does the rest.

// keyAlterPartition is AlterPartition's API key.
const keyAlterPartition = 56

// reborn is one that is under way.
type reborn struct {
	w      *World
	leader *proc
	member *proc
	epoch  int64 // the member's, of the life that the leader saw
	ends   int64 // when it is given up, in us
}

// maybeReborn looks at a proposal that a leader is about to send.
func (w *World) maybeReborn(leader *proc, req *kmsg.AlterPartitionRequest) {
	if !w.rebornArmed || leader.isrHeld {
		return
	}
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			q := &req.Topics[i].Partitions[j]
			x := w.model.part(kraft.UUID(req.Topics[i].TopicID), q.Partition)
			if x == nil || !x.exists || x.void || x.reg.PartitionEpoch != q.PartitionEpoch {
				continue
			}
			for _, m := range q.NewEpochISR {
				if w.mayBeReborn(x, m.BrokerID, m.BrokerEpoch) {
					w.rebornArmed = false
					r := &reborn{w: w, leader: leader, member: w.broker(m.BrokerID), epoch: m.BrokerEpoch}
					r.begin()
					return
				}
			}
		}
	}
}

// mayBeReborn reports whether a broker is to join the ISR, has something to lose, and
// would change nothing of the partition by its registration, as a member of the ELR does.
func (w *World) mayBeReborn(x *part, id int32, epoch int64) bool {
	p := w.broker(id)
	s := p.shadowOf(x)
	return !slices.Contains(x.reg.ISR, id) && !slices.Contains(x.reg.EligibleLeaderReplicas, id) && !slices.Contains(x.reg.LastKnownELR, id) &&
		s != nil && s.log != nil && s.log.Flushed() < s.end &&
		p.state == running && !p.stopping && p.trap == nil && p.node.BrokerEpoch() == epoch && w.mayLoseMore(p, false)
}

func (r *reborn) begin() {
	w := r.w
	w.tell("*** %s's proposals are held, and %s is to be reborn", r.leader.name, r.member.name)
	r.leader.isrHeld = true
	r.ends = w.now + (3*w.plan.SessionMs+10_000)*ms
	// It must not get back from the leader what it has lost.
	link := w.net.link(r.member.end, r.leader.end)
	mine := !link.cut
	link.cut = true
	life := r.member.life
	w.until(w.rng.Int64N(2*ms), func() {
		if r.member.life == life && r.member.state != dead {
			w.downFor(r.member, w.ifAffordable(r.member, powerLost), 1+w.rng.Int64N(100*ms))
		}
	})
	r.wait(func() {
		r.leader.isrHeld = false
		if mine && !w.calm { // what was held arrives when TCP sends it again
			w.until(w.rng.Int64N(2*sec), func() { link.cut = false })
		}
	})
}

// wait calls then when the member is active in its new life, or it is too late.
func (r *reborn) wait(then func()) {
	w := r.w
	b, ok := w.model.newest().Broker(r.member.id)
	if w.calm || w.now > r.ends || ok && b.Active() && b.BrokerEpoch != r.epoch {
		then()
		return
	}
	w.until(20*ms, func() { r.wait(then) })
}

// heldBack reports whether a request is one of a leader whose proposals are held.
func (w *World) heldBack(c *conn) bool {
	return c.key == keyAlterPartition && c.from < w.controller().end && w.procs[c.from].isrHeld
}
