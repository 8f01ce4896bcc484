package node

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/configs"
	"github.com/kafkaops/kafkaops/pkg/embedded/group"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// brokerConfig are the configs that only a restart changes, and the file in which
// they stand: what topics and dynamic configs do not say is looked up there.
type brokerConfig struct {
	static map[string]string

	lagTimeMaxMs, fetchBackoffMs                     int64
	fetchMaxBytes, fetchResponseMaxBytes             int32
	fetchMinBytes, fetchWaitMaxMs                    int32
	heartbeatMs, sessionTimeoutMs                    int64
	retentionCheckMs, hwCheckpointMs, fileCheckpoint int64
	producerExpiryMs, producerExpiryCheckMs          int64
	fetchMaxBytesAllowed                             int32
	metadataFetchMaxBytes, metadataSnapshotMaxBytes  int32
	metadataRetryMs, metadataRetryMaxMs, shutdownMs  int64
	rackAware, autoCreate                            bool
	sessionSlots                                     int
	cleanerEnabled                                   bool
	cleanerBackoffMs                                 int64
	cleanerMapBytes                                  int
	partitionLimit, numPartitions                    int32
	quotaWindows                                     int
	quotaWindowMs                                    int64
	replicationFactor                                int16
	offsetsPartitions, offsetsSegmentBytes           int32
	// offsetsReplicas is 0 where it is not set: as many as there are brokers, up to three.
	offsetsReplicas int16
	groups          group.Config
}

// rackAwareSelector is the one replica.selector.class there is.
const rackAwareSelector = "org.apache.kafka.common.replica.RackAwareReplicaSelector"

// restartConfigs are brokerConfig's keys and Kafka 4.4's defaults.
var restartConfigs = map[string]string{
	"replica.lag.time.max.ms":                       "30000",
	"replica.fetch.backoff.ms":                      "1000",
	"replica.fetch.max.bytes":                       "1048576",
	"replica.fetch.response.max.bytes":              "10485760",
	"replica.fetch.min.bytes":                       "1",
	"replica.fetch.wait.max.ms":                     "500",
	"replica.high.watermark.checkpoint.interval.ms": "5000",
	"replica.selector.class":                        "",
	"replication.quota.window.num":                  "11",
	"replication.quota.window.size.seconds":         "1",
	"broker.heartbeat.interval.ms":                  "2000",
	"broker.session.timeout.ms":                     "9000",
	"log.retention.check.interval.ms":               "300000",
	"log.flush.offset.checkpoint.interval.ms":       "60000",
	"producer.id.expiration.ms":                     "86400000",
	"producer.id.expiration.check.interval.ms":      "600000",
	"fetch.max.bytes":                               "57671680",
	"log.cleaner.enable":                            "true",
	"log.cleaner.backoff.ms":                        "15000",
	"log.cleaner.dedupe.buffer.size":                "134217728",
	"max.incremental.fetch.session.cache.slots":     "1000",
	"controller.quorum.fetch.max.bytes":             "1048576",
	"controller.quorum.fetch.snapshot.max.bytes":    "1048576",
	"controller.quorum.retry.backoff.ms":            "20",
	"controller.quorum.retry.backoff.max.ms":        "1000",
	"max.request.partition.size.limit":              "2000",
	"auto.create.topics.enable":                     "true",
	"num.partitions":                                "-1", // the controller's default
	"default.replication.factor":                    "-1",
	"group.initial.rebalance.delay.ms":              "0", // Kafka's is 3000
	"group.max.session.timeout.ms":                  "1800000",
	"group.max.size":                                "2147483647",
	"group.min.session.timeout.ms":                  "6000",
	"offset.metadata.max.bytes":                     "4096",
	"offsets.commit.timeout.ms":                     "5000",
	"offsets.retention.check.interval.ms":           "600000",
	"offsets.retention.minutes":                     "10080",
	"offsets.topic.num.partitions":                  "8", // Kafka's is 50
	"offsets.topic.replication.factor":              "0", // see offsetsReplicas
	"offsets.topic.segment.bytes":                   "104857600",
}

