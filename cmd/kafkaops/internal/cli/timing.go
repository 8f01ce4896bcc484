package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// sample takes the n samples of one pass, every so often, hands each to add and returns the last,
// with the failures of all, each once: what one sample missed is missing from the
// answer.
func (s *session) sample(
	ctx context.Context, q source.Query, n int, every time.Duration, add func(*inspect.Snapshot), notes io.Writer,
) (*inspect.Snapshot, error) {
	told := map[string]bool{}
	var failures []inspect.Failure
	for i := 1; ; i++ {
		snap, err := s.ask(ctx, q, io.Discard)
		if err != nil {
			return nil, err
		}
		for _, f := range snap.Failures {
			if line := render.FailureLine(f); !told[line] {
				told[line] = true
				failures = append(failures, f)
				fmt.Fprintln(notes, line)
			}
		}
		add(snap)
		if i == n {
			snap.Failures = failures
			return snap, nil
		}
		if err := sleep(ctx, every); err != nil {
			return nil, err
		}
	}
}

// addTiming fills a row with what the samples tell of it.
func addTiming(row *render.LagRow, past *history.History) {
	p := row.Partition
	rates := past.Rates(p.Topic, p.Index, 0)
	t := &render.PartitionTiming{AppendPerSecond: rates.AppendPerSec, CommitPerSecond: rates.CommitPerSec}
	stall, stalled := past.Stall(p.Topic, p.Index)
	switch {
	case stalled:
		t.HWFrozenMs = inspect.Known(stall.For.Milliseconds())
		row.Notes = append(row.Notes, stallNotes(&stall, &row.Health)...)
	case rates.CommitPerSec.IsKnown():
		t.HWFrozenMs = inspect.Known[int64](0)
	}
	for i := range row.Lag.Replicas {
		t.Replicas = append(t.Replicas, replicaTiming(past, p, row.Lag.Replicas[i].Broker))
	}
	row.Timing = t
}

func replicaTiming(past *history.History, p *inspect.Partition, id inspect.BrokerID) render.ReplicaTiming {
	t := render.ReplicaTiming{Broker: id}
	lag := past.TimeLag(p.Topic, p.Index, id)
	t.LagMs = lag.Known()
	if lag.State == history.LagAtLeast {
		t.LagMsAtLeast = inspect.Known(lag.Ms)
	}
	move := past.CatchUp(p.Topic, p.Index, id, 0)
	t.FetchPerSecond, t.LagPerSecond, t.CatchUpMs = move.FetchPerSec, move.LagPerSec, move.RemainingMs
	return t
}

// stallNotes says what a standing HW means, and what it proves of producers.
func stallNotes(s *history.Stall, h *inspect.Health) []string {
	waiting := render.Thousands(s.Uncommitted) + " records wait above the HW, unseen by consumers"
	if h.Has(inspect.StatusUnderMinISR) {
		waiting += ", until min ISR is met again"
	}
	notes := []string{waiting}
	if s.ProvesWeakAcks() {
		notes = append(notes, fmt.Sprintf("a producer is not using acks=all: %s records came in under min ISR", render.Thousands(s.AppendedUnderMinISR)))
	}
	return notes
}
