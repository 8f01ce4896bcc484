//go:build unix

package contexts

import (
	"os"
	"syscall"
)

// keepOwner gives a file the owner of the one that it replaces: under sudo that is
// somebody else.
func keepOwner(f *os.File, was os.FileInfo) error {
	owner, ok := was.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() {
		return nil
	}
	return f.Chown(int(owner.Uid), int(owner.Gid))
}
