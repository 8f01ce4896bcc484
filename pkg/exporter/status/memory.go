package status

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

const (
	// span is how far back the timeline goes, in cells of step.
	span = 3 * time.Hour
	step = 5 * time.Minute
	// cells are those of a row.
	cells = int(span / step)
)

// Memory is what no single look tells: since when and why a partition is without a replica,
// and how many replicas left ISRs when. The zero value knows nothing. It has one owner.
type Memory struct {
	lost map[inspect.TopicPartition]Loss
	// left are replicas that left an ISR, by the step that they left in.
	left map[int64]map[inspect.BrokerID]map[inspect.IsrCause]int
	// lags are the largest of each broker's followers, at the last look that read followers.
	lags map[inspect.BrokerID]int64
}

// Loss is since when a partition has been unhealthy, and why. AtLeast: it was when it was
// first seen, so that it may have been for longer.
type Loss struct {
	Since   time.Time
	AtLeast bool
	Cause   inspect.IsrCause
}

// Event takes in a change of an ISR.
func (m *Memory) Event(e *inspect.IsrEvent) {
	switch e.Type {
	case inspect.IsrShrink:
		at := e.Time.Unix() / int64(step.Seconds())
		if m.left == nil {
			m.left = map[int64]map[inspect.BrokerID]map[inspect.IsrCause]int{}
		}
		if m.left[at] == nil {
			m.left[at] = map[inspect.BrokerID]map[inspect.IsrCause]int{}
		}
		for _, id := range e.Brokers {
			if !slices.Contains(e.Replicas, id) {
				continue // a reassignment took it away: that is no loss
			}
			if m.left[at][id] == nil {
				m.left[at][id] = map[inspect.IsrCause]int{}
			}
			m.left[at][id][e.Cause]++
		}
		m.lose(e)
	case inspect.IsrLeader:
		if e.Leader == inspect.NoBroker {
			m.lose(e)
		}
	}
}

// lose notes the first loss: what follows from it is younger, and its cause another. Where a
// look was first, an event tells of that loss if it is no younger than the look.
func (m *Memory) lose(e *inspect.IsrEvent) {
	tp := inspect.TopicPartition{Topic: e.Topic, Partition: e.Partition}
	if m.lost == nil {
		m.lost = map[inspect.TopicPartition]Loss{}
	}
	if known, ok := m.lost[tp]; !ok || known.AtLeast && !e.Time.After(known.Since) {
		m.lost[tp] = Loss{Since: e.Time, Cause: e.Cause}
	}
}

// Look takes in which partitions are whole, and forgets what is over.
func (m *Memory) Look(s *inspect.Snapshot) {
	m.lookAtLags(s)
	for p := range s.Partitions {
		tp := inspect.TopicPartition{Topic: p.Topic, Partition: p.Index}
		if p.Leader != inspect.NoBroker && len(p.ISR) >= len(p.Replicas) {
			if len(m.lost) > 0 {
				delete(m.lost, tp)
			}
			continue
		}
		if _, ok := m.lost[tp]; ok {
			continue
		}
		if m.lost == nil {
			m.lost = map[inspect.TopicPartition]Loss{}
		}
		m.lost[tp] = Loss{Since: s.TakenAt, AtLeast: true}
	}
	oldest := s.TakenAt.Add(-span-step).Unix() / int64(step.Seconds())
	maps.DeleteFunc(m.left, func(at int64, _ map[inspect.BrokerID]map[inspect.IsrCause]int) bool { return at < oldest })
}

func (m *Memory) lookAtLags(s *inspect.Snapshot) {
	lags := map[inspect.BrokerID]int64{}
	for p := range s.Partitions {
		if p.Offsets == nil || len(p.Offsets.Followers) == 0 {
			continue
		}
		lag := p.Lag()
		for i := range lag.Replicas {
			r := &lag.Replicas[i]
			if n, ok := r.Lag.Get(); ok && r.Broker != p.Leader {
				lags[r.Broker] = max(lags[r.Broker], n)
			}
		}
	}
	if len(lags) > 0 {
		m.lags = lags
	}
}

func (m *Memory) lag(id inspect.BrokerID) inspect.Opt[int64] {
	n, ok := m.lags[id]
	if !ok {
		return inspect.Unknown[int64]()
	}
	return inspect.Known(n)
}

// Cell is a step of the timeline.
type Cell struct {
	// From is when it begins, Left how many replicas left an ISR in it, and Causes why, the
	// most frequent first.
	From   time.Time
	Left   int
	Causes []Cause
}

// Cause is why so many left.
type Cause struct {
	Cause inspect.IsrCause
	Left  int
}

// timeline are the cells of a broker up to now, the oldest first.
func (m *Memory) timeline(id inspect.BrokerID, now time.Time) []Cell {
	last := now.Unix() / int64(step.Seconds())
	out := make([]Cell, 0, cells)
	for at := last - int64(cells) + 1; at <= last; at++ {
		c := Cell{From: time.Unix(at*int64(step.Seconds()), 0).UTC()}
		for cause, n := range m.left[at][id] {
			c.Left += n
			c.Causes = append(c.Causes, Cause{cause, n})
		}
		slices.SortFunc(c.Causes, func(a, b Cause) int { return cmp.Or(cmp.Compare(b.Left, a.Left), cmp.Compare(a.Cause, b.Cause)) })
		out = append(out, c)
	}
	return out
}
