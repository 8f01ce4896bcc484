package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
)

// codecs are all of Kafka's.
var codecs = []Codec{None, Gzip, Snappy, LZ4, Zstd}

// build writes entries as a batch.
func build(tb testing.TB, opts Options, entries ...Entry) Batch {
	tb.Helper()
	b := NewBuilder(opts)
	for _, e := range entries {
		if err := b.Add(e); err != nil {
			tb.Fatal(err)
		}
	}
	out, err := b.AppendTo(nil, new(Deflater))
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// entries returns n records with keys, values that compress well, headers and
// timestamps from firstMs on.
func entries(n int, firstMs int64) []Entry {
	out := make([]Entry, n)
	for i := range out {
		out[i] = Entry{
			TimestampMs: firstMs + int64(i), Key: fmt.Appendf(nil, "key-%d", i),
			Value:   bytes.Repeat([]byte{byte('a' + i%26)}, 40),
			Headers: []Header{{Key: "h", Value: []byte{byte(i)}}, {Key: "null"}},
		}
	}
	return out
}

// reseal corrects length and CRC after a test has changed a batch.
func reseal(b Batch) Batch {
	binary.BigEndian.PutUint32(b[atLength:], uint32(len(b)-LogOverhead))
	b.setCRC()
	return b
}

// read is one record as a test compares it.
type read struct {
	Offset      int64
	TimestampMs int64
	Sequence    int32
	Key, Value  []byte
	Headers     []Header
}

// readAll returns the records of a batch.
func readAll(tb testing.TB, b Batch) []read {
	tb.Helper()
	rs, err := b.Records(NewInflater(DefaultInflateLimit))
	if err != nil {
		tb.Fatal(err)
	}
	return drain(tb, &rs)
}

// drain reads to the end. It takes a *rapid.T too, which is no testing.TB.
func drain(t interface{ Fatal(...any) }, rs *Records) []read {
	var out []read
	for rs.Next() {
		r := rs.Record()
		got := read{
			Offset: r.Offset, TimestampMs: r.TimestampMs, Sequence: r.Sequence,
			Key: bytes.Clone(r.Key), Value: bytes.Clone(r.Value),
		}
		for k, v := range r.Headers() {
			got.Headers = append(got.Headers, Header{Key: string(k), Value: bytes.Clone(v)})
		}
		out = append(out, got)
	}
	if rs.Err() != nil {
		t.Fatal(rs.Err())
	}
	return out
}
