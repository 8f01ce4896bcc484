package kafkatest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// A Cluster is a running Apache Kafka. Its methods may be called from several
// goroutines, but tests that break it want it for themselves.
type Cluster struct {
	opts    Options
	jvm     jvm
	dir     string
	id      string
	nodes   map[int32]*node
	spawner *spawner
	release func() // gives back the machine

	closeEngine func() error // nil: it runs Kafka's processes

	mu      sync.Mutex
	clients map[int32]*kgo.Client // one for each broker, see Ask
	broken  bool                  // a test stopped or paused something since the last Heal
}

// Start starts a cluster for tb alone and ends it when tb ends. It skips tb
// where that is impossible; see Need. The cluster's files are kept until the
// next one starts if tb fails.
func Start(tb testing.TB, opts Options) *Cluster {
	tb.Helper()
	opts = opts.withDefaults()
	in := needFor(tb, opts)
	ctx, cancel := bound(tb, turn)
	defer cancel()
	c, err := launch(ctx, in, opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		c.reportDead(tb)
		if tb.Failed() {
			c.keepLogs(tb)
		}
		c.close(tb.Failed())
	})
	return c
}

// launch takes the machine, starts a cluster and waits until it is whole.
func launch(ctx context.Context, in install, opts Options) (*Cluster, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	release := func() {}
	if opts.Engine == nil { // two of Kafka's clusters are too much for a small machine
		var err error
		if release, err = machine.take(ctx, filepath.Join(in.root, "cluster.lock"), in.sweep); err != nil {
			return nil, err
		}
	}
	const tries = 3 // another program may take a port between our look and Kafka's
	for try := 1; ; try++ {
		c, err := attempt(ctx, in, opts)
		if err == nil {
			c.release = release
			return c, nil
		}
		if try < tries && errors.Is(err, errPortTaken) {
			continue
		}
		release()
		return nil, err
	}
}

var errPortTaken = errors.New("a port was taken by another program")

// attempt starts a cluster on ports that are free now.
func attempt(ctx context.Context, in install, opts Options) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, opts.StartTimeout)
	defer cancel()
	makeDir := in.runDir
	if opts.Engine != nil { // whoever takes the machine next sweeps what is there
		makeDir = func() (string, error) { return os.MkdirTemp("", "kafkatest-engine-") }
	}
	dir, err := makeDir()
	if err != nil {
		return nil, err
	}
	c := &Cluster{opts: opts, dir: dir, id: newUUID(), clients: map[int32]*kgo.Client{}, release: func() {}}
	if c.jvm, err = newJVM(ctx, in, dir); err != nil {
		return nil, err
	}
	if err := c.plan(); err != nil {
		return nil, err
	}
	start := c.launchKafka
	if opts.Engine != nil {
		start = c.launchOn
	}
	if err := start(ctx, in); err != nil {
		err = c.explain(err)
		c.close(true)
		return nil, err
	}
	return c, nil
}

// launchKafka starts the nodes as processes of Kafka's own.
func (c *Cluster) launchKafka(ctx context.Context, in install) error {
	c.spawner = newSpawner()
	for _, n := range c.nodes {
		n.java(c.spawner, c.jvm, c.opts)
	}
	template := ""
	if !c.opts.ZooKeeper {
		var err error
		if template, err = in.template(ctx, c.jvm, c.opts.formatArgs()); err != nil {
			return err
		}
	}
	if err := c.lay(template); err != nil {
		return err
	}
	return c.startAll(ctx)
}

// startAll starts whatever is down and waits until the cluster has it.
func (c *Cluster) startAll(ctx context.Context) error {
	for _, n := range c.inOrder() {
		if err := c.start(ctx, n); err != nil {
			return err
		}
	}
	return c.awaitRegistered(ctx)
}

// start starts a node, if it is down, as soon as it can join the cluster.
func (c *Cluster) start(ctx context.Context, n *node) error {
	if n.up() {
		return nil
	}
	if c.opts.ZooKeeper && n.role == isBroker {
		if err := c.awaitForgotten(ctx, n.id); err != nil {
			return err
		}
	}
	return n.process.Start()
}

