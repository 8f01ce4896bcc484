package fakekafka

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// ClosedPort is an address that refuses connections until the test ends. The port
// is the local end of a connection of our own, so nobody else can listen on it.
func ClosedPort(tb testing.TB) string {
	tb.Helper()
	ln := listen(tb)
	defer ln.Close()
	conn, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	peer, err := ln.Accept()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = peer.Close() })
	return conn.LocalAddr().String()
}

// SilentPort accepts connections, reads and never answers.
func SilentPort(tb testing.TB) string {
	tb.Helper()
	return port(tb, listen(tb), func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
}

// ClosingPort accepts connections and closes them at once.
func ClosingPort(tb testing.TB) string {
	tb.Helper()
	return port(tb, listen(tb), func(net.Conn) {})
}

// HalfClosedPort accepts connections and closes only its sending side: the client
// reads the end, while whatever it writes is still taken.
func HalfClosedPort(tb testing.TB) string {
	tb.Helper()
	return port(tb, listen(tb), func(conn net.Conn) {
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
	})
}

// TLSPort speaks TLS only, with a self-signed certificate. Behind the handshake
// it is silent; for Kafka over TLS see [Model.TLS].
func TLSPort(tb testing.TB) string {
	tb.Helper()
	config, _ := SelfSigned(tb)
	return port(tb, tls.NewListener(listen(tb), config), func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) })
}

// HTTPPort answers every connection's first bytes with HTTP: 200 to a request,
// 400 to all else, at once, as nginx does.
func HTTPPort(tb testing.TB) string {
	tb.Helper()
	return port(tb, listen(tb), func(conn net.Conn) {
		head, err := bufio.NewReader(conn).Peek(4)
		if err != nil {
			return
		}
		status := "400 Bad Request"
		if strings.HasPrefix(string(head), "GET ") {
			status = "200 OK"
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 "+status+"\r\nServer: nginx\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		// Closing with unread bytes would reset the connection and could take the
		// answer with it: end our side, and read on until the client ends its own.
		_ = conn.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, conn)
	})
}

func listen(tb testing.TB) net.Listener {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return ln
}

// port runs handle for each connection, closes it after that, and ends all of it
// with the test.
func port(tb testing.TB, ln net.Listener, handle func(net.Conn)) string {
	tb.Helper()
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		ended bool
		conns []net.Conn
	)
	wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			if ended {
				_ = conn.Close()
			}
			mu.Unlock()
			wg.Go(func() {
				defer conn.Close()
				handle(conn)
			})
		}
	})
	tb.Cleanup(func() {
		_ = ln.Close()
		mu.Lock()
		ended = true
		for _, conn := range conns {
			_ = conn.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return ln.Addr().String()
}
