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
	// Bounds are those of a broker's number, both included, as Kafka writes them: [1,...] or
	// [0,...,1]; "" if there are none. A topic's are for the controller, which takes changes.
	Bounds string
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

// Check says why the config cannot have that value, as far as its type and its bounds
// tell (ConfigDef.parseType, ConfigDef.Range); names are for who obeys it.
func (k Key) Check(value string) error {
	value = strings.TrimSpace(value)
	bits := map[kmsg.ConfigType]int{kmsg.ConfigTypeShort: 16, kmsg.ConfigTypeInt: 32, kmsg.ConfigTypeLong: 64}[k.Type]
	switch k.Type {
	case kmsg.ConfigTypeShort, kmsg.ConfigTypeInt, kmsg.ConfigTypeLong:
		if _, err := strconv.ParseInt(value, 10, bits); err != nil {
			return fmt.Errorf("config %s=%s: want a whole number of %d bits", k.Name, value, bits)
		}
		return k.checkBounds(value)
	case kmsg.ConfigTypeDouble:
		if _, err := strconv.ParseFloat(value, 64); err != nil {
			return fmt.Errorf("config %s=%s: want a number", k.Name, value)
		}
		return k.checkBounds(value)
	case kmsg.ConfigTypeBoolean:
		if v := strings.ToLower(value); v != "true" && v != "false" {
			return fmt.Errorf("config %s=%s: want true or false", k.Name, value)
		}
	}
	return nil
}

// checkBounds is for numbers. That floats are compared hides nothing: of the bounds that
// there are, none is beyond what they tell apart.
func (k Key) checkBounds(value string) error {
	if k.Bounds == "" {
		return nil
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return fmt.Errorf("config %s=%s: %w", k.Name, value, err)
	}
	least, most, bounded := strings.Cut(strings.Trim(k.Bounds, "[]"), ",...")
	low, err := strconv.ParseFloat(least, 64)
	if err == nil && v < low {
		return fmt.Errorf("config %s=%s: want at least %s", k.Name, value, least)
	}
	high, err := strconv.ParseFloat(strings.TrimPrefix(most, ","), 64)
	if bounded && err == nil && v > high {
		return fmt.Errorf("config %s=%s: want at most %s", k.Name, value, strings.TrimPrefix(most, ","))
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
