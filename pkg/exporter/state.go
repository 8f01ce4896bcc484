package exporter

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// state is what the exporter remembers from one look to the next. It belongs to
// the loop's goroutine, reads no clock and does nothing by itself.
//
//	sampled    after each sample
//	collected  after each collection; it returns the view to be shown
//	isr        also what the metadata log tells, before either
type state struct {
	options Options
	isr     *isrChanges
	lags    timeLags
	groups  groupHealth
	// suspects are brokers that did not answer the pass before: the next one does
	// not wait for them.
	suspects map[inspect.BrokerID]bool
	// ends: this service tells no LEO, and samples read the HW alone.
	ends bool
	// partitions is how many there were at the last look.
	partitions int
}

func newState(o Options) *state {
	return &state{options: o, isr: newISRChanges(), suspects: map[inspect.BrokerID]bool{}}
}

// stretchPartitions is the size of a cluster up to which samples come at the
// interval that was asked for.
const stretchPartitions = 10_000

// sampleInterval grows with the cluster, and with it what a sample costs.
func (s *state) sampleInterval() time.Duration {
	d := s.options.SampleInterval
	if s.partitions > stretchPartitions {
		d = d * time.Duration(s.partitions) / stretchPartitions
	}
	return min(d, s.options.CollectInterval)
}

// gap is the distance of two looks from which on changes are likely to have been
// missed.
func (s *state) gap() time.Duration { return 5*s.sampleInterval() + s.options.SampleInterval }

func (s *state) collectQuery() source.Query {
	return source.Query{
		Parts: inspect.PartReachable | inspect.PartOffsets | inspect.PartFenced | inspect.PartLogDirs |
			inspect.PartGroups | inspect.PartQuorum,
		Keep:          s.options.Filter.topic,
		Groups:        source.GroupQuery{Keep: s.options.Filter.group},
		Suspects:      s.suspects,
		LogSizes:      s.options.Partitions != DetailNone,
		LeaderlessELR: true,
	}
}

func (s *state) sampleQuery() source.Query {
	kind := source.SampleLeaders
	if s.ends {
		kind = source.SampleEnds
	}
	return source.Query{Keep: s.options.Filter.topic, Sample: kind, Suspects: s.suspects, LeaderlessELR: true}
}

func (s *state) sampled(snap *inspect.Snapshot, now time.Time) {
	s.look(snap, now)
	for i := range snap.Brokers {
		if b := &snap.Brokers[i]; b.Reachable == inspect.Known(false) {
			s.suspects[b.ID] = true
		}
	}
}

// isOlder reports a collection that tells an older state than was seen before.
func (s *state) isOlder(snap *inspect.Snapshot) bool {
	return s.isr.diff.IsOlder(snap)
}

func (s *state) collected(snap *inspect.Snapshot, now time.Time) *view {
	s.ends = tellsEndsOnly(snap)
	s.look(snap, now)
	clear(s.suspects)
	for i := range snap.Brokers {
		if b := &snap.Brokers[i]; b.Reachable == inspect.Known(false) {
			s.suspects[b.ID] = true
		}
	}
	groups := snap.GroupLags()
	s.groups.look(groups, snap.TakenAt)
	return newView(s, snap, groups)
}

// look is what samples and collections have in common.
func (s *state) look(snap *inspect.Snapshot, now time.Time) {
	s.partitions = 0
	for range snap.Partitions {
		s.partitions++
	}
	s.isr.look(snap, s.gap(), now)
	s.lags.add(snap, s.sampleInterval())
}

// tellsEndsOnly reports whether the service tells HWs and no LEO.
func tellsEndsOnly(snap *inspect.Snapshot) bool {
	ends := false
	for p := range snap.Partitions {
		if p.Offsets == nil {
			continue
		}
		if p.Offsets.LEOBefore.IsKnown() {
			return false
		}
		ends = ends || p.Offsets.HW.IsKnown()
	}
	return ends
}
