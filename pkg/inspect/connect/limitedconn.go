package connect

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// keepAlive finds peers that vanished, in commands that run for long.
const keepAlive = 30 * time.Second

func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	return (&net.Dialer{KeepAlive: keepAlive}).DialContext(ctx, network, addr)
}

// What the first bytes of an answer can give away.
var (
	errSpeaksTLS = errors.New("the port speaks TLS, and kafkaops spoke plain text to it: it is not a PLAINTEXT listener")
	errNotKafka  = errors.New("the answer is not Kafka's protocol")
)

// maxFirstFrameBytes is more than any answer to ApiVersions takes (a few KiB).
// A larger length means that the peer speaks something else; without the check
// sarama would allocate what four bytes of foreign text happen to say.
const maxFirstFrameBytes = 1 << 20

// limitedConn is a connection with a limit in time that its user cannot move
// out, and that looks at the first bytes that arrive.
type limitedConn struct {
	net.Conn

	mu      sync.Mutex
	until   time.Time // zero: no limit
	started bool
	foreign error // what the first bytes gave away
}

func newLimitedConn(c net.Conn) *limitedConn { return &limitedConn{Conn: c} }

// limit sets the limit to the context's deadline, or takes it away.
func (c *limitedConn) limit(ctx context.Context) {
	until, _ := ctx.Deadline()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = until
	_ = c.Conn.SetDeadline(until)
}

// abort ends whatever is waiting on the connection, now and from now on.
func (c *limitedConn) abort() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.until = time.Unix(1, 0)
	_ = c.Conn.SetDeadline(c.until)
}

func (c *limitedConn) clamp(t time.Time) time.Time {
	if c.until.IsZero() || !t.IsZero() && t.Before(c.until) {
		return t
	}
	return c.until
}

// SetReadDeadline implements net.Conn, within the limit.
func (c *limitedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Conn.SetReadDeadline(c.clamp(t))
}

// SetWriteDeadline implements net.Conn, within the limit.
func (c *limitedConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Conn.SetWriteDeadline(c.clamp(t))
}

// SetDeadline implements net.Conn, within the limit.
func (c *limitedConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Conn.SetDeadline(c.clamp(t))
}

// Read implements net.Conn.
func (c *limitedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > 0 && !c.started {
		c.started = true
		c.foreign = sniff(p[:n])
	}
	if c.foreign != nil {
		return 0, c.foreign
	}
	return n, err
}

// sniffed is what the first bytes gave away, or nil.
func (c *limitedConn) sniffed() error {
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
