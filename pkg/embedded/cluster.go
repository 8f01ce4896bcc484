package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/broker"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// Cluster is a cluster that was started. It is for several goroutines.
type Cluster struct {
	opts  Options
	id    string
	host  string
	apis  wire.APIs
	log   *slog.Logger
	links broker.Links
	lock  io.Closer // of Options.Dir
	// fresh: there was no cluster in Options.Dir. made are the directories that were made
	// to have it.
	fresh bool
	made  []string

	controller *Controller
	brokers    []*Broker

	over    atomic.Bool // Close has begun
	closing sync.Once
	closed  error
}

// ID is the cluster's id.
func (c *Cluster) ID() string { return c.id }

// Bootstrap is what a client is told: all brokers' addresses, with commas between.
func (c *Cluster) Bootstrap() string {
	all := make([]string, 0, len(c.brokers))
	for _, b := range c.brokers {
		all = append(all, b.Address())
	}
	return strings.Join(all, ",")
}

// ControllerAddress is where the controller listens.
func (c *Cluster) ControllerAddress() string { return c.controller.Address() }

// Brokers returns all brokers, by id.
func (c *Cluster) Brokers() []*Broker { return append([]*Broker(nil), c.brokers...) }

// Broker returns a broker by its id, from 1 on. It panics where there is none.
func (c *Cluster) Broker(id int) *Broker {
	if id < 1 || id > len(c.brokers) {
		panic(fmt.Sprintf("embedded: there is no broker %d: they are 1 to %d", id, len(c.brokers)))
	}
	return c.brokers[id-1]
}

// Controller returns the controller.
func (c *Cluster) Controller() *Controller { return c.controller }

func (c *Cluster) addressOf(p machine.Peer) string {
	if p == machine.Controller {
		return c.controller.address()
	}
	if int(p) < 1 || int(p) > len(c.brokers) {
		// Of a broker that an earlier cluster on this data had: nobody listens there.
		return address(c.host, 0)
	}
	return c.brokers[p-1].address()
}

// ready waits until the controller has unfenced the present life of every broker, and
// every broker knows that. What brokers alone say may be old: one that was cut off does
// not know that it is fenced.
func (c *Cluster) ready(ctx context.Context) error {
	ids := make([]int, len(c.brokers))
	for i := range ids {
		ids[i] = i + 1
	}
	decided := int64(-1) // the end of the metadata in which the controller had unfenced all
	return poll(ctx, "all brokers are unfenced", func() bool {
		now, ok := c.controller.view()
		if !ok || !now.unfenced(ids...) {
			decided = -1
			return false
		}
		if decided < 0 {
			decided = now.behind
		}
		for i, b := range c.brokers {
			v, ok := b.registered()
			known, _ := now.image.Broker(int32(i + 1))
			if !ok || known.BrokerEpoch != v.epoch || v.behind < decided || !v.unfenced(ids...) {
				return false
			}
		}
		return true
	}, c.processes()...)
}

// Heal ends all faults: those of links and disks, pauses and fences. It starts who is
// dead, or dies meanwhile of what its disk did before, and waits until the cluster is
// ready. Clocks stay as they are. A node that it has started and that fails again, such
// as on a disk that is really full, ends it with that node's error.
func (c *Cluster) Heal(ctx context.Context) error {
	c.links.Heal()
	for _, b := range c.brokers {
		b.Unfence()
	}
	for _, p := range c.processes() {
		p.HealDisk()
		p.Resume()
	}
	started := map[*process]bool{}
	err := errEnded
	for left := len(c.processes()); left > 0 && errors.Is(err, errEnded); left-- {
		for _, p := range c.processes() {
			if err := p.Err(); err != nil && started[p] { // no fault of ours: it would be so again
				return fmt.Errorf("%s was started and has failed: %w", p.name, err)
			}
			begun, err := p.revive()
			if err != nil {
				return err
			}
			started[p] = started[p] || begun
		}
		err = c.ready(ctx)
	}
	return err
}

// processes are all, the controller first; none before they are made.
func (c *Cluster) processes() []*process {
	if c.controller == nil {
		return nil
	}
	all := []*process{&c.controller.process}
	for _, b := range c.brokers {
		all = append(all, &b.process)
	}
	return all
}

// closeTimeout is how long a node may take to close its log before it is killed.
const closeTimeout = 10 * time.Second

// Close stops all nodes cleanly, the brokers first and at once: nobody is to take over.
// With memory there is nothing to stop cleanly for: they are killed.
// When it returns, no goroutine and no open file of the cluster is left. Its error says
// which node's data was not closed; the cluster has ended all the same.
func (c *Cluster) Close() error {
	c.closing.Do(func() { c.closed = c.close() })
	return c.closed
}

func (c *Cluster) close() error {
	c.over.Store(true)
	defer c.releasePorts()
	var wg sync.WaitGroup
	if c.opts.Dir == "" {
		for _, p := range c.processes() {
			wg.Go(p.Kill)
		}
		wg.Wait()
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	errs := make([]error, len(c.brokers)+1)
	for i, b := range c.brokers {
		wg.Go(func() { errs[i] = b.finish(ctx, func() stopper { return b.node.StopNow }) })
	}
	wg.Wait()
	if c.controller != nil { // else Start has not come that far
		errs[len(c.brokers)] = c.controller.finish(ctx, func() stopper { return c.controller.node.Shutdown })
	}
	if c.lock != nil {
		errs = append(errs, unlockDir(c.opts.Dir, c.lock))
	}
	return errors.Join(errs...)
}

// finish stops a process for good.
func (p *process) finish(ctx context.Context, how func() stopper) error {
	p.HealDisk()
	err := p.stop(ctx, how)
	p.Kill()
	return err
}
