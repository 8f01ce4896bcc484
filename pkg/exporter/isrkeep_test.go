package exporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// keeping is an isrKeep and its file.
type keeping struct {
	t *testing.T
	*isrKeep
	file     string
	readable atomic.Bool
	log      *logged
	stop     func()
}

func keep(t *testing.T, source isrlog.Source) *keeping {
	t.Helper()
	out := &keeping{t: t, file: filepath.Join(t.TempDir(), "a.isr"), log: &logged{}}
	store, err := recording.Prepare(out.file)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{ISR: source, ISRStore: store, Log: slog.New(slog.NewTextHandler(out.log, nil))}
	out.isrKeep = newISRKeep(&o, out.readable.Load, func() time.Duration { return time.Millisecond })
	out.silent, out.retry, out.retryMost = time.Second, time.Millisecond, 2*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	out.stop = func() { cancel(); out.wait() }
	t.Cleanup(out.stop)
	out.start(ctx, "the cluster")
	out.start(ctx, "not twice")
	return out
}

// lookUntil leaves looks until the file holds as many events as that.
func (k *keeping) lookUntil(n int, l looked) []string {
	k.t.Helper()
	for limit := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		s := l.at(0)
		s.TakenAt = time.Now()
		k.look(s)
		if got := k.stored(); len(got) >= n {
			return got
		}
		if time.Now().After(limit) {
			k.t.Fatalf("stored %q, want %d events; the log:\n%s", k.stored(), n, strings.Join(k.log.lines(), "\n"))
		}
	}
}

// lookOnce leaves looks until one of them is kept.
func (k *keeping) lookOnce(l looked) {
	k.t.Helper()
	began := time.Now()
	for limit := began.Add(patience); ; time.Sleep(time.Millisecond) {
		s := l.at(0)
		s.TakenAt = time.Now()
		k.look(s)
		k.mu.Lock()
		wrote := k.wrote
		k.mu.Unlock()
		if wrote.After(began) {
			return
		}
		if time.Now().After(limit) {
			k.t.Fatalf("no look is kept; the log:\n%s", strings.Join(k.log.lines(), "\n"))
		}
	}
}

// stored are the events of the file.
func (k *keeping) stored() (out []string) {
	r, err := recording.Read(k.file)
	if err != nil {
		return nil // not begun yet
	}
	err = r.Events(func(e inspect.IsrEvent) error {
		out = append(out, fmt.Sprintf("%s %s %v by %s", e.Type, e.Cause, e.Brokers, e.Source))
		return nil
	})
	if err != nil {
		k.t.Fatal(err)
	}
	return out
}

// TestISRKeep: looks are kept until the log can be had, and again when nothing is heard of
// it any more; what the log has told by then and not committed is left out.
func TestISRKeep(t *testing.T) {
	t.Parallel()
	hung := make(chan bool)
	ofLog := func(offset int) inspect.IsrEvent {
		e := shrinkOf("t", offset)
		e.Time, e.Source = time.Now(), inspect.SourceMetadataLog
		return e
	}
	r := &readings{each: []func(context.Context, isrlog.Listener) error{
		func(context.Context, isrlog.Listener) error { return errors.New("not today") },
		func(ctx context.Context, to isrlog.Listener) error {
			now := time.Now()
			to.Event(ofLog(11))
			to.Note("something is missing", true)
			to.Note("went on", false)
			to.Progress(isrlog.Evidence{
				Source: inspect.SourceMetadataLog, From: inspect.Known[inspect.Offset](5), To: inspect.Known[inspect.Offset](12),
				Since: inspect.Known(now), Until: inspect.Known(time.Now()),
			})
			to.Event(ofLog(13))
			close(hung)
			<-ctx.Done()
			return ctx.Err()
		},
		func(context.Context, isrlog.Listener) error { return errors.New("not today") },
	}}
	k := keep(t, r)
	whole, two, one := looked{1, 1, ids{1, 2, 3}, nil}, looked{1, 1, ids{1, 2}, nil}, looked{1, 1, ids{1}, nil}
	k.lookOnce(whole)
	if k.keeps() != inspect.Known(true) {
		t.Error("a look is not kept")
	}
	k.lookUntil(1, two)
	if n := r.count(); n != 1 {
		t.Errorf("the log was asked %d times before it could be had", n)
	}
	k.readable.Store(true)
	<-hung
	k.readable.Store(false)
	k.lookUntil(2, two)
	k.lookOnce(two) // of the new reading, of which the first tells nothing
	got := k.lookUntil(3, one)
	k.stop()
	want := []string{"shrink unknown [3] by metadata-diff", "shrink replica-lag [3] by metadata-log", "shrink unknown [2] by metadata-diff"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	const file = " file="
	lines := []string{
		`level=INFO msg="ISR changes are kept from now on, and what the metadata log has of before"` + file + k.file,
		`level=WARN msg="something is missing in what is kept"` + file + k.file + ` reason="something is missing"`,
	}
	if diff := cmp.Diff(lines, k.log.lines()); diff != "" {
		t.Errorf("the log, -want +got:\n%s", diff)
	}
	if w, err := recording.Open(k.file, "the cluster"); err != nil || r.span.ClusterID != "the cluster" || !r.span.Follow || w.Close() != nil {
		t.Errorf("afterwards: %v, read %+v", err, r.span)
	}
}

// nobody answers.
type nobody struct{}

// Snapshot implements Snapshotter.
func (nobody) Snapshot(context.Context, source.Query) (*inspect.Snapshot, error) {
	return nil, errors.New("nobody answers")
}

// TestISRKeepUnused: a file that was prepared for a cluster that never answers is free
// again at the end.
func TestISRKeepUnused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.isr")
	store, err := recording.Prepare(file)
	if err != nil {
		t.Fatal(err)
	}
	e := New(Options{Collect: nobody{}, Sample: nobody{}, ISRStore: store, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if w, err := recording.Open(file, "the cluster"); err != nil || w.Close() != nil {
		t.Error(err)
	}
}
