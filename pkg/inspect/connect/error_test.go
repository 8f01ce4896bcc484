package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestCause puts every kind of error in the words of someone who looks at a
// network.
func TestCause(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for _, tt := range []struct {
		phase           inspect.Phase
		request         string
		err             error
		want            string
		timeout, closed bool
	}{
		{inspect.PhaseDial, "", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "a:1: dial: connection refused", false, false},
		{inspect.PhaseDial, "", dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "a:1: dial: no route to host", false, false},
		{inspect.PhaseDial, "", dial(os.NewSyscallError("connect", syscall.ETIMEDOUT)), "a:1: dial: no connection within 3s", true, false},
		{inspect.PhaseDial, "", dial(context.DeadlineExceeded), "a:1: dial: no connection within 3s", true, false},
		{inspect.PhaseDial, "", dial(&net.DNSError{Err: "no such host", Name: "a", IsNotFound: true}), `a:1: dial: no such host "a"`, false, false},
		{inspect.PhaseDial, "", dial(&net.DNSError{Err: "server misbehaving", Name: "a"}), `a:1: dial: look up "a": server misbehaving`, false, false},
		{inspect.PhaseDial, "", dial(context.Canceled), "a:1: dial: interrupted", false, false},
		{inspect.PhaseRequest, "Metadata", context.DeadlineExceeded, "a:1: no reply to Metadata within 3s", true, false},
		{inspect.PhaseRequest, "Metadata", os.ErrDeadlineExceeded, "a:1: no reply to Metadata within 3s", true, false},
		{inspect.PhaseRequest, "ListOffsets", context.Canceled, "a:1: interrupted", false, false},
		{inspect.PhaseRequest, "ListOffsets", io.EOF, "a:1: closed the connection on ListOffsets", false, true},
		{inspect.PhaseRequest, "ListOffsets", fmt.Errorf("read: %w", io.ErrUnexpectedEOF), "a:1: closed the connection on ListOffsets", false, true},
		{inspect.PhaseRequest, "ListOffsets", syscall.ECONNRESET, "a:1: closed the connection on ListOffsets", false, true},
		{inspect.PhaseRequest, "ListOffsets", syscall.EPIPE, "a:1: closed the connection on ListOffsets", false, true},
		{inspect.PhaseRequest, "ListOffsets", net.ErrClosed, "a:1: closed the connection on ListOffsets", false, true},
		{inspect.PhaseRequest, "ApiVersions", io.EOF, "a:1: closed the connection on ApiVersions", false, true},
		{inspect.PhaseRequest, "Metadata", errors.New("kafka: invalid length"), "a:1: Metadata: kafka: invalid length", false, false},
	} {
		err := newError("a:1", tt.phase, tt.request, tt.err, 3*time.Second)
		if err.Error() != tt.want || err.Timeout() != tt.timeout || err.Closed() != tt.closed {
			t.Errorf("%v: got %q, timeout %v, closed %v; want %q, %v, %v", tt.err, err, err.Timeout(), err.Closed(), tt.want, tt.timeout, tt.closed)
		}
		if !errors.Is(err, tt.err) {
			t.Errorf("%v is not beneath %v", tt.err, err)
		}
	}
}

func TestGuess(t *testing.T) {
	t.Parallel()
	const plain, sasl = ", as a TLS or SASL listener does when spoken to in plain text", ", as a SASL listener does to a client that has not authenticated"
	for _, tt := range []struct {
		name    string
		conn    *sniffedConn
		request string
		err     error
		want    string
	}{
		{"ApiVersions in plain text", &sniffedConn{}, "ApiVersions", io.EOF, plain},
		{"ApiVersions over TLS", &sniffedConn{shake: &handshake{}}, "ApiVersions", io.EOF, ""},
		{"Metadata", &sniffedConn{}, "Metadata", io.EOF, sasl},
		{"DescribeCluster over TLS", &sniffedConn{shake: &handshake{}}, "DescribeCluster", io.EOF, sasl},
		{"Metadata behind SASL", &sniffedConn{authenticated: true}, "Metadata", io.EOF, ""},
		{"a later request", &sniffedConn{}, "ListOffsets", io.EOF, ""},
		{"sniffed", &sniffedConn{foreign: errSpeaksTLS}, "ApiVersions", io.EOF, ""},
		{"no end", &sniffedConn{}, "ApiVersions", os.ErrDeadlineExceeded, ""},
	} {
		e := newError("a:1", inspect.PhaseRequest, tt.request, tt.err, 0)
		before := e.Cause
		guess(e, tt.conn)
		if got := strings.TrimPrefix(e.Cause, before); got != tt.want {
			t.Errorf("%s: added %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	dialed := Wrap("a:1", "Metadata", fmt.Errorf("unable to dial: %w", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), time.Second)
	if dialed.Phase != inspect.PhaseDial || dialed.Cause != "connection refused" {
		t.Errorf("got %+v, want phase dial", dialed)
	}
	asked := Wrap("a:1", "Metadata", &net.OpError{Op: "read", Err: io.EOF}, time.Second)
	if asked.Phase != inspect.PhaseRequest || !asked.Closed() {
		t.Errorf("got %+v, want phase request, closed", asked)
	}
}

func TestSeconds(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0ms", 99 * time.Millisecond: "99ms", 100 * time.Millisecond: "0.1s", 333 * time.Millisecond: "0.3s",
		3333 * time.Millisecond: "3.3s", 2999 * time.Millisecond: "3s", time.Minute: "60s",
	} {
		if got := seconds(d); got != want {
			t.Errorf("seconds(%s) = %s, want %s", d, got, want)
		}
	}
}
