package embedded

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/broker"
)

// Start starts a cluster, or goes on with the one whose data is in Options.Dir. When it
// returns without an error the cluster is ready: every broker is unfenced, and each
// tells clients of all. ctx bounds how long that may take.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{opts: o, host: o.host(), log: o.log()}
	err := o.check(ctx)
	if err == nil {
		c.apis, err = o.apis()
	}
	if err == nil {
		if err = c.start(ctx); err == nil {
			return c, nil
		}
		err = errors.Join(err, c.Close())
		c.tidy()
	}
	return nil, fmt.Errorf("embedded: start: %w", err)
}

func (c *Cluster) start(ctx context.Context) error {
	seed := c.opts.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	for _, name := range c.opts.Unheeded() {
		c.log.Info("a config of Kafka that changes nothing here", "config", name)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	if err := c.make(rng); err != nil {
		return err
	}
	// All ports before the first node: none is told of one that is not its own.
	listeners, err := c.listen()
	if err != nil {
		return err
	}
	// All at once, for the disk's sake: each makes and syncs some files. Brokers find the
	// controller even so, as its port is open.
	processes := c.processes()
	errs := make([]error, len(processes))
	var wg sync.WaitGroup
	for i, p := range processes {
		wg.Go(func() { errs[i] = p.begin(listeners[i]) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err // others would say the same
		}
	}
	return c.ready(ctx)
}

func (p *process) begin(ln net.Listener) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.start(ln)
}

// make makes the nodes, and finds out whose data there is.
func (c *Cluster) make(rng *rand.Rand) error {
	brokers := c.opts.Brokers
	c.id = kraft.DrawUUID(rng).String()
	if c.opts.Dir != "" {
		var err error
		if c.lock, c.made, err = lockDir(c.opts.Dir); err != nil {
			return err
		}
		f, err := lookInto(c.opts.Dir)
		if err != nil {
			return err
		}
		c.fresh = f.clusterID == ""
		if brokers > 0 && brokers < f.brokers {
			return tooFew(c.opts.Dir, brokers, f.brokers)
		}
		if f.clusterID != "" {
			c.id = f.clusterID
		}
		if brokers == 0 {
			brokers = f.brokers
		}
	}
	if brokers == 0 {
		brokers = defaultBrokers
	}
	if err := c.opts.checkIDs(brokers); err != nil {
		return err
	}
	if err := c.opts.checkConfigs(brokers); err != nil {
		return err
	}
	disk, err := c.newDisk(controllerDir, rng)
	if err != nil {
		return err
	}
	c.controller = c.newController(disk, split(rng))
	for id := 1; id <= brokers; id++ {
		if disk, err = c.newDisk(brokerDir+strconv.Itoa(id), rng); err != nil {
			return err
		}
		c.brokers = append(c.brokers, c.newBroker(id, disk, split(rng)))
	}
	return nil
}

// tooFew: a cluster of fewer brokers than its data is of would have replicas on brokers
// that nobody can start.
func tooFew(dir string, brokers, there int) error {
	return fmt.Errorf("data directory %s has data of %d brokers, and a cluster of %d would leave %d behind with the replicas on it: start all %d (more is possible), or choose an empty directory",
		dir, there, brokers, there-brokers, there)
}

// split returns a generator of its own: two processes may draw at once.
func split(rng *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())) }

func (c *Cluster) newDisk(name string, rng *rand.Rand) (*broker.Disk, error) {
	if c.opts.Dir == "" {
		return broker.NewMemoryDisk(split(rng)), nil
	}
	dir := filepath.Join(c.opts.Dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return broker.NewDirDisk(dir, split(rng)), nil
}

// logDir is what a broker calls its log directory; "" if it has none.
func (c *Cluster) logDir(id int) string {
	if c.opts.Dir == "" {
		return ""
	}
	dir := filepath.Join(c.opts.Dir, brokerDir+strconv.Itoa(id))
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// listen opens the listeners of all processes, in their order.
func (c *Cluster) listen() (all []net.Listener, err error) {
	defer func() {
		if err != nil {
			for _, ln := range all {
				_ = ln.Close()
			}
			all = nil
		}
	}()
	for i, p := range c.processes() {
		// In Ports the controller is behind the brokers.
		n := (i + len(c.brokers)) % (len(c.brokers) + 1)
		port := 0
		if n < len(c.opts.Ports) {
			port = c.opts.Ports[n]
		}
		ln, err := listen(c.host, port)
		if err != nil {
			return all, fmt.Errorf("%s: %w", p.name, err)
		}
		all = append(all, ln)
		p.port = ln.Addr().(*net.TCPAddr).Port
	}
	return all, nil
}

// releasePorts ends what listen holds.
func (c *Cluster) releasePorts() {
	for _, p := range c.processes() {
		if p.port != 0 {
			held.release(p.port)
		}
	}
}
