package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// once is one pass of a command: it draws to out, and tells failures to notes.
type once func(ctx context.Context, out, notes io.Writer) error

// each runs a pass, or with --watch one after another until interrupted. In a
// watch nothing but the end of the pipe stops it: a cluster that does not answer
// now may answer in two seconds.
func (s *session) each(ctx context.Context, pass once) error {
	s.view.Width = s.terminal.Width
	if !s.opts.watch {
		return pass(ctx, s.terminal.Out, s.terminal.Err)
	}
	show := s.printed
	if s.view.Terminal {
		defer s.terminal.BeginWatch()()
		show = s.redrawn
	}
	for {
		s.terminal.Measure() // the window may have changed
		s.view.Width = s.terminal.Width
		if err := show(ctx, pass); err != nil {
			return err
		}
		if err := sleep(ctx, s.opts.interval); err != nil {
			return err
		}
	}
}

// printed prints one pass of a watch after the one before.
func (s *session) printed(ctx context.Context, pass once) error {
	return s.survive(pass(ctx, s.terminal.Out, s.terminal.Err), s.terminal.Err)
}

// redrawn draws one pass over the one before. What could not be asked is a
// part of the picture: a line on stderr would be drawn over. It comes first, for
// what is longer than the screen is cut at its end.
func (s *session) redrawn(ctx context.Context, pass once) error {
	var picture, notes bytes.Buffer
	if err := s.survive(pass(ctx, &picture, &notes), &notes); err != nil {
		return err
	}
	if notes.Len() > 0 {
		notes.WriteByte('\n')
	}
	notes.Write(picture.Bytes())
	return s.terminal.Redraw(notes.Bytes())
}

// survive prints an error that a watch outlives, and returns the others.
func (s *session) survive(err error, notes io.Writer) error {
	var boot *source.BootstrapError
	switch {
	case err == nil, errors.Is(err, errIncomplete), errors.Is(err, errUnhealthy):
		return nil
	case errors.As(err, &boot):
		for _, f := range boot.Failures {
			fmt.Fprintln(notes, render.FailureLine(f))
		}
		return nil
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask takes a Snapshot and tells its failures. Every pass asks for the quorum: it
// names the controller and is part of the verdict.
func (s *session) ask(ctx context.Context, q source.Query, notes io.Writer) (*inspect.Snapshot, error) {
	q.Parts |= inspect.PartQuorum
	snap, err := s.source.Snapshot(ctx, q)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, s.target.explain(err)
	}
	for _, f := range snap.Failures {
		fmt.Fprintln(notes, render.FailureLine(f))
	}
	return snap, nil
}

// fail tells a failure that is none of the source's, and adds it to the others.
func fail(snap *inspect.Snapshot, f inspect.Failure, notes io.Writer) {
	snap.Failures = append(snap.Failures, f)
	fmt.Fprintln(notes, render.FailureLine(f))
}

// outcome is a pass's error: a part that was not answered beats ill health.
func outcome(snap *inspect.Snapshot, healthy bool) error {
	switch {
	case !snap.Complete():
		return errIncomplete
	case !healthy:
		return errUnhealthy
	}
	return nil
}
