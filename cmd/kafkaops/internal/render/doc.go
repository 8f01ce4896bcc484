// Package render draws what package inspect observed: as a table, a wide table,
// JSON or YAML. It is pure: what it needs to know of the terminal comes in a
// [View], the time in the Snapshot, and all it does is to write to the writer
// that it is given. The commands and the terminal UI share it.
//
// Start from the screens, each of which obeys View.Format:
//
//   - [Overview], [Topics], [Brokers], [Lag]: describe, describe topics,
//     describe brokers, lag
//   - [Quorum], [Features], [Reassignments], [LogDirs],
//     [Configs], [Transactions]: describe quorum, features, reassignments,
//     log-dirs, configs, transactions
//   - [Groups], [GroupPartitions]: lag groups
//   - [Isr], [IsrSummary], [IsrStream]: isr, isr summary, isr --follow
//   - [CheckHealth], [CheckHealthNagios]: check health
//   - [LocalCluster], [LocalClusters], [Bench]: cluster status, cluster list, cluster bench
//   - [FailureLine]: one line on stderr for each thing that was not answered
//   - [Bar], [Sparkline], [OffsetBar]: for any screen
//
// Text comes in two forms. On a terminal it is aligned, coloured where asked,
// with thousands separators, and shortened to the width. Anywhere else it is
// tab-separated with a header row, in full precision, never shortened, and
// every row stands alone. In both, unknown is "-"; a list that is known to be
// empty is "none", or blank on a terminal where that is the usual case.
//
// The JSON is documented on its structs, from [Document] down; it changes only
// by addition. Names and error texts that a cluster sends are untrusted: see
// [Clean].
package render
