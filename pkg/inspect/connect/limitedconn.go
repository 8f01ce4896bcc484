package connect

import (
	"context"
	"net"
	"sync"
	"time"
)

// keepAlive finds peers that vanished, in commands that run for long.
const keepAlive = 30 * time.Second

func dial(ctx context.Context, addr string) (net.Conn, error) {
	return (&net.Dialer{KeepAlive: keepAlive}).DialContext(ctx, "tcp", addr)
}

// limitedConn is a connection with a limit in time that its user cannot move
// out.
type limitedConn struct {
	net.Conn

	mu    sync.Mutex
	until time.Time // zero: no limit
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
