package connect

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// What ApiVersions v3 tells the broker of us (KIP-511).
const (
	softwareName    = "kafkaops"
	softwareVersion = "1"
)

// abandonAfter is how long a call may take to return once its connection has
// been aborted. Only sarama's throttle wait does not end with the connection;
// such a call is left behind.
const abandonAfter = 50 * time.Millisecond

// Conn is one open connection to one broker. Its calls go one at a time, each
// bounded by its context. After an error of the connection every further call
// fails; open another one.
type Conn struct {
	addr   string
	raw    *limitedConn
	peer   *sniffedConn
	broker *sarama.Broker
	apis   map[int16]versionRange
	// features are the finalized feature levels; nil where the broker tells none
	// (before Kafka 2.7).
	features map[string]int16
	// versions is the broker's own answer.
	versions *sarama.ApiVersionsResponse
	// broken is the request that the connection broke on; nil while it works.
	broken *atomic.Pointer[string]

	// config is what it was opened with, opened when; see Pool for the others.
	config           *Config
	opened           time.Time
	reused, answered bool
	// fastest is the shortest time that an answer took; 0 for none yet.
	fastest time.Duration
	// spoiled: the limit of an answered call may still cut off the next one.
	spoiled, isClosed bool
}

type versionRange struct{ min, max int16 }

// Open dials addr, authenticates where the config says so, and asks ApiVersions,
// all within ctx; or it takes a connection that the config's Pool has kept. Errors
// are of type *Error.
func (c *Config) Open(ctx context.Context, addr string) (*Conn, error) {
	if c.Pool != nil {
		if k, ok := c.Pool.take(place{addr, c.Security, false}); ok {
			conn := *k.conn // whoever closed it before may close it again
			conn.isClosed, conn.reused, conn.answered, conn.fastest = false, true, false, 0
			return &conn, nil
		}
	}
	return c.openNew(ctx, addr)
}

