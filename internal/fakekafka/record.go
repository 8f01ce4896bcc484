package fakekafka

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Request is a request as a broker got it.
type Request struct {
	Broker   int32
	Key      Key
	Version  int16
	ClientID string
	// Body is nil for what could not be decoded, and for what came after
	// keepBodiesBytes of requests. It is shared: do not change it.
	Body kmsg.Request
	// Err is why the broker closed the connection: bytes that are no request, or
	// one that the broker does not advertise.
	Err error
}

// Limits of what is kept, so that a long benchmark does not fill the memory with
// requests that nobody looks at. Beyond them requests are still counted.
const (
	keepRequests    = 100_000
	keepBodiesBytes = 64 << 20
)

// recorder keeps the requests in the order in which they were read.
type recorder struct {
	mu       sync.Mutex
	requests []Request
	bytes    int
	counts   map[Key]int
	// grown is closed by the next add: whoever waits for a request waits for it.
	grown chan struct{}
}

func (l *recorder) add(r Request, frameBytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts = make(map[Key]int)
	}
	if r.Body != nil {
		l.counts[r.Key]++
	}
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
	if len(l.requests) >= keepRequests {
		return
	}
	if l.bytes += frameBytes; l.bytes > keepBodiesBytes {
		r.Body = nil
	}
	l.requests = append(l.requests, r)
}

// Requests returns all requests since the start or the last Reset, oldest first.
func (c *Cluster) Requests() []Request {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return slices.Clone(c.log.requests)
}

// Count says how many requests of a kind the brokers got, answered or not.
func (c *Cluster) Count(key Key) int {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	return c.log.counts[key]
}

// Await returns when the brokers have got n requests of a kind, in all since the
// start or the last Reset: how a test knows that a client hangs where it should.
func (c *Cluster) Await(ctx context.Context, key Key, n int) error {
	for {
		got, grown := c.log.next(key)
		if got >= n {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return fmt.Errorf("await %d %s, got %d: %w", n, key.Name(), got, ctx.Err())
		}
	}
}

// next returns the count so far and what tells of the next request.
func (l *recorder) next(key Key) (int, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grown == nil {
		l.grown = make(chan struct{})
	}
	return l.counts[key], l.grown
}

// Reset forgets the requests so far.
func (c *Cluster) Reset() {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	c.log.requests, c.log.bytes, c.log.counts = nil, 0, nil
}
