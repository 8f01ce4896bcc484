package configs

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// Error codes.
const (
	unknownTopicOrPartition int16 = 3
	invalidTopic            int16 = 17
	invalidRequest          int16 = 42
)

// Node is who describes: a broker, or a controller.
type Node struct {
	ID int32
	// Static are the configs of its file, and what it was told in their place.
	Static map[string]string
}

// Describe answers a request from the node's image (ConfigHelper.handleDescribeConfigsRequest).
// A broker knows its own configs and what all brokers share, no other broker's.
func (n Node) Describe(im metadata.Image, req *kmsg.DescribeConfigsRequest) *kmsg.DescribeConfigsResponse {
	resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
	resp.Resources = make([]kmsg.DescribeConfigsResponseResource, 0, len(req.Resources))
	d := describer{node: n, im: im, req: req}
	strange := slices.ContainsFunc(req.Resources, func(r kmsg.DescribeConfigsRequestResource) bool { return !known(r.ResourceType) })
	for _, asked := range req.Resources {
		r := kmsg.NewDescribeConfigsResponseResource()
		r.ResourceType, r.ResourceName = asked.ResourceType, asked.ResourceName
		r.ErrorMessage, r.Configs = kmsg.StringPtr(""), []kmsg.DescribeConfigsResponseResourceConfig{}
		var err error
		if strange {
			// One that is of no type spoils the request, as in Kafka.
			r.ErrorCode, err = invalidRequest, fmt.Errorf("a resource of the request is neither a topic's nor a broker's")
		} else {
			r.Configs, r.ErrorCode, err = d.resource(asked)
		}
		if err != nil {
			r.ErrorMessage = kmsg.StringPtr(err.Error())
		}
		resp.Resources = append(resp.Resources, r)
	}
	return resp
}

func known(t kmsg.ConfigResourceType) bool {
	return t == kmsg.ConfigResourceTypeTopic || t == kmsg.ConfigResourceTypeBroker || t == kmsg.ConfigResourceTypeBrokerLogger
}

type describer struct {
	node Node
	im   metadata.Image
	req  *kmsg.DescribeConfigsRequest
}

func (d *describer) resource(asked kmsg.DescribeConfigsRequestResource) (all []kmsg.DescribeConfigsResponseResourceConfig, code int16, err error) {
	all = []kmsg.DescribeConfigsResponseResourceConfig{}
	switch {
	case asked.ResourceType == kmsg.ConfigResourceTypeTopic:
		if err := metadata.CheckTopicName(asked.ResourceName); err != nil {
			return all, invalidTopic, err
		}
		if _, ok := d.im.Topic(asked.ResourceName); !ok {
			return all, unknownTopicOrPartition, nil
		}
		for _, k := range topicKeys {
			if wanted(asked, k.Name) {
				all = append(all, d.topic(asked.ResourceName, k))
			}
		}
		return all, 0, nil
	case asked.ResourceName == "" && asked.ResourceType == kmsg.ConfigResourceTypeBroker:
		for name, value := range d.im.Configs(metadata.Resource{Type: kraft.ResourceBroker}) {
			if wanted(asked, name) {
				all = append(all, d.config(brokerKey(name), []origin{{name, value, kmsg.ConfigSourceDynamicDefaultBrokerConfig}}))
			}
		}
		return all, 0, nil
	}
	id, err := strconv.ParseInt(asked.ResourceName, 10, 32)
	if err != nil {
		return all, invalidRequest, fmt.Errorf("%q is no broker id", asked.ResourceName)
	}
	if id != int64(d.node.ID) {
		return all, invalidRequest, fmt.Errorf("node %d was asked for the configs of %d, which only that one knows", d.node.ID, id)
	}
	if asked.ResourceType == kmsg.ConfigResourceTypeBrokerLogger {
		return all, 0, nil // there are none
	}
	return d.broker(asked), 0, nil
}

// wanted reports whether a resource's config is asked for: none named is all.
func wanted(asked kmsg.DescribeConfigsRequestResource, name string) bool {
	return len(asked.ConfigNames) == 0 || slices.Contains(asked.ConfigNames, name)
}

