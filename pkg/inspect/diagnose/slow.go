package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/internal/polish"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// leastSlow is the least lag in time that counts, at however short an interval: what a
// busy machine shows now and then is no trouble.
const leastSlow = 500 * time.Millisecond

// slowFrom is the lag from which a link counts as slow. Lags are known to within the time
// between two looks.
func (c *Case) slowFrom() int64 { return max(leastSlow, 2*c.opts.Interval).Milliseconds() }

// blame is who accounts for the slow links.
type blame struct {
	// background is by how much all of them lag.
	background                  int64
	followers, leaders, brokers []share
	links                       []Link
}

// share is a broker with its links that are slow.
type share struct {
	broker inspect.BrokerID
	lagMs  int64
	links  []Link
	// others are its links that were seen and are not slow.
	others int
}

// most is the share of a broker's links that have to be slow for it to be the broker.
const most = 0.75

// maxSuspects bounds the search for the fewest that account for all: beyond it something
// is wrong with all of them.
const maxSuspects = 12

// blameFor splits slow links into what is common to all, brokers that are slow with all
// that they follow, brokers that are slow for all that follow them, or both, and single
// links. What is common is what the median polish leaves; of the rest the fewest that
// account for all slow links are to blame.
func blameFor(links []Link, slowMs int64) blame {
	cells := make([]polish.Cell, len(links))
	seen, leaders := map[inspect.BrokerID]bool{}, map[inspect.BrokerID]bool{}
	for i, l := range links {
		cells[i] = polish.Cell{Row: int32(l.Leader), Column: int32(l.Follower), Value: float64(l.LagMs)}
		seen[l.Leader], seen[l.Follower], leaders[l.Leader] = true, true, true
	}
	b := blame{background: max(0, int64(polish.Polish(cells).Overall))}
	if b.background < slowMs || len(seen) < 3 || len(leaders) < 2 {
		b.background = 0 // two brokers, or one leader, tell nothing of the others
	}
	slow := func(l Link) bool { return l.LagMs-b.background >= slowMs }
	var suspects []suspect
	for id := range seen {
		for _, as := range []role{follower, leader, both} {
			s := suspect{share: share{broker: id}, as: as}
			for _, l := range links {
				switch {
				case !s.has(l):
				case slow(l):
					s.links = append(s.links, l)
				default:
					s.others++
				}
			}
			if n := len(s.links); n > 0 && float64(n) >= most*float64(n+s.others) {
				s.lagMs = medianLag(s.links)
				suspects = append(suspects, s)
			}
		}
	}
	slices.SortFunc(suspects, func(a, b suspect) int {
		return cmp.Or(cmp.Compare(len(b.links), len(a.links)), cmp.Compare(a.as, b.as), cmp.Compare(b.lagAsFollower(), a.lagAsFollower()), cmp.Compare(a.broker, b.broker))
	})
	suspects = suspects[:min(len(suspects), maxSuspects)]
	chosen, rest := fewest(suspects, slices.DeleteFunc(slices.Clone(links), func(l Link) bool { return !slow(l) }))
	for _, s := range chosen {
		switch s.as {
		case follower:
			b.followers = append(b.followers, s.share)
		case leader:
			b.leaders = append(b.leaders, s.share)
		case both:
			b.brokers = append(b.brokers, s.share)
		}
	}
	b.links = rest
	return b
}

// role is in what a broker is slow.
type role uint8

const (
	follower role = iota
	leader
	both
)

// weight is what it counts to blame one. Of equal numbers a follower is likelier than a
// leader, to replicate being all that is asked of it, and either than a link.
func (r role) weight() int { return [...]int{100, 105, 108}[r] }

const linkWeight = 110

type suspect struct {
	share
	as role
}

func (s *suspect) has(l Link) bool {
	return s.as != leader && l.Follower == s.broker || s.as != follower && l.Leader == s.broker
}

// lagAsFollower tells one of two brokers whose links to each other are slow: what stands
// in a broker's own way shows most in what it follows.
func (s *suspect) lagAsFollower() int64 {
	return medianLag(slices.DeleteFunc(slices.Clone(s.links), func(l Link) bool { return l.Follower != s.broker }))
}

func medianLag(links []Link) int64 {
	var all []float64
	for _, l := range links {
		all = append(all, float64(l.LagMs))
	}
	return int64(polish.Median(all))
}

// fewest chooses those that account for all slow links with the least weight; rest are the
// links that none of them does.
func fewest(suspects []suspect, slow []Link) (chosen []suspect, rest []Link) {
	best := -1
	for set := range 1 << len(suspects) {
		weight := 0
		var left []Link
		for _, l := range slow {
			if !accounted(suspects, set, l) {
				left = append(left, l)
			}
		}
		for i, s := range suspects {
			if set&(1<<i) == 0 {
				continue
			}
			weight += s.as.weight()
		}
		if weight += linkWeight * len(left); best >= 0 && weight >= best {
			continue
		}
		best, rest, chosen = weight, left, nil
		for i, s := range suspects {
			if set&(1<<i) != 0 {
				chosen = append(chosen, s)
			}
		}
	}
	return chosen, rest
}

// accounted reports whether one of the set, a bit for each, has the link.
func accounted(suspects []suspect, set int, l Link) bool {
	for i := range suspects {
		if set&(1<<i) != 0 && suspects[i].has(l) {
			return true
		}
	}
	return false
}
