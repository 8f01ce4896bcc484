// Package connect turns one description of how to reach a Kafka cluster into
// connections: [Config.Open] gives a sarama broker, [Config.Kgo] a franz-go
// client for the few requests that sarama has no types for. Both dial, and
// later authenticate, in the same way.
//
// Every call is bounded by its context on the connection itself. A sarama
// broker retries and waits by socket timeouts of its own, so a broker that
// accepts and never answers would cost a multiple of what was allowed; here it
// costs what the context says.
//
// Whatever fails is an [*Error] that names the address, the phase (dial, TLS,
// SASL, request) and the request.
package connect
