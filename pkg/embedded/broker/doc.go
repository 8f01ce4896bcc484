// Package broker serves a node of the embedded cluster, a broker or the controller:
// sockets, goroutines, a clock and a disk around a machine.Machine.
//
// A caller starts from
//
//   - [Start]: one life of a node, from its disk being opened until it ends
//   - [Server.Kill], [Server.Shutdown], [Server.Pause]: the ways in which it ends or stands
//     still
//   - [Disk], [Clock], [Links]: what outlives it, and what can be broken on purpose
//
// Nothing here decides anything about Kafka: what a request means is the node's, and
// bytes are package wire's. How goroutines and queues hang together, and why syncs may
// be done beside a node's steps, is in DESIGN.md.
//
// # What it does not do
//
// TLS and SASL. Links are those between nodes: what clients send is not held up.
package broker
