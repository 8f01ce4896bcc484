//go:build unix

package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// normal is err as the package's sentinels have it.
func normal(err error) error { return err }

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	info, err := d.Stat()
	if err == nil && !info.IsDir() {
		err = unix.ENOTDIR
	}
	if err == nil {
		err = d.Sync()
	}
	return errors.Join(err, d.Close())
}

// lock takes flock's lock, which belongs to the open file: two handles of one
// process exclude each other too.
func lock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

func space(path string) (Space, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return Space{}, err
	}
	size := int64(st.Bsize) //nolint:unconvert // another width on other systems
	return Space{
		TotalBytes:  int64(st.Blocks) * size,
		UsableBytes: int64(st.Bavail) * size,
	}, nil
}
