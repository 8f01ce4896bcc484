package advise

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

const (
	// stretchMs is how long followers are looked at together: a busy hour is not to be
	// averaged away by a quiet day.
	stretchMs = 5 * 60_000
	// maxPoints bounds what is kept of a leader whose followers are far behind.
	maxPoints = 256
)

// link is a leader and who follows it.
type link struct{ leader, follower int32 }

// linkPace is how a link does in the stretch that is looked at.
type linkPace struct {
	// partitions were written to under leaders that lead no more, behind of them lagged.
	partitions, behind int
	lags, rates        quantiles
	// grown is what came over it in this look, and late how many partitions lag.
	grown int64
	late  int
}

// links are those of the stretch, and of the worst one before.
type links struct {
	fromMs             int64
	now                map[link]*linkPace
	worst              []tuning.Link
	score              int64
	stretches, lagging int
}

// pace is how a partition's followers kept up with its leader.
type pace struct {
	leader int32
	epoch  inspect.Opt[inspect.Epoch]
	atMs   int64
	leo    int64
	// points are the leader's log ends that some follower has yet to reach, oldest first.
	points    []point
	followers []followerPace
}

type point struct{ atMs, leo int64 }

type followerPace struct {
	broker int32
	leo    int64
	// returning is set from when it did not answer until it has caught up: who was away
	// has to catch up, and that says nothing of what it is like otherwise.
	returning bool
	// looks were evidence in this stretch, in behind of them it lagged.
	looks, behind int
	// link is that of this stretch and this leader, nil before the first evidence.
	link *linkPace
}

// follow takes in what a partition's followers have. A gap, or another leader, begins anew.
func (c *Collector) follow(p *pace, in *inspect.Partition, at int64) {
	leo, ok := in.Offsets.LEOBefore.Get()
	if !ok || in.Leader == inspect.NoBroker {
		return
	}
	if p.leader != int32(in.Leader) || p.epoch != in.LeaderEpoch || at-p.atMs > maxGap*c.opts.Interval.Milliseconds() {
		c.links.fold(p)
		*p = pace{leader: int32(in.Leader), epoch: in.LeaderEpoch, leo: int64(leo)}
	}
	dt := at - p.atMs
	wrote := int64(leo) > p.leo
	if n := len(p.points); n == 0 || p.points[n-1].leo != int64(leo) {
		p.add(point{at, int64(leo)})
	}
	least := int64(leo)
	for i := range in.Offsets.Followers {
		o := &in.Offsets.Followers[i]
		f := p.follower(int32(o.Broker))
		has, ok := o.LEO.Get()
		if !ok {
			f.returning = !o.Refused
			if f.leo != tuning.Unknown {
				least = min(least, f.leo) // to know how far behind it is when it is back
			}
			continue
		}
		away := f.returning
		least = min(least, int64(has))
		lagMs := p.lag(int64(has), at)
		f.returning = f.returning && lagMs > 0
		if !f.returning && p.atMs > 0 && (wrote || lagMs > 0) {
			if f.link == nil {
				f.link = c.links.of(link{p.leader, f.broker})
			}
			l := f.link
			f.looks++
			l.lags.add(float64(lagMs))
			if lagMs > 0 {
				f.behind++
				l.late++
			}
			if f.leo != tuning.Unknown && !away && dt > 0 {
				l.grown += max(0, int64(has)-f.leo)
			}
		}
		f.leo = int64(has)
	}
	p.points = slices.DeleteFunc(p.points, func(q point) bool { return q.leo <= least })
	p.atMs, p.leo = at, int64(leo)
}

// lag is for how long at the least a follower with this log end has been behind: since
// the leader first had more.
func (p *pace) lag(leo, at int64) int64 {
	for _, q := range p.points {
		if q.leo > leo {
			return at - q.atMs
		}
	}
	return 0
}

// add appends a point, and makes room by leaving out each second one.
func (p *pace) add(q point) {
	if len(p.points) == maxPoints {
		kept := p.points[:0]
		for i := 0; i < maxPoints; i += 2 {
			kept = append(kept, p.points[i])
		}
		p.points = kept
	}
	p.points = append(p.points, q)
}

func (p *pace) follower(broker int32) *followerPace {
	for i := range p.followers {
		if p.followers[i].broker == broker {
			return &p.followers[i]
		}
	}
	p.followers = append(p.followers, followerPace{broker: broker, leo: tuning.Unknown})
	return &p.followers[len(p.followers)-1]
}

