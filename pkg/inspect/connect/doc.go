// Package connect turns one description of how to reach a Kafka cluster into
// connections: [Config.Open] gives a sarama broker, [Config.Kgo] a franz-go
// client for the few requests that sarama has no types for. Both dial and go
// through TLS and SASL in the same way, here and not in the clients.
//
// [ReadProperties] makes the [Security] of a Config from a Java
// client.properties, used unchanged: PLAIN, SCRAM, OAUTHBEARER, Kerberos and
// Amazon's IAM, stores in JKS, PKCS12 and PEM. What Java alone could do, such as
// a callback handler's class, is refused by file, line and key. File and stores
// are read again when they change; nothing prints what is secret in them.
//
// Every call is bounded by its context on the connection itself. A sarama
// broker retries and waits by socket timeouts of its own, so a broker that
// accepts and never answers would cost a multiple of what was allowed; here it
// costs what the context says.
//
// Whatever fails is an [*Error] that names the address, the phase (dial, TLS,
// SASL, request) and the request.
package connect
