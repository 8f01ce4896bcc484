package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
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
	// groups have read all that is committed, and wait for more; by how many records.
	groups map[string]int64
}

// findFrozen names partitions whose high watermark stands still under records that wait,
// by who holds it back.
func findFrozen(c *Case) []Finding {
	by := map[inspect.BrokerID]*frozen{}
	readers := c.readers()
	for p := range c.last.Partitions {
		st, ok := c.frozen(p)
		if !ok {
			continue
		}
		holders := c.holders(p)
		f := by[holders[0]]
		if f == nil {
			f = &frozen{about: replicaSet{}, groups: map[string]int64{}}
			by[holders[0]] = f
		}
		f.longest, f.waiting, f.proven = max(f.longest, st.For), f.waiting+st.Uncommitted, f.proven+st.AppendedUnderMinISR
		f.about.add(p, holders...)
		for _, name := range readers[inspect.TopicPartition{Topic: p.Topic, Partition: p.Index}] {
			f.groups[name] += st.Uncommitted
		}
	}
	var out []Finding
	for id, f := range by {
		out = append(out, f.finding(id))
	}
	slices.SortFunc(out, func(a, b Finding) int { return a.compare(&b) })
	return out
}

// frozen is the stall of a partition's high watermark, if it has lasted long enough to be one.
func (c *Case) frozen(p *inspect.Partition) (history.Stall, bool) {
	st, ok := c.past.Stall(p.Topic, p.Index)
	return st, ok && st.For >= max(leastFrozen, time.Duration(c.slowFrom())*time.Millisecond)
}

// Frozen reports whether the high watermark of some partition stands still under records
// that wait: who reads it is then worth asking ([inspect.PartGroups]).
func (c *Case) Frozen() bool {
	if c.last == nil {
		return false
	}
	for p := range c.last.Partitions {
		if _, ok := c.frozen(p); ok {
			return true
		}
	}
	return false
}

// readers are the groups that have read all that is committed of a partition, where groups
// were asked.
func (c *Case) readers() map[inspect.TopicPartition][]string {
	out := map[inspect.TopicPartition][]string{}
	lags := c.last.GroupLags()
	for i := range lags {
		for j := range lags[i].Partitions {
			p := &lags[i].Partitions[j]
			if lag, ok := p.Lag.Get(); ok && lag == 0 {
				out[p.TopicPartition] = append(out[p.TopicPartition], lags[i].Name)
			}
		}
	}
	return out
}

// namedGroups is how many groups a title names.
const namedGroups = 5

// waitingGroups are those that wait, as a suffix: those with most that they do not see first.
func (s *frozen) waitingGroups() string {
	var names []string
	for name := range s.groups {
		names = append(names, name)
	}
	if len(names) == 0 {
		return ""
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(s.groups[b], s.groups[a]), cmp.Compare(a, b)) })
	word, more := "group ", ""
	if len(names) > 1 {
		word = "groups "
	}
	if n := len(names) - namedGroups; n > 0 {
		names, more = names[:namedGroups], fmt.Sprintf(" and %d more", n)
	}
	return " (" + word + strings.Join(names, ", ") + more + ")"
}

func (s *frozen) finding(id inspect.BrokerID) Finding {
	n := s.about.partitions()
	f := Finding{
		ID: HWFrozen, Severity: SeverityWarning, Broker: inspect.Known(id), Topics: s.about.topics(),
		Title: fmt.Sprintf("consumers%s see nothing new of %s: the high watermark has waited for broker %d for %s", s.waitingGroups(), partitions(n), id, lasting(s.longest)),
		Evidence: []Figure{
			{"partitions", float64(n)}, {"uncommittedRecords", float64(s.waiting)}, {"longestMs", float64(s.longest.Milliseconds())},
		},
		Explanation: fmt.Sprintf("%d records are written and not committed. Consumers stand still without a lag that any tool shows (that is counted to the HW), and writers with acks=all wait", s.waiting),
		Remedy:      fmt.Sprintf("See why broker %d does not take the records over", id),
		Next:        []string{"kafkaops lag --samples 5 --sort uncommitted --top 10"},
		class:       classLeft, about: s.about, reach: s.about,
	}
	if len(s.groups) > 0 {
		f.Evidence = append(f.Evidence, Figure{"groupsWaiting", float64(len(s.groups))})
		f.Next = append(f.Next, "kafkaops lag groups --top 10")
	}
	if s.proven > 0 {
		f.Evidence = append(f.Evidence, Figure{"appendedUnderMinIsr", float64(s.proven)})
		f.Explanation += fmt.Sprintf(". Some producer does not use acks=all: %d of them came while that was refused", s.proven)
	}
	return f
}

// holders are who may hold the HW back: those of the ISR that have least, or did not tell;
// where the ISR is below its minimum, those that are out. Where all of the ISR keeps up it
// is those that are out and have less: for replica.lag.time.max.ms after it had everything
// last a replica holds the HW back in the ISR or not, unless its broker is fenced
// (Partition.maybeIncrementLeaderHW, isReplicaIsrEligible).
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
	if !c.keepUp(p) {
		return out
	}
	var outside []inspect.BrokerID
	for i := range p.Offsets.Followers {
		f := &p.Offsets.Followers[i]
		b := c.last.Broker(f.Broker)
		if !slices.Contains(p.ISR, f.Broker) && f.LEO.Or(-1) < least && b != nil && !b.Fenced.Or(false) {
			outside = append(outside, f.Broker)
		}
	}
	if len(outside) > 0 {
		return outside
	}
	return out
}

// keepUp reports whether all of the ISR has what the leader had a look ago: who lacks no more
// than that does not hold an HW back that stands for longer.
func (c *Case) keepUp(p *inspect.Partition) bool {
	for _, id := range p.ISR {
		if id == p.Leader {
			continue
		}
		if lag := c.past.TimeLag(p.Topic, p.Index, id); lag.State != history.LagKnown || lag.OverMs > 0 {
			return false
		}
	}
	return true
}