// broker describes all that Kafka knows, and what else was set.
func (d *describer) broker(asked kmsg.DescribeConfigsRequestResource) []kmsg.DescribeConfigsResponseResourceConfig {
	all := []kmsg.DescribeConfigsResponseResourceConfig{}
	add := func(name string) {
		if wanted(asked, name) {
			all = append(all, d.config(brokerKey(name), d.origins(name)))
		}
	}
	for _, k := range brokerKeys {
		add(k.Name)
	}
	for _, r := range []metadata.Resource{d.own(), {Type: kraft.ResourceBroker}} {
		for name := range d.im.Configs(r) {
			if _, ok := BrokerKey(name); !ok && !slices.ContainsFunc(all, func(c kmsg.DescribeConfigsResponseResourceConfig) bool { return c.Name == name }) {
				add(name)
			}
		}
	}
	return all
}

// dynamicOnly are brokers' configs that no file has, and that are told only where they are
// set (QuotaConfig.brokerQuotaConfigs).
var dynamicOnly = []string{
	"follower.replication.throttled.rate", "leader.replication.throttled.rate", "replica.alter.log.dirs.io.max.bytes.per.second",
}

// brokerKey is a broker's config; one that Kafka does not know may hold anything.
func brokerKey(name string) Key {
	if k, ok := BrokerKey(name); ok {
		return k
	}
	if slices.Contains(dynamicOnly, name) {
		return Key{Name: name, Type: kmsg.ConfigTypeLong}
	}
	return Key{Name: name, Sensitive: true, ReadOnly: true}
}

func (d *describer) own() metadata.Resource {
	return metadata.Resource{Type: kraft.ResourceBroker, Name: strconv.Itoa(int(d.node.ID))}
}

// topic describes a topic's config.
func (d *describer) topic(topic string, k Key) kmsg.DescribeConfigsResponseResourceConfig {
	var from []origin
	if k.Broker != "" {
		from = d.origins(k.Broker)
	}
	if v, ok := d.im.Config(metadata.Resource{Type: kraft.ResourceTopic, Name: topic}, k.Name); ok {
		from = append([]origin{{k.Name, v, kmsg.ConfigSourceDynamicTopicConfig}}, from...)
	}
	return d.config(k, from)
}

// origin is one place where a value is set.
type origin struct {
	name, value string
	source      kmsg.ConfigSource
}

// origins are all places, the one that is in force first. What is only set under an
// elder name is not told under this one, as in Kafka.
func (d *describer) origins(name string) (all []origin) {
	names := synonyms(name)
	for _, from := range []struct {
		source kmsg.ConfigSource
		value  func(name string) (string, bool)
	}{
		{kmsg.ConfigSourceDynamicBrokerConfig, func(name string) (string, bool) { return d.im.Config(d.own(), name) }},
		{kmsg.ConfigSourceDynamicDefaultBrokerConfig, func(name string) (string, bool) {
			return d.im.Config(metadata.Resource{Type: kraft.ResourceBroker}, name)
		}},
		{kmsg.ConfigSourceStaticBrokerConfig, func(name string) (string, bool) { v, ok := d.node.Static[name]; return v, ok }},
		{kmsg.ConfigSourceDefaultConfig, func(name string) (string, bool) { k, _ := BrokerKey(name); return k.Default, k.HasDefault }},
	} {
		for _, name := range names {
			if v, ok := from.value(name); ok {
				all = append(all, origin{name, v, from.source})
			}
		}
	}
	i := slices.IndexFunc(all, func(o origin) bool { return o.name == name })
	if i < 0 {
		return nil
	}
	return all[i:]
}

// config is the answer's line.
func (d *describer) config(k Key, from []origin) kmsg.DescribeConfigsResponseResourceConfig {
	c := kmsg.NewDescribeConfigsResponseResourceConfig()
	c.Name, c.ReadOnly, c.IsSensitive, c.ConfigType, c.Source = k.Name, k.ReadOnly, k.Sensitive, k.Type, kmsg.ConfigSourceDefaultConfig
	c.ConfigSynonyms = []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{}
	value, ok := k.Default, k.HasDefault
	if len(from) > 0 {
		value, ok, c.Source = from[0].value, true, from[0].source
	}
	told := func(value string) *string {
		if k.Sensitive {
			return nil
		}
		return &value
	}
	if ok {
		c.Value = told(value)
	}
	if d.req.IncludeSynonyms {
		for _, o := range from {
			s := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
			s.Name, s.Value, s.Source = o.name, told(o.value), o.source
			c.ConfigSynonyms = append(c.ConfigSynonyms, s)
		}
	}
	if d.req.IncludeDocumentation && k.Doc != "" {
		c.Documentation = kmsg.StringPtr(k.Doc)
	}
	return c
}