// topicConfigs are the topics' keys, the broker's that give them their defaults,
// and Kafka 4.4's defaults of those.
var topicConfigs = []struct{ topic, broker, def string }{
	{"cleanup.policy", "log.cleanup.policy", "delete"},
	{"delete.retention.ms", "log.cleaner.delete.retention.ms", "86400000"},
	{"max.compaction.lag.ms", "log.cleaner.max.compaction.lag.ms", maxLong},
	{"min.cleanable.dirty.ratio", "log.cleaner.min.cleanable.ratio", "0.5"},
	{"min.compaction.lag.ms", "log.cleaner.min.compaction.lag.ms", "0"},
	{"compression.type", "compression.type", "producer"},
	{"file.delete.delay.ms", "log.segment.delete.delay.ms", "60000"},
	{"flush.messages", "log.flush.interval.messages", maxLong},
	{"flush.ms", "log.flush.interval.ms", maxLong},
	{"index.interval.bytes", "log.index.interval.bytes", "4096"},
	{"max.message.bytes", "message.max.bytes", "1048588"},
	{"message.timestamp.after.max.ms", "log.message.timestamp.after.max.ms", "3600000"},
	{"message.timestamp.before.max.ms", "log.message.timestamp.before.max.ms", maxLong},
	{"message.timestamp.type", "log.message.timestamp.type", "CreateTime"},
	{"min.insync.replicas", "min.insync.replicas", "1"},
	{"retention.bytes", "log.retention.bytes", "-1"},
	{"retention.ms", "log.retention.ms", "604800000"},
	{"segment.bytes", "log.segment.bytes", "1073741824"},
	{"segment.index.bytes", "log.index.size.max.bytes", "10485760"},
	{"segment.ms", "log.roll.ms", "604800000"},
	{"unclean.leader.election.enable", "unclean.leader.election.enable", "false"},
}

// internalSegmentBytes is a topic's segment.bytes below Kafka's bound, for tests
// (LogConfig.INTERNAL_SEGMENT_BYTES_CONFIG).
const internalSegmentBytes = "internal.segment.bytes"

const maxLong = "9223372036854775807"

// CheckConfig says what is wrong with a broker's configs, by their names in Kafka's
// server.properties: one that is not known, or a value that it cannot have. [Open] refuses
// them with the same error.
func CheckConfig(static map[string]string) error {
	_, err := newBrokerConfig(static)
	return err
}

func newBrokerConfig(static map[string]string) (brokerConfig, error) {
	for _, key := range slices.Sorted(maps.Keys(static)) {
		k, ok := configs.BrokerKey(key)
		if !ok && !Honoured(key) { // Kafka hides a few that tests set
			return brokerConfig{}, fmt.Errorf("config %s is not known; names are those of Kafka's server.properties", key)
		}
		if err := k.Check(static[key]); err != nil {
			return brokerConfig{}, err
		}
	}
	p := parser{of: func(key string) string {
		if v, ok := static[key]; ok {
			return v
		}
		return restartConfigs[key]
	}}
	c := brokerConfig{
		static:                   static,
		lagTimeMaxMs:             p.long("replica.lag.time.max.ms"),
		fetchBackoffMs:           p.long("replica.fetch.backoff.ms"),
		fetchMaxBytes:            p.int("replica.fetch.max.bytes"),
		fetchResponseMaxBytes:    p.int("replica.fetch.response.max.bytes"),
		fetchMinBytes:            p.int("replica.fetch.min.bytes"),
		fetchWaitMaxMs:           p.int("replica.fetch.wait.max.ms"),
		heartbeatMs:              p.long("broker.heartbeat.interval.ms"),
		sessionTimeoutMs:         p.long("broker.session.timeout.ms"),
		retentionCheckMs:         p.long("log.retention.check.interval.ms"),
		hwCheckpointMs:           p.long("replica.high.watermark.checkpoint.interval.ms"),
		fileCheckpoint:           p.long("log.flush.offset.checkpoint.interval.ms"),
		producerExpiryMs:         p.long("producer.id.expiration.ms"),
		producerExpiryCheckMs:    p.long("producer.id.expiration.check.interval.ms"),
		fetchMaxBytesAllowed:     p.int("fetch.max.bytes"),
		sessionSlots:             int(p.int("max.incremental.fetch.session.cache.slots")),
		cleanerEnabled:           p.bool("log.cleaner.enable"),
		cleanerBackoffMs:         p.long("log.cleaner.backoff.ms"),
		cleanerMapBytes:          int(min(p.long("log.cleaner.dedupe.buffer.size"), math.MaxInt)),
		metadataFetchMaxBytes:    p.int("controller.quorum.fetch.max.bytes"),
		metadataSnapshotMaxBytes: p.int("controller.quorum.fetch.snapshot.max.bytes"),
		metadataRetryMs:          p.long("controller.quorum.retry.backoff.ms"),
		metadataRetryMaxMs:       p.long("controller.quorum.retry.backoff.max.ms"),
		quotaWindows:             int(max(1, p.int("replication.quota.window.num"))),
		quotaWindowMs:            1000 * max(1, p.long("replication.quota.window.size.seconds")),
		partitionLimit:           p.int("max.request.partition.size.limit"),
		autoCreate:               p.bool("auto.create.topics.enable"),
		numPartitions:            p.int("num.partitions"),
		replicationFactor:        int16(p.int("default.replication.factor")),
		shutdownMs:               5 * 60 * 1000, // as BrokerServer.shutdown waits for it
	}
	c.groups = groupConfig(&p)
	c.offsetsPartitions, c.offsetsSegmentBytes = p.int("offsets.topic.num.partitions"), p.int("offsets.topic.segment.bytes")
	c.offsetsReplicas = int16(min(p.int("offsets.topic.replication.factor"), math.MaxInt16))
	switch class := p.of("replica.selector.class"); class {
	case "":
	case rackAwareSelector:
		c.rackAware = true
	default:
		return c, fmt.Errorf("config replica.selector.class=%s: want %s, or none", class, rackAwareSelector)
	}
	if p.err != nil {
		return c, p.err
	}
	_, err := readTopicConfig(func(topic, broker, def string) string {
		return cmp.Or(static[broker], def)
	})
	return c, err
}

