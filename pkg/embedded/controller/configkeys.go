package controller

import (
	"slices"
	"strconv"
	"strings"
)

// ConfigType is how a config's value is written.
type ConfigType int8

// The types of values.
const (
	ConfigString ConfigType = iota
	ConfigBool              // true or false, in any case
	ConfigInt
	ConfigLong
	ConfigDouble
	ConfigList // parts between commas
)

// ConfigKey is one that topics have, or brokers can change while they run.
type ConfigKey struct {
	Name    string // of the topic's config; "" if topics have none
	Broker  string // of the broker's config that is its default; "" if there is none
	Type    ConfigType
	Default string
	// Min and Max bound numbers, both included.
	Min, Max float64
	Values   []string // the only ones there are; nil: any
	// Replicas: "*", or partition:broker in each part (ThrottledReplicaListValidator).
	Replicas bool
}

// Keys that the controller itself looks at.
const (
	minISRKey          = "min.insync.replicas"
	uncleanElectionKey = "unclean.leader.election.enable"
)

const (
	unbounded = float64(1 << 63)
	maxLong   = "9223372036854775807"
	maxInt    = float64(1<<31 - 1)
)

func number(topic, broker string, typ ConfigType, def string, lowest float64) ConfigKey {
	highest := unbounded
	if typ == ConfigInt {
		highest = maxInt
	}
	return ConfigKey{Name: topic, Broker: broker, Type: typ, Default: def, Min: lowest, Max: highest}
}

func switched(topic, broker string) ConfigKey {
	return ConfigKey{Name: topic, Broker: broker, Type: ConfigBool, Default: "false"}
}

func oneOf(topic, broker, def string, values ...string) ConfigKey {
	return ConfigKey{Name: topic, Broker: broker, Type: ConfigString, Default: def, Values: values}
}

// ConfigKeys returns what can be set: the topic configs of Kafka 4.4 with the
// broker configs behind them, and the other broker configs that the engine obeys
// and that can change while it runs.
func ConfigKeys() []ConfigKey { return slices.Clone(configKeys) }

