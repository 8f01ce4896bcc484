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
	byPlace   map[inspect.TopicPartition]*PartitionAbsence
}

// Summarize counts who left ISRs, and why, in the span from from to until, of which
// the timeline has so many parts. Who is taken away by a reassignment is not missing.
// Brokers come in the order of how long they were out.
func Summarize(events []inspect.IsrEvent, from, until time.Time, parts int) []Absences {
	all := map[absenceKey]*gathering{}
	out := map[place]*absenceNow{}
	end := func(p place, at time.Time) {
		if a := out[p]; a != nil {
			a.of.ended(p.TopicPartition, a.since, at)
			delete(out, p)
		}
	}
	for i := range events {
		e := &events[i]
		tp := inspect.TopicPartition{Topic: e.Topic, Partition: e.Partition}
		switch {
		case e.Type == inspect.IsrShrink && e.Cause != inspect.CauseReassignment:
			for _, id := range e.Brokers {
				g := gather(all, absenceKey{id, e.Cause}, parts)
				g.left(tp, e.Time, from, until)
				out[place{tp, id}] = &absenceNow{g, e.Time}
			}
		case e.Type == inspect.IsrExpand:
			for _, id := range e.Brokers {
				end(place{tp, id}, e.Time)
			}
		case e.Type == inspect.IsrDelete, e.Type == inspect.IsrReassign:
			for p := range out { // whoever is no replica any more is not missing any more
				if p.TopicPartition == tp && !slices.Contains(e.Replicas, p.broker) {
					end(p, e.Time)
				}
			}
		}
	}
	for p, a := range out {
		a.of.StillOut++
		a.of.ended(p.TopicPartition, a.since, until)
	}
	done := make([]Absences, 0, len(all))
	for _, g := range all {
		done = append(done, g.finish())
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

func gather(all map[absenceKey]*gathering, key absenceKey, parts int) *gathering {
	g := all[key]
	if g == nil {
		g = &gathering{
			Absences: Absences{Broker: key.broker, Cause: key.cause, Timeline: make([]int, parts)},
			byPlace:  map[inspect.TopicPartition]*PartitionAbsence{},
		}
		all[key] = g
	}
	return g
}

func (g *gathering) left(tp inspect.TopicPartition, at, from, until time.Time) {
	g.Times++
	p := g.byPlace[tp]
	if p == nil {
		p = &PartitionAbsence{TopicPartition: tp, First: at}
		g.byPlace[tp] = p
	}
	p.Times++
	p.Last = at
	if whole, n := until.Sub(from), len(g.Timeline); whole > 0 && n > 0 {
		part := int(float64(at.Sub(from)) / float64(whole) * float64(n))
		g.Timeline[min(max(part, 0), n-1)]++
	}
}

func (g *gathering) ended(tp inspect.TopicPartition, since, at time.Time) {
	at = maxTime(at, since) // clocks of two controllers
	g.intervals = append(g.intervals, interval{since, at})
	g.Longest = max(g.Longest, at.Sub(since))
	g.byPlace[tp].Out += at.Sub(since)
}

func (g *gathering) finish() Absences {
	slices.SortFunc(g.intervals, func(a, b interval) int { return a.from.Compare(b.from) })
	var until time.Time
	for _, i := range g.intervals { // those that overlap count once
		if from := maxTime(i.from, until); i.until.After(from) {
			g.Out += i.until.Sub(from)
			until = i.until
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
