// Package metadata is what a node knows of the cluster: the image that replaying
// the metadata log's records builds. The controller decides on it, brokers obey
// it, and both build it by the same rules.
//
// Start from
//
//   - [Image]: brokers, topics, partitions, configs and features at one offset.
//     It never changes, so it may be kept, compared and read from anywhere;
//   - [Image.Apply]: the image after one record more;
//   - [Replay]: the same for a log, where a metadata transaction takes effect as
//     a whole (KIP-868);
//   - [Image.Records]: the image as records, which is what a snapshot holds.
//
// A node follows its log so:
//
//	replay := metadata.NewReplay(metadata.Empty())
//	for _, value := range batch {
//		rec, err := kraft.Decode(value)
//		...
//		if err := replay.Apply(rec); err != nil {
//			return err // the log contradicts itself
//		}
//	}
//	before, after = after, replay.Image()
//
// The rules are those of Kafka's image deltas and PartitionRegistration.merge. A
// test replays what a real controller wrote and arrives at its own snapshots.
//
// An image shares with the one before it all that did not change: a record costs
// the logarithm of the cluster's size, and a copy nothing.
//
// What it does not do: it keeps no ACLs, quotas, SCRAM credentials or delegation
// tokens, for the engine has none of these. Their records are passed over, and
// records of types that are not known are counted ([Image.Skipped]).
package metadata
