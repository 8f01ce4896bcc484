package source

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// How offsets are read. Offsets move while they are read, so the order in time
// makes the bounds certain (see [inspect.PartitionLag]):
//
//	connect  every broker                                               | barrier
//	round 0  replica id −2, latest: every leader's LEO (L0)             | barrier
//	round 1  replica id −2, latest: every follower's LEO (f)            | barrier, 500 ms
//	         replica id −1, at the leaders: earliest, then latest
//	         read_committed, then latest: log start <= LSO <= HW
//	round 2  replica id −2, latest: every leader's LEO again (L2)
//
// That is at most one, four and one requests a broker: a partition must not
// stand twice in one request.

// followerGrace is how long round 2 waits for silent followers: longer, and the
// upper bound of every other replica's lag would grow with it.
const followerGrace = 500 * time.Millisecond

// rounds are the barriers that all brokers of one pass share.
type rounds struct {
	connected, leadersRead, followersRead *barrier
}

func newRounds(brokers int) *rounds {
	return &rounds{
		connected:     newBarrier(brokers, 0),
		leadersRead:   newBarrier(brokers, 0),
		followersRead: newBarrier(brokers, followerGrace),
	}
}

// leaveFrom arrives at every barrier from stage on, for a broker that will not
// answer any more.
func (r *rounds) leaveFrom(stage int) {
	for _, b := range []*barrier{r.connected, r.leadersRead, r.followersRead}[stage:] {
		b.arrive()
	}
}

// work is what one broker is asked for: the partitions it leads, and those it
// follows with the place for its answer.
type work struct {
	leads   []*inspect.Partition
	follows []*inspect.Partition
	answers []*inspect.FollowerOffset // one for each of follows
}

func (w *work) replicas() int { return len(w.leads) + len(w.follows) }

// planWork makes room for the answers in the Snapshot and lists, for each
// broker, what it hosts.
func planWork(s *inspect.Snapshot) map[inspect.BrokerID]*work {
	plan := map[inspect.BrokerID]*work{}
	of := func(id inspect.BrokerID) *work {
		if plan[id] == nil {
			plan[id] = &work{}
		}
		return plan[id]
	}
	for p := range s.Partitions {
		p.Offsets = &inspect.Offsets{}
		for _, id := range p.Replicas {
			if id == p.Leader {
				w := of(id)
				w.leads = append(w.leads, p)
				continue
			}
			p.Offsets.Followers = append(p.Offsets.Followers, inspect.FollowerOffset{Broker: id})
		}
		for i := range p.Offsets.Followers {
			f := &p.Offsets.Followers[i]
			w := of(f.Broker)
			w.follows = append(w.follows, p)
			w.answers = append(w.answers, f)
		}
	}
	return plan
}

// lose says why everything this broker was to tell is unknown.
func (w *work) lose(why string) {
	w.loseBut(why, func(o *inspect.Offsets) bool { return o.HW.IsKnown() })
}

// loseLEOs says why this broker tells no log end offset.
func (w *work) loseLEOs(why string) {
	w.loseBut(why, func(o *inspect.Offsets) bool { return o.LEOBefore.IsKnown() })
}

// loseBut says why of what it leads, but for what was told, and of what it follows,
// but for the log end offsets that are known.
func (w *work) loseBut(why string, told func(*inspect.Offsets) bool) {
	for _, p := range w.leads {
		if p.Offsets.Error == "" && !told(p.Offsets) {
			p.Offsets.Error = why
		}
	}
	for _, f := range w.answers {
		if f.Error == "" && !f.LEO.IsKnown() {
			f.Error = why
		}
	}
}
