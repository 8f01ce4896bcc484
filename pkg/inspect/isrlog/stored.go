package isrlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
)

// Stored reads a recording, alone or with a source that goes on where it ends.
type Stored struct {
	file *recording.Reader
	live Source
}

// NewStored reads a recording, and what live has beyond it; live may be nil.
func NewStored(file *recording.Reader, live Source) *Stored { return &Stored{file, live} }

// Read implements [Source]. It does not follow. Gaps of the recording that touch the
// span are notes. Where live fails what was recorded is told before its error, also where
// that has taken all of ctx's time.
//
// The evidence reaches back to where nothing is missing up to its end: behind the last
// gap.
func (s *Stored) Read(ctx context.Context, span Span, to Listener) error {
	s.tellDamages(to)
	last := s.lastOfLog()
	gaps := s.file.Gaps()
	var beyond []inspect.IsrEvent
	var live Evidence
	var failed error
	if s.live != nil {
		asked := span
		if last != nil && !last.Until.Before(span.Since) {
			asked.After = inspect.Known(Place{Offset: last.To.Or(0), Epoch: last.Epoch.Or(0), Time: last.Until})
		}
		listener := to
		listener.Event = func(e inspect.IsrEvent) { beyond = append(beyond, e) }
		listener.Evidence = func(e Evidence) { live = e }
		failed = s.live.Read(ctx, asked, listener)
	}
	for _, g := range gaps {
		if touches(span, g.Since, g.Until) && !covers(&live, g.Since, g.Until) {
			to.Note(gapLine(s.file.Name(), &g), true)
		}
	}
	out := absences{gaps: gaps}
	tell := func(e inspect.IsrEvent) error {
		out.see(&e)
		if span.contains(e.Time) {
			to.Event(e)
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return ctx.Err()
		}
		return nil // who was waited for in vain takes nothing away of what the file has
	}
	err := s.file.Events(func(e inspect.IsrEvent) error {
		if !e.Offset.IsKnown() && covers(&live, e.Time, e.Time) {
			return nil // the log says more than looks did
		}
		return tell(e)
	})
	for i := range beyond {
		if err == nil {
			err = tell(beyond[i])
		}
	}
	to.Evidence(s.evidence(&live))
	if failed != nil {
		return failed
	}
	return err
}

func (s *Stored) lastOfLog() *recording.Coverage {
	all := s.file.Coverages()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].To.IsKnown() {
			return &all[i]
		}
	}
	return nil
}

func (s *Stored) tellDamages(to Listener) {
	for _, d := range s.file.Damages() {
		to.Note(fmt.Sprintf("%s: %d bytes at %d are damaged and passed over", s.file.Name(), d.Bytes, d.At), false)
	}
	if n := s.file.Torn(); n > 0 {
		to.Note(fmt.Sprintf("%s: %d bytes at its end are no whole commit: its writer is at work, or was cut off", s.file.Name(), n), false)
	}
}

// evidence joins both, up to the last gap.
func (s *Stored) evidence(live *Evidence) Evidence {
	e := *live
	all := s.file.Coverages()
	if live.Source == "" {
		if len(all) == 0 {
			return Evidence{Source: inspect.SourceRecording, Where: s.file.Name()}
		}
		e = s.stored(all[len(all)-1])
		all = all[:len(all)-1]
	}
	for i := len(all) - 1; i >= 0; i-- {
		c := &all[i]
		if !reaches(c, &e) {
			break
		}
		e.Since, e.From = inspect.Known(c.Since), c.From
		if c.Every.IsKnown() {
			e.Every = c.Every // so much of it is a lower bound
		}
	}
	if live.Source != "" && e.Since != live.Since {
		e.Where += " and " + s.file.Name()
	}
	return e
}

// stored is what a coverage is as evidence.
func (s *Stored) stored(c recording.Coverage) Evidence {
	e := Evidence{
		Source: inspect.SourceRecording, Where: s.file.Name(), From: c.From, To: c.To, Epoch: c.Epoch,
		Since: inspect.Known(c.Since), Until: inspect.Known(c.Until), Every: c.Every,
	}
	e.Gaps.Newer = c.Unreadable
	return e
}

// reaches reports whether nothing lies between what is recorded and what comes then.
func reaches(c *recording.Coverage, e *Evidence) bool {
	since, ok := e.Since.Get()
	if !ok || c.Since.After(since) {
		return false
	}
	to, known := c.To.Get()
	from, too := e.From.Get()
	if known && too {
		return !e.Anew && from <= to
	}
	return !c.Until.Before(since)
}

// covers reports whether the log was read from the one time to the other.
func covers(e *Evidence, since, until time.Time) bool {
	from, known := e.Since.Get()
	to, too := e.Until.Get()
	return known && too && e.From.IsKnown() && !since.Before(from) && !until.After(to)
}

// touches reports whether a gap takes something from the span.
func touches(span Span, since, until time.Time) bool {
	return until.After(span.Since) && (span.Until.IsZero() || since.Before(span.Until))
}

func gapLine(name string, g *recording.Gap) string {
	line := fmt.Sprintf("%s: nothing was recorded from %s to %s", name, g.Since.UTC().Format(time.RFC3339), g.Until.UTC().Format(time.RFC3339))
	if from, ok := g.From.Get(); ok {
		line += fmt.Sprintf(", offsets %d to %d", from, g.To.Or(0)-1)
	}
	if g.Anew {
		line += ", behind which another log begins"
	}
	return line
}
