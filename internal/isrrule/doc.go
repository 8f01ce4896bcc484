// Package isrrule is Kafka's rule of who is in sync, once: when a follower
// counts as caught up, which members a leader drops from the ISR, and what an
// outside observer can say of the same from samples. The engine obeys it, the
// history of a cluster is judged by it and advice replays it.
//
// Start from
//
//   - [Progress]: the leader's record of one follower, changed by
//     [Progress.Fetched] and [Progress.LeaderEpochStarted];
//   - [OutOfSync]: the members of an ISR that the leader asks to drop;
//   - [TimeLag] and [Behind]: the age of a follower from samples of offsets.
//
// The leader's rule is about time and never about records. It has two sides
// that are easy to get wrong:
//
//   - A follower whose LEO equals the leader's is caught up however long it has
//     been silent. An idle partition therefore hides a dead follower until the
//     controller fences its broker.
//   - A follower that trails by a constant time longer than one fetch is not
//     caught up, however small that time: its clock runs on and it is dropped
//     one replica.lag.time.max.ms later. So the age of its newest record
//     ([TimeLag]) is less than what the leader compares with the limit.
//
// All times are milliseconds on one clock that the caller reads, all offsets are
// exclusive upper bounds (log end offsets) as plain int64, because the engine
// and package inspect each have an offset type of their own. Expanding the ISR
// is not here: it does not look at time.
package isrrule
