package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/advise"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/tui"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/looks"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
)

// topReplay is a recording as top's Source.
type topReplay struct {
	rec          *recording.Reader
	filter       topicFilter
	since, until time.Time
	// events are all that it has, by time, and known the stretches of which none is missing.
	events []inspect.IsrEvent
	known  []advise.Span

	mu sync.Mutex
	// at is where it was wound to; anew: the next look does not follow the one before.
	at   time.Time
	anew bool
	// next reads on from there, and stop ends that; nil before and after. A reading begins
	// up to ten minutes before what it is asked for, so that there is one for all looks.
	next func() (*inspect.Snapshot, error, bool)
	stop func()
	// ahead is the look that was read and not told yet, last when the one before was, and
	// told how many of the events were.
	ahead *inspect.Snapshot
	last  time.Time
	told  int
}

func openReplay(name string, filter topicFilter) (*topReplay, error) {
	rec, err := recording.Read(name)
	if err != nil {
		return nil, fmt.Errorf("--replay: %w", err)
	}
	spans := rec.Looked()
	if len(spans) == 0 {
		return nil, fmt.Errorf("%s has no look: nothing can be played", name)
	}
	r := &topReplay{rec: rec, filter: filter, since: spans[0].Since, until: spans[len(spans)-1].Until, anew: true}
	r.at = r.since
	err = rec.Events(func(e inspect.IsrEvent) error {
		if filter.keep(e.Topic, false) {
			r.events = append(r.events, e)
		}
		return nil
	})
	slices.SortStableFunc(r.events, func(a, b inspect.IsrEvent) int { return a.Time.Compare(b.Time) })
	for _, c := range rec.Coverages() {
		r.known = append(r.known, advise.Span{Since: c.Since, Until: c.Until})
	}
	return r, err
}

// close ends what was begun.
func (r *topReplay) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endReading()
}

func (r *topReplay) endReading() {
	if r.stop != nil {
		r.stop()
	}
	r.next, r.stop, r.ahead = nil, nil, nil
}

// Span is from the first to the last look.
func (r *topReplay) Span() (since, until time.Time) { return r.since, r.until }

// Seek winds it.
func (r *topReplay) Seek(to time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if to.After(r.until) {
		to = r.until
	}
	if to.Before(r.since) {
		to = r.since
	}
	r.endReading()
	r.at, r.anew = to, true
}

// Next is the next look, as long after the one before as it was taken, by the speed.
func (r *topReplay) Next(ctx context.Context, want tui.Want) (tui.Seen, error) {
	r.mu.Lock()
	s, err := r.peek()
	anew, last := r.anew, r.last
	r.mu.Unlock()
	if err != nil || s == nil {
		return tui.Seen{Ended: err == nil}, err
	}
	if !anew {
		if err := sleep(ctx, time.Duration(float64(s.TakenAt.Sub(last))/max(want.Speed, 0.01))); err != nil {
			return tui.Seen{}, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ahead != s { // it was wound meanwhile
		return tui.Seen{}, context.Canceled
	}
	r.ahead = nil
	r.at, r.last, r.anew = s.TakenAt.Add(time.Nanosecond), s.TakenAt, false
	if anew {
		r.told = 0 // all that is known of before
	}
	seen := tui.Seen{Snap: s, Anew: anew, Evidence: "recording " + filepath.Base(r.rec.Name()), Known: r.knownUpTo(s.TakenAt)}
	upTo, _ := slices.BinarySearchFunc(r.events, s.TakenAt, func(e inspect.IsrEvent, at time.Time) int {
		if e.Time.After(at) {
			return 1
		}
		return -1
	})
	seen.Events, r.told = r.events[r.told:max(r.told, upTo):max(r.told, upTo)], max(r.told, upTo)
	return seen, nil
}

// knownUpTo is what was known at a time.
func (r *topReplay) knownUpTo(at time.Time) (out []advise.Span) {
	for _, k := range r.known {
		if k.Since.After(at) {
			break
		}
		if k.Until.After(at) {
			k.Until = at
		}
		out = append(out, k)
	}
	return out
}

// peek is the next look, which stays the next one; nil at the end.
func (r *topReplay) peek() (*inspect.Snapshot, error) {
	if r.ahead != nil {
		return r.ahead, nil
	}
	if r.next == nil {
		r.next, r.stop = iter.Pull2(r.looksFrom(r.at))
	}
	s, err, ok := r.next()
	if !ok || err != nil {
		r.endReading()
		return nil, err
	}
	r.ahead = s
	return s, nil
}

// looksFrom are those from a time on, or why there is none.
func (r *topReplay) looksFrom(at time.Time) iter.Seq2[*inspect.Snapshot, error] {
	return func(yield func(*inspect.Snapshot, error) bool) {
		err := r.rec.Looks(at, time.Time{}, func(s *inspect.Snapshot) error {
			own, err := cloneLook(s)
			if err != nil {
				return err
			}
			own.Topics = slices.DeleteFunc(own.Topics, func(t inspect.Topic) bool { return !r.filter.keep(t.Name, t.Internal) })
			if !yield(own, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// cloneLook is a look of one's own: that of a reader is good until the next one.
func cloneLook(s *inspect.Snapshot) (*inspect.Snapshot, error) {
	var enc looks.Encoder
	var dec looks.Decoder
	own, err := dec.Apply(enc.Append(nil, s))
	if err != nil {
		return nil, err
	}
	return own, nil
}

// runReplay plays a recording, or prints how it ends where there is no terminal.
func (o *topOptions) runReplay(ctx context.Context, env Env, cfg tui.Config, view render.View, filter topicFilter, screen bool) error {
	r, err := openReplay(o.replay, filter)
	if err != nil {
		return err
	}
	defer r.close()
	if screen {
		if cfg.Interval, err = intervalOf(r.rec); err != nil {
			return err
		}
		cfg.Speed = o.speed
		cfg.Source, cfg.Title, cfg.ReadOnly = r, filepath.Base(o.replay), "it is a recording"
		return tui.Run(ctx, cfg, env.Terminal.In, env.Terminal.Out)
	}
	r.Seek(r.until)
	s, err := r.peek()
	if err != nil || s == nil {
		return errors.Join(err, ctx.Err())
	}
	for _, f := range s.Failures {
		fmt.Fprintln(env.Terminal.Err, render.FailureLine(f))
	}
	verdict := s.Verdict()
	if err := render.Overview(env.Terminal.Out, view, s, &verdict); err != nil {
		return err
	}
	return outcome(s, true)
}
