package diagnose

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// quorumSeen is what the looks tell of the controllers.
type quorumSeen struct {
	leader inspect.BrokerID
	epoch  inspect.Opt[inspect.Epoch]
	asked  int
	// moves is how often another one led, or the same one anew.
	moves int
	// skew is by how much the controller's clock is ahead of this machine's, the least of
	// all looks.
	skew inspect.Opt[time.Duration]
}

func (q *quorumSeen) look(s *inspect.Snapshot) {
	now, ok := s.Quorum.Get()
	if !ok || !s.Asked.Has(inspect.PartQuorum) {
		return
	}
	q.asked++
	if now.Leader == inspect.NoBroker {
		return
	}
	if epoch, ok := now.Epoch.Get(); ok {
		if was, known := q.epoch.Get(); known && (was != epoch || q.leader != now.Leader) {
			q.moves++
		}
		q.epoch, q.leader = now.Epoch, now.Leader
	}
	for i := range now.Voters {
		// The leader tells its own clock as when it fetched (DescribeQuorum).
		at, ok := now.Voters[i].LastFetch.Get()
		if !ok || now.Voters[i].ID != now.Leader {
			continue
		}
		skew := at.Sub(s.TakenAt)
		if least, known := q.skew.Get(); !known || skew.Abs() < least.Abs() {
			q.skew = inspect.Known(skew)
		}
	}
}
