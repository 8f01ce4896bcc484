//go:build !unix

package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// checkPrivate believes the directory: on Windows it lies in the user's own profile,
// whose access list it inherits.
func checkPrivate(string, os.FileInfo) error { return nil }

// lockDir holds a file that only one process can make, until release. One that a
// process left behind which died within is taken over after a while: it is held for
// the time of a few calls.
func lockDir(ctx context.Context, dir string) (release func(), err error) {
	const stale = 10 * time.Second
	path := filepath.Join(dir, "lock")
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return func() {
				f.Close()
				_ = os.Remove(path)
			}, nil
		}
		info, statErr := os.Stat(path)
		switch {
		case statErr == nil && time.Since(info.ModTime()) > stale:
			_ = os.Remove(path)
		case !os.IsExist(err) && !os.IsPermission(err): // the latter while it is being removed
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("lock %s, which another process holds: %w", dir, ctx.Err())
		}
	}
}
