package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/broker"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/node"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Broker is a broker of a cluster, and what can be done to it. It is for several
// goroutines. It outlives its process: kill it, and it can be started again on its disk.
type Broker struct {
	process

	node *node.Node // of the present life; the server's goroutine steps it
}

func (c *Cluster) newBroker(id int, disk *broker.Disk, rng *rand.Rand) *Broker {
	b := &Broker{process: process{
		c: c, id: id, name: fmt.Sprintf("broker %d", id), peer: machine.Peer(id), disk: disk, time: broker.NewClock(),
	}}
	static := forBroker(c.opts.config(id))
	b.open = func(disk vfs.FS, now machine.Time) (broker.Node, error) {
		n, err := node.Open(node.Options{
			ID: int32(id), ClusterID: c.id, Rack: c.opts.rack(id), FS: disk, LogDir: c.logDir(id), Static: static, APIs: c.apis, EarlyIDs: true,
			Buffers:   broker.NewBuffers(),
			Rand:      rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())),
			EndPoints: []kraft.Endpoint{{Name: "PLAINTEXT", Host: c.host, Port: uint16(b.port)}},
		}, now)
		if err != nil {
			return nil, err
		}
		b.node = n
		return n, nil
	}
	return b
}

// ID is its node.id.
func (b *Broker) ID() int { return b.id }

// Address is where it listens, host and port: the same in all of its lives.
func (b *Broker) Address() string { return b.address() }

// Stop stops it cleanly: its leaderships move first (a controlled shutdown, KIP-841).
// It returns when the broker has ended, at once if it had already.
func (b *Broker) Stop(ctx context.Context) error {
	return b.stop(ctx, func() stopper { return b.node.Shutdown })
}

// Restart starts it, after Stop if it runs, and returns when the controller has unfenced
// it. That takes until broker.session.timeout.ms after the last heartbeat of its life
// before, even if that ended cleanly, as with Kafka: until then the controller takes the
// new process for a second one with this id. It asks again after pauses that double, so
// that with Kafka's 9 s it is up after 13 s. Before it has caught up with the metadata
// connections to it are reset. Where ctx ends before, the broker runs on, and the
// error says where it is the controller that is missing.
func (b *Broker) Restart(ctx context.Context) error {
	if err := b.Stop(ctx); err != nil {
		return err
	}
	if _, err := b.revive(); err != nil {
		return err
	}
	err := b.poll(ctx, "it is unfenced", func() bool {
		in, ok := b.registered()
		return ok && in.unfenced(b.id)
	})
	if err == nil || errors.Is(err, errEnded) { // which says whose end it was
		return err
	}
	if s := b.c.controller.State(); s != Running && ctx.Err() != nil {
		return fmt.Errorf("%s: %w: the controller, which alone unfences it, is %s", b.name, err, s)
	}
	return fmt.Errorf("%s: %w", b.name, err)
}

// view is what a broker knows of its cluster.
type view struct {
	image metadata.Image
	// behind is the offset behind the metadata that image is of.
	behind int64
	epoch  int64 // of this broker
}

// registered is what the present life knows; false while it has not registered and
// seen that in the metadata.
func (b *Broker) registered() (v view, ok bool) {
	b.mu.Lock()
	s, n := b.server, b.node
	b.mu.Unlock()
	s.Do(func() { v, ok = view{n.Image(), n.MetadataOffset(), n.BrokerEpoch()}, n.Running() })
	return v, ok
}

// unfenced reports whether the metadata has all of these brokers, none of them fenced.
func (v view) unfenced(ids ...int) bool {
	return !slices.ContainsFunc(ids, func(id int) bool {
		b, ok := v.image.Broker(int32(id))
		return !ok || b.Fenced
	})
}

// Fence keeps its heartbeats from the controller, which fences it once
// broker.session.timeout.ms is over; all else it can send.
func (b *Broker) Fence() {
	b.c.links.Link(b.peer, machine.Controller).Hold(int16(kmsg.BrokerHeartbeat))
}

// Unfence ends Fence.
func (b *Broker) Unfence() {
	b.c.links.Link(b.peer, machine.Controller).Release(int16(kmsg.BrokerHeartbeat))
}
