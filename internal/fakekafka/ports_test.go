package fakekafka

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestPorts(t *testing.T) {
	t.Parallel()
	kafka := []byte("\x00\x00\x00\x0a\x00\x12\x00\x00\x00\x00\x00\x01\xff\xff")
	speak := func(t *testing.T, addr string) net.Conn {
		conn := dial(t, addr)
		if _, err := conn.Write(kafka); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		addr := ClosedPort(t)
		wantRefused(t, addr)
		if ln, err := net.Listen("tcp", addr); err == nil {
			ln.Close()
			t.Error("somebody else can listen there")
		}
	})
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		conn := speak(t, SilentPort(t))
		if err := conn.SetReadDeadline(time.Now().Add(20 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		var timeout net.Error
		if _, err := conn.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("got %v, want silence", err)
		}
	})
	t.Run("closing", func(t *testing.T) {
		t.Parallel()
		wantClosed(t, dial(t, ClosingPort(t)))
	})
	t.Run("half closed", func(t *testing.T) {
		t.Parallel()
		conn := dial(t, HalfClosedPort(t))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want the end", err)
		}
		for range 3 {
			if _, err := conn.Write(kafka); err != nil {
				t.Errorf("write: %v, want it taken", err)
			}
		}
	})
	t.Run("TLS", func(t *testing.T) {
		t.Parallel()
		addr := TLSPort(t)
		if err := tls.Client(dial(t, addr), &tls.Config{InsecureSkipVerify: true}).Handshake(); err != nil {
			t.Errorf("handshake: %v", err)
		}
		wantClosed(t, speak(t, addr))
	})
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		addr := HTTPPort(t)
		got, err := io.ReadAll(speak(t, addr))
		if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 400") {
			t.Errorf("got %q, %v", got, err)
		}
		conn := dial(t, addr)
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 200") {
			t.Errorf("got %q, %v", got, err)
		}
	})
}
