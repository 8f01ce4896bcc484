// Package group is Kafka's coordinator of classic consumer groups, as a state
// machine: who is in a group, whose turn it is in a rebalance, what each member was
// given, and which offsets were committed. It follows Kafka 4.4 (GroupMetadataManager's
// classic part, ClassicGroup, OffsetMetadataManager) with static members (KIP-345),
// cooperative rebalances (KIP-429) and members that must know their id (KIP-394).
//
// It is pure: no clock, network, disk or goroutine. A caller starts from
//
//   - [New]: the coordinator of one partition of __consumer_offsets, with nothing in it
//   - [Shard.Load] and [Shard.Activate]: what the partition's log has, then the work
//   - [Shard.Step]: a fact in ([Input]), orders out ([Effect])
//   - [Shard.Describe], [Shard.List]: questions that change nothing
//
// The state is the log's, replayed. What changes it is ordered as an Append, and takes
// effect for the next request at once; the answer, and what OffsetFetch shows, waits
// until the high watermark has passed the records ([Appended], [HW]). So nothing is
// told that a new coordinator might not know. A shard that loses its partition is
// closed ([Shard.Close]) and answers all who wait; what the log holds is the next
// coordinator's.
//
// Times: timers run on [Time].MonoMs, records carry [Time].WallMs; both in ms. Offsets
// of appends are those of the log, and bounds are exclusive.
//
// The records are Kafka's (kmsg's OffsetCommitKey/Value and GroupMetadataKey/Value).
//
// What it does not do: offsets of transactions, KIP-848's groups, share groups, streams
// groups; their records in the log are passed over. It finds no topics: a commit's and a
// fetch's topics are resolved by the node.
package group
