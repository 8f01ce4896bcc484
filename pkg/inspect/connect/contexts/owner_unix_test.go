//go:build unix

package contexts_test

import (
	"os"
	"syscall"
	"testing"
)

// TestUseKeepsTheOwner: under sudo the file stays its user's.
func TestUseKeepsTheOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root may give files away")
	}
	const user, group = 12345, 54321
	path := written(t, "contexts: {prod: {}}\n")
	if err := os.Chown(path, user, group); err != nil {
		t.Skip(err)
	}
	if err := read(t, path).Use("prod"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t); owner.Uid != user || owner.Gid != group {
		t.Errorf("the file is of %d:%d, want %d:%d", owner.Uid, owner.Gid, user, group)
	}
}
