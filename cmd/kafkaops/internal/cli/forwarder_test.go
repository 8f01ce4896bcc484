package cli

import (
	"io"
	"net"
	"sync"
	"testing"
)

// forwarder is an address whose connections lead elsewhere: a load balancer, or a
// name that is looked up anew.
type forwarder struct {
	addr string

	mu    sync.Mutex
	to    string
	conns []net.Conn
}

func newForwarder(t *testing.T, to string) *forwarder {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	f := &forwarder{addr: ln.Addr().String(), to: to}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go f.serve(conn)
		}
	}()
	return f
}

func (f *forwarder) point(to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.to = to
}

// cut closes all connections there are.
func (f *forwarder) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range f.conns {
		conn.Close()
	}
	f.conns = nil
}

func (f *forwarder) serve(conn net.Conn) {
	defer conn.Close()
	f.mu.Lock()
	to := f.to
	f.conns = append(f.conns, conn)
	f.mu.Unlock()
	far, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer far.Close()
	go func() {
		_, _ = io.Copy(far, conn)
		far.Close()
	}()
	_, _ = io.Copy(conn, far)
}
