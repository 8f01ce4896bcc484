//go:build linux || darwin

package local

import "net"

// peerUser is the user at the other end of a unix socket; false where the system
// does not tell.
func peerUser(conn *net.UnixConn) (uid int, ok bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false
	}
	var told error
	err = raw.Control(func(fd uintptr) { uid, told = userOf(int(fd)) })
	if err != nil || told != nil {
		return 0, false
	}
	return uid, true
}