func (c *Config) openNew(ctx context.Context, addr string) (*Conn, error) {
	raw, peer, err := c.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	conn := &Conn{
		addr: addr, raw: raw, peer: peer, broker: sarama.NewBroker(addr),
		broken: &atomic.Pointer[string]{}, config: c, opened: time.Now(),
	}
	if err := conn.broker.Open(c.sarama(peer)); err != nil {
		_ = raw.Close()
		return nil, newError(addr, inspect.PhaseRequest, "ApiVersions", err, 0)
	}
	if err := conn.askVersions(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// askVersions asks the newest ApiVersions that sarama knows, then the one that
// the broker says it has (KIP-511 answers a too new version with error 35 and
// its own range).
func (c *Conn) askVersions(ctx context.Context) error {
	version := int16(4)
	for {
		req := &sarama.ApiVersionsRequest{
			Version: version, ClientSoftwareName: softwareName, ClientSoftwareVersion: softwareVersion,
		}
		resp, err := Ask(ctx, c, "ApiVersions", func(b *sarama.Broker) (*sarama.ApiVersionsResponse, error) {
			return b.ApiVersions(req)
		})
		if err != nil {
			return err
		}
		if sarama.KError(resp.ErrorCode) == sarama.ErrUnsupportedVersion && version > 0 {
			version = min(version-1, ownVersion(resp))
			continue
		}
		if resp.ErrorCode != 0 {
			return c.fail("ApiVersions", sarama.KError(resp.ErrorCode), 0)
		}
		c.learn(resp)
		return nil
	}
}

// ownVersion is the newest ApiVersions version the broker offers, 0 where it
// does not say.
func ownVersion(resp *sarama.ApiVersionsResponse) int16 {
	const apiVersionsKey = 18
	for i := range resp.ApiKeys {
		if resp.ApiKeys[i].ApiKey == apiVersionsKey {
			return max(0, resp.ApiKeys[i].MaxVersion)
		}
	}
	return 0
}

func (c *Conn) learn(resp *sarama.ApiVersionsResponse) {
	c.versions = resp
	c.apis = make(map[int16]versionRange, len(resp.ApiKeys))
	for _, k := range resp.ApiKeys {
		c.apis[k.ApiKey] = versionRange{k.MinVersion, k.MaxVersion}
	}
	if resp.Version < 3 || resp.FinalizedFeaturesEpoch < 0 {
		return
	}
	c.features = make(map[string]int16, len(resp.FinalizedFeatures))
	for _, f := range resp.FinalizedFeatures {
		c.features[f.Name] = f.MaxVersionLevel
	}
}

// Addr is the address that was dialed.
func (c *Conn) Addr() string { return c.addr }

// Version returns the newest version of the API that both sides speak, where
// newest is the newest the caller can use; false where there is none.
func (c *Conn) Version(apiKey, newest int16) (int16, bool) {
	r, ok := c.apis[apiKey]
	if !ok || r.min > newest {
		return 0, false
	}
	return min(newest, r.max), true
}

// Offered returns the versions of the API that the broker has; false where it has
// none.
func (c *Conn) Offered(apiKey int16) (oldest, newest int16, ok bool) {
	r, ok := c.apis[apiKey]
	return r.min, r.max, ok
}

// Broken reports whether a call has failed: then every further one does, and is
// not sent.
func (c *Conn) Broken() bool { return c.broken.Load() != nil }

// Feature returns the finalized level of a cluster feature (KIP-584); 0 where it
// is not finalized, false where the broker tells no features.
func (c *Conn) Feature(name string) (int16, bool) {
	return c.features[name], c.features != nil
}

// APIVersions is the broker's own answer to ApiVersions.
func (c *Conn) APIVersions() *sarama.ApiVersionsResponse { return c.versions }

// Close closes the connection, or gives it back to the config's Pool. It may be
// called twice.
func (c *Conn) Close() {
	if c.isClosed {
		return
	}
	c.isClosed = true
	if pool := c.config.Pool; pool != nil && !c.spoiled && !c.Broken() {
		pool.put(place{c.addr, c.config.Security, false}, kept{conn: c, opened: c.opened, ends: c.peer.ends})
		return
	}
	c.abandon()
}

func (c *Conn) abandon() {
	// sarama's Close waits for the lock that a call holds; the socket ends it.
	_ = c.raw.Close()
	broker := c.broker
	go func() { _ = broker.Close() }()
}

// Ask makes one call on the connection, named after Kafka's request, and returns
// within ctx. Errors are of type *Error.
func Ask[T any](ctx context.Context, c *Conn, request string, call func(*sarama.Broker) (T, error)) (T, error) {
	v, err := askOnce(ctx, c, request, call)
	if err != nil && ctx.Err() == nil && c.stale(errors.Unwrap(err)) {
		if renewErr := c.renew(ctx); renewErr != nil {
			return v, renewErr
		}
		v, err = askOnce(ctx, c, request, call)
	}
	if err == nil {
		c.answered = true
	}
	return v, err
}

func askOnce[T any](ctx context.Context, c *Conn, request string, call func(*sarama.Broker) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var none T
	if on := c.broken.Load(); on != nil {
		cause := fmt.Sprintf("%s was not sent: the connection had broken on %s", request, *on)
		return none, &Error{Address: c.addr, Phase: inspect.PhaseRequest, Request: request, Cause: cause}
	}
	began := time.Now()
	c.raw.limit(ctx)
	stop := context.AfterFunc(ctx, c.raw.abort)
	defer func() {
		if !stop() {
			c.spoiled = true // the abort may hit the next request
		}
	}()
	c.config.Pool.count(request)
	answered := make(chan answer, 1)
	broker := c.broker
	go func() {
		v, err := call(broker)
		answered <- answer{v, err}
	}()
	select {
	case a := <-answered:
		switch {
		case a.err == nil:
			c.took(time.Since(began))
			return a.value, nil
		case ctx.Err() != nil: // the abort made the error, and came first
			return none, c.fail(request, ctx.Err(), time.Since(began))
		}
		return none, c.fail(request, a.err, time.Since(began))
	case <-ctx.Done():
	}
	select {
	case a := <-answered:
		if a.err == nil {
			return a.value, nil
		}
	case <-time.After(abandonAfter):
	}
	return none, c.fail(request, ctx.Err(), time.Since(began))
}

func (c *Conn) fail(request string, err error, after time.Duration) error {
	c.broken.CompareAndSwap(nil, &request)
	if sniffed := c.peer.sniffed(); sniffed != nil {
		err = sniffed
	}
	e := newError(c.addr, inspect.PhaseRequest, request, err, after)
	guess(e, c.peer)
	c.config.Security.addOutdated(e)
	return e
}

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

// Fastest is the shortest time in which the broker has answered since the connection was
// opened or taken from a [Pool]; unknown where it has not.
func (c *Conn) Fastest() inspect.Opt[time.Duration] {
	if c.fastest == 0 {
		return inspect.Unknown[time.Duration]()
	}
	return inspect.Known(c.fastest)
}

func (c *Conn) took(d time.Duration) {
	if c.fastest == 0 || d < c.fastest {
		c.fastest = max(d, 1)
	}
}

// stale reports whether an error says no more than that the connection was closed
// while nobody used it.
func (c *Conn) stale(err error) bool {
	return c.reused && !c.answered && isClosed(err)
}
