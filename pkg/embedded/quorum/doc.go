// Package quorum is the controller's process, a quorum of one: the rules of
// package controller, the metadata log that they write, and what answers the
// brokers' requests, as a machine.Machine.
//
// A caller starts from [Open], then steps; see package machine for the loop.
//
// What it answers is durable: no reply, and no record to a broker that follows
// the log, goes out before all that was decided until then is synced.
//
// # A batch's way
//
//	request ─> controller.Handle ─> write: encoded, queued ─> append order (lane 0): Append, Flush
//	                │                                              │ machine.Ran
//	                └─> answer: held back until then ◄─────────────┴─> tail ─> parked Fetches
//
// One append order runs at a time; what is decided meanwhile goes with the next
// one (group commit).
//
// # Disk
//
// The files are those of Kafka 4.4's metadata log directory:
//
//	meta.properties
//	__cluster_metadata-0/
//	    <20 digits>.log, .index, .timeindex, .snapshot   see package storage
//	    <offset>-<epoch>.checkpoint                      the state before offset (KIP-630)
//	    leader-epoch-checkpoint, partition.metadata
//	    quorum-state                                     the last epoch, and who led in it
//
// Lane 0 is the log's: orders append and sync, read what is no longer in memory,
// trim, and close. Between them nothing else touches the log. Lane 1 writes and
// reads snapshots, which are files of their own, so a large one holds nothing up.
// Orders of the two lanes may run beside each other and beside the node's steps.
//
// # Where things are
//
//   - open.go, bootstrap.go: recovery, the new epoch, the first records of a cluster
//   - journal.go: what was decided and is not durable; append orders
//   - tail.go: the last durable batches, in memory for brokers that keep up
//   - fetch.go, fetchsnapshot.go, observers.go, describe.go: what followers ask
//   - request.go: from a request's key to its handler; brokers.go, topics.go, …
//   - snapshotfile.go, restore.go: checkpoints as files, and the way back
//   - snapshot.go, trim.go: when one is written, and the end of old records
//   - close.go: the end
//
// # What it does not do
//
// No other voters: it refuses a log whose quorum has some. It keeps no ACLs,
// quotas, SCRAM credentials and delegation tokens (see package metadata): of a log
// that has such records it writes no snapshots, so that nothing of it is lost.
package quorum
