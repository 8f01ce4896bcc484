package connect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// What the first bytes of an answer can give away.
var (
	errSpeaksTLS = errors.New("the port speaks TLS, and kafkaops spoke plain text to it: use security.protocol SSL or SASL_SSL")
	errNotKafka  = errors.New("the answer is not Kafka's protocol")
)

// maxFirstFrameBytes is more than any answer to the first request takes (a few
// KiB). A larger length means that the peer speaks something else; without the
// check sarama would allocate what four bytes of foreign text happen to say.
const maxFirstFrameBytes = 1 << 20

// sniffedConn looks at the first bytes that arrive, or at the error that comes in
// their place. It knows what the connection has gone through.
type sniffedConn struct {
	net.Conn
	shake         *handshake // nil without TLS
	authenticated bool
	// ends is from when on the broker refuses requests that come without another
	// authentication (KIP-368), less a margin; zero for never.
	ends time.Time

	mu      sync.Mutex
	started bool
	foreign error // what they gave away
}

func newSniffedConn(c net.Conn) *sniffedConn { return &sniffedConn{Conn: c} }

// Read implements net.Conn.
func (c *sniffedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return c.look(p[:n], err)
}

// Write implements net.Conn. A broker that refuses a certificate in TLS 1.3 does
// so behind the handshake and closes, and our first request may find the
// connection closed before its reason was read.
func (c *sniffedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil && c.shake != nil && isClosed(err) {
		var one [1]byte
		got, readErr := c.Conn.Read(one[:])
		if _, told := c.look(one[:got], readErr); told != nil {
			return n, told
		}
	}
	return n, err
}

func (c *sniffedConn) look(got []byte, err error) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.started || c.foreign != nil:
	case len(got) > 0:
		c.started = true
		c.foreign = sniff(got)
	case err != nil && c.shake != nil:
		if told := c.shake.explain(err); errors.As(told, new(*wordedError)) {
			c.foreign = told
		}
	}
	if c.foreign != nil {
		return 0, c.foreign
	}
	return len(got), err
}

// sniffed is what the first bytes gave away, or nil.
func (c *sniffedConn) sniffed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.foreign
}

// sniff says what speaks with these first bytes, where it is not Kafka.
func sniff(first []byte) error {
	const alert, handshake, major = 0x15, 0x16, 0x03
	if len(first) >= 2 && (first[0] == alert || first[0] == handshake) && first[1] == major {
		return errSpeaksTLS
	}
	if len(first) >= 4 && binary.BigEndian.Uint32(first) > maxFirstFrameBytes {
		return fmt.Errorf("%w: it begins with %q", errNotKafka, first[:min(len(first), 8)])
	}
	return nil
}
