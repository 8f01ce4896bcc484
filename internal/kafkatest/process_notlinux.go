//go:build unix && !linux

package kafkatest

import "syscall"

// childAttr keeps a terminal's interrupt from the child. There is no death
// signal outside Linux.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
