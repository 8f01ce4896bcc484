package quorum

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// observerSessionMs is how long an observer is remembered after its last Fetch
// (LeaderState.OBSERVER_SESSION_TIMEOUT_MS).
const observerSessionMs int64 = 300_000

// observer is how far a broker is that follows the log (LeaderState.ReplicaState).
type observer struct {
	id     int32
	dir    [16]byte // of its log directory, zero if it did not say
	offset int64    // that it asked for last
	// fetchMs and caughtUpMs are times of day, which DescribeQuorum tells; -1: never.
	fetchMs, caughtUpMs int64
	// monoMs is when it asked last, and endThen where the log ended.
	monoMs  int64
	endThen int64
}

// observe notes a follower's Fetch. One that has what the log had when it last
// asked was caught up then (updateFollowerState).
func (n *Node) observe(now machine.Time, f *fetch) {
	id := f.replica()
	if id < 0 || id == n.opts.Controller.NodeID {
		return
	}
	o := n.observers[id]
	if o == nil {
		o = &observer{id: id, fetchMs: -1, caughtUpMs: -1}
		n.observers[id] = o
	}
	offset := f.partition().FetchOffset
	switch {
	case offset >= n.durable:
		o.caughtUpMs = max(o.caughtUpMs, now.Wall)
	case o.endThen > 0 && offset >= o.endThen:
		o.caughtUpMs = max(o.caughtUpMs, o.fetchMs)
	}
	o.dir = f.partition().ReplicaDirectoryID
	o.offset, o.endThen, o.monoMs = offset, n.durable, now.Mono
	o.fetchMs = max(o.fetchMs, now.Wall)
}

// presentObservers are those that still ask, by id.
func (n *Node) presentObservers(now machine.Time) []*observer {
	var all []*observer
	for id, o := range n.observers {
		if now.Mono-o.monoMs >= observerSessionMs {
			delete(n.observers, id)
			continue
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *observer) int { return int(a.id) - int(b.id) })
	return all
}
