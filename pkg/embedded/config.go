package embedded

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

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

// controllerConfig is one that the controller obeys, by its name in server.properties.
type controllerConfig struct {
	name string
	// only: brokers do not know it.
	only bool
	set  func(o *quorum.Options, value string) error
}

var controllerConfigs = []controllerConfig{
	{"auto.leader.rebalance.enable", true, func(o *quorum.Options, v string) error {
		on, err := strconv.ParseBool(v)
		if err == nil && !on {
			o.Controller.LeaderImbalanceCheckMs = 0
		}
		return err
	}},
	{"broker.session.timeout.ms", false, number(func(o *quorum.Options) *int64 { return &o.Controller.SessionTimeoutMs }, 1)},
	{"default.replication.factor", true, number(func(o *quorum.Options) *int16 { return &o.Controller.ReplicationFactor }, 1)},
	{"leader.imbalance.check.interval.seconds", true, func(o *quorum.Options, v string) error {
		if o.Controller.LeaderImbalanceCheckMs == 0 {
			return nil // it is off
		}
		err := number(func(o *quorum.Options) *int64 { return &o.Controller.LeaderImbalanceCheckMs }, 1)(o, v)
		o.Controller.LeaderImbalanceCheckMs *= 1000
		return err
	}},
	{"metadata.log.max.record.bytes.between.snapshots", true, number(func(o *quorum.Options) *int64 { return &o.SnapshotBytes }, 1)},
	{"metadata.log.max.snapshot.interval.ms", true, number(func(o *quorum.Options) *int64 { return &o.SnapshotMs }, 0)},
	{"metadata.log.segment.bytes", true, number(func(o *quorum.Options) *int32 { return &o.SegmentBytes }, 1)},
	{"metadata.max.idle.interval.ms", true, number(func(o *quorum.Options) *int64 { return &o.Controller.MaxIdleMs }, 0)},
	{"metadata.max.retention.bytes", true, number(func(o *quorum.Options) *int64 { return &o.RetainBytes }, -1)},
	{"num.partitions", true, number(func(o *quorum.Options) *int32 { return &o.Controller.NumPartitions }, 1)},
	{"unclean.leader.election.interval.ms", true, number(func(o *quorum.Options) *int64 { return &o.Controller.UncleanElectionCheckMs }, 1)},
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

// forBroker is config without what is the controller's alone. What is left the broker
// knows or refuses.
func forBroker(config map[string]string) map[string]string {
	left := maps.Clone(config)
	maps.DeleteFunc(left, func(name, _ string) bool {
		return slices.ContainsFunc(controllerConfigs, func(c controllerConfig) bool { return c.only && c.name == name })
	})
	return left
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
