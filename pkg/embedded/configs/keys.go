package configs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Key is a config that Kafka knows.
type Key struct {
	Name string
	Type kmsg.ConfigType
	// Default is Kafka's; HasDefault is false for a config that has none (null).
	Default    string
	HasDefault bool
	// ReadOnly: only a restart changes it. Topics have none of these.
	ReadOnly bool
	// Sensitive: its value is not told.
	Sensitive bool
	// Broker is the broker's config behind a topic's, "" if there is none.
	Broker string
	// Doc is what Kafka says about it, in HTML.
	Doc string
}

// BrokerKey finds a config of brokers and controllers.
func BrokerKey(name string) (Key, bool) { return find(brokerKeys, name) }

// TopicKey finds a config of topics.
func TopicKey(name string) (Key, bool) { return find(topicKeys, name) }

func find(keys []Key, name string) (Key, bool) {
	i, ok := slices.BinarySearchFunc(keys, name, func(k Key, name string) int { return strings.Compare(k.Name, name) })
	if !ok {
		return Key{}, false
	}
	return keys[i], true
}

// Check says why the config cannot have that value, as far as its type tells: bounds
// and names are for who obeys it.
func (k Key) Check(value string) error {
	value = strings.TrimSpace(value)
	bits := map[kmsg.ConfigType]int{kmsg.ConfigTypeShort: 16, kmsg.ConfigTypeInt: 32, kmsg.ConfigTypeLong: 64}[k.Type]
	switch k.Type {
	case kmsg.ConfigTypeShort, kmsg.ConfigTypeInt, kmsg.ConfigTypeLong:
		if _, err := strconv.ParseInt(value, 10, bits); err != nil {
			return fmt.Errorf("config %s=%s: want a whole number of %d bits", k.Name, value, bits)
		}
	case kmsg.ConfigTypeDouble:
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("config %s=%s: want a number", k.Name, value)
		}
	case kmsg.ConfigTypeBoolean:
		if v := strings.ToLower(value); v != "true" && v != "false" {
			return fmt.Errorf("config %s=%s: want true or false", k.Name, value)
		}
	}
	return nil
}

// synonyms are the names under which a broker's config may be set, the first one
// coming first (DynamicBrokerConfig.brokerConfigSynonyms).
func synonyms(name string) []string {
	for _, same := range [][]string{
		{"log.roll.ms", "log.roll.hours"},
		{"log.roll.jitter.ms", "log.roll.jitter.hours"},
		{"log.retention.ms", "log.retention.minutes", "log.retention.hours"},
		{"log.flush.interval.ms", "log.flush.scheduler.interval.ms"},
	} {
		if slices.Contains(same, name) {
			return same
		}
	}
	return []string{name}
}
