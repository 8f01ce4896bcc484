package broker

import (
	"errors"
	"net"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// acceptPause is how long accept waits where there are no more file descriptors, as
// long as it takes to close some.
const acceptPause = 10 * time.Millisecond

// accept ends when the listener is closed.
func (s *Server) accept() {
	defer s.wg.Done()
	for {
		nc, err := s.opts.Listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.opts.Log.Warn("accept failed", "reason", err)
			select {
			case <-time.After(acceptPause):
				continue
			case <-s.gone:
				return
			}
		}
		s.adopt(nc)
	}
}

// adopt starts to serve a connection; not once the node has ended, nor before it is ready.
func (s *Server) adopt(nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || !s.open.Load() {
		reset(nc)
		return
	}
	s.connections++
	c := &conn{s: s, id: s.connections, nc: nc, host: hostOf(nc), reply: make(chan machine.Reply, 1)}
	s.conns[c] = struct{}{}
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		c.serve()
	}()
}

// reset is as near as one can come to refusing a connection at an address that is to stay
// taken: nobody waits, and nobody takes it for an end in order.
func reset(nc net.Conn) {
	if tcp, ok := nc.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = nc.Close()
}

func (s *Server) forget(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// hostOf is a client's address as Java's InetAddress writes one without a name.
func hostOf(nc net.Conn) string {
	host, _, err := net.SplitHostPort(nc.RemoteAddr().String())
	if err != nil {
		return ""
	}
	return "/" + host
}
