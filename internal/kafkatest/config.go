package kafkatest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	plaintext  = "PLAINTEXT" // the listener of brokers that clients use
	controller = ControllerListener
)

// ControllerListener is the listener of controllers, in Options.Security.
const ControllerListener = "CONTROLLER"

// config returns the server properties of a node of c.
func (c *Cluster) config(n *node) map[string]string {
	if n.role == isZooKeeper {
		return c.zooKeeperConfig(n)
	}
	replicas := strconv.Itoa(min(3, c.opts.Brokers))
	p := map[string]string{
		"process.roles":                  "broker",
		"node.id":                        strconv.Itoa(int(n.id)),
		"log.dirs":                       strings.Join(n.logDirs, ","),
		"controller.quorum.voters":       c.voters(),
		"controller.listener.names":      controller,
		"listener.security.protocol.map": controller + ":" + c.opts.ControllerProtocol + ",PLAINTEXT:PLAINTEXT",

		// The internal topics must fit on the cluster, and be few: each
		// partition costs a start, a stop and a restore of it.
		"offsets.topic.replication.factor":                 replicas,
		"offsets.topic.num.partitions":                     "8",
		"transaction.state.log.replication.factor":         replicas,
		"transaction.state.log.min.isr":                    "1",
		"transaction.state.log.num.partitions":             "4",
		"share.coordinator.state.topic.replication.factor": "1",
		"share.coordinator.state.topic.min.isr":            "1",
		"share.coordinator.state.topic.num.partitions":     "4",
		"group.initial.rebalance.delay.ms":                 "0",
	}
	for name, protocol := range sorted(c.opts.Listeners) {
		p["listener.security.protocol.map"] += "," + name + ":" + protocol
	}
	if n.role == isController {
		p["process.roles"] = "controller"
		p["listeners"] = controller + "://" + n.addr(controller)
	} else {
		p["broker.rack"] = c.rack(n.id)
		p["listeners"] = plaintext + "://" + n.addr(plaintext)
		p["advertised.listeners"] = p["listeners"]
		for name := range sorted(c.opts.Listeners) {
			p["listeners"] += "," + name + "://" + n.addr(name)
			advertised := n.addr(name)
			if c.opts.Advertise != nil {
				advertised = c.opts.Advertise(n.id, name, advertised)
			}
			p["advertised.listeners"] += "," + name + "://" + advertised
		}
		for name, l := range c.opts.Security {
			maps.Copy(p, l.properties(name, c.dir))
		}
	}
	if l, ok := c.opts.Security[controller]; ok { // by which brokers ask controllers, too
		maps.Copy(p, l.properties(controller, c.dir))
		p["sasl.mechanism.controller.protocol"] = Plain
	}
	if c.opts.Authorizer {
		maps.Copy(p, c.opts.authorizerProperties())
	}
	if c.opts.ZooKeeper {
		c.joinZooKeeper(n, p)
	}
	maps.Copy(p, c.opts.Properties)
	maps.Copy(p, c.opts.BrokerProperties[n.id])
	return p
}

func (c *Cluster) voters() string {
	var voters []string
	for _, n := range c.inOrder() {
		if n.role == isController {
			voters = append(voters, fmt.Sprintf("%d@%s", n.id, n.addr(controller)))
		}
	}
	return strings.Join(voters, ",")
}

func (c *Cluster) rack(id int32) string {
	if len(c.opts.Racks) > 0 {
		return c.opts.Racks[id-1]
	}
	return fmt.Sprintf("rack-%d", id)
}

// writeProperties writes a Java properties file.
func writeProperties(file string, p map[string]string) error {
	var b strings.Builder
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	for key, value := range sorted(p) {
		fmt.Fprintf(&b, "%s=%s\n", key, escape.Replace(value))
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("kafkatest: %w", err)
	}
	return nil
}

// sorted ranges over m by key.
func sorted[V any](m map[string]V) func(yield func(string, V) bool) {
	return func(yield func(string, V) bool) {
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}
