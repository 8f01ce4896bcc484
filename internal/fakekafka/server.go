package fakekafka

import (
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"
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

// bind finds a port, and tells the model of it: nobody reads that before start.
func (s *server) bind() error {
	if err := s.listen("127.0.0.1:0"); err != nil {
		return err
	}
	at := s.ln.Addr().(*net.TCPAddr)
	s.addr, s.broker.host, s.broker.port = at.String(), at.IP.String(), int32(at.Port)
	return nil
}

// listen opens the listener; whoever connects waits for start.
func (s *server) listen(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	if s.tls != nil {
		ln = tls.NewListener(ln, s.tls)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ln, s.stopped = ln, false
	return nil
}

// start serves who connects to what listen has opened.
func (s *server) start() {
	s.mu.Lock()
	ln := s.ln
	s.mu.Unlock()
	s.c.wg.Add(1)
	go s.accept(ln)
}

// mustListenAgain waits where another process took the port in the meantime, as its
// end of a connection may be for a moment. Where it keeps it, this panics: the test
// cannot go on.
func (s *server) mustListenAgain() {
	select {
	case <-s.c.done:
		return // healed after Close
	default:
	}
	err := s.listen(s.addr)
	for until := time.Now().Add(time.Minute); err != nil && time.Now().Before(until); err = s.listen(s.addr) {
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		panic(fmt.Sprintf("fakekafka: restart broker %d: %v", s.broker.ID, err))
	}
	s.start()
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
