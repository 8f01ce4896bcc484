package record

import (
	"encoding/binary"
	"testing"
)

// A produced case is a batch as a producer may send it and the error code that
// Kafka 4.4.0 answers: TestVerdictsOfKafka asks it, TestAssignVerdicts asks us.
type produced struct {
	name  string
	topic string // one of caseTopics
	make  func(tb testing.TB, nowMs int64) []byte
	// want is our sentinel, nil if the batch is appended; code is Kafka's.
	want error
	code int16
	// rebuilt says that what is stored is not the bytes that were sent.
	rebuilt bool
}

// The codes that Kafka answers with.
const (
	codeCorrupt   = 2
	codeTooLarge  = 10
	codeTimestamp = 32
	codeInvalid   = 87
	// codeUnknown is UNKNOWN_SERVER_ERROR: Kafka ran into an exception that it
	// did not expect. The cases that have it say why we answer another.
	codeUnknown = -1
)

// caseTopics are topics of one setting each.
var caseTopics = map[string]struct {
	configs map[string]string
	rules   func(*Rules)
}{
	"plain":     {nil, func(*Rules) {}},
	"compacted": {map[string]string{"cleanup.policy": "compact"}, func(r *Rules) { r.Compacted = true }},
	"appended": {
		map[string]string{"message.timestamp.type": "LogAppendTime"}, func(r *Rules) { r.LogAppendTime = true },
	},
	"gzip": {map[string]string{"compression.type": "gzip"}, func(r *Rules) { r.KeepCodec, r.Codec = false, Gzip }},
	"plainonly": {
		map[string]string{"compression.type": "uncompressed"}, func(r *Rules) { r.KeepCodec = false },
	},
	"small": {map[string]string{"max.message.bytes": "500"}, func(r *Rules) { r.MaxBatchBytes = 500 }},
	"fresh": {
		map[string]string{"message.timestamp.before.max.ms": "60000"}, func(r *Rules) { r.BeforeMaxMs = 60000 },
	},
}

// altered returns a maker of a batch of three records with codec c that alter
// has changed; the CRC is right again unless alter changed it last.
func altered(c Codec, alter func(b Batch) Batch) func(testing.TB, int64) []byte {
	return func(tb testing.TB, nowMs int64) []byte {
		return reseal(alter(build(tb, Options{Codec: c}, entries(3, nowMs)...)))
	}
}

// raw returns a maker of a plain batch whose records are these bytes.
func raw(count int32, records ...[]byte) func(testing.TB, int64) []byte {
	return func(tb testing.TB, nowMs int64) []byte {
		b := build(tb, Options{}, Entry{TimestampMs: nowMs})[:HeaderSize]
		for _, r := range records {
			b = append(b, r...)
		}
		binary.BigEndian.PutUint32(b[atCount:], uint32(count))
		binary.BigEndian.PutUint32(b[atLastOffsetDelta:], uint32(count-1))
		return reseal(b)
	}
}

// body is a record: its length, and what comes after it.
func body(b ...byte) []byte { return append(appendVarint(nil, int32(len(b))), b...) }

func put16(at int, v uint16) func(Batch) Batch {
	return func(b Batch) Batch { binary.BigEndian.PutUint16(b[at:], v); return b }
}

func put32(at int, v uint32) func(Batch) Batch {
	return func(b Batch) Batch { binary.BigEndian.PutUint32(b[at:], v); return b }
}

func put64(at int, v uint64) func(Batch) Batch {
	return func(b Batch) Batch { binary.BigEndian.PutUint64(b[at:], v); return b }
}

// same returns a batch as it is.
func same(b Batch) Batch { return b }

// deltas returns a maker of a batch with these offset deltas and count of records.
func deltas(c Codec, ds ...int32) func(testing.TB, int64) []byte {
	return func(tb testing.TB, nowMs int64) []byte {
		var records []byte
		for _, d := range ds {
			r := appendVarint([]byte{0, 0}, d) // attributes, timestamp
			records = append(records, body(append(r, 1, 2, 'v', 0)...)...)
		}
		b := build(tb, Options{Codec: c}, Entry{TimestampMs: nowMs})[:HeaderSize]
		b, err := new(Deflater).Append(b, c, records)
		if err != nil {
			tb.Fatal(err)
		}
		binary.BigEndian.PutUint32(b[atCount:], uint32(len(ds)))
		binary.BigEndian.PutUint32(b[atLastOffsetDelta:], uint32(len(ds)-1))
		return reseal(b)
	}
}

