//go:build !linux && !darwin

package local

import "net"

// peerUser cannot be told here: the directory's access rights have to do.
func peerUser(*net.UnixConn) (uid int, ok bool) { return 0, false }
