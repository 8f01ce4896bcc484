package configs

import (
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
)

// TestControllerKnowsTheTopics: what the controller lets topics be configured with is
// what Kafka does, with its defaults and the same configs of brokers behind them.
func TestControllerKnowsTheTopics(t *testing.T) {
	t.Parallel()
	known := map[string]controller.ConfigKey{}
	for _, k := range controller.ConfigKeys() {
		if k.Name != "" && !strings.HasPrefix(k.Name, "internal.") {
			known[k.Name] = k
		}
	}
	for _, want := range topicKeys {
		k, ok := known[want.Name]
		if !ok {
			t.Errorf("the controller does not know %s", want.Name)
			continue
		}
		delete(known, want.Name)
		if k.Default != want.Default || k.Broker != want.Broker {
			t.Errorf("%s: default %q of broker's config %q, want %q of %q", k.Name, k.Default, k.Broker, want.Default, want.Broker)
		}
		if !k.Valid(want.Default) && want.Type != kmsg.ConfigTypeList {
			t.Errorf("%s: the default %q is not valid", k.Name, want.Default)
		}
	}
	for name := range known {
		t.Errorf("Kafka has no topic config %s", name)
	}
}

func TestTablesAreSorted(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]Key{brokerKeys, topicKeys} {
		if len(keys) == 0 || !slices.IsSortedFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) }) {
			t.Error("a table is empty or not sorted")
		}
		for _, k := range keys {
			if k.HasDefault && k.Check(k.Default) != nil {
				t.Errorf("%s: %v", k.Name, k.Check(k.Default))
			}
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, value string
		ok          bool
	}{
		{"num.partitions", "3", true},
		{"num.partitions", " 3 ", true},
		{"num.partitions", "3.5", false},
		{"num.partitions", "3000000000", false},
		{"log.retention.ms", "3000000000", true},
		{"offsets.topic.replication.factor", "40000", false}, // 16 bits
		{"log.cleaner.min.cleanable.ratio", "0.25", true},
		{"log.cleaner.min.cleanable.ratio", "half", false},
		{"auto.create.topics.enable", "TRUE", true},
		{"auto.create.topics.enable", "yes", false},
		{"broker.rack", "any thing", true},
		{"log.segment.bytes", "1", false},
		{"log.segment.bytes", "1048576", true},
		{"log.cleaner.min.cleanable.ratio", "1.01", false},
		{"log.cleaner.min.cleanable.ratio", "1", true},
		{"log.cleaner.min.cleanable.ratio", "-0.1", false},
		{"compression.zstd.level", "-131073", false},
		{"compression.zstd.level", "22", true},
		{"compression.zstd.level", "23", false},
	} {
		k, ok := BrokerKey(tt.name)
		if !ok {
			t.Errorf("Kafka has %s", tt.name)
		}
		if err := k.Check(tt.value); (err == nil) != tt.ok {
			t.Errorf("%s=%q: %v", tt.name, tt.value, err)
		}
	}
	if _, ok := BrokerKey("none"); ok {
		t.Error("Kafka has no config none")
	}
}

// TestElderNames: what is set under another name than the finest is told under its own
// name alone, as in Kafka.
func TestElderNames(t *testing.T) {
	t.Parallel()
	if got := synonyms("log.retention.ms"); !slices.Equal(got, []string{"log.retention.ms", "log.retention.minutes", "log.retention.hours"}) {
		t.Errorf("synonyms of log.retention.ms: %v", got)
	}
	if got := synonyms("num.partitions"); !slices.Equal(got, []string{"num.partitions"}) {
		t.Errorf("synonyms of num.partitions: %v", got)
	}
}
