package embedded_test

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

func resource(typ kmsg.ConfigResourceType, name string, configs ...string) kmsg.DescribeConfigsRequestResource {
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName, r.ConfigNames = typ, name, configs
	return r
}

func (s *script) describeConfigs(name string, on wire.Listener, all ...kmsg.DescribeConfigsRequestResource) {
	s.ask("DescribeConfigs, "+name, on, func(int16) kmsg.Request {
		req := kmsg.NewPtrDescribeConfigsRequest()
		req.Resources, req.IncludeSynonyms, req.IncludeDocumentation = all, true, true
		return req
	})
}

func (s *script) configs() {
	const topic, broker = kmsg.ConfigResourceTypeTopic, kmsg.ConfigResourceTypeBroker
	some := []string{"min.insync.replicas", "max.message.bytes", "segment.bytes", "flush.ms", "none"}
	s.describeConfigs("of a topic", wire.Broker, resource(topic, "orders", some...), resource(topic, "orders", some...))
	s.describeConfigs("of a topic, all", wire.Broker, resource(topic, "single"))
	s.describeConfigs("of what is none", wire.Broker, resource(topic, "none"), resource(topic, "a b"), resource(topic, ""))
	s.describeConfigs("of brokers", wire.Broker, resource(broker, "1", some...), resource(broker, "2", some...),
		resource(broker, "", some...), resource(broker, "x"), resource(broker, "-1"), resource(broker, "9"))
	s.describeConfigs("of an unknown type", wire.Broker, resource(99, "x"), resource(topic, "orders"))
	s.describeConfigs("of the controller", wire.Controller, resource(topic, "orders", some...), resource(topic, "none"),
		resource(broker, "100", some...), resource(broker, "1"), resource(broker, "", some...))

	s.alterConfigs("a topic's", topic, "orders", "retention.ms", kmsg.IncrementalAlterConfigOpSet, "7000")
	s.alterConfigs("a list", topic, "orders", "cleanup.policy", kmsg.IncrementalAlterConfigOpAppend, "compact")
	s.alterConfigs("a broker's", broker, "1", "log.retention.ms", kmsg.IncrementalAlterConfigOpSet, "8000")
	s.alterConfigs("all brokers'", broker, "", "log.retention.ms", kmsg.IncrementalAlterConfigOpSet, "9000")
	s.alterConfigs("all brokers' min ISR", broker, "", "min.insync.replicas", kmsg.IncrementalAlterConfigOpSet, "2")
	s.alterConfigs("one that Kafka does not know", broker, "1", "my.own", kmsg.IncrementalAlterConfigOpSet, "x")
	s.alterConfigs("no value", topic, "orders", "retention.ms", kmsg.IncrementalAlterConfigOpSet, "")
	s.alterConfigs("back to what it was", topic, "orders", "flush.ms", kmsg.IncrementalAlterConfigOpDelete, "")
	s.alterConfigs("an unknown operation", topic, "orders", "flush.ms", 9, "1")
	s.alterConfigs("no list", topic, "orders", "flush.ms", kmsg.IncrementalAlterConfigOpAppend, "1")
	s.alterConfigs("an unknown name", topic, "orders", "none", kmsg.IncrementalAlterConfigOpSet, "1")
	s.alterConfigs("a bad value", topic, "orders", "flush.ms", kmsg.IncrementalAlterConfigOpSet, "x")
	s.alterConfigs("no such topic", topic, "none", "flush.ms", kmsg.IncrementalAlterConfigOpSet, "1")
	s.alterConfigs("no broker id", broker, "x", "log.retention.ms", kmsg.IncrementalAlterConfigOpSet, "1")
	s.alterConfigs("another broker's", broker, "2", "log.retention.ms", kmsg.IncrementalAlterConfigOpSet, "1")
	s.alterConfigs("what needs a restart", broker, "1", "broker.rack", kmsg.IncrementalAlterConfigOpSet, "x")
	s.alterConfigs("the cluster's min ISR removed", broker, "", "min.insync.replicas", kmsg.IncrementalAlterConfigOpDelete, "")
	time.Sleep(time.Second) // until the broker has it

	changed := []string{"min.insync.replicas", "retention.ms", "log.retention.ms", "log.retention.hours", "cleanup.policy", "my.own"}
	s.describeConfigs("that have changed", wire.Broker, resource(topic, "orders", changed...), resource(topic, "single", changed...),
		resource(broker, "1", changed...), resource(broker, "", changed...))
	s.alterAll("a topic's", topic, "orders", "flush.ms", kmsg.StringPtr("77"))
	s.alterAll("no value", topic, "orders", "flush.ms", nil)
	s.alterAll("an unknown name", topic, "orders", "none", kmsg.StringPtr("1"))
	s.alterAll("a broker's", broker, "1", "log.retention.ms", kmsg.StringPtr("1"))
	s.alterAll("another broker's", broker, "2", "log.retention.ms", kmsg.StringPtr("1"))
	time.Sleep(time.Second)
	s.describeConfigs("that were replaced", wire.Broker, resource(topic, "orders", changed...), resource(broker, "1", changed...))
	for _, types := range [][]int8{nil, {2}, {4}, {8}, {16}, {99}} {
		s.ask("ListConfigResources", wire.Broker, func(v int16) kmsg.Request {
			req := kmsg.NewPtrListConfigResourcesRequest()
			if v > 0 {
				req.ResourceTypes = types
			}
			return req
		})
	}
}

