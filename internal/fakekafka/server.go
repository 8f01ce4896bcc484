package fakekafka

import (
	"crypto/tls"
	"fmt"
	"net"
	"sync"
)

// server is one broker's listener and connections.
type server struct {
	c      *Cluster
	broker *Broker // as it was at the start: the model may drop it
	tls    *tls.Config
	addr   string

	mu       sync.Mutex // guards what follows
	ln       net.Listener
	conns    map[net.Conn]struct{}
	stopped  bool
	faults   Faults
	answered int // since the faults were set
}

func newServer(c *Cluster, b *Broker, config *tls.Config) *server {
	return &server{c: c, broker: b, tls: config, conns: make(map[net.Conn]struct{})}
}

// listen opens the listener and remembers its address, where the broker stays.
func (s *server) listen(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	at := ln.Addr().(*net.TCPAddr)
	if s.addr == "" {
		// Only at the start, before anyone reads them.
		s.addr, s.broker.host, s.broker.port = at.String(), at.IP.String(), int32(at.Port)
	}
	if s.tls != nil {
		ln = tls.NewListener(ln, s.tls)
	}
	s.mu.Lock()
	s.ln, s.stopped = ln, false
	s.mu.Unlock()
	s.c.wg.Add(1)
	go s.accept(ln)
	return nil
}

// mustListenAgain panics where another process took the port in the meantime:
// the test cannot go on.
func (s *server) mustListenAgain() {
	select {
	case <-s.c.done:
		return // healed after Close
	default:
	}
	if err := s.listen(s.addr); err != nil {
		panic(fmt.Sprintf("fakekafka: restart broker %d: %v", s.broker.ID, err))
	}
}

// stop closes the listener and all connections. It may be called twice.
func (s *server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if s.ln != nil {
		_ = s.ln.Close() // nothing of ours depends on how it closes
	}
	for conn := range s.conns {
		_ = conn.Close()
	}
}

// accept ends when the listener is closed.
func (s *server) accept(ln net.Listener) {
	defer s.c.wg.Done()
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		if !s.adopt(conn) {
			_ = conn.Close()
			return
		}
		s.c.wg.Add(1)
		go func() {
			defer s.c.wg.Done()
			defer s.drop(conn)
			s.serve(conn)
		}()
	}
}

// adopt keeps a connection for stop to close; not after stop, which would miss it.
func (s *server) adopt(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	s.conns[conn] = struct{}{}
	return true
}

func (s *server) drop(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, conn)
	_ = conn.Close()
}
