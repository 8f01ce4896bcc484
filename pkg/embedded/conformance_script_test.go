package embedded_test

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// script.play asks first about what is there, then changes it.
func (s *script) play() string {
	s.topics, s.asked = map[string][16]byte{}, map[[2]int16]bool{}
	s.ready()
	s.versions()
	s.create()
	s.produce()
	s.read()
	s.describe()
	s.configs()
	s.refuse()
	s.change()
	return s.out.String()
}

// ready waits for the brokers.
func (s *script) ready() { s.settle() }

func (s *script) versions() {
	for _, on := range []wire.Listener{wire.Broker, wire.Controller} {
		s.ask("ApiVersions", on, func(int16) kmsg.Request {
			req := kmsg.NewPtrApiVersionsRequest()
			req.ClientSoftwareName, req.ClientSoftwareVersion = "test", "1"
			return req
		})
		s.ask("ApiVersions without a name", on, func(int16) kmsg.Request { return kmsg.NewPtrApiVersionsRequest() })
		for typ := int8(1); typ <= 3; typ++ {
			s.ask("DescribeCluster, endpoint type "+string('0'+rune(typ)), on, func(int16) kmsg.Request {
				req := kmsg.NewPtrDescribeClusterRequest()
				req.EndpointType, req.IncludeFencedBrokers, req.IncludeClusterAuthorizedOperations = typ, true, typ == 1
				return req
			})
		}
	}
}

func (s *script) create() {
	// Names that are there only from the last version on that made them.
	s.ask("CreateTopics", wire.Broker, func(v int16) kmsg.Request {
		req := kmsg.NewPtrCreateTopicsRequest()
		req.TimeoutMillis, req.ValidateOnly = 30_000, v < 7
		for _, name := range []string{"orders", "single", "wide"} {
			t := kmsg.NewCreateTopicsRequestTopic()
			t.Topic, t.NumPartitions, t.ReplicationFactor = name, -1, -1
			assigned := map[string][][]int32{"orders": {{1, 2, 3}, {2, 3, 1}}, "single": {{3}, {1}}, "wide": {{1}, {1}, {1}}}[name]
			for i, replicas := range assigned {
				a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
				a.Partition, a.Replicas = int32(i), replicas
				t.ReplicaAssignment = append(t.ReplicaAssignment, a)
			}
			if name == "orders" {
				c := kmsg.NewCreateTopicsRequestTopicConfig()
				c.Name, c.Value = "max.message.bytes", kmsg.StringPtr("100000")
				t.Configs = append(t.Configs, c)
			}
			req.Topics = append(req.Topics, t)
		}
		return req
	})
	s.settle("orders", "single", "wide")
	s.ask("CreateTopics that cannot be", wire.Broker, func(int16) kmsg.Request {
		req := kmsg.NewPtrCreateTopicsRequest()
		for _, name := range []string{"orders", "a b", ""} {
			t := kmsg.NewCreateTopicsRequestTopic()
			t.Topic, t.NumPartitions, t.ReplicationFactor = name, 1, 1
			req.Topics = append(req.Topics, t)
		}
		return req
	})
}