func cases() []produced {
	out := []produced{
		{name: "timestamps in the past", topic: "plain", make: func(tb testing.TB, _ int64) []byte {
			return build(tb, Options{}, Entry{TimestampMs: 5}, Entry{TimestampMs: 9}, Entry{TimestampMs: 7})
		}},
		{name: "no timestamp", topic: "plain", make: func(tb testing.TB, _ int64) []byte {
			return build(tb, Options{}, Entry{TimestampMs: NoTimestamp})
		}},
		{name: "timestamp below none", topic: "plain", make: func(tb testing.TB, _ int64) []byte {
			return build(tb, Options{}, Entry{TimestampMs: -5})
		}},
		{name: "max timestamp wrong", topic: "plain", make: altered(None, put64(atMaxTimestamp, 1))},
		{name: "max timestamp wrong, compressed", topic: "plain", make: altered(Zstd, put64(atMaxTimestamp, 1))},
		{name: "unused attributes", topic: "plain", make: altered(None, put16(atAttributes, 0xff80))},
		{name: "unused attributes and a wrong timestamp", topic: "plain", make: altered(None, func(b Batch) Batch {
			return put64(atMaxTimestamp, 1)(put16(atAttributes, 0xff80)(b))
		})},
		{name: "delete horizon", topic: "plain", make: altered(None, put16(atAttributes, attrDeleteHorizon))},
		{name: "leader epoch of its own", topic: "plain", make: altered(None, put32(atLeaderEpoch, 77))},
		{name: "a beginning of a second batch", topic: "plain", make: func(tb testing.TB, nowMs int64) []byte {
			b := build(tb, Options{}, entries(1, nowMs)...)
			return append(b, b[:40]...)
		}},

		{name: "two batches", topic: "plain", want: ErrInvalid, code: codeInvalid, make: func(tb testing.TB, nowMs int64) []byte {
			b := build(tb, Options{}, entries(1, nowMs)...)
			return append(b, b...)
		}},
		{name: "magic 1", topic: "plain", want: ErrInvalid, code: codeInvalid, make: altered(None, func(b Batch) Batch { b[atMagic] = 1; return b })},
		{name: "magic 3", topic: "plain", want: ErrCorrupt, code: codeCorrupt, make: altered(None, func(b Batch) Batch { b[atMagic] = 3; return b })},
		{name: "length 13", topic: "plain", want: ErrCorrupt, code: codeCorrupt, make: func(tb testing.TB, nowMs int64) []byte {
			return put32(atLength, 13)(build(tb, Options{}, entries(1, nowMs)...))
		}},
		{name: "length beyond the end", topic: "plain", want: ErrInvalid, code: codeInvalid, make: func(tb testing.TB, nowMs int64) []byte {
			return put32(atLength, 1000)(build(tb, Options{}, entries(1, nowMs)...))
		}},
		{name: "CRC", topic: "plain", want: ErrCorrupt, code: codeCorrupt, make: func(tb testing.TB, nowMs int64) []byte {
			return put32(atCRC, 1)(build(tb, Options{}, entries(1, nowMs)...))
		}},
		{name: "base offset", topic: "plain", want: ErrInvalid, code: codeInvalid, make: altered(None, put64(0, 5))},
		{name: "base offset before CRC", topic: "plain", want: ErrInvalid, code: codeInvalid, make: func(tb testing.TB, nowMs int64) []byte {
			return put32(atCRC, 1)(put64(0, 5)(build(tb, Options{}, entries(1, nowMs)...)))
		}},
		{name: "last offset delta too large", topic: "plain", want: ErrInvalid, code: codeInvalid, make: altered(None, put32(atLastOffsetDelta, 5))},
		{name: "last offset delta negative", topic: "plain", want: ErrInvalid, code: codeInvalid, make: altered(None, put32(atLastOffsetDelta, 1<<31))},
		{name: "last offset delta -1", topic: "plain", want: ErrInvalid, code: codeInvalid, make: altered(None, put32(atLastOffsetDelta, 1<<32-1))},
		{name: "no records", topic: "plain", want: ErrInvalid, code: codeInvalid, make: raw(0)},
		{name: "negative count", topic: "plain", want: ErrInvalid, code: codeInvalid, make: altered(None, put32(atCount, 1<<31))},
		{name: "control batch", topic: "plain", want: ErrInvalid, code: codeInvalid, make: altered(None, put16(atAttributes, attrControl))},
		{name: "LogAppendTime by the producer", topic: "plain", make: altered(None, put16(atAttributes, attrLogAppendTime))},
		{name: "LogAppendTime by the producer, no timestamp", topic: "plain", want: ErrTimestamp, code: codeTimestamp, make: altered(None, func(b Batch) Batch {
			return put64(atMaxTimestamp, 1<<64-1)(put16(atAttributes, attrLogAppendTime)(b))
		})},
		// Its max timestamp stands for all of its records, and stays; they show their own again.
		{name: "LogAppendTime by the producer, another time", topic: "plain", make: altered(None, func(b Batch) Batch {
			return put64(atMaxTimestamp, uint64(b.MaxTimestampMs()-1000))(put16(atAttributes, attrLogAppendTime)(b))
		})},
		{name: "LogAppendTime by the producer, another time, lz4", topic: "plain", make: altered(LZ4, func(b Batch) Batch {
			return put64(atMaxTimestamp, uint64(b.MaxTimestampMs()-1000))(put16(atAttributes, b.Attributes()|attrLogAppendTime)(b))
		})},
		{name: "LogAppendTime by the producer to a topic that has it", topic: "appended", want: ErrTimestamp, code: codeTimestamp, make: altered(None, put16(atAttributes, attrLogAppendTime))},
		{name: "in the future", topic: "plain", want: ErrTimestamp, code: codeTimestamp, make: func(tb testing.TB, nowMs int64) []byte {
			return build(tb, Options{}, entries(2, nowMs+4_000_000)...)
		}},
		{name: "too old", topic: "fresh", want: ErrTimestamp, code: codeTimestamp, make: func(tb testing.TB, nowMs int64) []byte {
			return build(tb, Options{Codec: LZ4}, entries(2, nowMs-100_000)...)
		}},
		{name: "null key", topic: "compacted", want: ErrInvalid, code: codeInvalid, make: func(tb testing.TB, nowMs int64) []byte {
			return build(tb, Options{}, Entry{TimestampMs: nowMs, Key: []byte{}}, Entry{TimestampMs: nowMs, Value: []byte("v")})
		}},
		{name: "null key, compressed", topic: "compacted", want: ErrInvalid, code: codeInvalid, make: func(tb testing.TB, nowMs int64) []byte {
			return build(tb, Options{Codec: Snappy}, Entry{TimestampMs: nowMs})
		}},
		{name: "null key and bad timestamp", topic: "compacted", want: ErrTimestamp, code: codeTimestamp, make: func(tb testing.TB, nowMs int64) []byte {
			return build(tb, Options{}, Entry{TimestampMs: nowMs}, Entry{TimestampMs: nowMs + 4_000_000, Key: []byte("k")})
		}},
		{name: "too large", topic: "small", want: ErrTooLarge, code: codeTooLarge, make: func(tb testing.TB, nowMs int64) []byte {
			return build(tb, Options{}, entries(20, nowMs)...)
		}},
		{name: "too large before CRC", topic: "small", want: ErrTooLarge, code: codeTooLarge, make: func(tb testing.TB, nowMs int64) []byte {
			return put32(atCRC, 1)(build(tb, Options{}, entries(20, nowMs)...))
		}},
		// CompressionType.forId throws what Kafka does not catch.
		{name: "codec 5", topic: "plain", want: ErrCodec, code: codeUnknown, make: altered(None, put16(atAttributes, 5))},
		{name: "codec 7", topic: "plain", want: ErrCodec, code: codeUnknown, make: altered(None, put16(atAttributes, 7))},

		// An uncompressed batch keeps the deltas that it has. A compressed one Kafka
		// starts to write anew, and stumbles over keys and values that it had skipped
		// (PartialDefaultRecord).
		{name: "deltas all 0", topic: "plain", make: deltas(None, 0, 0, 0)},
		{name: "deltas all 0, compressed", topic: "plain", want: ErrInvalid, code: codeUnknown, make: deltas(Gzip, 0, 0, 0)},
		{name: "deltas all 0, compressed, to another codec", topic: "gzip", rebuilt: true, make: deltas(Zstd, 0, 0, 0)},
		{name: "deltas 0 1 2, compressed", topic: "plain", make: deltas(Gzip, 0, 1, 2)},
		{name: "plain to gzip", topic: "gzip", rebuilt: true, make: altered(None, same)},
		{name: "zstd to gzip", topic: "gzip", rebuilt: true, make: altered(Zstd, same)},
		{name: "gzip to gzip", topic: "gzip", make: altered(Gzip, same)},
		{name: "lz4 to plain", topic: "plainonly", rebuilt: true, make: altered(LZ4, same)},
	}
	for _, c := range codecs {
		out = append(out,
			produced{name: c.String(), topic: "plain", make: altered(c, same)},
			produced{name: c.String() + ", LogAppendTime", topic: "appended", make: altered(c, same)},
			produced{name: c.String() + ", one record less", topic: "plain", want: ErrInvalid, code: codeInvalid, make: altered(c, func(b Batch) Batch {
				return put32(atLastOffsetDelta, 1)(put32(atCount, 2)(b))
			})},
			produced{name: c.String() + ", one record more", topic: "plain", want: ErrInvalid, code: codeInvalid, make: altered(c, func(b Batch) Batch {
				return put32(atLastOffsetDelta, 3)(put32(atCount, 4)(b))
			})},
		)
	}
	return append(out, recordCases()...)
}

