package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// normal is err as the package's sentinels have it.
func normal(err error) error {
	switch {
	case errors.Is(err, windows.ERROR_DISK_FULL), errors.Is(err, windows.ERROR_HANDLE_DISK_FULL):
		return ErrNoSpace
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION):
		return ErrBusy
	default:
		return err
	}
}

// syncDir only looks: Windows has no fsync of directories, NTFS keeps a journal
// of them.
func syncDir(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = windows.ERROR_DIRECTORY
	}
	return err
}

func lock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

func space(path string) (Space, error) {
	p, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return Space{}, err
	}
	var usable, total, free uint64
	if err := windows.GetDiskFreeSpaceEx(p, &usable, &total, &free); err != nil {
		return Space{}, err
	}
	return Space{TotalBytes: int64(total), UsableBytes: int64(usable)}, nil
}
