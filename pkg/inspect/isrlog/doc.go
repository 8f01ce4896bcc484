// Package isrlog tells every change of every ISR, with its time and its cause, as
// [inspect.IsrEvent]s. Its doors are the sources, each a [Source]:
//
//   - [NewLog]: the metadata log, from the active controller;
//   - [OpenDir]: a copy of it on disk;
//   - [Poll]: looks at the metadata, compared by [Diff], where neither can be had.
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
// Where it does not, what happened between the two is taken back, by the earliest
// snapshot where the partition epoch says that nothing happened to a partition since,
// and else by reading the log backwards to the last record that set what was changed
// (before.go). That is read to its start, which may be 100 MB, where the record is as
// old as that or cannot be taken back: topics were deleted, an ELR cleared.
//
// # What is not read
//
// Of records that no event comes from nothing is decoded but the type. SCRAM
// credentials and delegation tokens are among them.
package isrlog
