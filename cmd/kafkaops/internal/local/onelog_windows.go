package local

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockLog locks a byte far behind the log's end, as nobody else may write to what is
// locked. It ends with this process; by then the child has the place.
func lockLog(f *os.File) error {
	const far = 1 << 30
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{OffsetHigh: far})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}
