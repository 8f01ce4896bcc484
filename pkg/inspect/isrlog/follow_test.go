package isrlog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// readings answers one Read after the other.
type readings struct {
	each []func(ctx context.Context, span Span, to Listener) error
	n    int
}

// Read implements Source.
func (r *readings) Read(ctx context.Context, span Span, to Listener) error {
	read := r.each[r.n]
	r.n++
	return read(ctx, span, to)
}

// lookAt is a look at t-0 with that ISR, taken now.
func lookAt(isr ...inspect.BrokerID) *inspect.Snapshot {
	return &inspect.Snapshot{TakenAt: time.Now(), Topics: []inspect.Topic{{Name: "t", Partitions: []inspect.Partition{
		{Topic: "t", Leader: 1, Replicas: []inspect.BrokerID{1, 2, 3}, ISR: isr},
	}}}}
}

// leaving leaves looks with an ISR all the time.
type leaving struct {
	to  *Handed
	mu  sync.Mutex
	isr []inspect.BrokerID
}

func (l *leaving) run(ctx context.Context) {
	for pause(ctx, time.Millisecond) == nil {
		l.mu.Lock()
		l.to.Leave(lookAt(l.isr...))
		l.mu.Unlock()
	}
}

func (l *leaving) set(isr ...inspect.BrokerID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isr = isr
}

// ofLog is an event of the log.
func ofLog(at time.Time, offset int) inspect.IsrEvent {
	return inspect.IsrEvent{
		Time: at, Topic: "t", Type: inspect.IsrShrink, Cause: inspect.CauseReplicaLag, Brokers: []inspect.BrokerID{3}, Replicas: []inspect.BrokerID{1, 2, 3},
		ISRBefore: []inspect.BrokerID{1, 2, 3}, ISR: []inspect.BrokerID{1, 2}, Offset: inspect.Known(inspect.Offset(offset)), Source: inspect.SourceMetadataLog,
	}
}

// TestFollow: looks are what counts until the log can be had, and again once that is
// silent. What looks have told the log does not tell again, but to the recording.
func TestFollow(t *testing.T) {
	t.Parallel()
	for _, recorded := range []bool{false, true} {
		t.Run(fmt.Sprintf("recorded %t", recorded), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var looks Handed
			isr := &leaving{to: &looks, isr: []inspect.BrokerID{1, 2, 3}}
			var leaves sync.WaitGroup
			leaves.Go(func() { isr.run(ctx) })
			defer leaves.Wait()
			defer cancel()

			began := time.Now()
			var spans []Span
			log := &readings{each: []func(context.Context, Span, Listener) error{
				func(context.Context, Span, Listener) error { return errors.New("not today") },
				func(ctx context.Context, span Span, to Listener) error {
					spans = append(spans, span)
					now := time.Now()
					to.Evidence(Evidence{Source: inspect.SourceMetadataLog})
					if recorded { // a source asks no other span of the log
						to.Event(ofLog(began, 5))
					}
					to.Event(ofLog(now, 11))
					to.Progress(Evidence{
						Source: inspect.SourceMetadataLog, From: inspect.Known[inspect.Offset](5), To: inspect.Known[inspect.Offset](12),
						Since: inspect.Known(began), Until: inspect.Known(now), Epoch: inspect.Known[inspect.Epoch](3),
					})
					if recorded { // what it has not come to understand
						to.Event(ofLog(now, 13))
					}
					<-ctx.Done()
					return ctx.Err()
				},
				func(_ context.Context, span Span, _ Listener) error {
					spans = append(spans, span)
					cancel()
					return ctx.Err()
				},
			}}
			worthIt := make(chan bool)
			var why, told, sources []string
			f := &Follow{
				Log: log, Looks: func() *Poll { return looks.Poll(time.Millisecond, true) }, Silent: 20 * time.Millisecond, Retry: time.Millisecond,
				Await: func(ctx context.Context) error {
					select {
					case <-worthIt:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				},
				Fell: func(err error) { why = append(why, err.Error()) },
			}
			name := filepath.Join(t.TempDir(), "a.rec")
			if recorded {
				f.Into = openRecording(t, name)
			}
			looked := 0
			err := f.Run(ctx, Span{Since: began}, Listener{
				Event: func(e inspect.IsrEvent) {
					told = append(told, fmt.Sprintf("%s %s %v", e.Source, e.Type, e.Brokers))
					if e.Source == inspect.SourceMetadataDiff {
						go func() { worthIt <- true }()
					}
				},
				Evidence: func(e Evidence) { sources = append(sources, string(e.Source)) },
				Progress: func(e Evidence) {
					if e.Source == inspect.SourceMetadataLog {
						looked = 0
						return
					}
					if looked++; looked == 1 { // the first look tells nothing, the next may
						if len(told) == 0 {
							isr.set(1, 2)
						} else {
							isr.set(1)
						}
					}
				},
				Note: func(line string, _ bool) { t.Error(line) },
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"not today", ErrSilent.Error()}, why); diff != "" {
				t.Errorf("why looks took its place (-want +got):\n%s", diff)
			}
			want := []string{"metadata-diff shrink [3]", "metadata-log shrink [3]", "metadata-diff shrink [2]"}
			if recorded { // what is taken back has been told
				want = slices.Insert(want, 1, want[1])
			}
			if diff := cmp.Diff(want, told); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
			if len(sources) < 3 || sources[0] != "metadata-diff" || sources[len(sources)-1] != "metadata-diff" {
				t.Errorf("evidence of %q", sources)
			}
			if !recorded {
				for _, s := range spans {
					if !s.Since.After(began) || s.After.IsKnown() || !s.Follow {
						t.Errorf("the log is asked for %+v, want from behind the last look", s)
					}
				}
				return
			}
			if got := spans[1].After.Or(Place{}); got.Offset != 12 || got.Epoch != 3 {
				t.Errorf("the log is asked for what comes behind %+v", got)
			}
			if err := f.Into.Close(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"5", "11", "-"}, offsetsIn(t, name)); diff != "" {
				t.Errorf("recorded offsets (-want +got):\n%s", diff)
			}
		})
	}
}

// offsetsIn are the offsets of a recording's events.
func offsetsIn(t *testing.T, name string) (offsets []string) {
	t.Helper()
	r, _ := recorded(t, name)
	err := r.Events(func(e inspect.IsrEvent) error {
		offsets = append(offsets, "-")
		if o, ok := e.Offset.Get(); ok {
			offsets[len(offsets)-1] = fmt.Sprint(o)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return offsets
}

// TestFollowNeither: where neither can be had it ends, and says why not.
func TestFollowNeither(t *testing.T) {
	t.Parallel()
	log := &readings{each: []func(context.Context, Span, Listener) error{
		func(context.Context, Span, Listener) error { return errors.New("not today") },
	}}
	f := &Follow{
		Log: log, Await: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		Looks: func() *Poll {
			return &Poll{Every: time.Millisecond, Take: func(context.Context) (*inspect.Snapshot, error) { return nil, errors.New("nobody answers") }}
		},
	}
	if err := f.Run(t.Context(), Span{}, Listener{}); err == nil || err.Error() != "nobody answers" {
		t.Error(err)
	}
}
