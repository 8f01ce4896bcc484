package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// HWFrozen says that records are written and not committed, so that no consumer sees them.
const HWFrozen ID = "hw-frozen"

// leastFrozen is how long an HW has to stand still: writers wait so long.
const leastFrozen = time.Second

// frozen are partitions whose high watermark waits for the same broker.
type frozen struct {
	about           replicaSet
	longest         time.Duration
	waiting, proven int64
}

// findFrozen names partitions whose high watermark stands still under records that wait,
// by who holds it back.
func findFrozen(c *Case) []Finding {
	by := map[inspect.BrokerID]*frozen{}
	for p := range c.last.Partitions {
		st, ok := c.past.Stall(p.Topic, p.Index)
		if !ok || st.For < max(leastFrozen, time.Duration(c.slowFrom())*time.Millisecond) {
			continue
		}
		holders := c.holders(p)
		f := by[holders[0]]
		if f == nil {
			f = &frozen{about: replicaSet{}}
			by[holders[0]] = f
		}
		f.longest, f.waiting, f.proven = max(f.longest, st.For), f.waiting+st.Uncommitted, f.proven+st.AppendedUnderMinISR
		f.about.add(p, holders...)
	}
	var out []Finding
	for id, f := range by {
		out = append(out, f.finding(id))
	}
	slices.SortFunc(out, func(a, b Finding) int { return a.compare(&b) })
	return out
}

func (s *frozen) finding(id inspect.BrokerID) Finding {
	n := s.about.partitions()
	f := Finding{
		ID: HWFrozen, Severity: SeverityWarning, Broker: inspect.Known(id), Topics: s.about.topics(),
		Title: fmt.Sprintf("consumers see nothing new of %s: the high watermark has waited for broker %d for %s", partitions(n), id, lasting(s.longest)),
		Evidence: []Figure{
			{"partitions", float64(n)}, {"uncommittedRecords", float64(s.waiting)}, {"longestMs", float64(s.longest.Milliseconds())},
		},
		Explanation: fmt.Sprintf("%d records are written and not committed. Consumers stand still without a lag that any tool shows (that is counted to the HW), and writers with acks=all wait", s.waiting),
		Remedy:      fmt.Sprintf("See why broker %d does not take the records over", id),
		Next:        []string{"kafkaops lag --samples 5 --sort uncommitted --top 10"},
		class:       classLeft, about: s.about, reach: s.about,
	}
	if s.proven > 0 {
		f.Evidence = append(f.Evidence, Figure{"appendedUnderMinIsr", float64(s.proven)})
		f.Explanation += fmt.Sprintf(". Some producer does not use acks=all: %d of them came while that was refused", s.proven)
	}
	return f
}

// holders are who may hold the HW back: those of the ISR that have least, or did not tell;
// where the ISR is below its minimum, those that are out.
func (c *Case) holders(p *inspect.Partition) []inspect.BrokerID {
	h := p.Health()
	if h.Headroom.Or(0) < 0 && len(h.OutOfSync) > 0 {
		return h.OutOfSync
	}
	out, least := []inspect.BrokerID{p.Leader}, p.Offsets.LEOBefore.Or(0)
	for i := range p.Offsets.Followers {
		f := &p.Offsets.Followers[i]
		if !slices.Contains(p.ISR, f.Broker) {
			continue
		}
		switch leo := f.LEO.Or(-1); {
		case leo < least:
			out, least = []inspect.BrokerID{f.Broker}, leo
		case leo == least:
			out = append(out, f.Broker)
		}
	}
	return out
}
