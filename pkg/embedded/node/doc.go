// Package node is one broker of a cluster: the replicas of its partitions, their
// logs, and what answers Kafka's requests about them, as a machine.Machine that
// messages and time step from outside. A server gives it sockets, a disk and a
// clock; a simulator gives it a seeded world.
//
// A caller starts from [Open], then steps; see package machine for the loop.
//
// # The contract
//
// Append, sync if the policy asks for it, reply: a Produce is answered in a step
// that follows the machine.Ran of its append, and of its sync if its topic wants
// one, and with acks=all after the high watermark has passed it. What a disk is
// slow at holds back what it would in Kafka, and nothing else.
//
// # Where things are
//
//   - request.go: from a request's key to its handler
//   - partition.go: a replica with its log, and what its effects do
//   - …
package node
