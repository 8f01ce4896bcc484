package sim

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// Two leaders of a partition that cross (KIP-279): one leads and its records reach nobody;
// the other one is elected, leads in a later epoch, and its records reach nobody either;
// then the first leads again. The second has to cut off a whole epoch of its own for one
// that it never had, which takes more than one round.
//
// Both stay in the ISR all the while, so each step has to come before a leader takes the
// other for slow, and by chance that is rare. The fault waits for a partition where it can be done, and writes.

// crossed is one that is under way.
type crossed struct {
	w             *World
	x             *part
	first, second int32
	ends          int64 // when it is given up, in us
}

// cross waits for a partition of which the preferred leader is in the ISR, and does not
// lead, and begins with it.
func (w *World) cross(until int64) {
	if w.calm || w.now > until {
		return
	}
	n := len(w.model.parts)
	from := w.rng.IntN(n + 1)
	for i := range n {
		x := w.model.parts[(from+i)%n]
		if !x.exists || x.void || x.reg.Leader <= 0 {
			continue
		}
		if c := (&crossed{w: w, x: x, first: x.reg.Leader, second: x.reg.Replicas[0]}); c.fits() {
			c.begin()
			return
		}
	}
	w.until(50*ms, func() { w.cross(until) })
}

// fits reports whether the preferred leader can be elected, and the one that leads now
// would be the next after it.
func (c *crossed) fits() bool {
	reg := c.x.reg
	next := slices.IndexFunc(reg.Replicas[1:], func(id int32) bool { return slices.Contains(reg.ISR, id) && c.w.active(id) })
	return c.first != c.second && slices.Contains(reg.ISR, c.second) && c.w.active(c.second) && next >= 0 && reg.Replicas[1+next] == c.first
}

func (c *crossed) begin() {
	w := c.w
	w.tell("*** brokers %d and %d are to lead %s-%d crosswise", c.first, c.second, c.x.topic, c.x.index)
	c.ends = w.now + (3*w.plan.SessionMs+5000)*ms
	apart := c.cut(func(a, b int32) bool {
		return slices.Contains(c.x.reg.Replicas, a+1) && slices.Contains(c.x.reg.Replicas, b+1)
	})
	c.write(func() {
		c.elect()
		c.wait(func() bool { return c.x.reg.Leader == c.second }, func() {
			c.write(func() {
				ctl, second := w.controller().end, c.second-1
				away := c.cut(func(a, b int32) bool { return a == second && b == ctl || a == ctl && b == second })
				c.wait(func() bool { return c.x.reg.Leader != c.second }, func() {
					c.write(func() { apart(); away() })
				}, func() { apart(); away() })
			})
		}, apart)
	})
}

// write writes something to whoever leads, and gives clients time to write.
func (c *crossed) write(then func()) {
	w := c.w
	for range w.rng.IntN(4) {
		if c.x.reg.Leader == kraft.NoLeader {
			break
		}
		p := &producer{c: w.clients[0], pid: record.NoProducerID, byID: true}
		b := p.newBatch(&outLane{topic: c.x.topic, id: c.x.id, index: c.x.index})
		b.acks = 1
		p.sendTo(c.x.reg.Leader, b)
	}
	w.until(w.rng.Int64N(15*w.plan.ThinkUs), func() {
		if !w.calm { // else all is mended
			then()
		}
	})
}

// elect asks for the preferred leader.
func (c *crossed) elect() {
	req := kmsg.NewPtrElectLeadersRequest()
	req.Version, req.TimeoutMillis = 2, 5000
	t := kmsg.NewElectLeadersRequestTopic()
	t.Topic, t.Partitions = c.x.topic, []int32{c.x.index}
	req.Topics = append(req.Topics, t)
	c.w.clients[0].send(c.second, req, want{})
}

// wait calls then when it has come about, or else if it has not in time.
func (c *crossed) wait(come func() bool, then, otherwise func()) {
	w := c.w
	switch {
	case w.calm || w.now > c.ends:
		otherwise()
	case come():
		then()
	default:
		w.until(20*ms, func() { c.wait(come, then, otherwise) })
	}
}

// cut cuts links until it is called off.
func (c *crossed) cut(which func(from, to int32) bool) (mend func()) {
	var cut []*link
	for from := range c.w.net.n {
		for to := range c.w.net.n {
			if l := c.w.net.link(from, to); from != to && which(from, to) && !l.cut {
				l.cut = true
				cut = append(cut, l)
			}
		}
	}
	return func() {
		if c.w.calm {
			return // all are mended, and what is cut now is cut for good
		}
		for _, l := range cut {
			l.cut = false
		}
	}
}
