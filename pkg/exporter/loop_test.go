package exporter

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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

// TestJournal: what has begun and what is over is logged once. A broker that is fenced
// is not asked, and that nothing fails any more is no news of it.
func TestJournal(t *testing.T) {
	t.Parallel()
	is := func(change func(s *inspect.Snapshot)) func() (*inspect.Snapshot, error) {
		return func() (*inspect.Snapshot, error) {
			s := told{1, ids{1}, 5, 5, 5, 1}.at(0, 5)
			s.ClusterID = inspect.Known("abc")
			for i := range s.Brokers {
				s.Brokers[i].Host, s.Brokers[i].Port = "b", int32(s.Brokers[i].ID)
			}
			if change != nil {
				change(s)
			}
			return s, nil
		}
	}
	refused := is(func(s *inspect.Snapshot) {
		s.Failures = []inspect.Failure{{Broker: inspect.Known[inspect.BrokerID](2), Phase: inspect.PhaseDial, Error: "connection refused"}}
	})
	fenced := is(func(s *inspect.Snapshot) { s.Brokers[1].Fenced = inspect.Known(true) })
	gone := is(func(s *inspect.Snapshot) { s.Brokers = s.Brokers[:2] })
	nothing := is(func(s *inspect.Snapshot) { s.Topics, s.UnkeptTopics = nil, 6 })
	wentOn := is(func(s *inspect.Snapshot) {
		s.Failures = []inspect.Failure{{Address: "c:1", Phase: inspect.PhaseDial, Error: "connection refused", Lost: "went on with b:1", Notice: true}}
	})
	var answers []func() (*inspect.Snapshot, error)
	for _, a := range []func() (*inspect.Snapshot, error){is(nil), refused, fenced, fenced, is(nil), gone, gone, is(nil), nothing, nothing, wentOn, wentOn, is(nil)} {
		answers = append(answers, a, a) // a collection and a sample
	}
	_, _, log := runScript(t, answers...)
	var got []string
	for line := range strings.Lines(log) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		got = append(got, rest)
	}
	want := []string{
		`level=INFO msg="the cluster answers" cluster=abc brokers=3 topics=1 partitions=1 groups=1`,
		`level=WARN msg="not answered" broker=2 phase=dial error="connection refused"`,
		`level=WARN msg="broker is away and is not asked" broker=2 address=b:2 why="fenced: stopped, starting, or cut off from the controller"`,
		`level=INFO msg="everything that is asked is answered again"`,
		`level=INFO msg="broker is back" broker=2 address=b:2`,
		`level=WARN msg="broker is away and is not asked" broker=3 address=b:3 why="not listed by the cluster any more"`,
		`level=INFO msg="broker is back" broker=3 address=b:3`,
		`level=WARN msg="the filters leave none: they have to match the whole name" of="6 topics" filters="--topics, --topics-exclude"`,
		`level=INFO msg="not answered" address=c:1 phase=dial error="connection refused" lost="went on with b:1"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
