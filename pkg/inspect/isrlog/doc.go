// Package isrlog tells every change of every ISR, with its time and its cause, as
// [inspect.IsrEvent]s. Its doors are the sources, each a [Source]:
//
//   - [NewLog]: the metadata log, from the active controller;
//   - [OpenDir]: a copy of it on disk;
//   - [Poll]: looks at the metadata, compared by [Diff], where neither can be had.
//
// [Follow] goes by the log while it can be had, by looks while it cannot, and can keep
// what it hears in a recording.
//
// Beneath the first two lies [Replay], which is pure: records of the metadata log in, events
// out. It keeps the state of every partition and no event, so that a million records
// cost no more memory than the partitions do.
//
// # Causes
//
// The log says what changed and not why. The controller's records for one operation
// lie one behind the other, in an order that gives the operation away (Kafka's
// ReplicationControlManager and ClusterControlManager, 3.3 to 4.4); attribute.go has
// the rules. What they cannot tell:
//
//   - a broker that led nothing when it was stopped leaves the same records as one
//     whose session ended: broker-fenced
//   - a lag shrink directly before the same broker is fenced counts as part of that
//
// # What the network reader may do
//
// It fetches as a consumer, with replica id −1: any other would enter the controller's
// books as a follower. It needs CLUSTER_ACTION, which permits far more than to read;
// [RefusedError] says so. An idle log costs 2.5 requests a second, and the search for
// the beginning of a [Span] a few dozen of some hundred bytes.
//
// The state before a span comes from the newest snapshot where that lies before it.
// Where it does not, what happened between the two is taken back (before.go), by what
// lookback.go finds: the earliest snapshot, the last records before, and those at the
// log's start and about the brokers' last starts, wherever the partition epoch proves
// that nothing is missing. That is 2 MB of an idle log at most. Beyond, the log is read
// backwards as far as it takes, which may be all of its 100 MB: for a partition whose
// changes lie elsewhere, a topic that was deleted in the span and is old, an ELR that a
// change of min.insync.replicas cleared, a record newer than this program.
//
// # What is not read
//
// Of records that no event comes from nothing is decoded but the type. SCRAM
// credentials and delegation tokens are among them.
package isrlog
