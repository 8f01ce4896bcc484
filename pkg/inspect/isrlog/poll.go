package isrlog

import (
	"context"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Poll looks at a cluster's metadata again and again, where its log cannot be had: on
// managed clusters, behind closed controller listeners, with ZooKeeper. It knows
// nothing of what was before its first look, and what it tells is a lower bound.
type Poll struct {
	// Take takes a look. Of partitions it has what [Diff] compares, and of brokers
	// whether they are fenced.
	Take func(context.Context) (*inspect.Snapshot, error)
	// Every is the time from one look to the next.
	Every time.Duration
	// Whole says that Take asks for all topics there are.
	Whole bool
	// ended, where it is not nil, is called when a reading has.
	ended func()
}

// Read implements [Source]. It ends with the span, and where that has no end, without
// Follow after one look. What could not be looked at is a note, and the looks go on.
func (p *Poll) Read(ctx context.Context, span Span, to Listener) error {
	if p.ended != nil {
		defer p.ended()
	}
	diff := NewDiff()
	evidence := Evidence{Source: inspect.SourceMetadataDiff, Every: inspect.Known(p.Every)}
	for {
		began := time.Now()
		snap, err := p.Take(ctx)
		switch {
		case ctx.Err() != nil:
			to.Evidence(evidence)
			return ctx.Err()
		case err != nil && !evidence.Since.IsKnown():
			return err
		case err != nil:
			to.Note(fmt.Sprintf("%v; what happens meanwhile may be missing", err), true)
		default:
			evidence.Where = "brokers, by " + snap.ToldBy
			evidence.Until = inspect.Known(snap.TakenAt)
			if !evidence.Since.IsKnown() {
				evidence.Since = inspect.Known(snap.TakenAt)
				if span.Follow {
					to.Evidence(evidence)
				}
			}
			for _, e := range diff.Look(snap, p.Whole) {
				if span.contains(e.Time) {
					to.Event(e)
				}
			}
			to.progress(evidence)
		}
		if over := !began.Before(span.Until); over && (!span.Follow || !span.Until.IsZero()) {
			to.Evidence(evidence)
			return nil
		}
		if err := pause(ctx, p.Every-time.Since(began)); err != nil {
			to.Evidence(evidence)
			return err
		}
	}
}
