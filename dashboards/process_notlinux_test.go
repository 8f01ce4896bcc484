//go:build !linux

package dashboards

import "syscall"

// withParent has no means here: a test binary that is killed leaves its children behind.
func withParent() *syscall.SysProcAttr { return nil }
