package kafkatest

import "syscall"

// childAttr keeps a terminal's interrupt from the child (a test decides when
// its brokers die) and kills the child when the thread that started it ends,
// which covers a test binary that panics, times out or is killed.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
