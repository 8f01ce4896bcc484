package embedded

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/kafkaops/kafkaops/pkg/embedded/node"
	"github.com/kafkaops/kafkaops/pkg/embedded/quorum"
)

// config is what is set for a node, its own before everyone's.
func (o *Options) config(id int) map[string]string {
	all := maps.Clone(o.Config)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, o.BrokerConfig[id])
	return all
}

// forBroker is config without what Kafka hides and only the controller obeys: brokers do
// not know the name.
func forBroker(config map[string]string) map[string]string {
	left := maps.Clone(config)
	delete(left, uncleanInterval)
	return left
}

const uncleanInterval = "unclean.leader.election.interval.ms"

// controllerConfig is one that the controller obeys, by its name in server.properties.
type controllerConfig struct {
	name string
	set  func(o *quorum.Options, value string) error
}

var controllerConfigs = []controllerConfig{
	{"auto.leader.rebalance.enable", func(o *quorum.Options, v string) error {
		on, err := strconv.ParseBool(v)
		if err == nil && !on {
			o.Controller.LeaderImbalanceCheckMs = 0
		}
		return err
	}},
	{"broker.session.timeout.ms", number(func(o *quorum.Options) *int64 { return &o.Controller.SessionTimeoutMs }, 1)},
	{"default.replication.factor", number(func(o *quorum.Options) *int16 { return &o.Controller.ReplicationFactor }, 1)},
	{"leader.imbalance.check.interval.seconds", func(o *quorum.Options, v string) error {
		if o.Controller.LeaderImbalanceCheckMs == 0 {
			return nil // it is off
		}
		err := number(func(o *quorum.Options) *int64 { return &o.Controller.LeaderImbalanceCheckMs }, 1)(o, v)
		o.Controller.LeaderImbalanceCheckMs *= 1000
		return err
	}},
	{"metadata.log.max.record.bytes.between.snapshots", number(func(o *quorum.Options) *int64 { return &o.SnapshotBytes }, 1)},
	{"metadata.log.max.snapshot.interval.ms", number(func(o *quorum.Options) *int64 { return &o.SnapshotMs }, 0)},
	{"metadata.log.segment.bytes", number(func(o *quorum.Options) *int32 { return &o.SegmentBytes }, 1)},
	{"metadata.max.idle.interval.ms", number(func(o *quorum.Options) *int64 { return &o.Controller.MaxIdleMs }, 0)},
	{"metadata.max.retention.bytes", number(func(o *quorum.Options) *int64 { return &o.RetainBytes }, -1)},
	{"num.partitions", number(func(o *quorum.Options) *int32 { return &o.Controller.NumPartitions }, 1)},
	{uncleanInterval, number(func(o *quorum.Options) *int64 { return &o.Controller.UncleanElectionCheckMs }, 1)},
}

// number sets a whole number that is lowest or more. 0 of what has a default there
// becomes less, which is off (see quorum.Options).
func number[T int16 | int32 | int64](field func(o *quorum.Options) *T, lowest T) func(*quorum.Options, string) error {
	return func(o *quorum.Options, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < int64(lowest) || int64(T(n)) != n {
			return fmt.Errorf("want a whole number from %d on", lowest)
		}
		*field(o) = T(n)
		return nil
	}
}

// setBy are the configs that say which node it is and where: what the fields of Options
// are for.
var setBy = map[string]string{
	"node.id": "Brokers: ids are 1 to that, the controller's is 100", "broker.id": "Brokers: ids are 1 to that, the controller's is 100",
	"process.roles": "Brokers: each is a broker, and one controller is there beside them",
	"log.dir":       "Dir", "log.dirs": "Dir", "metadata.log.dir": "Dir",
	"broker.rack": "Racks",
	"listeners":   "Host and Ports", "advertised.listeners": "Host and Ports",
	"listener.security.protocol.map": "Host and Ports: all is plain text", "security.inter.broker.protocol": "Host and Ports: all is plain text",
	"inter.broker.listener.name": "Host and Ports: there is one listener", "controller.listener.names": "Host and Ports: there is one listener",
	"early.start.listeners": "Host and Ports: there is one listener", "control.plane.listener.name": "Host and Ports: there is one listener",
	"controller.quorum.voters":            "the cluster itself: its controller is the only voter",
	"controller.quorum.bootstrap.servers": "the cluster itself: its controller is the only voter",
}

// SetBy is which fields of [Options] set what in Kafka is a config of that name, after
// which there may be a colon and more; false for a config that Options.Config takes.
func SetBy(config string) (string, bool) {
	by, ok := setBy[config]
	return by, ok
}

// Unheeded are the configs of o that are Kafka's, and that nothing here obeys.
func (o *Options) Unheeded() []string {
	names := map[string]bool{}
	for _, config := range append(slices.Collect(maps.Values(o.BrokerConfig)), o.Config) {
		for name := range config {
			controllers := slices.ContainsFunc(controllerConfigs, func(c controllerConfig) bool { return c.name == name })
			if !controllers && !node.Honoured(name) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// configure sets what the controller obeys.
func configure(o *quorum.Options, config map[string]string) error {
	for _, c := range controllerConfigs {
		v, ok := config[c.name]
		if !ok {
			continue
		}
		if err := c.set(o, v); err != nil {
			return fmt.Errorf("config %s=%s: %w", c.name, v, err)
		}
	}
	if o.SnapshotMs == 0 {
		o.SnapshotMs = -1
	}
	o.Controller.Static = config
	return nil
}
