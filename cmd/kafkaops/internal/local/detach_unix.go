//go:build unix

package local

import "syscall"

// background is a session of its own: neither ^C nor the end of the terminal reach it.
func background() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
