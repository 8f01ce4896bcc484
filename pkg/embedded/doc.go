// Package embedded is a Kafka cluster in this process: brokers and a controller that
// replicate by Kafka 4.4's rules, on real sockets, for any Kafka client.
package embedded
