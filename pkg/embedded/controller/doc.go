// Package controller decides about a cluster's metadata by Kafka's rules: who
// leads a partition and who is in its ISR, which brokers live, which topics and
// configs there are. It is a state machine without clock, network or disk, and
// the only writer of its metadata log. It is one node and not replicated: a
// controller that starts again replays its log.
//
// Start from
//
//   - [New]: a controller on the image that its log replays to, or [Bootstrap]
//     for what the log of a new cluster begins with;
//   - [Handle]: one request in, the reply and the records that it takes out;
//   - [Controller.Tick] and [Controller.NextDeadline]: the same for time:
//     sessions that end, leaders that go home, unclean elections;
//   - [Controller.Image]: what has been decided, for everything that only asks.
//
// A node drives it so:
//
//	reply, batch := controller.Handle(c, nowMs, controller.CreateTopics{...})
//	if err := log.Append(batch.Base, batch.Records); err != nil {
//		return err // c is ahead of its log now: drop it and replay
//	}
//	send(reply) // not before the records are durable
//	...
//	for c.NextDeadline() <= nowMs {
//		append(c.Tick(nowMs))
//	}
//
// # The contract
//
// A [Batch] is one operation's records, appended as one atomic batch at exactly
// the offset that it names, batches in the order in which they were returned.
// The controller has applied them when it returns, so the next request is decided
// on what this one did, durable or not, as in Kafka's QuorumController. So a
// reply, even one without records, must not be seen outside before all batches
// returned until then are durable; and if an append fails, everything since is
// void: throw the controller away. What a request points to belongs to the
// controller afterwards, and so do records: both are read-only. Encode a record in
// the version that the image's metadata.version allows.
//
// Requests are plain structs, each of which names its reply. A reply's Err is
// nil, or one of Kafka's error codes with words for people ([Error]). Times are
// milliseconds on one clock that the caller reads and that does not go backwards.
// The same calls with the same random source give the same records.
//
// What it does not do: authorization, quotas, and formats of requests are the
// node's; ACLs, SCRAM, delegation tokens and KRaft's own quorum do not exist
// here. metadata.version is that of Kafka 4.4; what older levels did differently
// (a new leader epoch for each ISR shrink before 3.6) is not here.
//
// DESIGN.md draws the states and maps the files.
package controller