func (l *links) of(k link) *linkPace {
	if l.now == nil {
		l.now = map[link]*linkPace{}
	}
	if l.now[k] == nil {
		l.now[k] = &linkPace{}
	}
	return l.now[k]
}

// fold counts a partition whose leader leads no more.
func (l *links) fold(p *pace) {
	for i := range p.followers {
		f := &p.followers[i]
		if f.looks > 0 {
			k := l.of(link{p.leader, f.broker})
			k.partitions++
			k.behind += f.lagged()
		}
		f.looks, f.behind, f.link = 0, 0, nil
	}
}

func (f *followerPace) lagged() int {
	if 2*f.behind > f.looks {
		return 1
	}
	return 0
}

// endLook takes the rates of a look that is whole.
func (l *links) endLook(dtMs int64) {
	for _, k := range l.now {
		if k.late > 0 && dtMs > 0 {
			k.rates.add(float64(k.grown) * 1000 / float64(dtMs))
		}
		k.grown, k.late = 0, 0
	}
}

// endStretch begins another one where this one has lasted long enough.
func (c *Collector) endStretch(at int64) {
	l := &c.links
	if at-l.fromMs < stretchMs {
		return
	}
	l.take(c.stretch())
	for _, t := range c.topics {
		for i := range t.partitions {
			for j := range t.partitions[i].pace.followers {
				f := &t.partitions[i].pace.followers[j]
				f.looks, f.behind, f.link = 0, 0, nil
			}
		}
	}
	l.now, l.fromMs = nil, at
}

// take keeps the worst.
func (l *links) take(stretch []tuning.Link) {
	if len(stretch) == 0 {
		return
	}
	l.stretches++
	score := int64(0)
	for _, k := range stretch {
		score += int64(k.Behind) * k.LagMs
	}
	if score > 0 {
		l.lagging++
	}
	if score > l.score || l.worst == nil {
		l.worst, l.score = stretch, score
	}
}

// stretch are the links of this stretch so far.
func (c *Collector) stretch() []tuning.Link {
	counts := map[link]*tuning.Link{}
	of := func(k link) *tuning.Link {
		if counts[k] == nil {
			counts[k] = &tuning.Link{Leader: k.leader, Follower: k.follower}
		}
		return counts[k]
	}
	for k, p := range c.links.now {
		l := of(k)
		l.Partitions, l.Behind = p.partitions, p.behind
		l.LagMs = int64(math.Round(p.lags.at(0.5)))
		l.PerSecond, l.MostPerSecond = p.rates.at(0.5), p.rates.at(0.95)
	}
	for _, t := range c.topics {
		for i := range t.partitions {
			p := &t.partitions[i].pace
			for j := range p.followers {
				if f := &p.followers[j]; f.looks > 0 {
					l := of(link{p.leader, f.broker})
					l.Partitions++
					l.Behind += f.lagged()
				}
			}
		}
	}
	var out []tuning.Link
	for _, l := range counts {
		out = append(out, *l)
	}
	slices.SortFunc(out, func(a, b tuning.Link) int {
		return cmp.Or(cmp.Compare(a.Leader, b.Leader), cmp.Compare(a.Follower, b.Follower))
	})
	return out
}

// fetchHistory is what there is to say of the links, the stretch that has not ended
// included.
func (c *Collector) fetchHistory() *tuning.FetchHistory {
	l := c.links
	l.take(c.stretch())
	h := c.fetching
	h.WindowMs, h.Links, h.Stretches, h.Lagging = c.last-c.first, l.worst, l.stretches, l.lagging
	return &h
}

// quantiles hold numbers to 2 %. Those that are not above 0 are notAbove, below all others.
type quantiles struct {
	counts      map[int]int
	notAbove, n int
}

const fineness = 50

func (q *quantiles) add(x float64) {
	q.n++
	if x <= 0 {
		q.notAbove++
		return
	}
	if q.counts == nil {
		q.counts = map[int]int{}
	}
	q.counts[int(math.Round(math.Log(x)*fineness))]++
}

func (q *quantiles) at(share float64) float64 {
	left := int(math.Ceil(share*float64(q.n))) - q.notAbove
	if left <= 0 {
		return 0
	}
	for _, bucket := range slices.Sorted(maps.Keys(q.counts)) {
		left -= q.counts[bucket]
		if left <= 0 {
			return math.Exp(float64(bucket) / fineness)
		}
	}
	return 0
}
