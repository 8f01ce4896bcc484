package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// PartConfigs asks DescribeConfigs of every broker for its own settings, and once
// for those of all topics, as far as they matter for replication.
const PartConfigs Parts = 1 << 11

// BrokerConfigNames are a broker's settings that matter for replication, sorted.
// One that a broker's release does not have is not in its answer.
var BrokerConfigNames = [...]string{
	"auto.leader.rebalance.enable", "background.threads", "broker.heartbeat.interval.ms", "broker.rack",
	"broker.session.timeout.ms", "controller.quorum.auto.join.enable", "controller.quorum.bootstrap.servers",
	"controller.quorum.election.backoff.max.ms", "controller.quorum.election.timeout.ms",
	"controller.quorum.fetch.timeout.ms", "controller.quorum.request.timeout.ms", "controller.quorum.voters",
	"cordoned.log.dirs", "default.replication.factor", "follower.replication.throttled.rate",
	"leader.imbalance.check.interval.seconds", "leader.replication.throttled.rate", "log.flush.interval.messages",
	"log.flush.interval.ms", "message.max.bytes", "min.insync.replicas", "num.io.threads", "num.network.threads",
	"num.partitions", "num.recovery.threads.per.data.dir", "num.replica.alter.log.dirs.threads",
	"num.replica.fetchers", "offsets.topic.replication.factor", "replica.alter.log.dirs.io.max.bytes.per.second",
	"replica.fetch.backoff.ms", "replica.fetch.max.bytes", "replica.fetch.min.bytes",
	"replica.fetch.response.max.bytes", "replica.fetch.wait.max.ms",
	"replica.high.watermark.checkpoint.interval.ms", "replica.lag.time.max.ms", "replica.selector.class",
	"replica.socket.receive.buffer.bytes", "replica.socket.timeout.ms", "transaction.state.log.min.isr",
	"transaction.state.log.replication.factor", "unclean.leader.election.enable",
	"zookeeper.session.timeout.ms",
}

// TopicConfigNames are a topic's settings that matter for replication, sorted.
var TopicConfigNames = [...]string{
	"flush.messages", "flush.ms", "follower.replication.throttled.replicas", "leader.replication.throttled.replicas",
	"max.message.bytes", "min.insync.replicas", "unclean.leader.election.enable",
}

// ConfigSource is where a value comes from, by Kafka's names.
type ConfigSource string

// The sources, those that win first.
const (
	SourceTopic          ConfigSource = "DYNAMIC_TOPIC_CONFIG"
	SourceBroker         ConfigSource = "DYNAMIC_BROKER_CONFIG"
	SourceClusterDefault ConfigSource = "DYNAMIC_DEFAULT_BROKER_CONFIG"
	SourceStatic         ConfigSource = "STATIC_BROKER_CONFIG"
	SourceDefault        ConfigSource = "DEFAULT_CONFIG"
	SourceOther          ConfigSource = "UNKNOWN"
)

// Config is one setting as a broker tells it.
type Config struct {
	Name string
	// Value is in force; unknown where the setting has none, and always where it
	// is Sensitive.
	Value               Opt[string]
	Source              ConfigSource
	Sensitive, ReadOnly bool
	// Synonyms are all places where it is set, the one that wins first, down to
	// Kafka's default. None before Kafka 1.1.
	Synonyms []ConfigSynonym
}

// ConfigSynonym is one place where a setting is set.
type ConfigSynonym struct {
	Name   string
	Value  Opt[string]
	Source ConfigSource
}

// Default is Kafka's own default by the broker's account; unknown where it has
// none.
func (c *Config) Default() Opt[string] {
	for i := range c.Synonyms {
		if s := &c.Synonyms[i]; s.Source == SourceDefault {
			return s.Value
		}
	}
	return Unknown[string]()
}

// Deviates reports whether somebody set it to something else than Kafka's
// default. A sensitive value is not to be compared: that it is set counts.
func (c *Config) Deviates() bool {
	if c.Sensitive {
		return c.Source != SourceDefault && c.Source != SourceOther
	}
	return c.Source != SourceDefault && c.Source != SourceOther && !sameValue(c.Value, c.Default())
}

// NotApplied is the value that is stored where it should win and is not in force:
// Kafka takes some values for the whole cluster that a broker then refuses.
func (c *Config) NotApplied() Opt[string] {
	if c.Sensitive || len(c.Synonyms) == 0 {
		return Unknown[string]()
	}
	first := &c.Synonyms[0]
	if first.Name != c.Name || first.Source == SourceDefault || !first.Value.IsKnown() || sameValue(first.Value, c.Value) {
		return Unknown[string]()
	}
	return first.Value
}

// sameValue compares as Kafka reads values: blanks around them and the form of a
// number do not count.
func sameValue(a, b Opt[string]) bool {
	x, knownX := a.Get()
	y, knownY := b.Get()
	if knownX != knownY {
		return false
	}
	x, y = strings.TrimSpace(x), strings.TrimSpace(y)
	if n, err := strconv.ParseInt(x, 10, 64); err == nil {
		if m, err := strconv.ParseInt(y, 10, 64); err == nil {
			return n == m
		}
	}
	return x == y
}

// ConfigScope says whose setting it is.
type ConfigScope string

// The scopes.
const (
	ScopeBroker ConfigScope = "broker"
	ScopeTopic  ConfigScope = "topic"
)

