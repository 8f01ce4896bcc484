//go:build windows

package local

import "syscall"

// background is a process group and no console: neither ^C nor the end of the window
// reach it.
func background() *syscall.SysProcAttr {
	const detachedProcess = 0x00000008
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | detachedProcess}
}
