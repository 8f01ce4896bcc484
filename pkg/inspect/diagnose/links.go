package diagnose

import (
	"cmp"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/internal/polish"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
)

// link is the way from a leader to one that follows it.
type link struct{ leader, follower inspect.BrokerID }

// linkSeen is what the looks tell of it.
type linkSeen struct{ samples []linkSample }

// linkSample is one look at a link.
type linkSample struct {
	// partitions were written to since the look before, or lagged; behind are those of
	// them that certainly lag in time.
	partitions, behind int
	// lagMs is the median of the least that they can lag by, records what they lag by in
	// all, took what the follower took in since the look before, written what its leaders
	// wrote.
	lagMs                int64
	records, took, wrote int64
}

// lookAtCommits sees for whom the HW went along with the LEO. It comes before the offsets
// of the last look are forgotten.
func (c *Case) lookAtCommits(s *inspect.Snapshot) {
	stands, moves := map[inspect.BrokerID]bool{}, map[inspect.BrokerID]bool{}
	for p := range s.Partitions {
		if p.Offsets == nil {
			continue
		}
		seen := c.partition(p)
		leo, known := p.Offsets.LEOBefore.Get()
		before, was := seen.leo.Get()
		hw, told := p.Offsets.HW.Get()
		hwBefore, toldBefore := seen.hw.Get()
		if known && was && told && toldBefore && leo > before {
			in := moves
			if hw <= hwBefore {
				in = stands
			}
			for _, id := range p.ISR {
				if id != p.Leader {
					in[id] = true
				}
			}
		}
		seen.hw = p.Offsets.HW
	}
	for id, b := range c.brokers {
		if moves[id] && !stands[id] {
			b.committing++
		} else {
			b.committing = 0
		}
	}
}

// lookAtLinks adds a sample to each link. Partitions that nobody writes to are no
// evidence: a follower that has everything may be slow or not.
func (c *Case) lookAtLinks(s *inspect.Snapshot) {
	now := map[link]*linkSample{}
	lags := map[link][]float64{}
	for p := range s.Partitions {
		if p.Offsets == nil {
			continue
		}
		seen := c.partition(p)
		same := seen.leader == p.Leader && seen.epoch.Equal(p.LeaderEpoch)
		leo, known := p.Offsets.LEOBefore.Get()
		before, was := seen.leo.Get()
		for i := range p.Offsets.Followers {
			f := &p.Offsets.Followers[i]
			theirs, told := f.LEO.Get()
			if !told || !known || p.Leader == inspect.NoBroker {
				seen.setFollower(f.Broker, inspect.Unknown[inspect.Offset]())
				continue
			}
			theirsBefore, ok := seen.follower(f.Broker)
			if same && was && ok && (leo > before || theirs < leo) {
				lag := c.past.TimeLag(p.Topic, p.Index, f.Broker)
				if lag.State != history.LagUnknown {
					k := link{p.Leader, f.Broker}
					sample := now[k]
					if sample == nil {
						sample = &linkSample{}
						now[k] = sample
					}
					sample.add(lag.OverMs, int64(max(0, leo-theirs)), int64(theirs-theirsBefore), int64(leo-before))
					lags[k] = append(lags[k], float64(lag.OverMs))
				}
			}
			seen.setFollower(f.Broker, f.LEO)
		}
		seen.leo = p.Offsets.LEOBefore
	}
	for k, sample := range now {
		sample.lagMs = int64(polish.Median(lags[k]))
		seen := c.links[k]
		if seen == nil {
			seen = &linkSeen{}
			c.links[k] = seen
		}
		seen.samples = append(seen.samples, *sample)
	}
}

func (s *linkSample) add(lagMs, records, took, wrote int64) {
	s.partitions++
	if lagMs > 0 {
		s.behind++
	}
	s.records += records
	s.took += max(0, took)
	s.wrote += max(0, wrote)
}

// leastSamples is how many looks have to tell of a link before it is judged.
const leastSamples = 3

// Link is how the partitions that one broker leads do at one that follows, over the looks
// in which they were written to or lagged.
type Link struct {
	Leader, Follower inspect.BrokerID
	// Looks is how many those are. The other figures are medians over them.
	Looks int
	// Partitions were written to or lagged, Behind of them certainly lagged in time.
	Partitions, Behind int
	// LagMs is the least that their lag in time can be.
	LagMs int64
	// Records is the lag of all of them in records at the last such look.
	Records int64
	// RecordsPerSecond is what the follower took in, MostRecordsPerSecond the most from one
	// look to the next, WrittenPerSecond what the leader wrote.
	RecordsPerSecond, MostRecordsPerSecond, WrittenPerSecond float64
	// Draining: the lag in records goes down from look to look.
	Draining bool
}

// Links are those that were seen often enough to be judged, by leader and follower.
func (c *Case) Links() []Link {
	var out []Link
	for k, seen := range c.links {
		if len(seen.samples) < leastSamples {
			continue
		}
		out = append(out, seen.link(k, c.opts.Interval))
	}
	slices.SortFunc(out, func(a, b Link) int {
		return cmp.Or(cmp.Compare(a.Leader, b.Leader), cmp.Compare(a.Follower, b.Follower))
	})
	return out
}

func (s *linkSeen) link(k link, interval time.Duration) Link {
	l := Link{Leader: k.leader, Follower: k.follower, Looks: len(s.samples), Records: s.samples[len(s.samples)-1].records}
	median := func(of func(*linkSample) int64) int64 {
		var all []float64
		for i := range s.samples {
			all = append(all, float64(of(&s.samples[i])))
		}
		return int64(polish.Median(all))
	}
	l.Partitions = int(median(func(s *linkSample) int64 { return int64(s.partitions) }))
	l.Behind = int(median(func(s *linkSample) int64 { return int64(s.behind) }))
	l.LagMs = median(func(s *linkSample) int64 { return s.lagMs })
	var took, wrote, most int64
	for i := range s.samples {
		took, wrote, most = took+s.samples[i].took, wrote+s.samples[i].wrote, max(most, s.samples[i].took)
	}
	if sec := interval.Seconds(); sec > 0 {
		n := sec * float64(len(s.samples))
		l.RecordsPerSecond, l.WrittenPerSecond, l.MostRecordsPerSecond = float64(took)/n, float64(wrote)/n, float64(most)/sec
	}
	l.Draining = s.draining()
	return l
}

// draining: what is left goes down in nearly every look, and to less than it was.
func (s *linkSeen) draining() bool {
	down, steps := 0, len(s.samples)-1
	for i := range steps {
		if s.samples[i+1].records < s.samples[i].records {
			down++
		}
	}
	first, last := s.samples[0].records, s.samples[steps].records
	return steps > 0 && down*4 >= steps*3 && last*10 < first*9
}
