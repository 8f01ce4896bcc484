package embedded

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/broker"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
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
			ID: int32(id), ClusterID: c.id, Rack: c.opts.rack(id), FS: disk, Static: static, APIs: c.apis,
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
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stop(ctx, b.shutdown)
}

func (b *Broker) shutdown(now machine.Time, out []machine.Effect) []machine.Effect {
	return b.node.Shutdown(now, out)
}

// Restart starts it, after Stop if it runs, and returns when the controller has unfenced
// it.
func (b *Broker) Restart(ctx context.Context) error {
	s, n, err := b.restart(ctx)
	if err != nil {
		return err
	}
	return b.when(ctx, s, "it is unfenced", func() bool { return unfenced(n, int32(b.id)) })
}

func (b *Broker) restart(ctx context.Context) (*broker.Server, *node.Node, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.stop(ctx, b.shutdown); err != nil {
		return nil, nil, err
	}
	if err := b.revive(); err != nil {
		return nil, nil, err
	}
	return b.server, b.node, nil
}

// unfenced reports whether a broker knows of itself and others that they are.
func unfenced(n *node.Node, ids ...int32) bool {
	if !n.Running() {
		return false
	}
	im := n.Image()
	return !slices.ContainsFunc(ids, func(id int32) bool {
		b, ok := im.Broker(id)
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
