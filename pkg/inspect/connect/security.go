package connect

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
	"github.com/twmb/franz-go/pkg/sasl"
)

const keyProtocol = "security.protocol"

// Security is how connections are encrypted and authenticated: what a Java
// client.properties says. The file and the stores that it names are read again
// when they have changed, so that a command that runs for long outlives its
// certificates and passwords. It prints as its file's name alone.
type Security struct {
	path string

	mu      sync.Mutex
	seen    stamp
	current *secured
}

// secured is what one reading of the file gave.
type secured struct {
	protocol  string
	tls       *tlsSettings   // nil without TLS
	mechanism sasl.Mechanism // nil without SASL
	bootstrap string
	warnings  []string
}

// stamp tells one state of a file from another.
type stamp struct {
	modified time.Time
	size     int64
}

// ReadProperties reads a Java client.properties as Kafka's own tools do with
// --command-config. Its errors name file, line and key, and never a value.
func ReadProperties(path string) (*Security, error) {
	s := &Security{path: path}
	if err := s.read(); err != nil {
		return nil, err
	}
	return s, nil
}

// String is the file's name.
func (s *Security) String() string {
	if s == nil {
		return "PLAINTEXT"
	}
	return s.path
}

// Warnings are lines about settings that do nothing here.
func (s *Security) Warnings() []string {
	if s == nil {
		return nil
	}
	return s.settings().warnings
}

// Bootstrap is bootstrap.servers of the file, or empty.
func (s *Security) Bootstrap() string {
	if s == nil {
		return ""
	}
	return s.settings().bootstrap
}

func (s *Security) read() error {
	info, err := os.Stat(s.path)
	if err != nil {
		return fmt.Errorf("command config: %w", err)
	}
	if info.Size() > javaprops.MaxFileBytes {
		return fmt.Errorf("command config %s: %d bytes are more than the %d of the largest file that is read", s.path, info.Size(), javaprops.MaxFileBytes)
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return fmt.Errorf("command config: %w", err)
	}
	f, err := javaprops.Parse(s.path, data)
	if err != nil {
		return err
	}
	next, err := newSecured(f)
	if err != nil {
		return err
	}
	s.current, s.seen = next, stamp{info.ModTime(), info.Size()}
	return nil
}

// settings are those of the file as it is now; of the last reading that worked,
// where it has been broken meanwhile.
func (s *Security) settings() *secured {
	s.mu.Lock()
	defer s.mu.Unlock()
	if info, err := os.Stat(s.path); err == nil && (stamp{info.ModTime(), info.Size()}) != s.seen {
		if s.read() != nil {
			s.seen = stamp{info.ModTime(), info.Size()} // tried once
		}
	}
	return s.current
}

func newSecured(f *javaprops.File) (*secured, error) {
	protocol, err := f.OneOfFold(keyProtocol, "PLAINTEXT", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
	if err != nil {
		return nil, err
	}
	s := &secured{protocol: protocol, warnings: warningsOf(f)}
	s.bootstrap, _ = f.Get("bootstrap.servers")
	if strings.HasSuffix(protocol, "SSL") {
		if s.tls, err = newTLS(f); err != nil {
			return nil, err
		}
	}
	if strings.HasPrefix(protocol, "SASL_") {
		if s.mechanism, err = newMechanism(f); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// secure takes a connection that has been dialed through TLS and SASL. Errors
// are of type *Error.
func (s *Security) secure(ctx context.Context, conn net.Conn, addr string) (*sniffedConn, error) {
	if s == nil {
		return newSniffedConn(conn), nil
	}
	now := s.settings()
	began := time.Now()
	if now.tls != nil {
		client := now.tls.client(conn, addr)
		if err := client.HandshakeContext(ctx); err != nil {
			return nil, newError(addr, inspect.PhaseTLS, "TLS handshake", err, time.Since(began))
		}
		conn = client
	}
	peer := newSniffedConn(conn)
	if now.mechanism != nil {
		if err := authenticate(ctx, peer, addr, now.mechanism); err != nil {
			return nil, newError(addr, inspect.PhaseSASL, "SASL "+now.mechanism.Name(), err, time.Since(began))
		}
	}
	return peer, nil
}
