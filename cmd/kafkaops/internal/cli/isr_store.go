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

// followed follows, and keeps what it sees where --store says so. What it shows is new to
// the recording; and before that, with --since, what that holds. What a new one takes in
// of the log's past is not shown.
func (r *isrReading) followed(ctx context.Context) error {
	if !r.opts.storeGiven {
		return r.follow(ctx, nil, nil)
	}
	w, err := recording.Open(r.opts.store, r.snap.ClusterID.Or(""))
	if err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	tellResumed(w, func(format string, args ...any) { fmt.Fprintf(r.env.Terminal.Err, "kafkaops: "+format+"\n", args...) })
	err = r.followInto(ctx, w)
	if closed := w.Close(); closed != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = closed
	}
	return err
}

func (r *isrReading) followInto(ctx context.Context, w *recording.Writer) error {
	var past *isrlog.Stored
	if r.opts.sinceGiven {
		stored, err := recording.Read(r.opts.store)
		if err != nil {
			return err
		}
		past = isrlog.NewStored(stored, nil)
	}
	return r.follow(ctx, w, past)
}

// sinceLast is from when on a recording that goes on has something new to tell.
func sinceLast(found recording.Found, asked time.Time) time.Time {
	until, resumed := found.Until.Get()
	switch {
	case !resumed:
		return asked
	case found.To.IsKnown(): // by offsets, whatever their times are
		return time.Time{}
	}
	return until.Add(1) // the log tells what looks have told already
}

// tellResumed says where a recording goes on, and what it has lost.
func tellResumed(w *recording.Writer, say func(format string, args ...any)) {
	found := w.Found()
	if found.Cut > 0 {
		say("%s: cut off %d bytes at its end, of a commit that its last writer did not finish", w.Name(), found.Cut)
	}
	for _, d := range found.Damages {
		say("%s: %d bytes at %d are damaged: what they held is a gap", w.Name(), d.Bytes, d.At)
	}
	until, resumed := found.Until.Get()
	switch to, known := found.To.Get(); {
	case known:
		say("%s: goes on from offset %d (%s)", w.Name(), to, until.Format(time.RFC3339))
	case resumed:
		say("%s: goes on; it was last written at %s", w.Name(), until.Format(time.RFC3339))
	default:
		say("%s: is new", w.Name())
	}
}
