package fakekafka

import (
	"maps"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const minInsyncReplicas = "min.insync.replicas"

func (v *view) describeConfigs(req *kmsg.DescribeConfigsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
	resp.Resources = make([]kmsg.DescribeConfigsResponseResource, 0, len(req.Resources))
	for i := range req.Resources {
		asked := &req.Resources[i]
		rr := kmsg.NewDescribeConfigsResponseResource()
		rr.ResourceType, rr.ResourceName = asked.ResourceType, asked.ResourceName
		rr.Configs = []kmsg.DescribeConfigsResponseResourceConfig{}
		switch asked.ResourceType {
		case kmsg.ConfigResourceTypeTopic:
			v.topicConfigs(&rr, asked, req.IncludeSynonyms)
		case kmsg.ConfigResourceTypeBroker:
			v.brokerConfigs(&rr, asked)
		default:
			rr.ErrorCode, rr.ErrorMessage = invalidRequest, new("Unsupported resource type")
		}
		resp.Resources = append(resp.Resources, rr)
	}
	return resp
}

func (v *view) topicConfigs(rr *kmsg.DescribeConfigsResponseResource, asked *kmsg.DescribeConfigsRequestResource, synonyms bool) {
	t := v.index.topics[asked.ResourceName]
	switch {
	case v.denied(kmsg.DescribeConfigs), t != nil && t.DenyDescribeConfigs:
		rr.ErrorCode, rr.ErrorMessage = topicAuthorizationFailed, new("Topic authorization failed.")
		return
	case !validTopicName(asked.ResourceName):
		rr.ErrorCode, rr.ErrorMessage = invalidTopic, new("The topic name is invalid.")
		return
	case t == nil:
		rr.ErrorCode, rr.ErrorMessage = unknownTopicOrPartition, new("This server does not host this topic-partition.")
		return
	}
	if wants(asked, minInsyncReplicas) {
		rr.Configs = append(rr.Configs, v.minInsync(t, synonyms))
	}
	for _, name := range slices.Sorted(maps.Keys(t.Configs)) {
		if name != minInsyncReplicas && wants(asked, name) {
			rr.Configs = append(rr.Configs, config(name, t.Configs[name], kmsg.ConfigSourceDynamicTopicConfig))
		}
	}
}

// minInsync is a topic's min.insync.replicas: its own, else the cluster's, else
// Kafka's. The first that is set counts, and the rest are its synonyms.
func (v *view) minInsync(t *Topic, synonyms bool) kmsg.DescribeConfigsResponseResourceConfig {
	var set []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym
	add := func(value int, source kmsg.ConfigSource) {
		s := kmsg.NewDescribeConfigsResponseResourceConfigConfigSynonym()
		s.Name, s.Value, s.Source = minInsyncReplicas, new(strconv.Itoa(value)), source
		set = append(set, s)
	}
	if t.MinInsyncReplicas > 0 {
		add(t.MinInsyncReplicas, kmsg.ConfigSourceDynamicTopicConfig)
	}
	if v.model.MinInsyncReplicas > 0 {
		add(v.model.MinInsyncReplicas, kmsg.ConfigSourceDynamicDefaultBrokerConfig)
	}
	add(1, kmsg.ConfigSourceDefaultConfig)
	c := config(minInsyncReplicas, *set[0].Value, set[0].Source)
	c.ConfigType = kmsg.ConfigTypeInt
	if synonyms {
		c.ConfigSynonyms = set
	}
	return c
}

func (v *view) brokerConfigs(rr *kmsg.DescribeConfigsResponseResource, asked *kmsg.DescribeConfigsRequestResource) {
	if v.denied(kmsg.DescribeConfigs) {
		rr.ErrorCode, rr.ErrorMessage = clusterAuthorization, new("Cluster authorization failed.")
		return
	}
	if self := strconv.Itoa(int(v.self.ID)); asked.ResourceName != self {
		// A broker answers for itself only; the empty name, which asks for the
		// cluster-wide dynamic defaults, has the one default that a model has.
		if asked.ResourceName != "" {
			rr.ErrorCode, rr.ErrorMessage = invalidRequest, new("Unexpected broker id, expected "+self+" or empty string, but received "+asked.ResourceName)
			return
		}
		if v.model.MinInsyncReplicas > 0 && wants(asked, minInsyncReplicas) {
			rr.Configs = append(rr.Configs, config(minInsyncReplicas, strconv.Itoa(v.model.MinInsyncReplicas), kmsg.ConfigSourceDynamicDefaultBrokerConfig))
		}
		return
	}
	for _, name := range slices.Sorted(maps.Keys(v.self.Configs)) {
		if wants(asked, name) {
			rr.Configs = append(rr.Configs, config(name, v.self.Configs[name], kmsg.ConfigSourceStaticBrokerConfig))
		}
	}
}

// wants says whether the request's filter lets a setting through: null and empty
// both let all of them.
func wants(asked *kmsg.DescribeConfigsRequestResource, name string) bool {
	return len(asked.ConfigNames) == 0 || slices.Contains(asked.ConfigNames, name)
}

func config(name, value string, source kmsg.ConfigSource) kmsg.DescribeConfigsResponseResourceConfig {
	c := kmsg.NewDescribeConfigsResponseResourceConfig()
	c.Name, c.Value, c.Source, c.ConfigType = name, &value, source, kmsg.ConfigTypeString
	c.IsDefault = source == kmsg.ConfigSourceDefaultConfig
	c.ConfigSynonyms = []kmsg.DescribeConfigsResponseResourceConfigConfigSynonym{}
	return c
}
