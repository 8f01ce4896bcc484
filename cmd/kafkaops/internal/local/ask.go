package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// ErrNotUp says that no process has the place.
var ErrNotUp = errors.New("no cluster is up here")

// RefusedError is what the process that runs the cluster says to a request that it
// cannot carry out.
type RefusedError struct {
	Reason string
	// Usage is Answer's.
	Usage bool
}

func (e *RefusedError) Error() string { return e.Reason }

// Ask sends one request to the process that has the place and returns its answer.
// With VerbStop it returns when the place is free. Errors are ErrNotUp, a
// *RefusedError, ctx's, or a *SocketError.
func Ask(ctx context.Context, p Place, req Request) (Answer, error) {
	if err := checkSocket(p.Socket); err != nil {
		return Answer{}, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", p.Socket)
	if err != nil {
		if ctx.Err() != nil {
			return Answer{}, ctx.Err()
		}
		if isAbsent(err) {
			return Answer{}, ErrNotUp
		}
		return Answer{}, newSocketError(p.Socket, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	answer, err := exchange(conn, req)
	switch {
	case ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case err != nil:
		return Answer{}, newSocketError(p.Socket, err)
	case answer.Error != "":
		return answer, &RefusedError{answer.Error, answer.Usage}
	}
	if req.Do == VerbStop {
		_, _ = io.Copy(io.Discard, conn) // however it is closed, then it has ended
		if err := ctx.Err(); err != nil {
			return Answer{}, fmt.Errorf("it was told to stop and has not ended yet: %w", err)
		}
	}
	return answer, nil
}

func exchange(conn net.Conn, req Request) (a Answer, err error) {
	// Who refuses to read at all may have said why.
	unsent := writeLine(conn, req)
	err = readLine(conn, &a)
	switch {
	case err != nil && unsent != nil:
		err = unsent
	case errors.Is(err, io.EOF):
		err = errors.New("closed without an answer")
	}
	return a, err
}

// isAbsent: nobody listens, or there is no socket. Winsock has a number of its own
// for the first.
func isAbsent(err error) bool {
	const wsaConnRefused = syscall.Errno(10061)
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, wsaConnRefused)
}
