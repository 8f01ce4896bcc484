//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// checkPrivate refuses a directory that others own, or may enter.
func checkPrivate(dir string, info os.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	const hint = "remove it, or set XDG_RUNTIME_DIR to a directory of your own"
	if int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to user %d and not to you: %s", dir, stat.Uid, hint)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others may enter %s (mode %#o): chmod 700 it", dir, info.Mode().Perm())
	}
	return nil
}

// lockDir holds the directory's lock, which leaves no file behind, until release. Who has
// it may be stopped in the middle, so that it is asked for again and again until ctx ends.
func lockDir(ctx context.Context, dir string) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			break
		}
		select {
		case <-time.After(lockEvery):
		case <-ctx.Done():
			f.Close()
			return nil, fmt.Errorf("lock %s, which another process holds: %w", dir, ctx.Err())
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { f.Close() }, nil
}

const lockEvery = 5 * time.Millisecond
