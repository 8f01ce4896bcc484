// Package load puts load on a cluster and measures it: producers at a rate or as
// fast as it goes, and readers that tell which records there are.
//
// A caller starts from [StartProducer], and [Producer.Stats] or [Producer.Stop] for
// what came of it; from [StartFollower] for a consumer that keeps up; and from
// [ReadAll], which finds out whether what was acknowledged is there.
//
// Records are numbered: the value begins with the producer's run, 8 bytes, and the
// record's number, 8 bytes big-endian, from 0. So an acknowledged record that is
// missing, or is there twice, is known by its number.
//
// The latency of a record is the time from when it was due, by the rate, to its
// acknowledgement, and with acks=0 to when the client had written it. One that had to
// wait because those before it were not answered has waited, and is counted so.
// Times are in nanoseconds (time.Duration), rates in records per second, sizes in
// bytes of values before compression.
//
// The client is franz-go. BenchmarkClients holds it against sarama: many records at
// once took two thirds of sarama's time, single ones about the same.
//
// The package creates no topics, joins no groups and writes no transactions.
package load
