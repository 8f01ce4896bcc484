// Package history remembers the offsets of a cluster over a few samples and
// answers what a single look cannot: how old a lag is, how fast it moves, and
// since when a high watermark has been standing still.
//
// A [History] is fed with Snapshots that hold offsets ([inspect.PartOffsets]):
//
//	h := history.New(0)
//	for each snapshot, in the order they were taken {
//		h.Add(snapshot)
//		lag := h.TimeLag("orders", 3, 2)
//	}
//
// Its questions are
//
//   - [History.TimeLag], [History.Behind]: a replica's lag in time, see below;
//   - [History.ReadLag]: a group's lag in time, by what it has committed
//   - [History.Rates]: what a leader appends and commits a second;
//   - [History.CatchUp]: whether a replica's lag grows or drains, and how fast;
//   - [History.Stall]: a high watermark that does not move under records that
//     wait for it, and whether that proves producers without acks=all.
//
// Every answer is about the newest sample. What was not sampled then is unknown,
// even where it was known a moment before.
//
// # Two ages of one lag
//
// A leader drops a follower that it has not seen caught up for
// replica.lag.time.max.ms. Its clock for that cannot be read from outside, but it
// lies between two ages that can. TimeLag is the age of the replica's log: how
// long ago the leader's LEO was where the replica's is now. Behind is how long
// ago the replica was last seen to have all that its leader had. For a replica
// that stopped, both are the same. One that trails by a constant two seconds has
// a TimeLag of two seconds, but the leader never sees it caught up and drops it:
// Behind tells that. Both are sharp to within the sampling interval.
//
// A History keeps no more than its number of distinct samples a partition;
// samples that repeat the one before cost nothing, so idle partitions are nearly
// free and are remembered for longer. It reads no clock and may not be used from
// several goroutines at once.
package history
