//go:build unix

package contexts

import (
	"os"
	"syscall"
)

// keepOwner gives a file the owner of the one that it replaces: under sudo that is
// somebody else. The group of one's own file goes along where one is in it.
func keepOwner(f *os.File, was os.FileInfo) error {
	owner, ok := was.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	if err := f.Chown(int(owner.Uid), int(owner.Gid)); err != nil && int(owner.Uid) != os.Geteuid() {
		return err
	}
	return nil
}