var configKeys = []ConfigKey{
	{Name: "cleanup.policy", Broker: "log.cleanup.policy", Type: ConfigList, Default: "delete", Values: []string{"compact", "delete"}},
	number("compression.gzip.level", "compression.gzip.level", ConfigInt, "-1", -1),
	number("compression.lz4.level", "compression.lz4.level", ConfigInt, "9", 1),
	oneOf("compression.type", "compression.type", "producer", "uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
	number("compression.zstd.level", "compression.zstd.level", ConfigInt, "3", -131072),
	number("delete.retention.ms", "log.cleaner.delete.retention.ms", ConfigLong, "86400000", 0),
	switched("errors.deadletterqueue.group.enable", ""),
	number("file.delete.delay.ms", "log.segment.delete.delay.ms", ConfigLong, "60000", 0),
	number("flush.messages", "log.flush.interval.messages", ConfigLong, maxLong, 1),
	number("flush.ms", "log.flush.interval.ms", ConfigLong, maxLong, 0),
	{Name: "follower.replication.throttled.replicas", Type: ConfigList, Replicas: true},
	number("index.interval.bytes", "log.index.interval.bytes", ConfigInt, "4096", 0),
	number("internal.segment.bytes", "", ConfigInt, "", 1),
	{Name: "leader.replication.throttled.replicas", Type: ConfigList, Replicas: true},
	number("local.retention.bytes", "log.local.retention.bytes", ConfigLong, "-2", -2),
	number("local.retention.ms", "log.local.retention.ms", ConfigLong, "-2", -2),
	number("max.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms", ConfigLong, maxLong, 1),
	number("max.decompressed.message.bytes", "max.decompressed.message.bytes", ConfigInt, "2147483639", 1),
	number("max.message.bytes", "message.max.bytes", ConfigInt, "1048588", 0),
	number("message.timestamp.after.max.ms", "log.message.timestamp.after.max.ms", ConfigLong, "3600000", 0),
	number("message.timestamp.before.max.ms", "log.message.timestamp.before.max.ms", ConfigLong, maxLong, 0),
	oneOf("message.timestamp.type", "log.message.timestamp.type", "CreateTime", "CreateTime", "LogAppendTime"),
	{Name: "min.cleanable.dirty.ratio", Broker: "log.cleaner.min.cleanable.ratio", Type: ConfigDouble, Default: "0.5", Max: 1},
	number("min.compaction.lag.ms", "log.cleaner.min.compaction.lag.ms", ConfigLong, "0", 0),
	number(minISRKey, minISRKey, ConfigInt, "1", 1),
	switched("preallocate", "log.preallocate"),
	number("remote.copy.lag.bytes", "log.remote.copy.lag.bytes", ConfigLong, "-1", -2),
	number("remote.copy.lag.ms", "log.remote.copy.lag.ms", ConfigLong, "0", -2),
	switched("remote.log.copy.disable", ""),
	switched("remote.log.delete.on.disable", ""),
	oneOf("remote.storage.enable", "", "false", "false"), // there is no tiered storage here
	number("retention.bytes", "log.retention.bytes", ConfigLong, "-1", -unbounded),
	number("retention.ms", "log.retention.ms", ConfigLong, "604800000", -1),
	number("segment.bytes", "log.segment.bytes", ConfigInt, "1073741824", 1<<20),
	number("segment.index.bytes", "log.index.size.max.bytes", ConfigInt, "10485760", 4),
	number("segment.jitter.ms", "log.roll.jitter.ms", ConfigLong, "0", 0),
	number("segment.ms", "log.roll.ms", ConfigLong, "604800000", 1),
	switched(uncleanElectionKey, uncleanElectionKey),

	number("", "background.threads", ConfigInt, "10", 1),
	{Broker: "cordoned.log.dirs", Type: ConfigList},
	number("", "follower.replication.throttled.rate", ConfigLong, maxLong, 0),
	number("", "leader.replication.throttled.rate", ConfigLong, maxLong, 0),
	number("", "num.io.threads", ConfigInt, "8", 1),
	number("", "num.network.threads", ConfigInt, "3", 1),
	number("", "num.recovery.threads.per.data.dir", ConfigInt, "2", 1),
	number("", "num.replica.fetchers", ConfigInt, "1", 1),
	number("", "replica.alter.log.dirs.io.max.bytes.per.second", ConfigLong, maxLong, 0),
}

// needRestart are broker configs that Kafka knows and does not change while it
// runs. Others that it does not know, it takes.
var needRestart = []string{
	"auto.leader.rebalance.enable", "broker.heartbeat.interval.ms", "broker.rack", "broker.session.timeout.ms",
	"default.replication.factor", "leader.imbalance.check.interval.seconds", "log.dir", "log.dirs", "node.id", "num.partitions",
	"offsets.topic.num.partitions", "offsets.topic.replication.factor", "process.roles",
	"replica.fetch.backoff.ms", "replica.fetch.max.bytes", "replica.fetch.min.bytes", "replica.fetch.response.max.bytes",
	"replica.fetch.wait.max.ms", "replica.high.watermark.checkpoint.interval.ms", "replica.lag.time.max.ms",
	"replica.selector.class", "replica.socket.receive.buffer.bytes", "replica.socket.timeout.ms",
	"transaction.state.log.min.isr", "transaction.state.log.replication.factor", "unclean.leader.election.interval.ms",
}

func topicKey(name string) (ConfigKey, bool) {
	return findKey(func(k ConfigKey) bool { return k.Name == name })
}

func brokerKey(name string) (ConfigKey, bool) {
	return findKey(func(k ConfigKey) bool { return k.Broker == name })
}

func findKey(is func(ConfigKey) bool) (ConfigKey, bool) {
	if i := slices.IndexFunc(configKeys, is); i >= 0 {
		return configKeys[i], true
	}
	return ConfigKey{}, false
}

func defaultOf(topicName string) string {
	k, _ := topicKey(topicName)
	return k.Default
}

// Valid reports whether value can be the config's.
func (k ConfigKey) Valid(value string) bool {
	switch k.Type {
	case ConfigBool:
		v := strings.ToLower(strings.TrimSpace(value))
		return v == "true" || v == "false"
	case ConfigInt, ConfigLong:
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		return err == nil && k.Min <= float64(n) && float64(n) <= k.Max
	case ConfigDouble:
		x, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return err == nil && k.Min <= x && x <= k.Max
	case ConfigList:
		if k.Replicas {
			return replicaList(value)
		}
		for _, part := range parts(value) {
			if k.Values != nil && !slices.Contains(k.Values, part) {
				return false
			}
		}
		return true
	}
	return k.Values == nil || slices.Contains(k.Values, value)
}

func replicaList(value string) bool {
	list := parts(value)
	if len(list) == 1 && list[0] == "*" {
		return true
	}
	for _, part := range list {
		partition, broker, ok := strings.Cut(part, ":")
		if !ok || !digits(partition) || !digits(broker) {
			return false
		}
	}
	return true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// parts splits a list's value.
func parts(value string) (list []string) {
	for part := range strings.SplitSeq(value, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}