// batch is one of two records, of producer 7000 in a version that knows it.
func (s *script) batch(sequence int32) []byte {
	opts := record.Options{}
	if sequence >= 0 {
		opts.Producer = &record.Producer{ID: 7000, Epoch: 1, BaseSequence: sequence}
	}
	b := record.NewBuilder(opts)
	for i := range 2 {
		if err := b.Add(record.Entry{TimestampMs: 1_700_000_000_000 + int64(i), Key: []byte("key"), Value: []byte("value")}); err != nil {
			s.t.Fatal(err)
		}
	}
	p, err := b.AppendTo(nil, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return p
}

func (s *script) produceTo(topic string, index int32, acks int16, records []byte) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = acks, 30_000
	t := kmsg.NewProduceRequestTopic()
	t.Topic, t.TopicID = topic, s.topics[topic]
	if _, ok := s.topics[topic]; !ok {
		t.TopicID = [16]byte{9}
	}
	p := kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = index, records
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func (s *script) produce() {
	s.ask("Produce, acks=all, idempotent", wire.Broker, func(v int16) kmsg.Request {
		return s.produceTo("orders", 0, -1, s.batch(2*max(0, int32(v)-3)))
	})
	s.ask("Produce, acks=1", wire.Broker, func(int16) kmsg.Request { return s.produceTo("single", 1, 1, s.batch(-1)) })
	s.ask("Produce, where there is no such topic", wire.Broker, func(int16) kmsg.Request { return s.produceTo("none", 0, 1, s.batch(-1)) })
	s.ask("Produce, where there is no such partition", wire.Broker, func(int16) kmsg.Request { return s.produceTo("orders", 9, 1, s.batch(-1)) })
	s.ask("Produce, where others lead", wire.Broker, func(int16) kmsg.Request { return s.produceTo("orders", 1, 1, s.batch(-1)) })
	s.ask("Produce, where others have it", wire.Broker, func(int16) kmsg.Request { return s.produceTo("single", 0, 1, s.batch(-1)) })
	s.ask("Produce, with acks that are none", wire.Broker, func(int16) kmsg.Request { return s.produceTo("orders", 0, 2, s.batch(-1)) })
	s.ask("Produce, a sequence too far", wire.Broker, func(int16) kmsg.Request { return s.produceTo("orders", 0, -1, s.batch(1000)) })
	s.ask("Produce, a batch with a flipped bit", wire.Broker, func(int16) kmsg.Request {
		p := s.batch(-1)
		p[len(p)-1] ^= 1
		return s.produceTo("orders", 0, -1, p)
	})
	for _, id := range []*string{nil, kmsg.StringPtr("")} {
		name := "InitProducerID"
		if id != nil {
			name += ", an empty transactional id"
		}
		s.ask(name, wire.Broker, func(int16) kmsg.Request {
			req := kmsg.NewPtrInitProducerIDRequest()
			req.TransactionalID, req.TransactionTimeoutMillis = id, 60_000
			return req
		})
	}
}

func (s *script) read() {
	fetch := func(topic string, index int32, offset int64, limit int32) func(int16) kmsg.Request {
		return func(int16) kmsg.Request {
			req := kmsg.NewPtrFetchRequest()
			req.MaxBytes, req.SessionEpoch = 1<<20, -1
			t := kmsg.NewFetchRequestTopic()
			t.Topic, t.TopicID = topic, s.topics[topic]
			if _, ok := s.topics[topic]; !ok {
				t.TopicID = [16]byte{9}
			}
			p := kmsg.NewFetchRequestTopicPartition()
			p.Partition, p.FetchOffset, p.PartitionMaxBytes = index, offset, limit
			t.Partitions = append(t.Partitions, p)
			req.Topics = append(req.Topics, t)
			return req
		}
	}
	s.ask("Fetch", wire.Broker, fetch("orders", 0, 1, 182))
	s.ask("Fetch at the end", wire.Broker, fetch("orders", 0, 22, 200))
	s.ask("Fetch beyond the end", wire.Broker, fetch("orders", 0, 1000, 200))
	s.ask("Fetch, where there is no such topic", wire.Broker, fetch("none", 0, 0, 200))
	s.ask("Fetch, where there is no such partition", wire.Broker, fetch("orders", 9, 0, 200))
	s.ask("Fetch, where others lead", wire.Broker, fetch("orders", 1, 0, 200))
	s.ask("Fetch, where others have it", wire.Broker, fetch("single", 0, 0, 200))

	list := func(topic string, index int32, timestamp int64) func(int16) kmsg.Request {
		return func(int16) kmsg.Request {
			req := kmsg.NewPtrListOffsetsRequest()
			req.ReplicaID = -1
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = topic
			p := kmsg.NewListOffsetsRequestTopicPartition()
			p.Partition, p.Timestamp = index, timestamp
			t.Partitions = append(t.Partitions, p)
			req.Topics = append(req.Topics, t)
			return req
		}
	}
	times := map[string]int64{
		"latest": -1, "earliest": -2, "with the largest timestamp": -3, "earliest local": -4, "latest tiered": -5, "earliest pending upload": -6,
		"unknown": -7, "at a time": 1_700_000_000_001, "after all": 1_800_000_000_000,
	}
	for _, name := range slices.Sorted(maps.Keys(times)) {
		s.ask("ListOffsets, "+name, wire.Broker, list("orders", 0, times[name]))
	}
	s.ask("ListOffsets, where there is no such topic", wire.Broker, list("none", 0, -1))
	s.ask("ListOffsets, where others lead", wire.Broker, list("orders", 1, -1))

	for _, index := range []int32{0, 1, 9} {
		for _, epoch := range []int32{0, 5, -1} {
			s.ask("OffsetForLeaderEpoch", wire.Broker, func(int16) kmsg.Request {
				req := kmsg.NewPtrOffsetForLeaderEpochRequest()
				req.ReplicaID = -1
				t := kmsg.NewOffsetForLeaderEpochRequestTopic()
				t.Topic = "orders"
				p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
				p.Partition, p.LeaderEpoch = index, epoch
				t.Partitions = append(t.Partitions, p)
				req.Topics = append(req.Topics, t)
				return req
			})
		}
	}
}

// partitions names partitions of a topic for a request.
func topicParts[T any](topics ...string) func(add func(topic string) T) []T {
	return func(add func(topic string) T) (all []T) {
		for _, topic := range topics {
			all = append(all, add(topic))
		}
		return all
	}
}

// acls asks where there is no authorizer.
func (s *script) acls() {
	s.ask("DescribeAcls of nothing that is known", wire.Broker, func(int16) kmsg.Request { return kmsg.NewPtrDescribeACLsRequest() })
	s.ask("DescribeAcls", wire.Broker, func(int16) kmsg.Request {
		req := kmsg.NewPtrDescribeACLsRequest()
		req.ResourceType, req.ResourcePatternType = kmsg.ACLResourceTypeAny, kmsg.ACLResourcePatternTypeAny
		req.Operation, req.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
		return req
	})
	s.ask("CreateAcls", wire.Broker, func(int16) kmsg.Request {
		req := kmsg.NewPtrCreateACLsRequest()
		c := kmsg.NewCreateACLsRequestCreation()
		c.ResourceType, c.ResourceName, c.ResourcePatternType = kmsg.ACLResourceTypeTopic, "orders", kmsg.ACLResourcePatternTypeLiteral
		c.Principal, c.Host, c.Operation, c.PermissionType = "User:alice", "*", kmsg.ACLOperationRead, kmsg.ACLPermissionTypeAllow
		req.Creations = []kmsg.CreateACLsRequestCreation{c}
		return req
	})
	s.ask("DeleteAcls", wire.Broker, func(int16) kmsg.Request {
		req := kmsg.NewPtrDeleteACLsRequest()
		f := kmsg.NewDeleteACLsRequestFilter()
		f.ResourceType, f.ResourcePatternType = kmsg.ACLResourceTypeTopic, kmsg.ACLResourcePatternTypeAny
		f.Operation, f.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
		req.Filters = []kmsg.DeleteACLsRequestFilter{f}
		return req
	})
}

func (s *script) describe() {
	s.metadata()
	s.topicPartitions()
	s.ask("DescribeLogDirs, some", wire.Broker, func(int16) kmsg.Request {
		req := kmsg.NewPtrDescribeLogDirsRequest()
		req.Topics = topicParts[kmsg.DescribeLogDirsRequestTopic]("orders", "single", "none")(func(topic string) kmsg.DescribeLogDirsRequestTopic {
			return kmsg.DescribeLogDirsRequestTopic{Topic: topic, Partitions: []int32{0, 7}}
		})
		return req
	})
	s.ask("DescribeLogDirs, all", wire.Broker, func(int16) kmsg.Request { return kmsg.NewPtrDescribeLogDirsRequest() })
	s.ask("DescribeLogDirs, none", wire.Broker, func(int16) kmsg.Request {
		req := kmsg.NewPtrDescribeLogDirsRequest()
		req.Topics = []kmsg.DescribeLogDirsRequestTopic{}
		return req
	})
	s.ask("DescribeProducers", wire.Broker, func(int16) kmsg.Request {
		req := kmsg.NewPtrDescribeProducersRequest()
		req.Topics = topicParts[kmsg.DescribeProducersRequestTopic]("orders", "single", "none", "a b")(func(topic string) kmsg.DescribeProducersRequestTopic {
			return kmsg.DescribeProducersRequestTopic{Topic: topic, Partitions: []int32{0, 1, 7}}
		})
		return req
	})
	s.acls()
	s.ask("DescribeTransactions", wire.Broker, func(int16) kmsg.Request {
		req := kmsg.NewPtrDescribeTransactionsRequest()
		req.TransactionalIDs = []string{"none", ""}
		return req
	})
	for _, pattern := range []*string{nil, kmsg.StringPtr("["), kmsg.StringPtr("a.*")} {
		s.ask("ListTransactions", wire.Broker, func(int16) kmsg.Request {
			req := kmsg.NewPtrListTransactionsRequest()
			req.TransactionalIDPattern = pattern
			if pattern != nil {
				req.StateFilters = []string{"Ongoing", "Wrong"}
			}
			return req
		})
	}
	for _, on := range []wire.Listener{wire.Broker, wire.Controller} {
		for _, topic := range []string{"__cluster_metadata", "orders", ""} {
			s.ask("DescribeQuorum", on, func(int16) kmsg.Request {
				req := kmsg.NewPtrDescribeQuorumRequest()
				if topic != "" {
					req.Topics = []kmsg.DescribeQuorumRequestTopic{{
						Topic: topic, Partitions: []kmsg.DescribeQuorumRequestTopicPartition{{Partition: 0}},
					}}
				}
				return req
			})
		}
	}
}

func (s *script) metadata() {
	for _, names := range [][]string{{"orders", "single", "none", "orders"}, {"a b"}, {""}, {"__consumer_offsets"}, {}} {
		for _, operations := range []bool{false, true} {
			s.ask("Metadata", wire.Broker, func(v int16) kmsg.Request {
				req := kmsg.NewPtrMetadataRequest()
				req.Topics = []kmsg.MetadataRequestTopic{}
				for _, name := range names {
					if v < 4 && name == "none" || v < 4 && name == "__consumer_offsets" {
						continue // these versions would have them made
					}
					req.Topics = append(req.Topics, kmsg.MetadataRequestTopic{Topic: &name})
				}
				req.IncludeTopicAuthorizedOperations, req.IncludeClusterAuthorizedOperations = operations, operations
				return req
			})
		}
	}
	s.ask("Metadata of all", wire.Broker, func(int16) kmsg.Request { return kmsg.NewPtrMetadataRequest() })
	s.ask("Metadata by ids", wire.Broker, func(v int16) kmsg.Request {
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = []kmsg.MetadataRequestTopic{{TopicID: s.topics["orders"]}, {TopicID: [16]byte{9}}, {}}
		if v < 10 {
			req.Topics = []kmsg.MetadataRequestTopic{{Topic: kmsg.StringPtr("orders")}}
		}
		return req
	})
}

func (s *script) topicPartitions() {
	type cursor struct {
		topic string
		index int32
	}
	for _, q := range []struct {
		limit  int32
		cursor *cursor
		topics []string
	}{
		{2000, nil, nil},
		{2000, nil, []string{"single", "none", "orders", "orders"}},
		{2, nil, []string{"orders", "single", "wide"}},
		{3, nil, []string{"orders", "single", "wide"}},
		{3, &cursor{"single", 1}, []string{"orders", "single", "wide"}},
		{3, &cursor{"single", 9}, []string{"orders", "single", "wide"}},
		{3, &cursor{"other", 1}, []string{"orders", "single", "wide"}},
		{3, &cursor{"other", 1}, nil},
		{3, &cursor{"single", -1}, nil},
		{100, &cursor{"single", 1}, nil},
		{0, nil, []string{"orders"}},
		{2, nil, []string{"orders", "none"}},
		{2, nil, []string{"a b"}},
		{2, nil, []string{""}},
	} {
		s.ask("DescribeTopicPartitions", wire.Broker, func(int16) kmsg.Request {
			req := kmsg.NewPtrDescribeTopicPartitionsRequest()
			req.ResponsePartitionLimit = q.limit
			for _, topic := range q.topics {
				req.Topics = append(req.Topics, kmsg.DescribeTopicPartitionsRequestTopic{Topic: topic})
			}
			if q.cursor != nil {
				req.Cursor = &kmsg.DescribeTopicPartitionsRequestCursor{Topic: q.cursor.topic, Partition: q.cursor.index}
			}
			return req
		})
	}
}
