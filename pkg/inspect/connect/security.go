package connect

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect/javaprops"
	"github.com/twmb/franz-go/pkg/sasl"
)

const (
	keyBootstrap = "bootstrap.servers"
	keyProtocol  = "security.protocol"
	keyProviders = "config.providers"
)

// Security is how connections are encrypted and authenticated: what a Java
// client.properties says. The file and the stores that it names are read again
// when they have changed, so that a command that runs for long outlives its
// certificates and passwords. It prints as its file's name alone.
type Security struct {
	path string
	// readings lies behind a pointer: a printer that walks a copied struct finds
	// an address.
	readings *readings
}

// readings are those of one file, of which the last that worked is in use.
type readings struct {
	// once is set for what can be read once only, such as a pipe.
	once bool

	mu      sync.Mutex
	sum     [sha256.Size]byte // of the text that current was made of
	current *secured
	// problem is why the file as it is now is not in use.
	problem error
}

// secured is what one reading of the file gave.
type secured struct {
	tls       *tlsSettings   // nil without TLS
	mechanism sasl.Mechanism // nil without SASL
	bootstrap string
	// badBootstrap matters only to those who have no other addresses.
	badBootstrap error
	warnings     []string
	principal    string
}

// ReadProperties reads a Java client.properties as Kafka's own tools do with
// --command-config. Its errors name file, line and key, and never a value.
func ReadProperties(path string) (*Security, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("command config: %w", err)
	}
	s := &Security{path: path, readings: &readings{once: !info.Mode().IsRegular()}}
	text, err := s.text()
	if err != nil {
		return nil, err
	}
	if s.readings.current, err = s.parse(text); err != nil {
		return nil, err
	}
	s.readings.sum = sha256.Sum256(text)
	return s, nil
}

// String is the file's name.
func (s *Security) String() string {
	if s == nil {
		return "PLAINTEXT"
	}
	return s.path
}

// MarshalText is the file's name.
func (s *Security) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Warnings are lines about settings that do nothing here, and about stores that
// are odd.
func (s *Security) Warnings() []string {
	if s == nil {
		return nil
	}
	now, _ := s.now()
	warnings := now.warnings
	if now.tls != nil {
		warnings = append(warnings[:len(warnings):len(warnings)], now.tls.warnings()...)
	}
	return warnings
}

// Bootstrap is bootstrap.servers of the file, as [ParseBootstrap] takes it, or
// empty. A protocol before an address (SASL_SSL://b1:9094), which Java passes
// over, is left out.
func (s *Security) Bootstrap() (string, error) {
	if s == nil {
		return "", nil
	}
	now, _ := s.now()
	return now.bootstrap, now.badBootstrap
}

func (s *Security) text() ([]byte, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, fmt.Errorf("command config: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, javaprops.MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("command config: %w", err)
	}
	return text, nil // javaprops refuses what is too long
}

func (s *Security) parse(text []byte) (*secured, error) {
	f, err := javaprops.Parse(s.path, text)
	if err != nil {
		return nil, err
	}
	return newSecured(f)
}

// now are the settings of the file as it is now; of the last reading that worked
// where it has been broken meanwhile, with the reason why. Only a whole reading
// counts: until a broken file works it is tried at each call, because what
// breaks it may be a store that is not there yet.
func (s *Security) now() (*secured, error) {
	r := s.readings
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.once {
		return r.current, nil
	}
	text, err := s.text()
	if err == nil && len(text) == 0 {
		err = fmt.Errorf("%s: the file is empty", s.path) // it is just being written
	}
	if err != nil {
		r.problem = err
		return r.current, r.problem
	}
	sum := sha256.Sum256(text)
	if sum == r.sum {
		r.problem = nil
		return r.current, nil
	}
	next, err := s.parse(text)
	r.problem = err
	if err == nil {
		r.current, r.sum = next, sum
	}
	return r.current, r.problem
}

func newSecured(f *javaprops.File) (*secured, error) {
	if _, ok := f.Get(keyProviders); ok {
		return nil, f.Errorf(keyProviders, "values from providers (${…}) are not supported: write them into a file of their own, which only you may read")
	}
	protocol, err := f.OneOfFold(keyProtocol, "PLAINTEXT", "PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
	if err != nil {
		return nil, err
	}
	s := &secured{warnings: warningsOf(f)}
	s.bootstrap, s.badBootstrap = bootstrapOf(f)
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
	s.principal = principalOf(f, protocol)
	return s, nil
}

func bootstrapOf(f *javaprops.File) (string, error) {
	list, _ := f.List(keyBootstrap)
	var addrs []string
	for _, addr := range list {
		if _, after, ok := strings.Cut(addr, "://"); ok {
			addr = after
		}
		if addr != "" {
			addrs = append(addrs, addr)
		}
	}
	text := strings.Join(addrs, ",")
	if text == "" {
		return "", nil
	}
	if _, err := ParseBootstrap(text); err != nil {
		return "", f.Errorf(keyBootstrap, "must be host:port, and commas between several")
	}
	return text, nil
}

// secure takes a connection that has been dialed through TLS and SASL. Errors
// are of type *Error.
func (s *Security) secure(ctx context.Context, conn net.Conn, addr string) (*sniffedConn, error) {
	if s == nil {
		return newSniffedConn(conn), nil
	}
	now, _ := s.now()
	peer, err := now.secure(ctx, conn, addr)
	if err != nil {
		s.addOutdated(err)
		return nil, err
	}
	return peer, nil
}

// addOutdated adds to a failure of TLS or SASL that newer settings are not in use:
// the older ones may have failed for no other reason.
func (s *Security) addOutdated(err *Error) {
	if s == nil || err.Phase != inspect.PhaseTLS && err.Phase != inspect.PhaseSASL {
		return
	}
	now, outdated := s.now()
	if outdated == nil && now.tls != nil {
		outdated = now.tls.outdated()
	}
	if outdated != nil {
		err.Cause += oneLine(fmt.Sprintf("; and newer settings are not in use: %v", outdated))
	}
}

func (s *secured) secure(ctx context.Context, conn net.Conn, addr string) (*sniffedConn, *Error) {
	peer := newSniffedConn(conn)
	if s.tls != nil {
		began := time.Now()
		client, shake := s.tls.client(conn, addr)
		if err := client.HandshakeContext(ctx); err != nil {
			return nil, newError(addr, inspect.PhaseTLS, requestTLS, shake.explain(err), time.Since(began))
		}
		peer = newSniffedConn(client)
		peer.shake = shake
	}
	if s.mechanism == nil {
		return peer, nil
	}
	began := time.Now()
	session, err := authenticate(ctx, peer, addr, s.mechanism)
	if err != nil {
		if forgetful, ok := s.mechanism.(forgetter); ok && errors.Is(err, errCredentials) {
			forgetful.forget()
		}
		e := newError(addr, inspect.PhaseSASL, "SASL "+s.mechanism.Name(), err, time.Since(began))
		guess(e, peer)
		if known, ok := s.mechanism.(excuser); ok && errors.Is(err, errCredentials) {
			if why := known.excuse(); why != "" {
				e.Cause += oneLine("; " + why)
			}
		}
		return nil, e
	}
	peer.authenticated = true
	if session > 0 {
		peer.ends = began.Add(session * sessionPercent / 100)
	}
	return peer, nil
}

// forgetter is a mechanism that keeps something between connections, which a
// broker that refuses it makes worthless.
type forgetter interface{ forget() }

// excuser is a mechanism that can tell why a broker refuses what it showed, or
// gives nothing.
type excuser interface{ excuse() string }
