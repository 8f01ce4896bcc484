// Package inspect is the read model of a Kafka cluster's replication and the
// questions that operators ask of it.
//
// A [Snapshot] holds what was observed in one pass: brokers, topics,
// partitions, replicas, and, where something could not be observed, a
// [Failure] that says what and why. Whatever was not observed is unknown
// ([Opt]), never a default. The questions are pure functions over it:
//
//   - [Partition.Health]: the status words of one partition, its effective
//     min ISR and headroom
//   - [Partition.Lag]: what is certain about LEO − HW and every replica's lag
//   - [Snapshot.Verdict]: one verdict over the cluster with its reasons
//   - [Snapshot.Features], [Snapshot.Configs], [Snapshot.LogDirReports],
//     [Snapshot.Reassignments], [Snapshot.OpenTransactions], [Quorum.State]: one
//     corner of it in detail, where the Snapshot was asked to hold it
//   - [Snapshot.GroupLags]: how far every group is behind, partition by partition
//
// Package access knows which ACL each request needs, and which commands work
// without. Package source gathers a Snapshot from a real cluster. This package
// opens no connection, reads no clock and imports none of kafkaops' other packages,
// so that a Snapshot may come from anywhere and every question can be asked again
// later.
//
// Offsets keep Kafka's names. The log end offset (LEO) is the offset that the
// next record will get; the high watermark (HW) is the first offset that is not
// yet committed; the last stable offset (LSO) is the HW or the first offset of
// the oldest open transaction. All three are exclusive upper bounds.
package inspect
