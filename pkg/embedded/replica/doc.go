// Package replica is Kafka's replication of one partition, as a state machine:
// what a leader does with a produce and a follower's fetch, when the high
// watermark moves, who is in sync, how a follower finds where its log parts from
// the leader's. It follows Kafka 4.4 rule by rule; each rule names the method or
// the KIP that it comes from.
//
// It is pure: no clock, network, disk or goroutine. A caller starts from
//
//   - [New]: the replica of a log that storage has opened
//   - [Replica.Step]: a fact in ([Input]), orders out ([Effect])
//   - [Replica.Fetch], [Replica.ListOffsets], [Replica.OffsetForLeaderEpoch]:
//     questions that change nothing
//
// A node's loop, in short:
//
//	effects = r.Step(now, replica.Produce{Token: 7, Acks: -1, TimeoutMs: 30_000, Batch: b}, effects[:0])
//	for _, e := range effects {
//		switch e := e.(type) {
//		case replica.Append:
//			disk.append(e, func() { step(replica.Appended{}) }) // later, not from here
//		case replica.ProduceReply:
//			answer(e)
//		...
//		}
//	}
//	if ms, ok := r.NextDeadline(); ok { wake(r, ms) } // with replica.Tick{}
//
// A replica knows offsets, epochs and sequences; it holds no bytes. What the
// disk does is ordered by an effect and comes back as an input, however long
// that takes: one order at a time, and what would change the replica waits
// meanwhile, as it waits for the log's lock in Kafka. An answer is therefore an
// effect of the step in which the append, or the sync if one is due, was
// reported done.
//
// To read the rules, begin with watermark.go and isr.go. A replica without
// anything to wait for has no deadline and so costs nothing but its memory.
//
// What it does not do: let fetches wait for bytes, put partitions together into
// requests, choose a consumer's bytes, elect, or judge records. That is for
// node, controller and record. Of transactions it knows only the bound that an
// open one sets to read_committed.
package replica
