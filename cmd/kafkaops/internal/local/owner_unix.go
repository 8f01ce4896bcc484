//go:build unix

package local

import (
	"errors"
	"fmt"
	"os"
	"syscall"

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

// lockDir holds the directory's lock, which leaves no file behind, until release.
func lockDir(dir string) (release func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { f.Close() }, nil
}