// ConfigReport is one setting of one broker or topic.
type ConfigReport struct {
	Scope ConfigScope
	// Entity is the broker's id or the topic's name.
	Entity string
	Broker BrokerID // of a broker's
	Config
	// Untold: the broker told no settings, for this cause; then there is no Config.
	Untold UntoldCause
	// Disagree: not all brokers that told have the same value.
	Disagree bool
	// Notes say what is wrong or dangerous about it.
	Notes []string
}

// Remarkable reports whether an operator should look at it: it is not Kafka's
// default, brokers disagree, or there is a note.
func (r *ConfigReport) Remarkable() bool {
	return r.Untold != "" || r.Deviates() || r.Disagree || len(r.Notes) > 0
}

// Configs lists the settings of all brokers by id, then those of all topics by
// name, each by name. A broker that is down or silent has one report, without a
// setting.
func (s *Snapshot) Configs() []ConfigReport {
	var out []ConfigReport
	for _, u := range s.Untold(func(b *Broker) bool { return b.Configs.IsKnown() }) {
		if u.Cause.Row() {
			out = append(out, ConfigReport{Scope: ScopeBroker, Entity: strconv.Itoa(int(u.Broker)), Broker: u.Broker, Untold: u.Cause})
		}
	}
	for i := range s.Brokers {
		b := &s.Brokers[i]
		configs, _ := b.Configs.Get()
		for _, c := range configs {
			r := ConfigReport{Scope: ScopeBroker, Entity: strconv.Itoa(int(b.ID)), Broker: b.ID, Config: c}
			r.Disagree = s.brokersDisagree(&c)
			r.Notes = brokerConfigNotes(&c, configs)
			out = append(out, r)
		}
	}
	for i := range s.Topics {
		t := &s.Topics[i]
		configs, _ := t.Configs.Get()
		for _, c := range configs {
			out = append(out, ConfigReport{Scope: ScopeTopic, Entity: t.Name, Config: c, Notes: topicConfigNotes(&c, t)})
		}
	}
	slices.SortStableFunc(out, func(a, b ConfigReport) int {
		return cmp.Or(
			cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Broker, b.Broker),
			strings.Compare(a.Entity, b.Entity), strings.Compare(a.Name, b.Name),
		)
	})
	return out
}

// Own reports whether the setting is meant to differ from broker to broker: racks
// and cordoned directories.
func (c *Config) Own() bool { return c.Name == "broker.rack" || c.Name == "cordoned.log.dirs" }

// brokersDisagree compares the setting over all brokers that told theirs.
func (s *Snapshot) brokersDisagree(c *Config) bool {
	if c.Own() || c.Sensitive {
		return false
	}
	for i := range s.Brokers {
		configs, _ := s.Brokers[i].Configs.Get()
		if other := findConfig(configs, c.Name); other != nil && !sameValue(other.Value, c.Value) {
			return true
		}
	}
	return false
}

func findConfig(configs []Config, name string) *Config {
	for i := range configs {
		if configs[i].Name == name {
			return &configs[i]
		}
	}
	return nil
}

func number(c *Config) (int64, bool) {
	if c == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(c.Value.Or(""), 10, 64)
	return n, err == nil
}

const uncleanNote = "a replica that is out of sync may become leader: records are lost then"

func brokerConfigNotes(c *Config, all []Config) []string {
	var notes []string
	if stored, ok := c.NotApplied().Get(); ok {
		note := fmt.Sprintf("stored as %s in %s, but not in force", stored, c.Synonyms[0].Source)
		if strings.HasPrefix(c.Name, "num.") {
			note += ": a broker takes at most twice and at least half of the value in force, and refuses every other dynamic change until this one is deleted"
		}
		notes = append(notes, note)
	}
	switch c.Name {
	case "unclean.leader.election.enable":
		if c.Value.Or("") == "true" {
			notes = append(notes, uncleanNote)
		}
	case "replica.lag.time.max.ms":
		lag, ok := number(c)
		session, known := number(findConfig(all, "broker.session.timeout.ms"))
		if ok && known && lag < session {
			notes = append(notes, fmt.Sprintf("below broker.session.timeout.ms (%d): a dead broker leaves the ISR by lag before it is fenced, and slow ones leave with it", session))
		}
	case "leader.replication.throttled.rate", "follower.replication.throttled.rate":
		if c.Deviates() {
			notes = append(notes, "replication is throttled for the topics that name throttled replicas")
		}
	}
	return notes
}

func topicConfigNotes(c *Config, t *Topic) []string {
	switch c.Name {
	case "unclean.leader.election.enable":
		if c.Value.Or("") == "true" {
			return []string{uncleanNote}
		}
	case "min.insync.replicas":
		n, ok := number(c)
		rf := int64(0)
		for i := range t.Partitions {
			if r := int64(len(t.Partitions[i].Replicas)); rf == 0 || r < rf {
				rf = r
			}
		}
		if ok && rf > 0 && n > rf {
			return []string{fmt.Sprintf("above the number of replicas: Kafka uses %d", rf)}
		}
	case "leader.replication.throttled.replicas", "follower.replication.throttled.replicas":
		if c.Value.Or("") != "" && !t.reassigning() {
			return []string{"left behind: no partition of the topic is being reassigned"}
		}
	}
	return nil
}

// reassigning is true where that is not known, too.
func (t *Topic) reassigning() bool {
	return slices.ContainsFunc(t.Partitions, func(p Partition) bool { return !p.Adding.IsKnown() || p.Reassigning() })
}