func (s *script) alterConfigs(name string, typ kmsg.ConfigResourceType, of, config string, op kmsg.IncrementalAlterConfigOp, value string) {
	s.ask("IncrementalAlterConfigs, "+name, wire.Broker, func(int16) kmsg.Request {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		if c.Name, c.Op = config, op; value != "" {
			c.Value = &value
		}
		r := kmsg.NewIncrementalAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = typ, of
		r.Configs = append(r.Configs, c)
		req := kmsg.NewPtrIncrementalAlterConfigsRequest()
		req.Resources = append(req.Resources, r)
		return req
	})
}

func (s *script) alterAll(name string, typ kmsg.ConfigResourceType, of, config string, value *string) {
	s.ask("AlterConfigs, "+name, wire.Broker, func(int16) kmsg.Request {
		c := kmsg.NewAlterConfigsRequestResourceConfig()
		c.Name, c.Value = config, value
		r := kmsg.NewAlterConfigsRequestResource()
		r.ResourceType, r.ResourceName = typ, of
		r.Configs = append(r.Configs, c)
		req := kmsg.NewPtrAlterConfigsRequest()
		req.Resources = append(req.Resources, r)
		return req
	})
}

// refuse asks for what there is nothing to do about.
func (s *script) refuse() {
	for _, on := range []wire.Listener{wire.Broker, wire.Controller} {
		s.ask("ElectLeaders, all", on, func(int16) kmsg.Request {
			req := kmsg.NewPtrElectLeadersRequest()
			req.TimeoutMillis = 30_000
			return req
		})
		for _, typ := range []int8{0, 1, 5} {
			s.ask("ElectLeaders", on, func(int16) kmsg.Request {
				req := kmsg.NewPtrElectLeadersRequest()
				req.TimeoutMillis, req.ElectionType = 30_000, typ
				req.Topics = []kmsg.ElectLeadersRequestTopic{{Topic: "orders", Partitions: []int32{0, 9}}}
				return req
			})
		}
		s.ask("AlterPartitionAssignments", on, func(int16) kmsg.Request {
			req := kmsg.NewPtrAlterPartitionAssignmentsRequest()
			req.Topics = []kmsg.AlterPartitionAssignmentsRequestTopic{{
				Topic: "orders", Partitions: []kmsg.AlterPartitionAssignmentsRequestTopicPartition{{Partition: 0}, {Partition: 9}},
			}}
			return req
		})
		s.ask("AlterPartitionAssignments, none", on, func(int16) kmsg.Request { return kmsg.NewPtrAlterPartitionAssignmentsRequest() })
		s.ask("ListPartitionReassignments, all", on, func(int16) kmsg.Request { return kmsg.NewPtrListPartitionReassignmentsRequest() })
		s.ask("ListPartitionReassignments, none", on, func(int16) kmsg.Request {
			req := kmsg.NewPtrListPartitionReassignmentsRequest()
			req.Topics = []kmsg.ListPartitionReassignmentsRequestTopic{}
			return req
		})
		for _, count := range []int32{1, 4} {
			s.ask("CreatePartitions, to be looked at only", on, func(int16) kmsg.Request {
				req := kmsg.NewPtrCreatePartitionsRequest()
				req.ValidateOnly = true
				req.Topics = []kmsg.CreatePartitionsRequestTopic{{Topic: "orders", Count: count}, {Topic: "none", Count: count}}
				return req
			})
		}
		s.ask("UnregisterBroker, of none", on, func(int16) kmsg.Request {
			req := kmsg.NewPtrUnregisterBrokerRequest()
			req.BrokerID = 77
			return req
		})
		for _, level := range []int16{33, 99} {
			s.ask("UpdateFeatures", on, func(int16) kmsg.Request {
				req := kmsg.NewPtrUpdateFeaturesRequest()
				req.ValidateOnly = true
				f := kmsg.NewUpdateFeaturesRequestFeatureUpdate()
				f.Feature, f.MaxVersionLevel, f.UpgradeType = "metadata.version", level, 1
				req.FeatureUpdates = append(req.FeatureUpdates, f)
				return req
			})
		}
		s.ask("DeleteTopics, of none", on, func(int16) kmsg.Request {
			req := kmsg.NewPtrDeleteTopicsRequest()
			req.TopicNames = []string{"none"}
			req.Topics = []kmsg.DeleteTopicsRequestTopic{{Topic: kmsg.StringPtr("none")}, {TopicID: [16]byte{9}}}
			return req
		})
	}
}

// change changes topics, where asking twice shows nothing else.
func (s *script) change() {
	s.ask("DeleteRecords", wire.Broker, func(int16) kmsg.Request {
		req := kmsg.NewPtrDeleteRecordsRequest()
		req.TimeoutMillis = 30_000
		for _, topic := range []string{"wide", "none"} {
			req.Topics = append(req.Topics, kmsg.DeleteRecordsRequestTopic{
				Topic: topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{{Partition: 0, Offset: 0}, {Partition: 1, Offset: 5}, {Partition: 9}},
			})
		}
		return req
	})
	s.ask("DeleteTopics", wire.Broker, func(v int16) kmsg.Request {
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TimeoutMillis = 30_000
		if v == 6 {
			req.Topics = []kmsg.DeleteTopicsRequestTopic{{TopicID: s.topics["wide"]}, {Topic: kmsg.StringPtr("single")}}
		}
		return req
	})
}
