package fakekafka

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Cluster is a running fake. All of its methods may be called at any time, from
// any goroutine, except from within View, Change and the hook of OnListOffsets,
// which hold the model's lock.
type Cluster struct {
	// servers are in the model's order, and fixed.
	servers []*server
	log     recorder

	mu        sync.RWMutex // guards what follows, and the model's contents
	model     *Model
	index     *index
	created   []string
	intercept InterceptFunc
	onOffsets func(m *Model, broker int32)

	wg     sync.WaitGroup
	done   chan struct{} // closed by Close
	closed sync.Once
}

// InterceptFunc may answer a request in the broker's place. Unhandled, it is
// answered as ever; handled with a nil response, its connection is closed.
type InterceptFunc func(broker int32, req kmsg.Request) (resp kmsg.Response, handled bool)

// Start runs the model's brokers until the test ends.
func Start(tb testing.TB, m *Model) *Cluster {
	tb.Helper()
	c, err := Listen(m)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}

// Listen is Start where there is no testing.TB, as in a testscript's setup: the
// caller has to Close.
func Listen(m *Model) (*Cluster, error) {
	c := &Cluster{model: m, index: newIndex(m), done: make(chan struct{})}
	if len(c.index.brokers) != len(m.Brokers) {
		return nil, errors.New("two brokers have the same id")
	}
	for _, b := range m.Brokers {
		s := newServer(c, b, m.TLS)
		if err := s.bind(); err != nil {
			c.Close()
			return nil, fmt.Errorf("start broker %d: %w", b.ID, err)
		}
		c.servers = append(c.servers, s)
	}
	// Not before all are bound: any process of the machine may connect to the first
	// port, and each broker tells of all of them.
	for _, s := range c.servers {
		s.start()
	}
	return c, nil
}

// Close ends all brokers and waits for their goroutines.
func (c *Cluster) Close() {
	c.closed.Do(func() {
		close(c.done)
		for _, s := range c.servers {
			s.stop()
		}
	})
	c.wg.Wait()
}

// Addr is where a broker listens, whatever it advertises.
func (c *Cluster) Addr(broker int32) string { return c.server(broker).addr }

// Addrs are all brokers' listeners, in the model's order.
func (c *Cluster) Addrs() []string {
	addrs := make([]string, len(c.servers))
	for i, s := range c.servers {
		addrs[i] = s.addr
	}
	return addrs
}

// Bootstrap is what --bootstrap-server takes: all addresses with commas between.
func (c *Cluster) Bootstrap() string { return strings.Join(c.Addrs(), ",") }

// Change alters the model between two answers.
func (c *Cluster) Change(alter func(m *Model)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	alter(c.model)
	c.index = newIndex(c.model)
}

// View reads the model between two changes.
func (c *Cluster) View(read func(m *Model)) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	read(c.model)
}

// Intercept puts fn before all answers; nil takes it away. It runs on the
// connection's goroutine without a lock, so it may call Change, or wait.
func (c *Cluster) Intercept(fn InterceptFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.intercept = fn
}

// OnListOffsets lets step change the model before each ListOffsets answer, to play
// what happens between two reads; nil takes it away. See also
// [Partition.AppendPerRead].
func (c *Cluster) OnListOffsets(step func(m *Model, broker int32)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onOffsets = step
}

// server panics for a broker that the model did not have at the start: that is a
// mistake in the test.
func (c *Cluster) server(broker int32) *server {
	for _, s := range c.servers {
		if s.broker.ID == broker {
			return s
		}
	}
	panic(fmt.Sprintf("fakekafka: no broker %d was started", broker))
}
