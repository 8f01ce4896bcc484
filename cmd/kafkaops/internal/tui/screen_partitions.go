package tui

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func partitionsScreen() *screen {
	return &screen{
		name: "partitions", key: "2", aliases: []string{"p", "part", "topics"}, what: "every partition, the worst first",
		rows: partitionRows, enter: enterPartition,
		crumb: func(p *place) string {
			if p.broker > 0 {
				return fmt.Sprintf("Partitions of broker %d", p.broker)
			}
			return "Partitions"
		},
	}
}

// partitionRows lists partitions: all, or those with a replica on the place's broker.
func partitionRows(s *state, p *place) *listing {
	l := s.look()
	rows, keys := make([]*render.LagRow, 0, len(l.Rows)), make([]*partitionKey, 0, len(l.Rows))
	for i := range l.Rows {
		if r := &l.Rows[i]; p.broker <= 0 || hosts(r, p.broker) {
			rows, keys = append(rows, r), append(keys, &l.keys[i])
		}
	}
	name := func(int, int) int { return 0 } // as they come
	return &listing{
		n:  len(rows),
		id: func(i int) string { return rows[i].Name() },
		table: func(v render.View, which []int) *render.Table {
			seen := make([]*render.LagRow, len(which))
			for n, i := range which {
				seen[n] = rows[i]
			}
			t := render.TopPartitions(v, l.Snap.TakenAt, seen, l.Span)
			t.Columns[0].Room = min(l.NameWidth, max(20, v.Width/3))
			return t
		},
		item: func(i int) any { return render.LagItems([]render.LagRow{*rows[i]})[0] },
		sorts: []sorting{
			{"W", "worst first", func(i, j int) int { return keys[i].worst(keys[j]) }},
			{"N", "name", name},
			{"L", "lag", func(i, j int) int { return -cmp.Compare(keys[i].lag, keys[j].lag) }},
			{"T", "time lag", func(i, j int) int { return -cmp.Compare(keys[i].ms, keys[j].ms) }},
			{"U", "LEO-HW", func(i, j int) int { return -cmp.Compare(keys[i].uncommitted, keys[j].uncommitted) }},
			{"B", "leader", func(i, j int) int { return cmp.Compare(rows[i].Partition.Leader, rows[j].Partition.Leader) }},
		},
	}
}

func hosts(r *render.LagRow, id inspect.BrokerID) bool {
	for _, b := range r.Partition.Replicas {
		if b == id {
			return true
		}
	}
	return false
}

// partitionKey is what partitions are sorted by; −1 where it is unknown.
type partitionKey struct {
	rank                 int
	lag, ms, uncommitted int64
	// serious is the lag where it is more than what is always in flight.
	serious int64
}

// inFlightMs: what has been behind for no longer is ordinary. Without it, rows of a busy
// cluster would change places at every look.
const inFlightMs = 1000

func newPartitionKey(r *render.LagRow) partitionKey {
	k := partitionKey{rank: r.Rank(), uncommitted: r.Lag.Uncommitted.Or(-1), lag: -1, ms: -1}
	rep, timing, behind := r.Worst()
	if !behind {
		return k
	}
	k.lag = rep.Lag.Or(-1)
	k.ms = timing.LagMs.Or(timing.LagMsAtLeast.Or(-1))
	if !rep.InSync || k.ms >= inFlightMs || rep.State == inspect.ReplicaUnknown {
		k.serious = max(1, k.lag)
	}
	return k
}

func (k *partitionKey) worst(other *partitionKey) int {
	return cmp.Or(cmp.Compare(k.rank, other.rank), -cmp.Compare(k.serious, other.serious))
}

func enterPartition(s *state, p *place, row int) *place {
	name := p.listed.id(row)
	for i := range s.look().Rows {
		r := &s.look().Rows[i]
		if r.Name() == name {
			return partitionPlace(inspect.TopicPartition{Topic: r.Partition.Topic, Partition: r.Partition.Index})
		}
	}
	return nil
}

