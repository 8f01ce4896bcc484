package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// Between a program that is started in the background and who waits for it lies a pipe,
// the program's standard input. One byte on it says that the program goes on by itself.
// Where the pipe ends without it, who waited has died or waits no more, and a cluster that
// nobody was told of must not stay. The system closes it with the process, so that this
// holds for SIGKILL too.
const (
	attended = "KAFKAOPS_ATTENDED"
	released = '+'
)

// errUnattended is the cause of the end of [Attended]'s context.
var errUnattended = errors.New("who started it in the background waits for it no more")

// attend gives a command the pipe. Both ends are to be closed, the child's when it has
// been started.
func attend(cmd *exec.Cmd) (parent, child *os.File, err error) {
	child, parent, err = os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("start in the background: %w", err)
	}
	cmd.Stdin = child
	cmd.Env = append(cmd.Environ(), attended+"=1")
	return parent, child, nil
}

// Attended returns a context that ends with ctx, and in a program that [Detach] has
// started also when who waits for it is gone and has not kept it.
func Attended(ctx context.Context, getenv func(string) string, stdin io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if getenv(attended) != "" {
		go func() {
			var said [1]byte
			if _, err := io.ReadFull(stdin, said[:]); err != nil || said[0] != released {
				cancel(errUnattended)
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}
