package isrlog

import (
	"context"
	"errors"
	"time"
)

// Silence ends a reading of the log of which nothing was heard for too long, from when
// something was heard first. Its methods are for one goroutine.
type Silence struct {
	// Ctx is the reading's.
	Ctx   context.Context //nolint:containedctx // the reading's, for as long as that
	stop  context.CancelCauseFunc
	most  time.Duration
	timer *time.Timer
}

// ErrSilent ends a reading.
var ErrSilent = errors.New("nothing was heard of it for so long that it is given up")

// SilentFor is how long: during an election of the active controller nothing can change
// and nothing is lost, and that takes no longer.
const SilentFor = 30 * time.Second

// NewSilence begins, with a context that ends as ctx does, or for silence.
func NewSilence(ctx context.Context, most time.Duration) *Silence {
	s := &Silence{most: most}
	s.Ctx, s.stop = context.WithCancelCause(ctx)
	return s
}

// Heard notes that something was.
func (s *Silence) Heard() {
	if s.timer == nil {
		s.timer = time.AfterFunc(s.most, func() { s.stop(ErrSilent) })
	}
	s.timer.Reset(s.most)
}

// Begun reports whether anything was heard.
func (s *Silence) Begun() bool { return s.timer != nil }

// WasTooLong reports whether that ended the reading.
func (s *Silence) WasTooLong() bool { return errors.Is(context.Cause(s.Ctx), ErrSilent) }

// End is called when the reading has ended.
func (s *Silence) End() {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.stop(nil)
}
