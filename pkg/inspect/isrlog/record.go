package isrlog

import (
	"context"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
)

// Record reads as src.Read does, and appends all that there is to a recording, whatever
// of it the span asks for: Since does not count, and Until ends the reading. Where the
// recording ends within the log it goes on from there, so that events of before are
// neither read nor told again; a part that the log has lost meanwhile is a note. A new
// one begins with all that the log has.
//
// What the reading has not come to understand when it ends is taken back. An error of the
// recording ends the reading, as a *[RecordError]. The recording stays open.
func Record(ctx context.Context, src Source, span Span, w *recording.Writer, to Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &recorder{w: w, to: to, cancel: cancel, until: span.Until}
	span.Since, span.Until = time.Time{}, time.Time{}
	if c, ok := w.Resume(); ok {
		span.After = inspect.Known(Place{Offset: c.To.Or(0), Epoch: c.Epoch.Or(0), Time: c.Until})
		if err := r.out.remember(w.Name()); err != nil {
			return &RecordError{err}
		}
	}
	listener := to
	listener.Event, listener.Progress = r.event, r.progress
	err := src.Read(ctx, span, listener)
	if r.failed == nil {
		r.failed = w.Discard()
	}
	switch {
	case r.failed != nil:
		return &RecordError{r.failed}
	case r.ended:
		return nil
	}
	return err
}

// RecordError is about the recording, and not about what was read.
type RecordError struct{ Err error }

func (e *RecordError) Error() string { return e.Err.Error() }
func (e *RecordError) Unwrap() error { return e.Err }

// recorder is one Record.
type recorder struct {
	w      *recording.Writer
	to     Listener
	out    absences
	cancel context.CancelFunc
	failed error
	until  time.Time
	ended  bool
	// newer is how many unreadable records have been committed, anew where the reading
	// began whose offsets do not go on from the ones before.
	newer int
	anew  inspect.Opt[inspect.Offset]
}

func (r *recorder) event(e inspect.IsrEvent) {
	if r.failed != nil {
		return
	}
	r.out.see(&e)
	if r.failed = r.w.Append(e); r.failed != nil {
		r.cancel()
		return
	}
	if r.until.IsZero() || e.Time.Before(r.until) {
		r.to.Event(e)
	}
}

func (r *recorder) progress(e Evidence) {
	if r.failed != nil || !e.Since.IsKnown() || !e.Until.IsKnown() {
		return
	}
	c := coverageOf(&e)
	c.Anew = e.Anew && r.anew != e.From
	if c.Anew {
		r.anew = e.From
	}
	c.Unreadable, r.newer = e.Gaps.Newer-r.newer, e.Gaps.Newer
	if r.failed = r.w.Commit(c); r.failed != nil {
		r.cancel()
		return
	}
	r.to.progress(e)
	if end := (Span{Until: r.until}); end.ended(c.Until) {
		r.ended = true
		r.cancel()
	}
}

func coverageOf(e *Evidence) recording.Coverage {
	c := recording.Coverage{Source: e.Source, Where: e.Where, Every: e.Every}
	c.Since, _ = e.Since.Get()
	c.Until, _ = e.Until.Get()
	if e.From.IsKnown() && e.To.IsKnown() {
		c.From, c.To, c.Epoch = e.From, e.To, e.Epoch
	}
	return c
}
