package connect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
)

// What the first bytes of an answer can give away.
var (
	errSpeaksTLS = errors.New("the port speaks TLS, and kafkaops spoke plain text to it: it is not a PLAINTEXT listener")
	errNotKafka  = errors.New("the answer is not Kafka's protocol")
)

// maxFirstFrameBytes is more than any answer to the first request takes (a few
// KiB). A larger length means that the peer speaks something else; without the
// check sarama would allocate what four bytes of foreign text happen to say.
const maxFirstFrameBytes = 1 << 20

// sniffedConn looks at the first bytes that arrive.
type sniffedConn struct {
	net.Conn

	mu      sync.Mutex
	started bool
	foreign error // what they gave away
}

func newSniffedConn(c net.Conn) *sniffedConn { return &sniffedConn{Conn: c} }

// Read implements net.Conn.
func (c *sniffedConn) Read(p []byte) (int, error) {
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
