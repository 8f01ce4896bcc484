package exporter

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// script answers the passes of a loop one after the other, and ends it after the last.
type script struct {
	clock   *handClock
	end     context.CancelFunc
	answers []func() (*inspect.Snapshot, error)
	passes  []string
}

// Snapshot implements Snapshotter.
func (s *script) Snapshot(_ context.Context, q source.Query) (*inspect.Snapshot, error) {
	what := "collection"
	if q.Sample != source.SampleNone {
		what = "sample"
	}
	s.passes = append(s.passes, what)
	answer := s.answers[0]
	if s.answers = s.answers[1:]; len(s.answers) == 0 {
		s.end()
	}
	snap, err := answer()
	if snap != nil {
		snap.TakenAt = s.clock.Now()
	}
	return snap, err
}

// runScript runs the loop with a sample every 5 s, and returns it and its log.
func runScript(t *testing.T, answers ...func() (*inspect.Snapshot, error)) (*Exporter, *script, string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &script{clock: &handClock{day}, end: cancel, answers: append(answers, unreachable)}
	var log bytes.Buffer
	e := New(Options{
		Collect: s, Sample: s, Clock: s.clock, SampleInterval: 5 * time.Second,
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err := e.Run(ctx); err == nil {
		t.Fatal("the loop ended by itself")
	}
	return e, s, log.String()
}

func unreachable() (*inspect.Snapshot, error) {
	return nil, &source.BootstrapError{Failures: []inspect.Failure{
		{Address: "a:1", Phase: inspect.PhaseSASL, Request: "SaslAuthenticate", Error: "wrong password"},
		{Address: "b:1", Phase: inspect.PhaseDial, Error: "connection refused"},
	}}
}

// TestRefused: a password that is refused is shown once a collection and not with
// every sample, and is counted as what it is.
func TestRefused(t *testing.T) {
	t.Parallel()
	answered := func() (*inspect.Snapshot, error) { return told{1, ids{1}, 5, 5, 5, 1}.at(0, -1), nil }
	e, s, _ := runScript(t, answered, answered, unreachable, unreachable, answered, answered)
	got := strings.Join(s.passes, " ")
	want := "collection sample collection collection collection sample collection"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var text bytes.Buffer
	_, self := e.now()
	write(newEncoder(&text, ""), selfMetrics(), self)
	parse(text.String()).is(t,
		`kafkaops_collection_errors_total{broker="",kind="bootstrap"} 2`,
		`kafkaops_collection_errors_total{broker="",kind="sasl"} 2`,
		`kafkaops_collection_errors_total{broker="",kind="dial"} 2`,
		`kafkaops_collections_total{result="failed"} 2`,
	)
}
