package local

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"runtime"
)

// SocketError is what went wrong on a control socket. What is below it stays hidden: a
// pipe that has broken there is not the one to who reads our output.
type SocketError struct{ Path, Reason string }

func (e *SocketError) Error() string { return "control socket " + e.Path + ": " + e.Reason }

func newSocketError(path string, err error) *SocketError {
	var op *net.OpError
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &SocketError{path, fmt.Sprintf("permission denied: only the user who runs the cluster can open it, and you are user %d", os.Geteuid())}
	case errors.As(err, &op): // whose text tells the path again
		err = op.Err
	}
	return &SocketError{path, err.Error()}
}

// checkSocket refuses what another program has put where a control socket belongs: a link
// would lead to another cluster, and a file is somebody's. Nothing there is fine. Windows
// has no file type for sockets that all its versions tell.
func checkSocket(path string) error {
	info, err := os.Lstat(path)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Type() == os.ModeSocket {
		return nil //nolint:nilerr // whoever dials learns why
	}
	return &SocketError{path, "it is no socket, and no cluster has made it: remove it"}
}
