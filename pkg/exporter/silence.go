package exporter

import (
	"context"
	"errors"
	"time"
)

// silence ends a reading of the log of which nothing was heard for too long, from when
// something was heard first. Its methods are for one goroutine.
type silence struct {
	ctx   context.Context //nolint:containedctx // the reading's, for as long as that
	stop  context.CancelCauseFunc
	most  time.Duration
	timer *time.Timer
}

// errSilent ends a reading.
var errSilent = errors.New("nothing was heard of it for so long that it is given up")

// silentFor is how long: during an election of the active controller nothing can change
// and nothing is lost, and that takes no longer.
const silentFor = 30 * time.Second

func newSilence(ctx context.Context, most time.Duration) *silence {
	s := &silence{most: most}
	s.ctx, s.stop = context.WithCancelCause(ctx)
	return s
}

func (s *silence) heard() {
	if s.timer == nil {
		s.timer = time.AfterFunc(s.most, func() { s.stop(errSilent) })
	}
	s.timer.Reset(s.most)
}

// begun reports whether anything was heard.
func (s *silence) begun() bool { return s.timer != nil }

// wasTooLong reports whether that ended the reading.
func (s *silence) wasTooLong() bool { return errors.Is(context.Cause(s.ctx), errSilent) }

// end is called when the reading has ended.
func (s *silence) end() {
	if s.timer != nil {
		s.timer.Stop()
	}
	s.stop(nil)
}