// plan says which nodes there are, where they listen and where their files are.
func (c *Cluster) plan() error {
	perBroker := 1 + len(c.opts.Listeners)
	ports, err := freePorts(c.opts.Controllers + c.opts.Brokers*perBroker)
	if err != nil {
		return err
	}
	port := func() (p int) { p, ports = ports[0], ports[1:]; return p }
	c.nodes = map[int32]*node{}
	add := func(id int32, role role, dirs int) *node {
		n := &node{id: id, role: role, ports: map[string]int{}}
		base := filepath.Join(c.dir, fmt.Sprint(id))
		n.properties, n.log = base+".properties", base+".log"
		for i := range dirs {
			n.logDirs = append(n.logDirs, filepath.Join(base, fmt.Sprintf("data-%d", i)))
		}
		c.nodes[id] = n
		return n
	}
	for i := range int32(c.opts.Controllers) {
		if c.opts.ZooKeeper {
			add(FirstController, isZooKeeper, 1).ports[zooKeeper] = port()
			continue
		}
		add(FirstController+i, isController, 1).ports[controller] = port()
	}
	for i := range int32(c.opts.Brokers) {
		n := add(i+1, isBroker, c.opts.LogDirs)
		n.ports[plaintext] = port()
		for name := range sorted(c.opts.Listeners) {
			n.ports[name] = port()
		}
	}
	return nil
}

// lay makes the nodes' directories and their configurations.
func (c *Cluster) lay(template string) error {
	for name, l := range c.opts.Security {
		if err := l.write(name, c.dir); err != nil {
			return err
		}
	}
	for _, n := range c.inOrder() { // all ports are known now
		if !c.opts.ZooKeeper { // there brokers format their directories themselves
			if err := n.format(template, c.id); err != nil {
				return err
			}
		}
		if err := writeProperties(n.properties, c.config(n)); err != nil {
			return err
		}
	}
	return nil
}

// explain adds to err what the nodes printed last.
func (c *Cluster) explain(err error) error {
	var b strings.Builder
	for _, n := range c.inOrder() {
		if n.process == nil { // an engine that could not start them
			continue
		}
		if n.died() && n.portTaken() {
			err = fmt.Errorf("%w: %w", errPortTaken, err)
		}
		fmt.Fprintf(&b, "\n--- node %d, %s:\n%s", n.id, n.log, n.tail(12))
	}
	return fmt.Errorf("kafkatest: Kafka %s with %d brokers did not start: %w%s", c.opts.Version, c.opts.Brokers, err, b.String())
}

// reportDead says which nodes ended by themselves: the test that then fails
// does not know.
func (c *Cluster) reportDead(tb testing.TB) {
	for _, n := range c.inOrder() {
		if n.died() {
			tb.Logf("kafkatest: node %d ended by itself:\n%s", n.id, n.tail(30))
		}
	}
}

// keepLogs says where the logs are. They outlive a cluster whose tests failed.
func (c *Cluster) keepLogs(tb testing.TB) {
	if c.opts.Engine != nil {
		tb.Logf("kafkatest: the nodes' logs are in %s", c.dir)
		return
	}
	tb.Logf("kafkatest: the nodes' logs are in %s until the next cluster starts", c.dir)
}

// inOrder returns the nodes by id: brokers, then controllers; ZooKeeper comes
// first, for nothing starts without it.
func (c *Cluster) inOrder() []*node {
	var nodes []*node
	for _, n := range c.nodes {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b *node) int {
		switch {
		case a.role == isZooKeeper:
			return -1
		case b.role == isZooKeeper:
			return 1
		}
		return cmp.Compare(a.id, b.id)
	})
	return nodes
}

// close kills every node and forgets the cluster.
func (c *Cluster) close(keep bool) {
	var all sync.WaitGroup
	for _, n := range c.nodes {
		if n.process != nil { // it was planned, and no more
			all.Go(func() { _ = n.process.Kill() })
		}
	}
	all.Wait()
	c.mu.Lock()
	for _, cl := range c.clients {
		cl.Close()
	}
	clear(c.clients)
	c.mu.Unlock()
	if c.closeEngine != nil {
		_ = c.closeEngine()
	}
	if c.spawner != nil {
		c.spawner.close()
	}
	if !keep {
		_ = os.RemoveAll(c.dir)
	}
	c.release()
}

// turn bounds the wait for the machine, where the test's own deadline does not: many
// packages may be before this one. A start has Options.StartTimeout.
const turn = time.Hour

// bound returns a context that ends within d, and before tb's own deadline, so
// that a test which hangs says where. It is good in a Cleanup, unlike
// tb.Context.
func bound(tb testing.TB, d time.Duration) (context.Context, context.CancelFunc) {
	if t, ok := tb.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := t.Deadline(); ok {
			d = min(d, time.Until(deadline)-2*time.Second)
		}
	}
	return context.WithTimeout(context.Background(), d)
}
