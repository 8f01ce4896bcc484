// Package embedded is a Kafka cluster in this process: brokers and a controller that
// replicate by Kafka 4.4's rules, on real sockets, for any Kafka client. It starts in
// milliseconds, in memory or on Kafka's own files, and can be broken on purpose.
//
// A caller starts from
//
//   - [Start]: a cluster that is ready; [Cluster.Bootstrap] is what clients are told
//   - [Broker]: Kill, PowerLoss, Pause, Restart, SlowDisk, FailDisk, Fence and so on
//   - [Cluster.Link]: the way from one node to another: Cut, Slow, Reset
//   - [Cluster.Heal]: the end of all faults; [Cluster.Close]: of the cluster
//
// For tests there is package embeddedtest, which ends the cluster with the test, shortens
// Kafka's timeouts and prints the nodes' logs when the test has failed.
//
// # What is real, and what is not
//
// All rules are Kafka's: ISRs, high watermarks, leader epochs, elections with ELR, fencing.
// The brokers are state machines with a socket each, in one process; a killed broker loses
// its connections and its memory, and what it had written is on its disk. See DESIGN.md for
// what Kafka has and this has not: other controllers, transactions, security.
//
// # Data
//
// With [Options].Dir the nodes keep their data below it, in directories that Kafka's tools
// read: broker-1, broker-2, controller. One cluster at a time has a directory.
//
// # Time
//
// Kafka's timeouts hold: a broker that falls silent is fenced after
// broker.session.timeout.ms (9 s), a follower leaves the ISR after replica.lag.time.max.ms
// (30 s), and a broker that comes back before its old session is over waits for that. Who
// is in a hurry sets them in [Options].Config.
package embedded
