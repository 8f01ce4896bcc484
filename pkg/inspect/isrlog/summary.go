package isrlog

import (
	"cmp"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Absences is how often, for how long and from where a broker was missing from ISRs
// for one cause.
type Absences struct {
	Broker inspect.BrokerID
	Cause  inspect.IsrCause
	// Times counts every partition that it left. Out is for how long one at least was
	// without it, Longest the longest of any; those that it is still missing from
	// count to the end of the span.
	Times        int
	Out, Longest time.Duration
	// StillOut is how many it has not come back to.
	StillOut int
	// Partitions are those that it left, the one without it for longest first.
	Partitions []PartitionAbsence
	// Timeline is how many partitions it left in each of equal parts of the span.
	Timeline []int
}

// PartitionAbsence is one partition's part.
type PartitionAbsence struct {
	inspect.TopicPartition
	Times int
	Out   time.Duration
	// First and Last are when it left for the first and the last time.
	First, Last time.Time
}

// flapping is how often a replica leaves one ISR to be called so.
const flapping = 3

// Flapped reports whether it left again and again.
func (p *PartitionAbsence) Flapped() bool { return p.Times >= flapping }

type place struct {
	inspect.TopicPartition
	broker inspect.BrokerID
}

type interval struct{ from, until time.Time }

type absenceKey struct {
	broker inspect.BrokerID
	cause  inspect.IsrCause
}

// gathering is an Absences in the making.
type gathering struct {
	Absences
	intervals []interval
	times     []int64 // in ms, when it left a partition
	byPlace   map[inspect.TopicPartition]*PartitionAbsence
}

// Summarize counts who left ISRs, and why, in the span from from to until, of which
// the timeline has so many parts. Who is taken away by a reassignment is not missing.
// Brokers come in the order of how long they were out.
func Summarize(events []inspect.IsrEvent, from, until time.Time, parts int) []Absences {
	s := NewSummary()
	for i := range events {
		s.See(&events[i])
	}
	return s.Absences(from, until, parts)
}

// Summary is a Summarize that takes events one by one, and keeps none.
type Summary struct {
	all map[absenceKey]*gathering
	out map[place]*absenceNow
}

// NewSummary returns one that has seen nothing yet.
func NewSummary() *Summary {
	return &Summary{all: map[absenceKey]*gathering{}, out: map[place]*absenceNow{}}
}

// See takes the next event.
func (s *Summary) See(e *inspect.IsrEvent) {
	tp := inspect.TopicPartition{Topic: e.Topic, Partition: e.Partition}
	switch {
	case e.Type == inspect.IsrShrink && e.Cause != inspect.CauseReassignment:
		for _, id := range e.Brokers {
			g := s.gather(absenceKey{id, e.Cause})
			g.left(tp, e.Time)
			s.out[place{tp, id}] = &absenceNow{g, e.Time}
		}
	case e.Type == inspect.IsrExpand:
		for _, id := range e.Brokers {
			s.end(place{tp, id}, e.Time)
		}
	case e.Type == inspect.IsrDelete, e.Type == inspect.IsrReassign:
		for p := range s.out { // whoever is no replica any more is not missing any more
			if p.TopicPartition == tp && !slices.Contains(e.Replicas, p.broker) {
				s.end(p, e.Time)
			}
		}
	}
}

func (s *Summary) end(p place, at time.Time) {
	if a := s.out[p]; a != nil {
		a.of.ended(p.TopicPartition, a.since, at)
		delete(s.out, p)
	}
}

// Absences is the outcome, after the last event; see [Summarize].
func (s *Summary) Absences(from, until time.Time, parts int) []Absences {
	for p, a := range s.out {
		a.of.StillOut++
		a.of.ended(p.TopicPartition, a.since, until)
	}
	done := make([]Absences, 0, len(s.all))
	for _, g := range s.all {
		done = append(done, g.finish(from, until, parts))
	}
	slices.SortFunc(done, func(a, b Absences) int {
		return cmp.Or(cmp.Compare(b.Out, a.Out), cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.Cause, b.Cause))
	})
	return done
}

type absenceNow struct {
	of    *gathering
	since time.Time
}

func (s *Summary) gather(key absenceKey) *gathering {
	g := s.all[key]
	if g == nil {
		g = &gathering{
			Absences: Absences{Broker: key.broker, Cause: key.cause},
			byPlace:  map[inspect.TopicPartition]*PartitionAbsence{},
		}
		s.all[key] = g
	}
	return g
}

func (g *gathering) left(tp inspect.TopicPartition, at time.Time) {
	g.Times++
	p := g.byPlace[tp]
	if p == nil {
		p = &PartitionAbsence{TopicPartition: tp, First: at}
		g.byPlace[tp] = p
	}
	p.Times++
	p.Last = at
	g.times = append(g.times, at.UnixMilli())
}

// timeline counts when partitions were left.
func (g *gathering) timeline(from, until time.Time, parts int) {
	g.Timeline = make([]int, parts)
	whole := until.Sub(from)
	if whole <= 0 || parts == 0 {
		return
	}
	for _, ms := range g.times {
		part := int(float64(time.UnixMilli(ms).Sub(from)) / float64(whole) * float64(parts))
		g.Timeline[min(max(part, 0), parts-1)]++
	}
}

func (g *gathering) ended(tp inspect.TopicPartition, since, at time.Time) {
	at = maxTime(at, since) // clocks of two controllers
	g.intervals = append(g.intervals, interval{since, at})
	g.Longest = max(g.Longest, at.Sub(since))
	g.byPlace[tp].Out += at.Sub(since)
}

func (g *gathering) finish(from, until time.Time, parts int) Absences {
	g.timeline(from, until, parts)
	slices.SortFunc(g.intervals, func(a, b interval) int { return a.from.Compare(b.from) })
	var counted time.Time
	for _, i := range g.intervals { // those that overlap count once
		if since := maxTime(i.from, counted); i.until.After(since) {
			g.Out += i.until.Sub(since)
			counted = i.until
		}
	}
	for _, p := range g.byPlace {
		g.Partitions = append(g.Partitions, *p)
	}
	slices.SortFunc(g.Partitions, func(a, b PartitionAbsence) int {
		return cmp.Or(cmp.Compare(b.Out, a.Out), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return g.Absences
}
