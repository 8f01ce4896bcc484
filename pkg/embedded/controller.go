package embedded

import (
	"context"
	"math/rand/v2"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/broker"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/quorum"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// ControllerID is the controller's node.id, and its end of links.
const ControllerID = 100

// Controller is the cluster's controller, and what can be done to it: as to a broker.
// It is a quorum of one, so while it is down nothing is decided.
type Controller struct {
	process

	node *quorum.Node
}

func (c *Cluster) newController(disk *broker.Disk, rng *rand.Rand) *Controller {
	k := &Controller{process: process{
		c: c, id: ControllerID, name: "controller", peer: machine.Controller, disk: disk, time: broker.NewClock(),
	}}
	config := c.opts.config(ControllerID)
	first := true
	k.open = func(disk vfs.FS, now machine.Time) (broker.Node, error) {
		o := quorum.Options{
			Controller: controller.DefaultOptions(ControllerID, c.id, rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))),
			EndPoints:  []kraft.Endpoint{{Name: "CONTROLLER", Host: c.host, Port: uint16(k.port)}},
			FS:         disk, APIs: c.apis,
		}
		if err := configure(&o, config); err != nil {
			return nil, err
		}
		// All brokers are in this process, and the cluster is just being started.
		o.Controller.BrokersDown, first = first, false
		n, err := quorum.Open(o, now)
		if err != nil {
			return nil, err
		}
		k.node = n
		return n, nil
	}
	return k
}

// ID is its node.id.
func (k *Controller) ID() int { return k.id }

// Address is where it listens, host and port.
func (k *Controller) Address() string { return k.address() }

// Stop stops it cleanly.
func (k *Controller) Stop(ctx context.Context) error {
	return k.stop(ctx, func() stopper { return k.node.Shutdown })
}

// Restart starts it, after Stop if it runs. When it returns the controller leads its
// quorum; brokers find it by themselves.
func (k *Controller) Restart(ctx context.Context) error {
	if err := k.Stop(ctx); err != nil {
		return err
	}
	_, err := k.revive()
	return err
}

// view is what it has decided.
func (k *Controller) view() (v view, ok bool) {
	k.mu.Lock()
	s, n := k.server, k.node
	k.mu.Unlock()
	ok = s.Do(func() { v = view{image: n.Image(), behind: n.DurableOffset(), epoch: -1} })
	return v, ok
}
