package kafkatest

import (
	"fmt"
	"time"
)

// DefaultVersion is the Apache Kafka that a cluster runs unless told otherwise.
const DefaultVersion = "4.4.0"

// FirstController is the node id of the first controller. Brokers are 1 to N.
const FirstController int32 = 100

// Options says what cluster to start. The zero value is one broker.
type Options struct {
	// Version of Apache Kafka. 3.3.2, 3.5.2, 3.7.2, 3.9.1, 4.0.0, 4.1.1 and 4.4.0 are known to
	// work; the command-line tools are named as those of 4.4, see Tool.
	Version string

	// Engine runs the nodes in place of Kafka, nil for Kafka itself. Tests whose
	// options it does not have are skipped. Kafka's tools stay Kafka's.
	Engine Engine

	Brokers     int // default 1
	Controllers int // default 1

	// ZooKeeper keeps the metadata in a ZooKeeper, which is node FirstController,
	// instead of controllers; Kafka 3 only. What broker.session.timeout.ms among
	// Properties is to a controller is zookeeper.session.timeout.ms then.
	ZooKeeper bool

	// Racks holds broker.rack of brokers 1, 2, ...; default rack-1, rack-2, ...
	Racks []string

	// Properties go to every node, the controllers included. BrokerProperties
	// go to one node, by its id, and win.
	Properties       map[string]string
	BrokerProperties map[int32]map[string]string

	// Listeners are those besides PLAINTEXT that every broker opens: listener
	// name to security protocol. See Cluster.ListenerAddr.
	Listeners map[string]string

	// Advertise returns the address that a broker advertises for one of Listeners, by
	// the one where it listens: that of a proxy in between, say. Default: the latter.
	Advertise func(id int32, listener, addr string) string

	// ControllerProtocol is the controllers' listener's; default PLAINTEXT.
	ControllerProtocol string

	// Security is how those listeners authenticate, by their names, and the
	// controllers' by ControllerListener.
	Security map[string]ListenerSecurity

	// Authorizer turns the StandardAuthorizer on. Who comes over PLAINTEXT stays
	// free to do everything, as the nodes must be; others need Cluster.Allow.
	Authorizer bool

	// LogDirs is how many log directories a broker has; default 1.
	LogDirs int

	// FormatArgs are arguments for kafka-storage format, like
	// "--feature", "eligible.leader.replicas.version=0".
	FormatArgs []string

	// JVM returns more flags for a node's Java machine, such as an agent.
	JVM func(id int32) []string

	// HeapMB is the most heap a node may use; default 384.
	HeapMB int

	// StartTimeout bounds the time from first process to all brokers
	// unfenced; default 3 minutes. Waiting for another process's cluster to end
	// does not count.
	StartTimeout time.Duration
}

// withDefaults returns o with its zero values filled in.
func (o Options) withDefaults() Options {
	def := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	def(&o.Brokers, 1)
	def(&o.Controllers, 1)
	def(&o.LogDirs, 1)
	def(&o.HeapMB, 384)
	if o.ControllerProtocol == "" {
		o.ControllerProtocol = plaintext
	}
	if o.Version == "" {
		o.Version = DefaultVersion
	}
	if o.StartTimeout == 0 {
		o.StartTimeout = 3 * time.Minute // of a machine that has much else to do
	}
	return o
}

// check refuses what would start something else than was meant.
func (o Options) check() error {
	switch {
	case o.Brokers < 0 || o.Brokers >= int(FirstController):
		return fmt.Errorf("kafkatest: Options.Brokers is %d: want 1 to %d", o.Brokers, FirstController-1)
	case o.Controllers < 0:
		return fmt.Errorf("kafkatest: Options.Controllers is %d: want 1 or more", o.Controllers)
	case len(o.Racks) > 0 && len(o.Racks) != o.Brokers:
		return fmt.Errorf("kafkatest: Options.Racks has %d racks for %d brokers: give one each, or none", len(o.Racks), o.Brokers)
	}
	if o.ZooKeeper {
		if err := o.checkZooKeeper(); err != nil {
			return err
		}
	}
	for name := range o.Security {
		if _, ok := o.Listeners[name]; !ok && name != controller {
			return fmt.Errorf("kafkatest: Options.Security names listener %s, which Options.Listeners does not", name)
		}
	}
	for id := range o.BrokerProperties {
		broker := id >= 1 && id <= int32(o.Brokers)
		controller := id >= FirstController && id < FirstController+int32(o.Controllers)
		if !broker && !controller {
			return fmt.Errorf("kafkatest: Options.BrokerProperties names node %d, which there is not", id)
		}
	}
	return nil
}
