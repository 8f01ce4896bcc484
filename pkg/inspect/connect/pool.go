package connect

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Pool keeps connections open from one pass to the next, for programs that ask
// every few seconds: a handshake with TLS and SASL costs a broker more than most
// requests do. It also counts requests. The zero value is ready; put it into
// [Config.Pool].
//
// What is kept may die meanwhile. A connection that turns out to be closed when
// it is used for the first time again is replaced, once, and the request is sent
// over the new one; one that is silent is a broker that is silent.
type Pool struct {
	mu     sync.Mutex
	idle   map[string][]*Conn
	counts map[string]int64
}

const (
	// keepIdle is how long a connection may lie unused: those to addresses that
	// brokers have left would else stay forever.
	keepIdle = time.Minute
	// keepFor is the age at which a connection is closed after use, so that new
	// names, certificates and passwords come into use without an accident.
	keepFor = 10 * time.Minute
)

// take returns a connection to addr that nobody uses, or nil.
func (p *Pool) take(addr string) *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	conns := p.idle[addr]
	if len(conns) == 0 {
		return nil
	}
	kept := conns[len(conns)-1]
	p.idle[addr] = conns[:len(conns)-1]
	conn := *kept // whoever closed it before may close it again
	conn.isClosed, conn.reused, conn.answered = false, true, false
	return &conn
}

// put keeps the connection, and drops those that have lain too long.
func (p *Pool) put(c *Conn) {
	now := time.Now()
	c.idleSince = now
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle == nil {
		p.idle = map[string][]*Conn{}
	}
	if now.Sub(c.opened) > keepFor {
		c.abandon()
	} else {
		p.idle[c.addr] = append(p.idle[c.addr], c)
	}
	for addr, conns := range p.idle {
		kept := conns[:0]
		for _, conn := range conns {
			if now.Sub(conn.idleSince) > keepIdle {
				conn.abandon()
				continue
			}
			kept = append(kept, conn)
		}
		clear(conns[len(kept):])
		if p.idle[addr] = kept; len(kept) == 0 {
			delete(p.idle, addr)
		}
	}
}

// Close closes what is kept. The Pool can be used again.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conns := range p.idle {
		for _, c := range conns {
			c.abandon()
		}
	}
	p.idle = nil
}

// Requests returns how many requests of each API were sent so far, by Kafka's
// name, ApiVersions of new connections included.
func (p *Pool) Requests() map[string]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[string]int64, len(p.counts))
	for name, n := range p.counts {
		out[name] = n
	}
	return out
}

func (p *Pool) count(request string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.counts == nil {
		p.counts = map[string]int64{}
	}
	p.counts[request]++
}

// OnBrokerWrite implements kgo.HookBrokerWrite: it counts what the other client
// sends.
func (p *Pool) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	p.count(kmsg.NameForKey(key))
}

var _ kgo.HookBrokerWrite = (*Pool)(nil)

// renew replaces a kept connection that was found closed.
func (c *Conn) renew(ctx context.Context) error {
	fresh, err := c.config.openNew(ctx, c.addr)
	if err != nil {
		return err
	}
	c.abandon()
	*c = *fresh
	return nil
}

// Answered reports whether the broker has answered since the connection was
// opened or taken from a [Pool].
func (c *Conn) Answered() bool { return c.answered }

// stale reports whether an error says no more than that the connection was closed
// while nobody used it.
func (c *Conn) stale(err error) bool {
	return c.reused && !c.answered && isClosed(err)
}
