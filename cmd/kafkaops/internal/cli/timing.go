package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// sample takes the n samples of one pass, every so often, hands each to add and returns the last,
// with the failures of all, each once: what one sample missed is missing from the
// answer.
func (s *session) sample(
	ctx context.Context, q source.Query, n int, every time.Duration, add func(*inspect.Snapshot), notes io.Writer,
) (*inspect.Snapshot, error) {
	told := map[string]bool{}
	var failures []inspect.Failure
	for i := 1; ; i++ {
		snap, err := s.ask(ctx, q, io.Discard)
		if err != nil {
			return nil, err
		}
		for _, f := range snap.Failures {
			if line := render.FailureLine(f); !told[line] {
				told[line] = true
				failures = append(failures, f)
				fmt.Fprintln(notes, line)
			}
		}
		add(snap)
		if i == n {
			snap.Failures = failures
			return snap, nil
		}
		if err := sleep(ctx, every); err != nil {
			return nil, err
		}
	}
}
