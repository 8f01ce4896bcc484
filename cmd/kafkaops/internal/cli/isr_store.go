package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// readFunc reads a source, as [isrlog.Source] does.
type readFunc func(context.Context, isrlog.Source, isrlog.Span, isrlog.Listener) error

// openStored reads --store, beside the cluster where one is named. One that does not
// answer takes nothing away of what was stored.
func (r *isrReading) openStored(ctx context.Context) error {
	var err error
	if r.stored, err = recording.Read(r.opts.store); err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	r.snap.ClusterID = inspect.Known(r.stored.ClusterID())
	r.target, err = r.opts.resolve(r.env)
	if errors.Is(err, errNoCluster) {
		r.source = isrlog.NewStored(r.stored, nil)
		return nil
	}
	if err == nil {
		err = r.useAgents()
	}
	if err != nil {
		return err
	}
	err = r.openLive(ctx)
	var boot *source.BootstrapError
	switch {
	case errors.As(err, &boot):
		for _, f := range boot.Failures {
			r.fail(f)
		}
		r.source = isrlog.NewStored(r.stored, nil)
		return nil
	case err != nil:
		return err
	}
	if id, ok := r.snap.ClusterID.Get(); !ok || id != r.stored.ClusterID() {
		return fmt.Errorf("--store: %w", &recording.ForeignError{Name: r.opts.store, Holds: r.stored.ClusterID(), Asked: r.snap.ClusterID.String()})
	}
	r.source = isrlog.NewStored(r.stored, r.source)
	return nil
}

// followed follows, and keeps what it sees where --store says so.
func (r *isrReading) followed(ctx context.Context) error {
	if !r.opts.storeGiven {
		return r.follow(ctx, func(ctx context.Context, src isrlog.Source, span isrlog.Span, to isrlog.Listener) error {
			return src.Read(ctx, span, to)
		})
	}
	w, err := recording.Open(r.opts.store, r.snap.ClusterID.Or(""))
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	k := &keeping{isrReading: r, w: w}
	if k.stored, err = recording.Read(r.opts.store); err == nil {
		k.tell()
		err = r.follow(ctx, k.read)
	}
	if closed := w.Close(); closed != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = closed
	}
	return err
}

// keeping is a reading that is recorded.
type keeping struct {
	*isrReading
	w      *recording.Writer
	stored *recording.Reader
	// begun: what the recording holds of the span has been shown.
	begun bool
}

// tell says where the recording goes on.
func (k *keeping) tell() {
	tellResumed(k.w, func(format string, args ...any) { fmt.Fprintf(k.env.Terminal.Err, "kafkaops: "+format+"\n", args...) })
}

// tellResumed says where a recording goes on, and what it has lost.
func tellResumed(w *recording.Writer, say func(format string, args ...any)) {
	if n := w.Cut(); n > 0 {
		say("%s: cut off %d bytes at its end, of a commit that its last writer did not finish", w.Name(), n)
	}
	for _, d := range w.Damages() {
		say("%s: %d bytes at %d are damaged: what they held is a gap", w.Name(), d.Bytes, d.At)
	}
	last, ok := w.Last()
	switch to, known := last.To.Get(); {
	case known:
		say("%s: goes on from offset %d (%s)", w.Name(), to, last.Until.UTC().Format(time.RFC3339))
	case ok:
		say("%s: goes on; it was last written at %s", w.Name(), last.Until.UTC().Format(time.RFC3339))
	default:
		say("%s: is new", w.Name())
	}
}

// read shows what is new to the recording; and before that, with --since, what it
// holds. What a new one takes in of the log's past is not shown.
func (k *keeping) read(ctx context.Context, src isrlog.Source, span isrlog.Span, to isrlog.Listener) error {
	shown := span
	last, resumed := k.w.Last()
	switch {
	case k.opts.sinceGiven && !k.begun:
		past := to
		past.Evidence = func(isrlog.Evidence) {}
		if err := isrlog.NewStored(k.stored, nil).Read(ctx, shown, past); err != nil {
			return err
		}
		k.begun = true
	case k.opts.sinceGiven:
	case resumed && last.To.IsKnown():
		shown.Since = time.Time{}
	case resumed: // the log tells what looks have told already
		shown.Since = last.Until.Add(1)
	}
	event := to.Event
	to.Event = func(e inspect.IsrEvent) {
		if !e.Time.Before(shown.Since) {
			event(e)
		}
	}
	return isrlog.Record(ctx, src, span, k.w, to)
}
