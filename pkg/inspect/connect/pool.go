package connect

import (
	"slices"
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
	idle   map[place][]kept
	counts map[string]int64
}

// place is what connections must have in common to stand in for each other.
type place struct {
	addr     string
	security *Security
	raw      bool
}

// kept is a connection that nobody uses.
type kept struct {
	conn *Conn
	raw  *Raw
	// opened is when it was; from ends on the broker refuses it, zero for never.
	opened, ends, idleSince time.Time
}

// usable reports whether it may be used once more.
func (k *kept) usable(now time.Time) bool {
	return now.Sub(k.opened) <= keepFor && (k.ends.IsZero() || now.Before(k.ends))
}

func closeAll(dropped []kept) {
	for i := range dropped {
		if raw := dropped[i].raw; raw != nil {
			raw.abandon()
			continue
		}
		dropped[i].conn.abandon()
	}
}

const (
	// keepIdle is how long a connection may lie unused: those to addresses that
	// brokers have left would else stay forever.
	keepIdle = time.Minute
	// keepFor is the age at which a connection is closed after use, so that new
	// names, certificates and passwords come into use without an accident.
	keepFor = 10 * time.Minute
)

// take returns a connection that nobody uses; false where there is none.
func (p *Pool) take(at place) (kept, bool) {
	var dropped []kept
	defer func() { closeAll(dropped) }() // not under the lock
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for len(p.idle[at]) > 0 {
		there := p.idle[at]
		k := there[len(there)-1]
		there[len(there)-1] = kept{}
		p.idle[at] = there[:len(there)-1]
		if k.usable(now) {
			return k, true
		}
		dropped = append(dropped, k)
	}
	return kept{}, false
}

// put keeps the connection, and drops those that have lain too long.
func (p *Pool) put(at place, k kept) {
	now := time.Now()
	k.idleSince = now
	var dropped []kept
	defer func() { closeAll(dropped) }()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle == nil {
		p.idle = map[place][]kept{}
	}
	p.idle[at] = append(p.idle[at], k)
	for at, there := range p.idle {
		p.idle[at] = slices.DeleteFunc(there, func(k kept) bool {
			drop := now.Sub(k.idleSince) > keepIdle || !k.usable(now)
			if drop {
				dropped = append(dropped, k)
			}
			return drop
		})
		if len(p.idle[at]) == 0 {
			delete(p.idle, at)
		}
	}
}

// Close closes what is kept. The Pool can be used again.
func (p *Pool) Close() {
	p.mu.Lock()
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, there := range idle {
		closeAll(there)
	}
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
