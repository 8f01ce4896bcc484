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
// slow at holds back what it would in Kafka, and nothing else: each partition has
// a lane for what its log's lock is held for, another for syncs that nobody waits
// for, and the directory has one for its checkpoints.
//
// # What may run beside what
//
// An order may take as long as it likes, but its Run works on logs that steps read,
// and logs of one directory share a buffer: a driver must not let two Runs, or a
// Run and a step, go on at the same time. Run an order when it is to be done, between
// two steps.
//
// # What ends a broker
//
// Stop comes out with an error when the disk fails, for there is one log directory,
// and Kafka halts when all have failed; and when the metadata log contradicts itself.
// The driver then calls [Node.Abandon].
//
// # Where things are
//
//   - about.go, describe*.go, logdirs.go, alterconfigs.go, autocreate.go: what tools and
//     clients ask of a broker
//   - request.go, forward.go: from a request to its handler; what is sent on to the controller
//   - life.go: registration, heartbeats, shutdown
//   - follow.go, apply.go: the metadata log, and what it means for partitions
//   - partition.go, disk.go: a replica with its log, what its effects do, the orders
//   - produce.go, fetch.go, offsets.go, deleterecords.go, describe.go, producerids.go:
//     one file for each kind of request; fetchread.go has a Fetch's answer, sessions.go
//     the incremental ones
//   - fetcher.go, leadersession.go: this broker as a follower; alter.go: as a leader that
//     proposes ISRs
//   - groups.go, groupload.go, grouprequests.go, findcoordinator.go: coordinators of groups
//     (package group), where the offsets topic is led
//   - clean.go: compaction
//   - upkeep.go, alarm.go (package timers), config.go: what is due when, and settings
//
// # What it does not do
//
// Transactions, clients' quotas, authorization. Bytes on a connection are the driver's, and so is
// the order of answers on one.
package node
