package diagnose

import (
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// brokerSeen is what the looks tell of a broker.
type brokerSeen struct {
	// looks are those that asked it something, answered those that it answered, silent
	// how many in a row up to now it has not.
	looks, answered, silent int
	// stalled are looks in which it gave no reply in time, rather than that nobody listened.
	stalled int
	// absent: it is fenced, or not among the live ones, as of now; falls counts how often
	// that began.
	absent     bool
	falls      int
	roundTrips []time.Duration
	// committing is for how many looks in a row, up to now, what it follows in the ISR was
	// written to and all of it committed.
	committing int
	// loads are what its own meters told, at the looks that asked them.
	loads []inspect.Load
	// host is what its own host tells, nil where that was not read.
	host *Host
}

func (c *Case) lookAtBrokers(s *inspect.Snapshot) {
	present := map[inspect.BrokerID]bool{}
	for i := range s.Brokers {
		b := &s.Brokers[i]
		seen := c.broker(b.ID)
		present[b.ID] = true
		if load, ok := b.Load.Get(); ok {
			seen.loads = append(seen.loads, load)
		}
		fenced, told := b.Fenced.Get()
		if told || c.looks == 1 || s.Asked.Has(inspect.PartFenced) {
			seen.be(fenced, c.looks > 1)
		}
		answered, asked := b.Reachable.Get()
		if !asked || fenced {
			continue
		}
		seen.looks++
		if answered {
			seen.answered++
			seen.silent = 0
		} else {
			seen.silent++
			if late(s, b.ID) {
				seen.stalled++
			}
		}
		if rt, ok := b.RoundTrip.Get(); ok {
			seen.roundTrips = append(seen.roundTrips, rt)
		}
	}
	for _, id := range s.Gone {
		present[id] = true
		c.broker(id).be(true, c.looks > 1)
	}
	for id, seen := range c.brokers {
		if !present[id] {
			seen.be(true, c.looks > 1)
		}
	}
}

// late reports whether what was asked of a broker last got no reply in time.
func late(s *inspect.Snapshot, id inspect.BrokerID) bool {
	return slices.ContainsFunc(s.Failures, func(f inspect.Failure) bool {
		return f.TimedOut && f.Broker == inspect.Known(id)
	})
}

func (b *brokerSeen) be(absent, compare bool) {
	if compare && absent && !b.absent {
		b.falls++
	}
	b.absent = absent
}

func (c *Case) broker(id inspect.BrokerID) *brokerSeen {
	seen := c.brokers[id]
	if seen == nil {
		seen = &brokerSeen{}
		c.brokers[id] = seen
	}
	return seen
}

// absent are brokers that the cluster itself calls down, or does not list though replicas
// are assigned to them. Sorted.
func (c *Case) absent() []inspect.BrokerID {
	var out []inspect.BrokerID
	for _, u := range c.last.Untold(func(b *inspect.Broker) bool { return !b.Fenced.Or(false) }) {
		if u.Cause.Down() {
			out = append(out, u.Broker)
		}
	}
	return slices.Compact(out)
}

// leastSilent is for how many looks a broker has to be silent: one that is busy misses one.
const leastSilent = 2

// silent are brokers that the cluster lists as alive and that answered nothing at the end:
// in several looks, where there were, or their host says that nobody listens.
func (c *Case) silent() []*inspect.Broker {
	var out []*inspect.Broker
	for i := range c.last.Brokers {
		b := &c.last.Brokers[i]
		if up, asked := b.Reachable.Get(); !asked || up || b.Fenced.Or(false) {
			continue
		}
		seen := c.broker(b.ID)
		if _, refused := c.whySilent(b.ID); refused || seen.silent >= min(leastSilent, seen.looks) {
			out = append(out, b)
		}
	}
	return out
}

// What it takes for a broker to stall: so many looks, and this share of all, without a reply
// in time. A machine that is busy misses one or two.
const (
	leastStalled = 3
	stalledShare = 0.3
)

// stalling are brokers that answer, and did not in many of the looks before.
func (c *Case) stalling() []*inspect.Broker {
	var out []*inspect.Broker
	silent := c.silent()
	for i := range c.last.Brokers {
		b := &c.last.Brokers[i]
		seen := c.broker(b.ID)
		if b.Fenced.Or(false) || seen.answered == 0 || slices.Contains(silent, b) {
			continue
		}
		if seen.stalled >= leastStalled && float64(seen.stalled) >= stalledShare*float64(seen.looks) {
			out = append(out, b)
		}
	}
	return out
}

// hosted are the replicas on a broker, and led those of all partitions that it leads.
func (c *Case) hosted(id inspect.BrokerID) (hosted, led replicaSet) {
	hosted, led = replicaSet{}, replicaSet{}
	for p := range c.last.Partitions {
		if slices.Contains(p.Replicas, id) {
			hosted.add(p, id)
		}
		if p.Leader == id {
			led.add(p, p.Replicas...)
		}
	}
	return hosted, led
}

func (s replicaSet) with(other replicaSet) replicaSet {
	out := replicaSet{}
	for _, set := range []replicaSet{s, other} {
		for r := range set {
			out[r] = true
		}
	}
	return out
}
