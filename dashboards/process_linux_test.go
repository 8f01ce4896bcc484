package dashboards

import "syscall"

// withParent lets a child end with the thread that started it.
func withParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
