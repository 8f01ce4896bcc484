package exporter

import (
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// isrChanges counts how ISRs changed between two looks at the metadata: all that
// stood when somebody looked, so a lower bound of what happened. A shrink that was
// undone between two looks is not seen.
//
// What is counted begins with the process: the first look at a partition counts
// nothing.
//
// Brokers do not all know the same: one that was paused or cut off tells an older
// state than the one that was asked before it. A look with a leader epoch below one
// that was seen is older as a whole, and is passed over. Where another address tells
// than before, and no epoch says that it is newer, a change has to stand in two looks.
type isrChanges struct {
	topics map[string]*seenTopic
	// shrinks and expands count replicas, by broker.
	shrinks, expands map[inspect.BrokerID]float64
	unclean          float64
	gaps             float64
	last             time.Time
	// toldBy is who told the last look, and older how many in a row were older.
	toldBy string
	older  int
}

type seenTopic struct {
	id         inspect.Opt[string]
	partitions []seenPartition
	at         time.Time
}

// seenPartition is a partition at the last look, and its counters.
type seenPartition struct {
	known    bool
	leader   inspect.BrokerID
	epoch    inspect.Opt[inspect.Epoch]
	replicas []inspect.BrokerID
	isr      []inspect.BrokerID
	// clean are those whose election loses nothing that was committed: the ISR and
	// the ELR. Where sure, there are no others; with an ELR it can be empty.
	clean []inspect.BrokerID
	sure  bool
	// minISR is the effective minimum of the last whole look, 0 where unknown.
	minISR int32
	// neverUnclean: by the last whole look, unclean.leader.election.enable is false.
	neverUnclean     bool
	shrinks, expands float64
}

// forgetTopicAfter is how long a topic that is not listed is remembered: a look
// that missed it must not set its counters back.
const forgetTopicAfter = 5 * time.Minute

func newISRChanges() *isrChanges {
	return &isrChanges{
		topics:  map[string]*seenTopic{},
		shrinks: map[inspect.BrokerID]float64{}, expands: map[inspect.BrokerID]float64{},
	}
}

// maxOlder is for how many looks in a row an older state is passed over. One that
// goes on for longer is what there is: a cluster that was restored from a copy.
const maxOlder = 60

// isOlder reports a state that is older than what was seen.
func (c *isrChanges) isOlder(s *inspect.Snapshot) bool {
	for i := range s.Topics {
		t := &s.Topics[i]
		seen := c.topics[t.Name]
		if seen == nil || !t.ID.IsKnown() || seen.id != t.ID {
			continue
		}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			if was := c.of(t.Name, p.Index); was != nil && was.known && below(p.LeaderEpoch, was.epoch) {
				return true
			}
		}
	}
	return false
}

// below reports a < b, where both are known.
func below(a, b inspect.Opt[inspect.Epoch]) bool {
	x, known := a.Get()
	y, too := b.Get()
	return known && too && x < y
}

// passOver reports whether the look is older than one before, and forgets what was
// seen where that lasts.
func (c *isrChanges) passOver(s *inspect.Snapshot) bool {
	if !c.isOlder(s) {
		c.older = 0
		return false
	}
	c.older++
	if c.older <= maxOlder {
		return true
	}
	c.older, c.topics = 0, map[string]*seenTopic{}
	return false
}

// look compares with the look before. Looks that are further apart than gap are
// counted as gaps.
func (c *isrChanges) look(s *inspect.Snapshot, gap time.Duration) {
	if c.passOver(s) {
		return
	}
	if !c.last.IsZero() && s.TakenAt.Sub(c.last) > gap {
		c.gaps++
	}
	another := c.toldBy != s.ToldBy
	c.last, c.toldBy = s.TakenAt, s.ToldBy
	for i := range s.Topics {
		t := &s.Topics[i]
		if t.Error != "" {
			continue
		}
		seen := c.topics[t.Name]
		if seen == nil || seen.id.IsKnown() && t.ID.IsKnown() && seen.id != t.ID { // new, or created anew
			seen = &seenTopic{}
			c.topics[t.Name] = seen
		}
		seen.id, seen.at = t.ID, s.TakenAt
		for j := range t.Partitions {
			p := &t.Partitions[j]
			if was := seen.partition(p.Index); !another || !was.differs(p) {
				if may, told := t.UncleanElection.Get(); told {
					was.neverUnclean = !may
				}
				c.compare(was, p, s.KeepsELR.Or(false))
			}
		}
	}
	for name, t := range c.topics {
		if s.TakenAt.Sub(t.at) > forgetTopicAfter {
			delete(c.topics, name)
		}
	}
	c.mentionBrokers(s)
}

