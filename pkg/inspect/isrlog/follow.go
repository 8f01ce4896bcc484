package isrlog

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
)

// Follow follows the changes of a cluster's ISRs by the better of two sources at any
// time:
//
//	log     for as long as it can be had and something is heard of it
//	looks   while it cannot. The log, once it can be had again, tells what was meanwhile,
//	        and better: readers of a recording then leave looks out
//
// A recording gets all that there is, as by [Record]; the listener gets what the span
// asks for, and nothing twice: not by the log what looks have told already.
type Follow struct {
	// Log is nil where nobody is to be asked for it.
	Log Source
	// Looks begins comparing looks.
	Looks func() *Poll
	// Await waits until the log is worth another try, as [Log.Await] does, while looks are
	// compared.
	Await func(context.Context) error
	// Into is the recording that all goes to; nil for none.
	Into *recording.Writer
	// Fell, where it is not nil, takes why looks take the log's place, once until something
	// was heard of that again.
	Fell func(error)
	// Silent is how long nothing may be heard of the log. Retry and RetryMost are the first
	// and the longest time to the next try of it. Zero stands for the usual ones.
	Silent, Retry, RetryMost time.Duration

	// span is what is still to be told.
	span Span
	to   Listener
	// told: somebody has told something.
	told bool
}

// The first and the longest time to the next try of the log, and the longest where the
// reason why it cannot be had lasts.
const (
	RetryFirst   = time.Second
	RetryMost    = time.Minute
	RetryLasting = 10 * time.Minute
)

// Run follows until ctx ends, and returns its error then; or until the span does. Where
// neither can be had at first it returns why not, and of a recording a *[RecordError].
func (f *Follow) Run(ctx context.Context, span Span, to Listener) error {
	f.Silent, f.Retry, f.RetryMost = cmp.Or(f.Silent, SilentFor), cmp.Or(f.Retry, RetryFirst), cmp.Or(f.RetryMost, RetryMost)
	f.span, f.to = span, to
	f.span.Follow = true
	fell := false
	for wait := f.Retry; ; wait = min(2*wait, f.RetryMost) {
		if f.Log != nil {
			heard, err := f.readLog(ctx)
			if ended(ctx, err) {
				return err
			}
			if heard {
				wait, fell = f.Retry, false
			}
			if !fell && f.Fell != nil {
				f.Fell(err)
			}
			fell = true
		}
		again, err := f.readLooks(ctx, wait)
		if !again && (ended(ctx, err) || !f.told) {
			return err
		}
	}
}

// ended reports whether there is nothing more to follow, by what a reading returned.
func ended(ctx context.Context, err error) bool {
	var unwritten *RecordError
	return err == nil || ctx.Err() != nil || errors.As(err, &unwritten)
}

// readLog reads the log for as long as it can be had and is not silent. It reports
// whether anything was heard of it.
func (f *Follow) readLog(ctx context.Context) (bool, error) {
	s := NewSilence(ctx, f.Silent)
	defer s.End()
	err := f.read(s.Ctx, f.Log, func(e Evidence) {
		s.Heard()
		if to, ok := e.To.Get(); ok {
			f.span.After = inspect.Known(Place{Offset: to, Epoch: e.Epoch.Or(0), Time: e.Until.Or(time.Time{})})
		}
	})
	if err != nil && s.WasTooLong() {
		err = ErrSilent
	}
	return s.Begun(), err
}

// readLooks compares looks until the log can be had, and for a while at least. It reports
// whether that is why it ended.
func (f *Follow) readLooks(ctx context.Context, least time.Duration) (again bool, err error) {
	looking, cancel := context.WithCancel(ctx)
	var trying sync.WaitGroup
	defer trying.Wait()
	defer cancel()
	if f.Log != nil {
		trying.Go(func() {
			defer cancel()
			if pause(looking, least) == nil {
				_ = f.Await(looking) // it ends with looking
			}
		})
	}
	err = f.read(looking, f.Looks(), func(e Evidence) {
		if until, ok := e.Until.Get(); ok { // with nothing to go on from but the time
			f.span.Since, f.span.After = maxTime(f.span.Since, until.Add(1)), inspect.Unknown[Place]()
		}
	})
	var unwritten *RecordError
	switch {
	case errors.As(err, &unwritten), ctx.Err() != nil:
		return false, err
	case looking.Err() != nil:
		return true, nil
	case err != nil && f.told:
		_ = pause(looking, least)
	}
	return false, err
}

// read reads one source, into the recording where there is one.
func (f *Follow) read(ctx context.Context, src Source, progress func(Evidence)) error {
	to := f.to
	to.Progress = func(e Evidence) {
		f.told = true
		progress(e)
		f.to.progress(e)
	}
	if f.Into == nil {
		return src.Read(ctx, f.span, to)
	}
	since := f.span.Since
	to.Event = func(e inspect.IsrEvent) {
		if !e.Time.Before(since) {
			f.to.Event(e)
		}
	}
	return Record(ctx, src, f.span, f.Into, to)
}
