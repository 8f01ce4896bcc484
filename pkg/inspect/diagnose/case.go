package diagnose

import (
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/internal/numbered"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
)

// Options say how was looked.
type Options struct {
	// Interval is the time between two looks.
	Interval time.Duration
	// Looks is how many there will be, at most [history.MaxSamples] are remembered; 0
	// stands for [history.DefaultSamples].
	Looks int
	// Keep picks topics; nil keeps all.
	Keep func(topic string, internal bool) bool
	// Past is the offsets of the looks, where somebody else remembers them already: each
	// look is in it before [Case.Look] takes it. It is the one to say how many are
	// remembered then. Nil: the case remembers its own.
	Past *history.History
}

// Case is what is known of a cluster over a stretch of time.
type Case struct {
	opts Options
	past *history.History
	// last is the newest look, with what was asked seldom carried over by the caller.
	last *inspect.Snapshot
	// began is when the first look was; looks counts them, and offsets those that had any.
	began          time.Time
	looks, offsets int

	links      map[link]*linkSeen
	brokers    map[inspect.BrokerID]*brokerSeen
	partitions map[string]*numbered.List[partitionSeen] // by topic
	quorum     quorumSeen

	// events are those in [since, until); known says that they are all of them.
	events       []inspect.IsrEvent
	known        bool
	since, until time.Time
}

// partitionSeen is a partition's part in the looks so far.
type partitionSeen struct {
	epoch  inspect.Opt[inspect.Epoch]
	leader inspect.BrokerID
	leo    inspect.Opt[inspect.Offset]
	hw     inspect.Opt[inspect.Offset]
	// followers' LEOs at the last look that had them.
	followers []followerSeen
	// moves is how often the leader changed.
	moves int
}

type followerSeen struct {
	broker inspect.BrokerID
	leo    inspect.Offset
}

// New begins a case.
func New(o Options) *Case {
	c := &Case{
		opts: o, past: o.Past,
		links: map[link]*linkSeen{}, brokers: map[inspect.BrokerID]*brokerSeen{},
		partitions: map[string]*numbered.List[partitionSeen]{},
	}
	if c.past == nil {
		c.past = history.New(o.Looks)
	}
	return c
}

// Look takes in a look. They come in the order of their times, and each is kept until the
// next one comes; see package looks for how to carry over what is not asked for each time.
func (c *Case) Look(s *inspect.Snapshot) {
	if c.opts.Keep != nil {
		s = kept(s, c.opts.Keep)
	}
	if c.looks == 0 {
		c.began = s.TakenAt
	}
	c.looks++
	if c.opts.Past == nil {
		c.past.Add(s)
	}
	c.lookAtBrokers(s)
	c.quorum.look(s)
	if s.Asked.Has(inspect.PartOffsets) {
		c.offsets++
		c.lookAtCommits(s)
		c.lookAtLinks(s)
	}
	c.lookAtLeaders(s)
	c.last = s
}

// kept is s without the topics that are not asked about.
func kept(s *inspect.Snapshot, keep func(string, bool) bool) *inspect.Snapshot {
	out := *s
	out.Topics = nil
	for i := range s.Topics {
		if keep(s.Topics[i].Name, s.Topics[i].Internal) {
			out.Topics = append(out.Topics, s.Topics[i])
		}
	}
	return &out
}

// partition is what was seen of one. It is good until another one is asked for.
func (c *Case) partition(p *inspect.Partition) *partitionSeen {
	of := c.partitions[p.Topic]
	if of == nil {
		of = &numbered.List[partitionSeen]{}
		c.partitions[p.Topic] = of
	}
	if seen := of.At(p.Index); seen != nil {
		return seen
	}
	return of.Set(p.Index, partitionSeen{leader: inspect.NoBroker})
}

// follower is what a follower had at the last look, false where that did not tell.
func (p *partitionSeen) follower(id inspect.BrokerID) (inspect.Offset, bool) {
	for i := range p.followers {
		if p.followers[i].broker == id {
			return p.followers[i].leo, true
		}
	}
	return 0, false
}

// setFollower keeps what a follower has; unknown forgets it.
func (p *partitionSeen) setFollower(id inspect.BrokerID, leo inspect.Opt[inspect.Offset]) {
	i := slices.IndexFunc(p.followers, func(f followerSeen) bool { return f.broker == id })
	now, told := leo.Get()
	switch {
	case !told && i >= 0:
		p.followers = slices.Delete(p.followers, i, i+1)
	case told && i >= 0:
		p.followers[i].leo = now
	case told:
		p.followers = append(p.followers, followerSeen{id, now})
	}
}

// lookAtLeaders counts changes of leaders. It comes after what compares with the look
// before.
func (c *Case) lookAtLeaders(s *inspect.Snapshot) {
	for p := range s.Partitions {
		seen := c.partition(p)
		if seen.leader != inspect.NoBroker && p.Leader != inspect.NoBroker && seen.leader != p.Leader {
			seen.moves++
		}
		if p.Leader != inspect.NoBroker {
			seen.leader = p.Leader
		}
		seen.epoch = p.LeaderEpoch
	}
}

// Events takes in all changes of ISRs in a stretch of time that ends about with the last
// look. Without them ISRs are known from look to look.
func (c *Case) Events(events []inspect.IsrEvent, since, until time.Time) {
	c.known, c.since, c.until = true, since, until
	c.events = slices.DeleteFunc(slices.Clone(events), func(e inspect.IsrEvent) bool {
		return c.opts.Keep != nil && !c.opts.Keep(e.Topic, false)
	})
}

// Looks is how many there were.
func (c *Case) Looks() int { return c.looks }

// Last is the newest look.
func (c *Case) Last() *inspect.Snapshot { return c.last }

// window is the time from the first to the last look.
func (c *Case) window() time.Duration {
	if c.last == nil {
		return 0
	}
	return c.last.TakenAt.Sub(c.began)
}

// config is what a broker's setting is; false where it is not known.
func (c *Case) config(id inspect.BrokerID, name string) (string, bool) {
	b := c.last.Broker(id)
	if b == nil {
		return "", false
	}
	return b.Config(name)
}

// anyConfig is a setting of the first broker that tells it, for those that are to be the
// same on all.
func (c *Case) anyConfig(name string) (string, bool) {
	for i := range c.last.Brokers {
		if v, ok := c.config(c.last.Brokers[i].ID, name); ok {
			return v, true
		}
	}
	return "", false
}