// recordCases are batches with a record that cannot be read, or just can.
func recordCases() []produced {
	// attributes, timestamp delta, offset delta, null key, null value, no headers
	good := body(0, 0, 0, 1, 1, 0)
	out := []produced{
		{name: "good", make: raw(1, good)},
		{name: "attributes of a record", make: raw(1, body(0xff, 0, 0, 1, 1, 0))},
		{name: "key and value of no bytes", make: raw(1, body(0, 0, 0, 0, 0, 0))},
		{name: "key length -2", make: raw(1, body(0, 0, 0, 3, 1, 0))},
		{name: "varints longer than they need be", make: raw(1, body(0, 0x80, 0, 0x80, 0x80, 0, 1, 1, 0x80, 0))},
		{name: "varint with bits beyond the 32nd", make: raw(1, body(0, 0, 0x80, 0x80, 0x80, 0x80, 0x70, 1, 1, 0))},
		{name: "header without a value", make: raw(1, body(0, 0, 0, 1, 1, 2, 2, 'k', 1))},

		{name: "length 0", want: ErrInvalid, code: codeInvalid, make: raw(1, []byte{0})},
		{name: "length negative", want: ErrInvalid, code: codeInvalid, make: raw(1, []byte{1}, good)},
		{name: "length beyond the batch", want: ErrInvalid, code: codeInvalid, make: raw(1, []byte{100}, good)},
		{name: "length one too short", want: ErrInvalid, code: codeInvalid, make: raw(1, []byte{10}, good[1:])},
		{name: "length one too long", want: ErrInvalid, code: codeInvalid, make: raw(1, []byte{14}, good[1:], []byte{0})},
		// The length's varint is read where Kafka catches nothing but an early end.
		{name: "length no varint", want: ErrInvalid, code: codeUnknown, make: raw(1, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0}, good)},
		{name: "length cut", want: ErrInvalid, code: codeInvalid, make: raw(1, []byte{0x80})},
		{name: "timestamp cut", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0x80))},
		{name: "timestamp no varint", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0))},
		{name: "offset cut", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0))},
		{name: "offset no varint", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 1, 1, 0))},
		{name: "key beyond the record", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0, 0, 100, 1, 0))},
		{name: "value beyond the record", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0, 0, 1, 100, 0))},
		{name: "no count of headers", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0, 0, 1, 1))},
		{name: "negative count of headers", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0, 0, 1, 1, 1))},
		{name: "more headers than bytes", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0, 0, 1, 1, 6, 0))},
		{name: "header with a null key", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0, 0, 1, 1, 2, 1, 1))},
		{name: "header's key beyond the record", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0, 0, 1, 1, 2, 100, 1))},
		{name: "header's value beyond the record", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0, 0, 1, 1, 2, 2, 'k', 100))},
		{name: "a byte after the headers", want: ErrInvalid, code: codeInvalid, make: raw(1, body(0, 0, 0, 1, 1, 0, 0))},
		{name: "bytes after the last record", want: ErrInvalid, code: codeInvalid, make: raw(1, good, []byte{1, 2, 3})},
		{name: "one record of two", want: ErrInvalid, code: codeInvalid, make: raw(2, good)},
	}
	for i := range out {
		out[i].topic = "plain"
	}
	return out
}
