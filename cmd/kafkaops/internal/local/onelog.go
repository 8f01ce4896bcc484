package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// errHeld says that another process holds a file's lock.
var errHeld = errors.New("another process holds it")

// openLog opens the log of a cluster in the background, empty, for one process: of two
// that start a cluster in the same place at once the later would otherwise cut off what
// the earlier one's has said, and write into it. The lock goes to the child with the open
// file, and ends with it. Where another one is being started the error is a *TakenError as
// soon as that has the place; where that comes to nothing, the log is free again.
func openLog(ctx context.Context, p Place, path string) (*os.File, error) {
	for {
		// By its name each time: who held it may have taken the file away.
		out, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, &LogError{err}
		}
		err = lockLog(out)
		if err == nil && isAt(out, path) {
			if err = out.Truncate(0); err == nil {
				return out, nil
			}
		}
		out.Close()
		if err != nil && !errors.Is(err, errHeld) {
			return nil, &LogError{err}
		}
		if answer, err := Ask(ctx, p, Request{Do: VerbStatus}); err == nil {
			return nil, &TakenError{Place: p, PID: answer.Status.PID}
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("a cluster is being started here by another process: %w", ctx.Err())
		}
	}
}

// isAt: the open file is still the one of that name.
func isAt(f *os.File, path string) bool {
	ours, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(path)
	return err == nil && os.SameFile(ours, there)
}
