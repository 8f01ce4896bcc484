package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

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
	// events are all that it has, by time.
	events []inspect.IsrEvent

	mu sync.Mutex
	// at is where the next look is read from; anew: it does not follow the one before.
	at   time.Time
	anew bool
	// ahead are looks that were read already, as a reading costs a search.
	ahead []*inspect.Snapshot
	last  time.Time
}

// topAhead is how many looks are read at once.
const topAhead = 16

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
	return r, err
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
	r.at, r.anew, r.ahead = to, true, nil
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
	if len(r.ahead) == 0 || r.ahead[0] != s { // it was wound meanwhile
		return tui.Seen{}, context.Canceled
	}
	r.ahead = r.ahead[1:]
	r.at, r.last, r.anew = s.TakenAt.Add(time.Nanosecond), s.TakenAt, false
	from := last
	if anew {
		from = time.Time{} // all that is known of before
	}
	seen := tui.Seen{Snap: s, Anew: anew, Evidence: "recording " + filepath.Base(r.rec.Name())}
	for _, e := range r.events {
		if e.Time.After(from) && !e.Time.After(s.TakenAt) {
			seen.Events = append(seen.Events, e)
		}
	}
	return seen, nil
}

// peek is the next look, which stays the next one; nil at the end.
func (r *topReplay) peek() (*inspect.Snapshot, error) {
	if len(r.ahead) > 0 {
		return r.ahead[0], nil
	}
	err := r.rec.Looks(r.at, time.Time{}, func(s *inspect.Snapshot) error {
		own, err := cloneLook(s)
		if err != nil {
			return err
		}
		own.Topics = slices.DeleteFunc(own.Topics, func(t inspect.Topic) bool { return !r.filter.keep(t.Name, t.Internal) })
		r.ahead = append(r.ahead, own)
		if len(r.ahead) == topAhead {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) || len(r.ahead) == 0 {
		return nil, err
	}
	return r.ahead[0], nil
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
	if screen {
		if cfg.Interval, err = intervalOf(r.rec); err != nil {
			return err
		}
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
