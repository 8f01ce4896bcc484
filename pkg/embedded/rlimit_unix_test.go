//go:build unix

package embedded_test

import "golang.org/x/sys/unix"

// idleConnections is as many as the limit on open files has room for, both ends being
// here, up to 10,000. Go has raised the limit as far as it may.
func idleConnections() int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 100
	}
	return int(min(max(l.Cur, 1000)-500, 20_000) / 2)
}
