//go:build unix && !linux

package kafkatest

import (
	"syscall"
	"time"
)

// childAttr keeps a terminal's interrupt from the child. There is no death
// signal outside Linux.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitStopped waits a moment: what the threads do is not to be seen here.
func awaitStopped(int) error {
	time.Sleep(100 * time.Millisecond)
	return nil
}
