package exporter

import (
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// groupHealth remembers groups' lags and commits, for telling those that are well.
type groupHealth struct{ groups map[string]*groupSeen }

type groupSeen struct {
	lag         int64
	hasLag      bool
	unhealthyAt time.Time
	at          time.Time
	// committed is the sum of its commits, which moved last at movedAt.
	committed inspect.Offset
	movedAt   time.Time
}

// standsAfter is for how long a group with a lag may commit nothing and be well.
const standsAfter = time.Minute

// stayUnhealthy is for how long a group that is well again keeps its series, so
// that they do not come and go with every collection.
const stayUnhealthy = 5 * time.Minute

// look takes in the groups of a collection.
func (g *groupHealth) look(lags []inspect.GroupLag, at time.Time) {
	if g.groups == nil {
		g.groups = map[string]*groupSeen{}
	}
	for i := range lags {
		l := &lags[i]
		seen := g.groups[l.Name]
		if seen == nil {
			seen = &groupSeen{movedAt: at}
			g.groups[l.Name] = seen
		}
		if sum := committed(l); sum != seen.committed {
			seen.committed, seen.movedAt = sum, at
		}
		lag, known := l.LagKnown.Get()
		members, told := l.Members.Get()
		switch {
		case l.Type.Or(inspect.GroupClassic).StateOnly():
		case !known, l.UnknownPartitions.Or(0) > 0, !told, len(members) == 0, seen.hasLag && lag > seen.lag, outOfRange(l),
			lag > 0 && at.Sub(seen.movedAt) >= standsAfter:
			seen.unhealthyAt = at
		}
		seen.lag, seen.hasLag, seen.at = lag, known, at
	}
	for name, seen := range g.groups { // a coordinator that misses one pass lists none of its own
		if at.Sub(seen.at) > stayUnhealthy {
			delete(g.groups, name)
		}
	}
}

func committed(l *inspect.GroupLag) inspect.Offset {
	var sum inspect.Offset
	for i := range l.Partitions {
		sum += l.Partitions[i].Committed.Or(0)
	}
	return sum
}

// outOfRange reports whether the group has committed what a log does not have.
func outOfRange(l *inspect.GroupLag) bool {
	return slices.ContainsFunc(l.Partitions, func(p inspect.GroupPartition) bool {
		return p.Ahead.Or(0) > 0 || p.BelowStart.Or(0) > 0
	})
}

// unhealthy reports whether the group has been so lately.
func (g *groupHealth) unhealthy(name string, at time.Time) bool {
	seen := g.groups[name]
	return seen != nil && !seen.unhealthyAt.IsZero() && at.Sub(seen.unhealthyAt) < stayUnhealthy
}
