package quorum

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

func (c *call) createTopics(req *kmsg.CreateTopicsRequest) kmsg.Response {
	r := controller.CreateTopics{ValidateOnly: req.ValidateOnly && req.Version >= 1}
	for _, t := range req.Topics {
		topic := controller.NewTopic{Name: t.Topic, NumPartitions: t.NumPartitions, ReplicationFactor: t.ReplicationFactor}
		for _, a := range t.ReplicaAssignment {
			if topic.Assignments == nil {
				topic.Assignments = map[int32][]int32{}
			}
			topic.Assignments[a.Partition] = a.Replicas
		}
		for _, cfg := range t.Configs {
			topic.Configs = append(topic.Configs, controller.ConfigValue{Key: cfg.Name, Value: cfg.Value})
		}
		r.Topics = append(r.Topics, topic)
	}
	reply := handle(c, r)
	resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
	resp.Topics = make([]kmsg.CreateTopicsResponseTopic, 0, len(reply.Topics))
	for _, result := range reply.Topics {
		t := kmsg.NewCreateTopicsResponseTopic()
		t.Topic, t.TopicID, t.ErrorCode, t.ErrorMessage = result.Name, result.ID, codeOf(result.Err), messageOf(result.Err)
		t.NumPartitions, t.ReplicationFactor, t.Configs = -1, -1, []kmsg.CreateTopicsResponseTopicConfig{}
		if result.Err == nil {
			t.NumPartitions, t.ReplicationFactor = int32(result.NumPartitions), result.ReplicationFactor
			t.Configs = append(t.Configs, c.topicConfigs(result.Name, given(r.Topics, result.Name))...)
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

func given(topics []controller.NewTopic, name string) []controller.ConfigValue {
	for _, t := range topics {
		if t.Name == name {
			return t.Configs
		}
	}
	return nil
}

// Where a config's value is from, in Kafka's numbers (DescribeConfigsResponse.ConfigSource).
const (
	sourceTopic         int8 = 1
	sourceDefaultBroker int8 = 3
	sourceStaticBroker  int8 = 4
	sourceDefault       int8 = 5
)

// topicConfigs are all configs of a topic that was created with those given, as
// its creation tells them (KIP-525; KafkaConfigSchema.resolveEffectiveTopicConfigs).
func (c *call) topicConfigs(name string, given []controller.ConfigValue) []kmsg.CreateTopicsResponseTopicConfig {
	var all []kmsg.CreateTopicsResponseTopicConfig
	image := c.n.c.Image()
	for _, key := range controller.ConfigKeys() {
		if key.Name == "" {
			continue
		}
		cfg := kmsg.NewCreateTopicsResponseTopicConfig()
		cfg.Name = key.Name
		value, source := key.Default, sourceDefault
		if v, ok := c.n.opts.Controller.Static[key.Broker]; ok {
			value, source = v, sourceStaticBroker
		}
		if v, ok := image.Config(metadata.Resource{Type: kraft.ResourceBroker}, key.Broker); ok {
			value, source = v, sourceDefaultBroker
		}
		for _, g := range given {
			if g.Key == key.Name && g.Value != nil {
				value, source = *g.Value, sourceTopic
			}
		}
		cfg.Value, cfg.Source = &value, source
		all = append(all, cfg)
	}
	return all
}