func groupConfig(p *parser) group.Config {
	return group.Config{
		MinSessionTimeoutMs:     p.int("group.min.session.timeout.ms"),
		MaxSessionTimeoutMs:     p.int("group.max.session.timeout.ms"),
		MaxSize:                 int(p.int("group.max.size")),
		InitialRebalanceDelayMs: p.long("group.initial.rebalance.delay.ms"),
		MetadataMaxBytes:        int(p.int("offset.metadata.max.bytes")),
		CommitTimeoutMs:         p.long("offsets.commit.timeout.ms"),
		RetentionMs:             p.long("offsets.retention.minutes") * 60_000,
		RetentionCheckMs:        p.long("offsets.retention.check.interval.ms"),
	}
}

// Honoured reports whether a broker obeys a config of its file by that name. Others it
// knows, and lets be.
func Honoured(name string) bool {
	if _, ok := restartConfigs[name]; ok {
		return true
	}
	return slices.ContainsFunc(topicConfigs, func(k struct{ topic, broker, def string }) bool { return k.broker == name })
}

// topicConfig is what a topic's configs say to those who obey them.
type topicConfig struct {
	log         storage.Config
	rules       record.Rules
	settings    replica.Settings
	deletes     bool  // cleanup.policy has delete
	deleteDelay int64 // ms
	flushMs     int64
	// The partitions that this broker leads or follows at a bounded rate.
	leaderThrottled, followerThrottled replicaList
	// minDirtyRatio is how much of a compacted log has to be dirty before it is cleaned.
	minDirtyRatio float64
}

// topicConfig is what is in force: the topic's own, else the broker's, else that of
// all brokers, else the file's, else Kafka's default. What does not parse was
// refused by the controller; if it is there all the same, the default is taken.
func (n *Node) topicConfig(im metadata.Image, topic string) topicConfig {
	of := func(key, broker, def string) string {
		if v, ok := im.Config(metadata.Resource{Type: kraft.ResourceTopic, Name: topic}, key); ok {
			return v
		}
		if broker == "" {
			return def
		}
		if v, ok := im.Config(metadata.Resource{Type: kraft.ResourceBroker, Name: strconv.Itoa(int(n.opts.ID))}, broker); ok {
			return v
		}
		if v, ok := im.Config(metadata.Resource{Type: kraft.ResourceBroker}, broker); ok {
			return v
		}
		if v, ok := n.cfg.static[broker]; ok {
			return v
		}
		return def
	}
	c, err := readTopicConfig(of)
	if err != nil {
		n.warnf("topic %s: %v: Kafka's defaults are used", topic, err)
		c, _ = readTopicConfig(func(_, _, def string) string { return def })
	}
	c.log.CleanMapBytes = n.cfg.cleanerMapBytes
	c.leaderThrottled = parseReplicaList(of(leaderThrottledReplicas, "", ""), n.opts.ID)
	c.followerThrottled = parseReplicaList(of(followerThrottledReplicas, "", ""), n.opts.ID)
	return c
}

