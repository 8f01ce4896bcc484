package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
)

// readings answers one Read after the other, and the last one again.
type readings struct {
	each []func(ctx context.Context, to isrlog.Listener) error
	mu   sync.Mutex
	n    int
	span isrlog.Span
}

// Read implements isrlog.Source.
func (r *readings) Read(ctx context.Context, span isrlog.Span, to isrlog.Listener) error {
	r.mu.Lock()
	read := r.each[min(r.n, len(r.each)-1)]
	r.n++
	r.span = span
	r.mu.Unlock()
	return read(ctx, to)
}

func (r *readings) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// logged is a log that other goroutines write.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// lines are without their times.
func (l *logged) lines() (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.text.String()) {
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		out = append(out, rest)
	}
	return out
}

// watching is a watch and what it delivers to.
type watching struct {
	t *testing.T
	*isrWatch
	to  *isrChanges
	log *logged
}

func watch(t *testing.T, source isrlog.Source, silent time.Duration) *watching {
	t.Helper()
	log := &logged{}
	topics := regexp.MustCompile("^t$")
	w := newISRWatch(&Options{ISR: source, Log: slog.New(slog.NewTextHandler(log, nil)), Filter: Filter{Topics: topics}})
	w.silent, w.retry, w.retryMost = silent, time.Millisecond, 2*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); w.wait() })
	out := &watching{t, w, newISRChanges(), log}
	out.look(looked{1, 1, ids{1, 2, 3}, nil})
	w.start(ctx, "the cluster")
	w.start(ctx, "not twice")
	return out
}

func (w *watching) look(l looked) { w.to.look(l.at(0), time.Hour, time.Now()) }

// until delivers until it holds.
func (w *watching) until(what string, holds func() bool) {
	w.t.Helper()
	for limit := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			w.t.Fatalf("%s: not within %s; the log:\n%s", what, patience, strings.Join(w.log.lines(), "\n"))
		}
		w.deliver(w.to)
	}
}

func (w *watching) byLog() bool { return w.to.source == inspect.SourceMetadataLog }

// reachesEnd tells of an end until it counts.
func reachesEnd(ctx context.Context, to isrlog.Listener, l looked) {
	to.Evidence(isrlog.Evidence{Where: "controller 100 (c:1)"})
	for again := true; again && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		again = to.Reached(isrlog.Reached{Asked: time.Now(), Next: 10, Look: func(at time.Time, keep func(string) bool) *inspect.Snapshot {
			s := l.at(0)
			s.TakenAt, s.ToldBy = at, ""
			return s
		}})
	}
}

func shrinkOf(topic string, offset int) inspect.IsrEvent {
	return inspect.IsrEvent{
		Topic: topic, Type: inspect.IsrShrink, Cause: inspect.CauseReplicaLag, Brokers: ids{3}, Replicas: ids{1, 2, 3},
		Offset: inspect.Known(inspect.Offset(offset)),
	}
}

// TestISRWatch: a log that cannot be had is said so once, and tried again; then it is what
// counts, of the topics that the filter lets through; and where it ends, looks are, from
// what it told last.
func TestISRWatch(t *testing.T) {
	t.Parallel()
	refused := func(context.Context, isrlog.Listener) error { return errors.New("not today") }
	ends := make(chan bool)
	r := &readings{each: []func(context.Context, isrlog.Listener) error{refused, refused, refused, func(ctx context.Context, to isrlog.Listener) error {
		reachesEnd(ctx, to, looked{1, 1, ids{1, 2, 3}, nil})
		to.Note("looking for the active controller", false)
		to.Event(shrinkOf("t", 11))
		to.Event(shrinkOf("other", 12))
		to.Note("something is missing", true)
		<-ends
		return errors.New("gone")
	}, refused}}
	w := watch(t, r, patience)
	w.until("the log counts", w.byLog)
	w.until("what it tells is counted", func() bool { return w.to.gaps[gapTrimmed] > 0 })
	wantCounted(t, "by the log", w.to, "1 shrinks, 0 expands; 3 left replica-lag 1; gap trimmed 1")
	if got := w.to.where; got != "controller 100 (c:1)" || !r.span.Follow || !r.span.FromEnd || r.span.ClusterID != "the cluster" {
		t.Errorf("read %q, %+v", got, r.span)
	}
	close(ends)
	w.until("looks count", func() bool { return !w.byLog() && r.count() > 8 })
	wantCounted(t, "after it", w.to, "1 shrinks, 0 expands; 3 left replica-lag 1; gap log 1; gap trimmed 1")
	const cannot = `level=WARN msg="the metadata log cannot be read: ISR changes are counted by comparing looks, which is a lower bound" request=Fetch phase=request error=`
	want := []string{
		cannot + `"not today"`,
		`level=INFO msg="ISR changes are counted from the metadata log" from="controller 100 (c:1)"`,
		`level=INFO msg="metadata log: looking for the active controller"`,
		`level=INFO msg="metadata log: something is missing"`,
		cannot + `gone`,
	}
	if diff := cmp.Diff(want, w.log.lines()); diff != "" {
		t.Errorf("the log, -want +got:\n%s", diff)
	}
}

// TestISRWatchSilent: a log of which nothing is heard is given up, and one that is heard
// of in time is not.
func TestISRWatchSilent(t *testing.T) {
	t.Parallel()
	var w *watching
	started := make(chan bool)
	hangs := func(ctx context.Context, to isrlog.Listener) error {
		<-started
		reachesEnd(ctx, to, looked{1, 1, ids{1, 2}, nil})
		for n := 0; ctx.Err() == nil && n < 5; n++ { // for longer than it may be silent
			time.Sleep(w.silent / 3)
			to.Event(shrinkOf("t", 11+n))
		}
		<-ctx.Done()
		to.Event(shrinkOf("t", 20)) // was held
		return ctx.Err()
	}
	never := func(ctx context.Context, _ isrlog.Listener) error { <-ctx.Done(); return ctx.Err() }
	w = watch(t, &readings{each: []func(context.Context, isrlog.Listener) error{hangs, never}}, time.Second)
	close(started)
	w.until("the log counts", w.byLog)
	w.until("looks count", func() bool { return !w.byLog() })
	wantCounted(t, "then", w.to, "7 shrinks, 0 expands; 3 left replica-lag 6; 3 left unknown 1; gap log 1")
	if got := fmt.Sprint(w.log.lines()); !strings.Contains(got, `error="nothing was heard of it for so long that it is given up"`) {
		t.Errorf("the log: %s", got)
	}
}

// TestISRWatchLasting: what is refused is not asked for again and again.
func TestISRWatchLasting(t *testing.T) {
	t.Parallel()
	refused := func(context.Context, isrlog.Listener) error {
		return &isrlog.RefusedError{Address: "c:1", Request: "Fetch", Missing: inspect.ACL{Operation: inspect.OpClusterAction, Resource: inspect.ResourceCluster}}
	}
	r := &readings{each: []func(context.Context, isrlog.Listener) error{refused}}
	w := watch(t, r, patience)
	w.until("it is said", func() bool { return len(w.log.lines()) > 0 })
	time.Sleep(50 * time.Millisecond) // 25 times as long as others wait
	if n := r.count(); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
	if got := fmt.Sprint(w.log.lines()); !strings.Contains(got, "CLUSTER_ACTION on the cluster, which also lets its holder act as a broker") {
		t.Errorf("the log: %s", got)
	}
}
