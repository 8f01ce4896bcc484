package connect

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

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
	if e.Phase != inspect.PhaseRequest {
		return fmt.Sprintf("%s: %s: %s", e.Address, e.Phase, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Address, e.Cause)
}

// Unwrap gives the error beneath.
func (e *Error) Unwrap() error { return e.err }

// Closed reports whether the peer took the connection and then closed it.
func (e *Error) Closed() bool { return isClosed(e.err) }

// Timeout reports whether the time ran out.
func (e *Error) Timeout() bool { return isTimeout(e.err) }

// wordedError is an error that needs no explanation, such as one of another server
// than the broker: a refused connection to a token endpoint must not read as one
// to the broker. Where it belongs to another phase than the one in which it was
// noticed, phase and request are set.
type wordedError struct {
	phase   inspect.Phase
	request string
	text    string
}

func (e *wordedError) Error() string { return e.text }

func newError(addr string, phase inspect.Phase, request string, err error, after time.Duration) *Error {
	var own *wordedError
	if errors.As(err, &own) && own.phase != "" {
		phase, request = own.phase, own.request
	}
	return &Error{
		Address: addr, Phase: phase, Request: request,
		Cause: oneLine(cause(phase, request, err, after)), err: err,
	}
}

// Wrap makes an *Error of an error that another client than sarama returned for
// a request to addr, after so long.
func Wrap(addr, request string, err error, after time.Duration) *Error {
	var known *Error // made while dialing
	if errors.As(err, &known) {
		if known.Request != "" {
			return known
		}
		named := *known
		named.Request = request
		return &named
	}
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
	var own *wordedError
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.As(err, &own):
		return own.text
	case isTimeout(err) && phase == inspect.PhaseDial:
		return "no connection within " + seconds(after)
	case isTimeout(err):
		return fmt.Sprintf("no reply to %s within %s", request, seconds(after))
	case phase == inspect.PhaseTLS:
		return tlsCause(err)
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

// guess adds to a closed connection what usually stands behind it. Brokers close
// without a word on what they cannot read, and on requests that come before
// SASL has.
func guess(err *Error, c *sniffedConn) {
	switch {
	case !err.Closed() || c.sniffed() != nil || c.authenticated:
	case err.Request == "ApiVersions" && c.shake == nil:
		err.Cause += ", as a TLS or SASL listener does when spoken to in plain text"
	case err.Phase == inspect.PhaseSASL && c.shake == nil:
		err.Cause += ", as a TLS listener does when spoken to in plain text: if it is one, use security.protocol SASL_SSL"
	case err.Request == "Metadata" || err.Request == "DescribeCluster":
		// The first request after ApiVersions, which SASL listeners still answer.
		err.Cause += ", as a SASL listener does to a client that has not authenticated"
	}
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

// tlsCause is why a handshake failed on our side, or without a word of the
// broker's.
func tlsCause(err error) string {
	const plain = "use security.protocol PLAINTEXT or SASL_PLAINTEXT"
	var record tls.RecordHeaderError
	var name x509.HostnameError
	switch {
	case errors.As(err, &name):
		return fmt.Sprintf("the broker's certificate is not for %s: it is for %s; use a name that is in it, or leave %s empty",
			name.Host, namesOf(name.Certificate), keyCheckName)
	case errors.As(err, &record):
		return "the listener does not speak TLS: " + plain
	case isClosed(err):
		return "closed the connection on the TLS handshake, as a listener without TLS does: if it is one, " + plain
	}
	return strings.TrimPrefix(err.Error(), "tls: ")
}

// namesOf are the hosts that a certificate is for.
func namesOf(c *x509.Certificate) string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no host, its subject being " + c.Subject.String()
	}
	return strings.Join(names, ", ")
}

// oneLine keeps what others say (brokers, token endpoints, key tables) from
// breaking a line, and within a length that can be read.
func oneLine(s string) string {
	const longest = 500
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return s
}

// seconds rounds to what a person would say: 3s, 1.7s, 20ms.
func seconds(d time.Duration) string {
	if d < 100*time.Millisecond {
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return fmt.Sprintf("%gs", d.Round(100*time.Millisecond).Seconds())
}