func readTopicConfig(of func(topic, broker, def string) string) (topicConfig, error) {
	p := parser{of: func(key string) string {
		for _, k := range topicConfigs {
			if k.topic == key {
				return of(k.topic, k.broker, k.def)
			}
		}
		return of(key, "", "")
	}}
	var c topicConfig
	policy := p.of("cleanup.policy")
	compacted := strings.Contains(policy, "compact")
	c.deletes = strings.Contains(policy, "delete")
	c.deleteDelay = p.long("file.delete.delay.ms")
	c.log = storage.Config{
		SegmentBytes: p.int("segment.bytes"), SegmentMs: p.long("segment.ms"),
		IndexIntervalBytes: p.int("index.interval.bytes"), IndexMaxBytes: p.int("segment.index.bytes"),
		RetentionBytes: p.long("retention.bytes"), RetentionMs: p.long("retention.ms"),
		Compacted: compacted, Flush: storage.FlushNever(), DeleteRetentionMs: p.long("delete.retention.ms"),
		MinCompactionLagMs: p.long("min.compaction.lag.ms"), MaxCompactionLagMs: p.long("max.compaction.lag.ms"),
	}
	if compacted && c.log.MaxCompactionLagMs > 0 {
		// A record that waits in the active segment is not compacted either (LogConfig.maxSegmentMs).
		c.log.SegmentMs = min(c.log.SegmentMs, c.log.MaxCompactionLagMs)
	}
	c.minDirtyRatio = p.float("min.cleanable.dirty.ratio")
	if p.of(internalSegmentBytes) != "" {
		c.log.SegmentBytes = p.int(internalSegmentBytes)
	}
	if !c.deletes {
		c.log.RetentionBytes, c.log.RetentionMs = -1, -1
	}
	if c.flushMs = p.long("flush.ms"); c.flushMs != math.MaxInt64 {
		c.log.Flush = storage.FlushEvery(c.flushMs)
	}
	c.settings = replica.Settings{MinISR: int(p.int("min.insync.replicas"))}
	if n := p.long("flush.messages"); n != math.MaxInt64 {
		c.settings.FlushMessages = n
	}
	c.rules = record.DefaultRules()
	c.rules.MaxBatchBytes = int(p.int("max.message.bytes"))
	c.rules.LogAppendTime = p.of("message.timestamp.type") == "LogAppendTime"
	c.rules.BeforeMaxMs, c.rules.AfterMaxMs = p.long("message.timestamp.before.max.ms"), p.long("message.timestamp.after.max.ms")
	c.rules.Compacted = compacted
	c.rules.KeepCodec, c.rules.Codec = p.codec("compression.type")
	return c, p.err
}

// parser reads values and keeps the first error.
type parser struct {
	of  func(key string) string
	err error
}

func (p *parser) fail(key, want string) {
	if p.err == nil {
		p.err = fmt.Errorf("config %s=%s: want %s", key, p.of(key), want)
	}
}

func (p *parser) long(key string) int64 {
	v, err := strconv.ParseInt(strings.TrimSpace(p.of(key)), 10, 64)
	if err != nil {
		p.fail(key, "a whole number")
	}
	return v
}

func (p *parser) float(key string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(p.of(key)), 64)
	if err != nil {
		p.fail(key, "a number")
	}
	return v
}

func (p *parser) int(key string) int32 {
	v := p.long(key)
	if v != int64(int32(v)) {
		p.fail(key, "a number of 32 bits")
	}
	return int32(v)
}

func (p *parser) bool(key string) bool {
	switch strings.ToLower(strings.TrimSpace(p.of(key))) {
	case "true":
		return true
	case "false":
	default:
		p.fail(key, "true or false")
	}
	return false
}

// codec is compression.type: the producer's own, or the one to store with.
func (p *parser) codec(key string) (keep bool, c record.Codec) {
	switch p.of(key) {
	case "producer":
		return true, record.None
	case "uncompressed":
		return false, record.None
	}
	for c := record.Gzip; c <= record.Zstd; c++ {
		if c.String() == p.of(key) {
			return false, c
		}
	}
	p.fail(key, "producer, uncompressed or a codec")
	return true, record.None
}
