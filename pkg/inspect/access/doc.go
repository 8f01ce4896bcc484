// Package access knows which ACL every request of kafkaops needs, which requests
// every command sends, and what is lost without one: [Requests] and [Commands]
// are the one table, from which errors take their hints, check access its answer
// and the README its section. [Judge] holds a Snapshot against it.
//
// Whoever adds a request or a command adds it here; tests compare the table with
// what is sent over the wire, and with what a real Kafka refuses.
//
// Pure: it asks nobody.
package access
