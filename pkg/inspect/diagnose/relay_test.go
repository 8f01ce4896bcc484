package diagnose_test

import (
	"encoding/binary"
	"io"
	"net"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

// relays stand before the brokers' listener for replication, so that what goes from one
// that leads to one that follows it can be slowed or cut, for real brokers on one machine.
// Whose connection it is a follower says in its first request: its client.id is
// broker-2-fetcher-0.
type relays struct {
	t  *testing.T
	mu sync.Mutex
	// late is how long what a leader sends is held, by leader and follower; negative: until
	// that has changed.
	late map[[2]int]time.Duration
}

func newRelays(t *testing.T) *relays {
	return &relays{t: t, late: map[[2]int]time.Duration{}}
}

// held is what is put in for a link that is cut.
const held = -1 * time.Second

// slow holds what leader sends to follower.
func (r *relays) slow(leader, follower int, late time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late[[2]int{leader, follower}] = late
}

// heal lets all through at once.
func (r *relays) heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.late)
}

func (r *relays) lateness(leader, follower int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.late[[2]int{leader, follower}]
}

// before opens a relay to a broker, and returns its address. It ends with the test.
func (r *relays) before(leader int, addr string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(leader, addr, conn)
		}
	}()
	return l.Addr().String()
}

var fetcher = regexp.MustCompile(`^broker-(\d+)-fetcher-`)

// serve copies both ways until one side ends.
func (r *relays) serve(leader int, addr string, in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer out.Close()
	// A request begins with its length, the API's key and version, a number, and the client.id.
	const fixed = 4 + 2 + 2 + 4 + 2
	head := make([]byte, fixed)
	if _, err := io.ReadFull(in, head); err != nil {
		return
	}
	client := make([]byte, max(0, int16(binary.BigEndian.Uint16(head[fixed-2:]))))
	if _, err := io.ReadFull(in, client); err != nil {
		return
	}
	follower := 0
	if m := fetcher.FindSubmatch(client); m != nil {
		follower, _ = strconv.Atoi(string(m[1]))
	}
	if _, err := out.Write(append(head, client...)); err != nil {
		return
	}
	go func() {
		defer in.Close() // who waits for an answer is told
		r.delay(in, out, leader, follower)
	}()
	_, _ = io.Copy(out, in)
}

// delay copies what a leader sends, each piece when its time has come.
func (r *relays) delay(to io.Writer, from io.Reader, leader, follower int) {
	type piece struct {
		data []byte
		came time.Time
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer close(pieces)
		for {
			buf := make([]byte, 64<<10)
			n, err := from.Read(buf)
			if n > 0 {
				pieces <- piece{buf[:n], time.Now()}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		for {
			late := r.lateness(leader, follower)
			if late >= 0 && time.Since(p.came) >= late {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if _, err := to.Write(p.data); err != nil {
			for range pieces { // so that the reader ends
			}
			return
		}
	}
}
