package kafkatest

import (
	"fmt"
	"strings"
)

// Bootstrap returns the PLAINTEXT addresses of all brokers.
func (c *Cluster) Bootstrap() []string {
	var addrs []string
	for _, id := range c.Brokers() {
		addrs = append(addrs, c.BrokerAddr(id))
	}
	return addrs
}

// BootstrapServer returns Bootstrap as Kafka's tools want it.
func (c *Cluster) BootstrapServer() string { return strings.Join(c.Bootstrap(), ",") }

// Brokers returns the ids of all brokers, those that are down included.
func (c *Cluster) Brokers() []int32 {
	var ids []int32
	for _, n := range c.inOrder() {
		if n.role == isBroker {
			ids = append(ids, n.id)
		}
	}
	return ids
}

// BrokerAddr returns the PLAINTEXT address of a broker.
func (c *Cluster) BrokerAddr(id int32) string { return c.ListenerAddr(id, plaintext) }

// ControllerAddr returns the address of the first controller, which is the
// active one unless there are several. With Options.ZooKeeper there is none:
// see Controller.
func (c *Cluster) ControllerAddr() string { return c.ListenerAddr(FirstController, controller) }

// ListenerAddr returns the address of a node's listener, like one of
// Options.Listeners. It panics if there is none of that name.
func (c *Cluster) ListenerAddr(id int32, listener string) string {
	n := c.node(id)
	if _, ok := n.ports[listener]; !ok {
		panic(fmt.Sprintf("kafkatest: node %d has no listener %s: see Options.Listeners", id, listener))
	}
	return n.addr(listener)
}

// ClusterID returns the id that the cluster was formatted with, or, with
// Options.ZooKeeper, has given itself.
func (c *Cluster) ClusterID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.id
}

// Version returns the version of Kafka that runs.
func (c *Cluster) Version() string { return c.opts.Version }

// LogDirs returns a node's log directories. The metadata log,
// __cluster_metadata-0, lies in the first.
func (c *Cluster) LogDirs(id int32) []string { return c.node(id).logDirs }

// LogFile returns the file with everything that a node printed.
func (c *Cluster) LogFile(id int32) string { return c.node(id).log }

// node panics for an id that is none: a typing error in a test.
func (c *Cluster) node(id int32) *node {
	n, ok := c.nodes[id]
	if !ok {
		panic(fmt.Sprintf("kafkatest: there is no node %d: brokers are 1 to %d, controllers (or ZooKeeper) %d to %d", id,
			c.opts.Brokers, FirstController, FirstController+int32(c.opts.Controllers)-1))
	}
	return n
}

// PIDs returns the ids of the processes that are the cluster's nodes, for who
// measures what they take. Nodes on an Engine have none of their own.
func (c *Cluster) PIDs() []int {
	var pids []int
	for _, n := range c.inOrder() {
		if p, ok := n.process.(*javaProcess); ok && p.PID() != 0 {
			pids = append(pids, p.PID())
		}
	}
	return pids
}
