package connect

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Raw is one connection to one broker for the requests that sarama has no types
// for, by franz-go. It is made when it is first needed. Calls go one at a time, each
// bounded by its context.
type Raw struct {
	config *Config
	addr   string
	client *kgo.Client
	// peer is the connection, once there is one.
	peer            *atomic.Pointer[sniffedConn]
	opened          time.Time
	reused, spoiled bool
	isClosed        bool
}

// OpenRaw dials nobody yet, or takes what the config's Pool has kept.
func (c *Config) OpenRaw(addr string) (*Raw, error) {
	if c.Pool != nil {
		if k, ok := c.Pool.take(place{addr, c.Security, true}); ok {
			raw := *k.raw
			raw.isClosed, raw.reused = false, true
			return &raw, nil
		}
	}
	raw := &Raw{config: c, addr: addr}
	if err := raw.open(); err != nil {
		return nil, err
	}
	return raw, nil
}

func (r *Raw) open() (err error) {
	peer := &atomic.Pointer[sniffedConn]{}
	client, err := r.config.kgo(r.addr, func(conn *sniffedConn) { peer.Store(conn) })
	if err != nil {
		return err
	}
	r.client, r.peer, r.opened, r.reused, r.spoiled = client, peer, time.Now(), false, false
	return nil
}

// Close closes the connection, or gives it back to the config's Pool. It may be
// called twice.
func (r *Raw) Close() {
	if r.isClosed {
		return
	}
	r.isClosed = true
	peer := r.peer.Load()
	if pool := r.config.Pool; pool != nil && !r.spoiled && peer != nil {
		pool.put(place{r.addr, r.config.Security, true}, kept{raw: r, opened: r.opened, ends: peer.ends})
		return
	}
	r.abandon()
}

func (r *Raw) abandon() { r.client.Close() }

// AskRaw makes one call. Errors are of type *Error. A kept connection that turns out
// to be closed is replaced, once.
func AskRaw[R kmsg.Response](ctx context.Context, r *Raw, req kmsg.Request) (R, error) {
	var none R
	began := time.Now()
	resp, err := r.client.SeedBrokers()[0].Request(ctx, req)
	if err != nil && r.reused && ctx.Err() == nil && !isTimeout(err) {
		r.abandon()
		if err := r.open(); err != nil {
			return none, err
		}
		resp, err = r.client.SeedBrokers()[0].Request(ctx, req)
	}
	if err != nil {
		r.spoiled = true
		return none, Wrap(r.addr, kmsg.NameForKey(req.Key()), err, time.Since(began))
	}
	r.reused = false // it has answered: what fails from here on is no accident of waiting
	return resp.(R), nil
}
