package quorum

import (
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// Where a config's value is from, in Kafka's numbers (DescribeConfigsResponse.ConfigSource).
const (
	sourceTopic         int8 = 1
	sourceBroker        int8 = 2
	sourceDefaultBroker int8 = 3
	sourceStaticBroker  int8 = 4
	sourceDefault       int8 = 5
)

// topicConfigs are all configs of a topic that was created with those given, as
// its creation tells them (KIP-525; KafkaConfigSchema.resolveEffectiveTopicConfigs).
func (c *call) topicConfigs(given []controller.ConfigValue) []kmsg.CreateTopicsResponseTopicConfig {
	var all []kmsg.CreateTopicsResponseTopicConfig
	for _, key := range controller.ConfigKeys() {
		if key.Name == "" || strings.HasPrefix(key.Name, "internal.") {
			continue // a broker's, or one that Kafka does not tell of
		}
		cfg := kmsg.NewCreateTopicsResponseTopicConfig()
		value, source := c.topicConfig(key, given)
		cfg.Name, cfg.Value, cfg.Source = key.Name, &value, source
		all = append(all, cfg)
	}
	return all
}

func (c *call) topicConfig(key controller.ConfigKey, given []controller.ConfigValue) (value string, source int8) {
	for _, g := range given {
		if g.Key == key.Name && g.Value != nil {
			return *g.Value, sourceTopic
		}
	}
	if key.Broker == "" {
		return key.Default, sourceDefault
	}
	image, opts := c.n.c.Image(), c.n.opts.Controller
	if v, ok := image.Config(metadata.Resource{Type: kraft.ResourceBroker, Name: strconv.Itoa(int(opts.NodeID))}, key.Broker); ok {
		return v, sourceBroker
	}
	if v, ok := image.Config(metadata.Resource{Type: kraft.ResourceBroker}, key.Broker); ok {
		return v, sourceDefaultBroker
	}
	if v, ok := opts.Static[key.Broker]; ok {
		return v, sourceStaticBroker
	}
	return key.Default, sourceDefault
}
