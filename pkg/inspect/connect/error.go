package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Error is a connection or a request that failed.
type Error struct {
	Address string
	Phase   inspect.Phase
	// Request is Kafka's name of the API, empty before the first request.
	Request string
	// Cause is a few words without address or phase.
	Cause string
	err   error
}

// Error says all of it in one line.
func (e *Error) Error() string {
	if e.Phase == inspect.PhaseDial {
		return fmt.Sprintf("%s: dial: %s", e.Address, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Address, e.Cause)
}

// Unwrap gives the error beneath.
func (e *Error) Unwrap() error { return e.err }

// Closed reports whether the peer took the connection and then closed it.
func (e *Error) Closed() bool { return isClosed(e.err) }

// Timeout reports whether the time ran out.
func (e *Error) Timeout() bool { return isTimeout(e.err) }

func newError(addr string, phase inspect.Phase, request string, err error, after time.Duration) *Error {
	return &Error{Address: addr, Phase: phase, Request: request, Cause: cause(phase, request, err, after), err: err}
}

// Wrap makes an *Error of an error that another client than sarama returned for
// a request to addr, after so long.
func Wrap(addr, request string, err error, after time.Duration) *Error {
	phase := inspect.PhaseRequest
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" {
		phase = inspect.PhaseDial
	}
	return newError(addr, phase, request, err, after)
}

// cause puts the error in the words of someone who looks at a network, not at
// this program's stack.
func cause(phase inspect.Phase, request string, err error, after time.Duration) string {
	var dns *net.DNSError
	var errno syscall.Errno
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case isTimeout(err) && phase == inspect.PhaseDial:
		return "no connection within " + seconds(after)
	case isTimeout(err):
		return fmt.Sprintf("no reply to %s within %s", request, seconds(after))
	case isClosed(err) && request == "ApiVersions":
		return "closed the connection on ApiVersions, as a TLS or SASL listener does when spoken to in plain text"
	case isClosed(err) && (request == "Metadata" || request == "DescribeCluster"):
		// The first request after ApiVersions, which SASL listeners still answer.
		return "closed the connection on " + request + ", as a SASL listener does to a client that has not authenticated"
	case isClosed(err):
		return "closed the connection on " + request
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("no such host %q", dns.Name)
	case errors.As(err, &dns):
		return fmt.Sprintf("look up %q: %s", dns.Name, dns.Err)
	case errors.As(err, &errno):
		return errno.Error()
	case phase == inspect.PhaseRequest && request != "":
		return request + ": " + err.Error()
	}
	return err.Error()
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &ne) && ne.Timeout()
}

func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}

// seconds rounds to what a person would say: 3s, 1.7s, 20ms.
func seconds(d time.Duration) string {
	if d < 100*time.Millisecond {
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%gs", d.Round(100*time.Millisecond).Seconds())
}
