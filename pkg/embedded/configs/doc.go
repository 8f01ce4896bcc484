// Package configs knows the configs of Kafka 4.4.0: their names, types, defaults and
// documentation, and where a value that is in force comes from. It is pure.
//
// A caller starts from
//
//   - [Node.Describe]: the answer to DescribeConfigs, of a broker or a controller
//   - [BrokerKey], [TopicKey]: one config by its name; [Key.Check]: whether it can have
//     a value
//
// The table is what a real Kafka 4.4.0 answers, words and all (they are Apache Kafka's,
// under the Apache License 2.0). It is made, and compared, by
//
//	go test ./pkg/embedded/configs -run TestTableIsKafkas [-rewrite]
//
// # Where a value comes from
//
// The first that there is, as in Kafka:
//
//	of a topic    the topic's own (dynamic)
//	of a broker   the broker's own (dynamic), all brokers' (dynamic), the node's file
//	              (static), Kafka's default
//
// A topic's config that is not set is the broker's config behind it, most of which have
// another name ([Key.Broker]). Some of the broker's configs have elder names in other
// units (log.retention.ms, .minutes, .hours); the finest that is set counts.
//
// # What it does not do
//
// It decides nothing: who obeys a config is told where that is done. Group and client
// metrics configs are not here, nor log levels, which are not configs of a broker of
// this engine.
package configs
