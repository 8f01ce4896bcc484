//go:build unix

package local

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockLog takes flock's lock, which belongs to the open file: a child that is given the
// file holds it too, until both have ended.
func lockLog(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
