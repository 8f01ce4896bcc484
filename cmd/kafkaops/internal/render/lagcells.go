package render

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func (r *LagRow) judged() *inspect.Judged {
	return &inspect.Judged{Partition: r.Partition, Health: r.Health}
}

func (r *LagRow) timing() PartitionTiming {
	if r.Timing == nil {
		return PartitionTiming{}
	}
	return *r.Timing
}

// uncommittedCell stands out where the records cannot be committed.
func uncommittedCell(r *LagRow) Cell {
	c := Number(r.Lag.Uncommitted)
	if r.Lag.Uncommitted.Or(0) > 0 && r.Health.Has(inspect.StatusUnderMinISR) {
		return c.Styled(Bad)
	}
	return c
}

func replicaLagCell(_ *LagRow, rep *inspect.ReplicaLag) Cell {
	c := Number(rep.Lag)
	if rep.Lag.Or(0) > 0 && !rep.InSync {
		return c.Styled(Bad)
	}
	return c
}

// lagMaxCell is blank on a terminal where the lag is certain.
func lagMaxCell(_ *LagRow, rep *inspect.ReplicaLag) Cell {
	c := Number(rep.LagMax)
	if rep.LagMax.Equal(rep.Lag) {
		return c.Repeated()
	}
	return c
}

func timeCell(r *LagRow, rep *inspect.ReplicaLag) Cell {
	t := r.Timing.replica(rep.Broker)
	c := Text(Unknown)
	if ms, ok := t.LagMs.Get(); ok {
		c = Cell{Text: Millis(ms), Pipe: strconv.FormatInt(ms, 10)}
	} else if ms, ok := t.LagMsAtLeast.Get(); ok {
		c.Text = ">" + Millis(ms)
	}
	if !rep.InSync && c.Text != Unknown {
		return c.Styled(Bad)
	}
	return c
}

func rateCell(rate inspect.Opt[float64]) Cell {
	n, ok := rate.Get()
	if !ok {
		return Text(Unknown)
	}
	return Cell{Text: PerSecond(n), Pipe: strconv.FormatFloat(n, 'f', -1, 64)}
}

// orNone is blank on a terminal and "none" in a pipe where the text is empty.
func orNone(s string) Cell {
	if s == "" {
		return Cell{Pipe: "none"}
	}
	return Text(s)
}

// lagNotes are the lines that a terminal shows below the partition's cells: the
// status words unless ok, a frozen HW, the caller's notes, and in the wide form
// the rest of what is known.
func lagNotes(v View, r *LagRow) []Cell {
	if !v.Terminal {
		return nil
	}
	var notes []Cell
	add := func(s Style, format string, args ...any) {
		notes = append(notes, Text("  "+fmt.Sprintf(format, args...)).Styled(s))
	}
	if !r.Health.Has(inspect.StatusOK) {
		add(StatusStyle(r.Health.Status), "%s", statusText(r.Health.Status, ", "))
	}
	if ms := r.timing().HWFrozenMs.Or(0); ms > 0 {
		add(Warn, "HW frozen for at least %s", Millis(ms))
	}
	for _, n := range r.Notes {
		add(Warn, "%s", n)
	}
	for i := range r.Lag.Replicas {
		id := r.Lag.Replicas[i].Broker
		rep := &r.Lag.Replicas[i]
		// The state of an offline replica says it all.
		if why := rep.Error; why != "" && v.wide() && rep.State != inspect.ReplicaOffline {
			add(Warn, "replica %d: %s", id, why)
		}
		// Where the ISR has lost its minimum already, the status says so.
		if rep.State == inspect.ReplicaUnknown && rep.InSync && id != r.Partition.Leader && r.Lag.Uncommitted.Or(0) > 0 {
			add(Warn, "replica %d, in the ISR, is silent: the HW may wait for it", id)
		}
		if ms, ok := r.Timing.replica(id).CatchUpMs.Get(); ok && ms > 0 {
			add(Dim, "replica %d catches up in about %s", id, Millis(ms))
		}
	}
	if v.wide() {
		for _, line := range lagDetails(r) {
			add(Dim, "%s", line)
		}
	}
	return notes
}

func lagDetails(r *LagRow) []string {
	number := func(n inspect.Opt[inspect.Offset]) string { return Number(n).Text }
	minISR := r.Health.EffectiveMinISR.String()
	lines := []string{
		fmt.Sprintf("ISR %s, min %s, epoch %s", IDs(r.Partition.ISR).Text, minISR, r.Partition.LeaderEpoch),
		fmt.Sprintf("log start %s, LSO %s", number(r.Lag.LogStart), number(r.Lag.LSO)),
	}
	if most, ok := r.Lag.UncommittedMax.Get(); ok && most != r.Lag.Uncommitted.Or(most) {
		lines = append(lines, "LEO-HW at most "+Thousands(most))
	}
	if r.Timing != nil {
		var rates []string
		if n, ok := r.Timing.AppendPerSecond.Get(); ok {
			rates = append(rates, "appends "+PerSecond(n))
		}
		if n, ok := r.Timing.CommitPerSecond.Get(); ok {
			rates = append(rates, "commits "+PerSecond(n))
		}
		if len(rates) > 0 {
			lines = append(lines, strings.Join(rates, ", "))
		}
	}
	return lines
}
