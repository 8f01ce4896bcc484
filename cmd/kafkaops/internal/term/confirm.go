package term

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Confirm asks on Err, and is true where the next line of In is y or yes. Ask only where
// CanAsk is set. Where ctx ends first its error is returned, and the line that is typed
// then is lost.
func (t *Terminal) Confirm(ctx context.Context, question string) (bool, error) {
	if _, err := fmt.Fprintf(t.Err, "%s [y/N] ", question); err != nil {
		return false, err
	}
	type answer struct {
		line string
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(t.In).ReadString('\n')
		typed <- answer{line, err}
	}()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case a := <-typed:
		if a.err != nil && !errors.Is(a.err, io.EOF) {
			return false, a.err
		}
		switch strings.ToLower(strings.TrimSpace(a.line)) {
		case "y", "yes":
			return true, nil
		}
		return false, nil
	}
}