func partitionPlace(tp inspect.TopicPartition) *place {
	p := newPlace(&screen{name: "partition", text: partitionText, crumb: func(p *place) string { return render.Clean(p.partition.String()) }})
	p.partition = tp
	return p
}

// partitionText is all that is known of one partition: what state it is in and why, each
// replica, and what its ISR went through.
func partitionText(s *state, p *place, width int) []string {
	l := s.look()
	r := l.row(p.partition)
	if r == nil {
		return []string{"  " + render.Paint(s.color, render.Warn, "the partition is not there any more, or the cluster did not tell of it")}
	}
	part := r.Partition
	var words []string
	for _, w := range r.Health.Status {
		words = append(words, string(w))
	}
	leader := "none"
	if part.Leader != inspect.NoBroker {
		leader = fmt.Sprint(part.Leader)
	}
	out := []string{
		"  " + render.Paint(s.color, render.StatusStyle(r.Health.Status), strings.Join(words, ", ")),
		fmt.Sprintf("  leader %s, epoch %s   ISR %s of %s   min ISR %s, headroom %s", leader, part.LeaderEpoch,
			render.IDs(part.ISR).Text, render.IDs(part.Replicas).Text, r.Health.EffectiveMinISR, r.Health.Headroom),
		fmt.Sprintf("  log start %s   LSO %s   HW %s   LEO %s   LEO-HW %s", number(r.Lag.LogStart), number(r.Lag.LSO), number(r.Lag.HW), number(r.Lag.LEO), number(r.Lag.Uncommitted)),
	}
	if t := r.Timing; t != nil {
		writes, commits := "-", "-"
		if n, ok := t.AppendPerSecond.Get(); ok {
			writes = render.PerSecond(n)
		}
		if n, ok := t.CommitPerSecond.Get(); ok {
			commits = render.PerSecond(n)
		}
		out = append(out, fmt.Sprintf("  appends %s   commits %s", writes, commits))
	}
	say := func(style render.Style, text string) {
		for _, line := range render.Wrap(render.Clean(text), width-2) {
			out = append(out, "  "+render.Paint(s.color, style, line))
		}
	}
	broker := inspect.NoBroker
	if rep, _, behind := r.Worst(); behind {
		broker = rep.Broker
		say(render.Strong, worstSentence(r, &rep))
	}
	if cause := causeLine(l, part.Topic, broker); cause != "" {
		say(render.Strong, cause)
	}
	for _, note := range r.Notes {
		say(render.Warn, note)
	}
	out = append(out, "")
	out = append(out, lines(render.TopReplicas(view(s, width-2), r).Text(view(s, width-2)))...)
	out = append(out, "", "  "+render.Paint(s.color, render.Strong, "ISR history")+"  "+render.Paint(s.color, render.Dim, cut(s.evidence, width-16)))
	var events []inspect.IsrEvent
	for _, e := range s.events {
		if e.Topic == part.Topic && e.Partition == part.Index && !e.Time.After(l.Snap.TakenAt) {
			events = append(events, e)
		}
	}
	if len(events) == 0 {
		return append(out, "  "+render.Paint(s.color, render.Dim, "no change is known"))
	}
	return append(out, newestFirst(s, events, width-2)...)
}

// worstSentence names the replica that is furthest behind.
func worstSentence(r *render.LagRow, rep *inspect.ReplicaLag) string {
	text := fmt.Sprintf("replica %d is %s", rep.Broker, rep.State)
	if n, ok := rep.Lag.Get(); ok && n > 0 {
		text += fmt.Sprintf(", %s records behind", render.Thousands(n))
	}
	if r.Partition.Onset != nil {
		if cause, ok := r.Partition.Onset.Cause.Get(); ok {
			text += ", " + string(cause)
		}
	}
	return text
}

func number[T ~int64](n inspect.Opt[T]) string { return render.Number(n).Text }