// mentionBrokers lets every broker's counters begin at 0.
func (c *isrChanges) mentionBrokers(s *inspect.Snapshot) {
	for i := range s.Brokers {
		id := s.Brokers[i].ID
		c.shrinks[id] += 0
		c.expands[id] += 0
	}
}

func (t *seenTopic) partition(index int32) *seenPartition {
	if n := int(index) + 1; n > len(t.partitions) {
		t.partitions = append(t.partitions, make([]seenPartition, n-len(t.partitions))...)
	}
	return &t.partitions[index]
}

// of returns the counters of a partition, or nil.
func (c *isrChanges) of(topic string, index int32) *seenPartition {
	t := c.topics[topic]
	if t == nil || int(index) >= len(t.partitions) {
		return nil
	}
	return &t.partitions[index]
}

// differs reports a state that is not that of the last look, and that no leader epoch
// says is newer.
func (was *seenPartition) differs(p *inspect.Partition) bool {
	return was.known && !below(was.epoch, p.LeaderEpoch) && (was.leader != p.Leader || !slices.Equal(was.isr, p.ISR))
}

func (c *isrChanges) compare(was *seenPartition, p *inspect.Partition, keepsELR bool) {
	if was.known {
		c.compareISR(was, p)
		if c.isUnclean(was, p, keepsELR) {
			c.unclean++
		}
	}
	was.rememberClean(p, keepsELR)
	was.known = true
	was.leader, was.epoch, was.replicas, was.isr = p.Leader, p.LeaderEpoch, p.Replicas, p.ISR
	if least, ok := p.MinInsyncReplicas.Get(); ok {
		was.minISR = min(least, int32(len(p.Replicas)))
	}
}

// compareISR counts an event where a replica that is still assigned has left, and
// one where a replica that had been assigned has come. What a reassignment takes
// away is no loss.
func (c *isrChanges) compareISR(was *seenPartition, p *inspect.Partition) {
	if slices.Equal(was.isr, p.ISR) {
		return
	}
	left, came := 0, 0
	for _, id := range was.isr {
		if !slices.Contains(p.ISR, id) && slices.Contains(p.Replicas, id) {
			c.shrinks[id]++
			left++
		}
	}
	for _, id := range p.ISR {
		if !slices.Contains(was.isr, id) && slices.Contains(was.replicas, id) {
			c.expands[id]++
			came++
		}
	}
	was.shrinks += float64(min(left, 1))
	was.expands += float64(min(came, 1))
}

// isUnclean reports an election of a replica that was in neither the last ISR nor
// the ELR. Where that cannot be told it is none.
func (c *isrChanges) isUnclean(was *seenPartition, p *inspect.Partition, keepsELR bool) bool {
	switch {
	case p.Leader == inspect.NoBroker, p.Leader == was.leader,
		!was.sure,
		slices.Contains(was.clean, p.Leader):
		return false
	case !slices.Contains(was.replicas, p.Leader):
		return false // a reassignment made it a replica, and may have put it into the ISR
	case was.epoch.IsKnown() && p.LeaderEpoch.IsKnown() && !below(was.epoch, p.LeaderEpoch):
		return false
	}
	for _, id := range was.clean {
		if slices.Contains(p.ISR, id) {
			return false // it had joined the ISR before it was elected: the others are still in it
		}
		if !slices.Contains(p.Replicas, id) {
			return false // a reassignment took it away, and not before another had joined
		}
	}
	if was.leader == inspect.NoBroker {
		return true
	}
	// A leader that went straight to another leaves no time to ask for the ELR,
	// which is empty only as long as the ISR has its minimum. And where no unclean
	// election is allowed a partition stays without a leader until somebody asks for
	// one: this leader has joined the ISR since the last look, and then been elected.
	return !was.neverUnclean && (!keepsELR || was.minISR > 0 && int32(len(was.isr)) >= was.minISR)
}

// rememberClean comes before the rest of the look is remembered. A look that an
// election falls into tells a leaderless partition and not its ELR, for that is asked
// a moment later: what was told before stands. Within a leader epoch without a leader
// replicas leave the ISR and the ELR, and none comes.
func (was *seenPartition) rememberClean(p *inspect.Partition, keepsELR bool) {
	elr, told := p.ELR.Get()
	switch {
	case p.Leader != inspect.NoBroker:
		was.clean, was.sure = p.ISR, len(p.ISR) > 0
	case told:
		was.clean, was.sure = append(slices.Clone(p.ISR), elr...), true
	case keepsELR:
		was.sure = was.sure && was.leader == inspect.NoBroker && p.LeaderEpoch.IsKnown() && p.LeaderEpoch == was.epoch
	case len(p.ISR) > 0:
		was.clean, was.sure = p.ISR, true
	}
}
