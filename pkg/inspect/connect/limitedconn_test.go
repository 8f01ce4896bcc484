package connect

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestLimit: whoever uses the connection, its deadlines end with the limit.
func TestLimit(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second
	deadlines := map[string]func(net.Conn, time.Time) error{
		"none": func(net.Conn, time.Time) error { return nil },
		"all":  net.Conn.SetDeadline, "read": net.Conn.SetReadDeadline, "write": net.Conn.SetWriteDeadline,
	}
	for _, tt := range []struct {
		name   string
		set    string        // which deadline its user sets
		in     time.Duration // 0 is none at all
		read   time.Duration // when reading ends, and writing
		write  time.Duration
		before bool // set before the limit
	}{
		{"no deadline set", "none", 0, limit, limit, false},
		{"a later one", "all", time.Hour, limit, limit, false},
		{"a later one to read", "read", time.Hour, limit, limit, false},
		{"a later one to write", "write", time.Hour, limit, limit, false},
		{"taken away", "all", 0, limit, limit, false},
		{"an earlier one", "all", time.Second, time.Second, time.Second, false},
		{"an earlier one to read", "read", time.Second, time.Second, limit, false},
		{"an earlier one to write", "write", time.Second, limit, time.Second, false},
		{"a later one, from before", "all", time.Hour, limit, limit, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				peer, conn := net.Pipe()
				defer peer.Close()
				c := newLimitedConn(conn)
				defer c.Close()
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				began := time.Now()
				set := func() {
					at := time.Time{}
					if tt.in > 0 {
						at = began.Add(tt.in)
					}
					if err := deadlines[tt.set](c, at); err != nil {
						t.Fatal(err)
					}
				}
				if tt.before {
					set()
				}
				c.limit(ctx)
				if !tt.before {
					set()
				}
				read := make(chan time.Duration, 1)
				go func() {
					_, err := c.Read(make([]byte, 1))
					if !errors.Is(err, os.ErrDeadlineExceeded) {
						t.Errorf("read: got %v, want the deadline", err)
					}
					read <- time.Since(began)
				}()
				if _, err := c.Write([]byte{1}); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("write: got %v, want the deadline", err)
				}
				if got := time.Since(began); got != tt.write {
					t.Errorf("writing ended after %s, want %s", got, tt.write)
				}
				if got := <-read; got != tt.read {
					t.Errorf("reading ended after %s, want %s", got, tt.read)
				}
			})
		})
	}
}

// TestLimitIsLifted: a context without a deadline takes the limit away.
func TestLimitIsLifted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		peer, conn := net.Pipe()
		defer peer.Close()
		c := newLimitedConn(conn)
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.limit(ctx)
		c.limit(t.Context())
		time.AfterFunc(time.Hour, func() { _, _ = peer.Write([]byte{0}) })
		if n, err := c.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("got %d, %v; want a byte after an hour", n, err)
		}
		// Deadlines of its user count again.
		if err := c.SetReadDeadline(time.Now().Add(2 * time.Hour)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != 2*time.Hour {
			t.Errorf("got %v after %s, want the deadline after 2h", err, time.Since(began))
		}
	})
}

// TestAbort ends what waits, and what is to come, whatever deadline is set.
func TestAbort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		peer, conn := net.Pipe()
		defer peer.Close()
		c := newLimitedConn(conn)
		defer c.Close()
		time.AfterFunc(time.Second, c.abort)
		began := time.Now()
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("got %v after %s, want the end after 1s", err, time.Since(began))
		}
		for what, set := range map[string]func(time.Time) error{"all": c.SetDeadline, "read": c.SetReadDeadline, "write": c.SetWriteDeadline} {
			for _, at := range []time.Time{{}, time.Now().Add(time.Hour)} {
				if err := set(at); err != nil {
					t.Fatal(err)
				}
				if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("read after setting %s to %s: got %v, want the end", what, at, err)
				}
				if _, err := c.Write([]byte{1}); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("write after setting %s to %s: got %v, want the end", what, at, err)
				}
			}
		}
		if got := time.Since(began); got != time.Second {
			t.Errorf("took %s, want nothing to wait", got)
		}
	})
}

// TestSniff: what the first bytes of an answer give away.
func TestSniff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		first string
		want  string // a part of the error
	}{
		{"a frame", "\x00\x00\x01\x00\x00\x00\x00\x01", ""},
		{"the largest frame", "\x00\x10\x00\x00", ""},
		{"a larger one", "\x00\x10\x00\x01", "not Kafka's protocol"},
		{"TLS alert", "\x15\x03\x03\x00\x02\x02\x46", "the port speaks TLS"},
		{"TLS handshake", "\x16\x03\x01\x02\x00", "the port speaks TLS"},
		{"TLS alert, cut short", "\x15\x03", "the port speaks TLS"},
		{"HTTP", "HTTP/1.1 400 Bad Request\r\n", `it begins with "HTTP/1.1"`},
		{"SSH", "SSH-2.0-OpenSSH_9.6\r\n", `it begins with "SSH-2.0-"`},
		{"escapes", "\x1b[2J\x1b[2J", `it begins with "\x1b[2J\x1b[2J"`},
		{"four bytes", "+OK\r", `it begins with "+OK\r"`},
		{"one byte", "H", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			peer, conn := net.Pipe()
			defer peer.Close()
			c := newSniffedConn(conn)
			defer c.Close()
			go func() {
				_, _ = io.WriteString(peer, tt.first)
				_, _ = io.WriteString(peer, "HTTP") // not the first bytes: no longer looked at
				_ = peer.Close()
			}()
			buf := make([]byte, 64)
			n, err := c.Read(buf)
			if tt.want == "" {
				if err != nil || string(buf[:n]) != tt.first || c.sniffed() != nil {
					t.Fatalf("got %q, %v, sniffed %v; want it handed on", buf[:n], err, c.sniffed())
				}
				if n, err := c.Read(buf); err != nil || string(buf[:n]) != "HTTP" {
					t.Errorf("then got %q, %v; want HTTP handed on", buf[:n], err)
				}
				return
			}
			if n != 0 || err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(c.sniffed(), err) {
				t.Errorf("got %d bytes, %v, sniffed %v; want %q", n, err, c.sniffed(), tt.want)
			}
			if _, again := c.Read(buf); !errors.Is(again, err) {
				t.Errorf("then got %v, want the same error", again)
			}
		})
	}
}
