// Package looks codes a series of Snapshots, each as what differs from the one before,
// in about a byte for each offset that moved. What a recording keeps of them is made of
// it.
//
//	var enc looks.Encoder
//	for each snapshot, in the order they were taken {
//		out = enc.Append(out, snapshot)
//	}
//
//	var dec looks.Decoder
//	for each look, in the same order {
//		snapshot, err := dec.Apply(look) // good until the next Apply
//	}
//
// Both hold the last look. After [Encoder.Reset] the next one is whole, and a Decoder may
// begin there.
//
// What comes out is what went in, but for this: times are whole milliseconds, round trips
// whole microseconds; Access and Topic.Operations are left out, which are about who asked;
// an empty list that is known may be nil or not.
//
// # The format
//
// Numbers are in the wire format of protocol buffers, in which a look is
//
//	message Look {
//	  sint64 time            = 1; // TakenAt, ms, less that of the look before
//	  bool   whole           = 2; // nothing is taken over from the look before
//	  repeated Thing thing   = 3; // those that are new, or not as they were
//	  bytes  partitions      = 4; // what moved: columns, see below
//	  bytes  brokers         = 5;
//	  bytes  quorum          = 6;
//	  bytes  commits         = 7;
//	}
//
//	message Thing {
//	  uint32 kind  = 1;
//	  string name  = 2; // of the topic or group
//	  sint32 index = 3; // of the partition, or the broker's id
//	  bytes  json  = 4; // of the kind's fields; without it the thing is gone
//	}
//
// Things are what moves seldom: a partition's ISR, a broker's configs. Their JSON has the
// field names of package inspect, null for what is unknown; names that a reader does not
// know are passed over.
//
// What moves at every look are numbers in columns. Rows are the Snapshot's partitions,
// its brokers, the quorum's voters and observers, its groups' commits, in the Snapshot's
// order; only those with a number that moved are there. A column is a uint32, its length in
// bytes, and a varint for each such row: first how many rows were passed over, then which
// numbers are known (with ^ to before), then each number, with zigzag, by columns. A number that
// is unknown in a row has no varint there. Where rows come or go, all numbers before are
// taken for 0.
package looks
