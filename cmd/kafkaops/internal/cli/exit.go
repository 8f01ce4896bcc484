package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// The exit codes, as the README documents them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitUnhealthy   = 3
	exitInterrupted = 130
)

// usageError is a mistake in the command line; it is printed with a pointer to
// the help.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// What a command returns when it has already printed all that there is to say.
var (
	// errIncomplete: a part was refused or not answered; each is on stderr.
	errIncomplete = errors.New("incomplete")
	// errUnhealthy: answered, and not healthy.
	errUnhealthy = errors.New("unhealthy")
)

// nagiosError carries the exit code of check health --nagios, whose codes are
// those of monitoring plugins.
type nagiosError struct{ status int }

func (e nagiosError) Error() string { return fmt.Sprintf("nagios status %d", e.status) }

// exitCode tells the user what went wrong, where that is not told yet, and
// returns the exit code.
func exitCode(err error, stderr io.Writer, command string) int {
	var (
		usage  usageError
		boot   *source.BootstrapError
		nagios nagiosError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &nagios):
		return nagios.status
	case errors.Is(err, errIncomplete):
		return exitFailed
	case errors.Is(err, errUnhealthy):
		return exitUnhealthy
	case errors.Is(err, syscall.EPIPE), errors.Is(err, fs.ErrClosed):
		return exitOK // whoever read has read enough
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "kafkaops: %s\nSee '%s --help'.\n", render.Clean(usage.Error()), command)
		return exitUsage
	case errors.As(err, &boot):
		for _, f := range boot.Failures {
			fmt.Fprintln(stderr, render.FailureLine(f))
		}
		return exitFailed
	}
	fmt.Fprintf(stderr, "kafkaops: %s\n", render.Clean(err.Error()))
	return exitFailed
}
