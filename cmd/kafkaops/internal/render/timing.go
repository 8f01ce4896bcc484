package render

import (
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
)

// AddTiming fills a row with what the samples tell of it: rates and trends over the last
// windowMs milliseconds, or all that are kept where that is 0.
func (r *LagRow) AddTiming(past *history.History, windowMs int64) {
	r.addTiming(past, windowMs, &PartitionTiming{Replicas: make([]ReplicaTiming, 0, len(r.Lag.Replicas))})
}

// AddTimings does that for all rows, at one piece of memory for all that it adds.
func AddTimings(rows []LagRow, past *history.History, windowMs int64) {
	n := 0
	for i := range rows {
		n += len(rows[i].Lag.Replicas)
	}
	timings, replicas := make([]PartitionTiming, len(rows)), make([]ReplicaTiming, n)
	for i := range rows {
		n := len(rows[i].Lag.Replicas)
		timings[i].Replicas, replicas = replicas[:0:n], replicas[n:]
		rows[i].addTiming(past, windowMs, &timings[i])
	}
}

// addTiming fills t, and the row with it.
func (r *LagRow) addTiming(past *history.History, windowMs int64, t *PartitionTiming) {
	p := r.Partition
	rates := past.Rates(p.Topic, p.Index, windowMs)
	t.AppendPerSecond, t.CommitPerSecond = rates.AppendPerSec, rates.CommitPerSec
	stall, stalled := past.Stall(p.Topic, p.Index)
	switch {
	case stalled:
		t.HWFrozenMs = inspect.Known(stall.For.Milliseconds())
		r.Notes = append(r.Notes, stallNotes(&stall, &r.Health)...)
	case rates.CommitPerSec.IsKnown():
		t.HWFrozenMs = inspect.Known[int64](0)
	}
	for i := range r.Lag.Replicas {
		t.Replicas = append(t.Replicas, replicaTiming(past, p, r.Lag.Replicas[i].Broker, windowMs))
	}
	r.Timing = t
}

func replicaTiming(past *history.History, p *inspect.Partition, id inspect.BrokerID, windowMs int64) ReplicaTiming {
	t := ReplicaTiming{Broker: id}
	lag := past.TimeLag(p.Topic, p.Index, id)
	t.LagMs = lag.Known()
	if lag.State == history.LagAtLeast {
		t.LagMsAtLeast = inspect.Known(lag.Ms)
	}
	move := past.CatchUp(p.Topic, p.Index, id, windowMs)
	t.FetchPerSecond, t.LagPerSecond, t.CatchUpMs, t.Trend = move.FetchPerSec, move.LagPerSec, move.RemainingMs, move.Trend
	return t
}

// stallNotes says what a standing HW means, and what it proves of producers.
func stallNotes(s *history.Stall, h *inspect.Health) []string {
	waiting := Thousands(s.Uncommitted) + " records wait above the HW, unseen by consumers"
	if h.Has(inspect.StatusUnderMinISR) {
		waiting += ", until min ISR is met again"
	}
	notes := []string{waiting}
	if s.ProvesWeakAcks() {
		notes = append(notes, fmt.Sprintf("a producer is not using acks=all: %s records came in under min ISR", Thousands(s.AppendedUnderMinISR)))
	}
	return notes
}

// AddTimes fills a group's row with what the samples tell of every partition of it.
func (r *GroupRow) AddTimes(past *history.History) {
	r.Times = make([]ReadTime, len(r.Partitions))
	for i := range r.Partitions {
		p := &r.Partitions[i]
		at, ok := p.Position().Get()
		if !ok {
			continue
		}
		age := past.ReadLag(p.Topic, p.Partition, at)
		r.Times[i].LagMs = age.Known()
		if age.State == history.LagAtLeast {
			r.Times[i].LagMsAtLeast = inspect.Known(age.Ms)
		}
	}
}
