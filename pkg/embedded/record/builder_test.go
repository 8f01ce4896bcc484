package record

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What the Builder writes, Records reads, in every codec.
func TestBuilderRoundTrip(t *testing.T) {
	t.Parallel()
	in, out := NewInflater(DefaultInflateLimit), new(Deflater)
	rapid.Check(t, func(t *rapid.T) {
		opts := Options{
			BaseOffset:  rapid.Int64Range(0, 1<<40).Draw(t, "base offset"),
			LeaderEpoch: rapid.Int32().Draw(t, "leader epoch"),
			Codec:       rapid.SampledFrom(codecs).Draw(t, "codec"),
		}
		if rapid.Bool().Draw(t, "idempotent") {
			opts.Producer = &Producer{ID: 4, Epoch: 1, BaseSequence: rapid.Int32Range(0, math.MaxInt32).Draw(t, "sequence")}
		}
		bytesOrNil := rapid.OneOf(rapid.Just([]byte(nil)), rapid.SliceOfN(rapid.Byte(), 0, 300))
		b := NewBuilder(opts)
		var want []read
		offset := opts.BaseOffset
		for range rapid.IntRange(1, 20).Draw(t, "records") {
			e := Entry{
				TimestampMs: rapid.Int64().Draw(t, "timestamp"),
				Key:         bytesOrNil.Draw(t, "key"), Value: bytesOrNil.Draw(t, "value"),
			}
			for range rapid.IntRange(0, 3).Draw(t, "headers") {
				e.Headers = append(e.Headers, Header{Key: rapid.String().Draw(t, "header"), Value: bytesOrNil.Draw(t, "header value")})
			}
			offset += rapid.Int64Range(0, 1000).Draw(t, "hole")
			if err := b.AddAt(offset, e); err != nil {
				t.Fatal(err)
			}
			r := read{Offset: offset, TimestampMs: e.TimestampMs, Sequence: NoSequence, Key: e.Key, Value: e.Value, Headers: e.Headers}
			if p := opts.Producer; p != nil {
				r.Sequence = AddSequence(p.BaseSequence, int32(offset-opts.BaseOffset))
			}
			want = append(want, r)
			offset++
		}
		buf, err := b.AppendTo([]byte("before"), out)
		if err != nil {
			t.Fatal(err)
		}
		batch, rest, err := ParseBatch(bytes.TrimPrefix(buf, []byte("before")))
		if err != nil || len(rest) > 0 {
			t.Fatalf("%v, rest %d", err, len(rest))
		}
		if err := batch.CheckCRC(); err != nil {
			t.Fatal(err)
		}
		rs, err := batch.Records(in)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, drain(t, &rs)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if batch.LastOffset() != offset-1 || batch.Codec() != opts.Codec || int(batch.Count()) != len(want) {
			t.Fatalf("last offset %d, codec %v, count %d", batch.LastOffset(), batch.Codec(), batch.Count())
		}
		largest := NoTimestamp
		for _, r := range want {
			largest = max(largest, r.TimestampMs)
		}
		if batch.MaxTimestampMs() != largest {
			t.Fatalf("max timestamp %d, want %d", batch.MaxTimestampMs(), largest)
		}
		if opts.Codec == None && b.Size() != len(batch) {
			t.Fatalf("Size is %d, the batch %d", b.Size(), len(batch))
		}
	})
}

func TestBuilderRefuses(t *testing.T) {
	t.Parallel()
	b := NewBuilder(Options{BaseOffset: 10})
	if err := b.AddAt(10+math.MaxInt32+1, Entry{}); !errors.Is(err, ErrFull) {
		t.Errorf("an offset 2^31 on: got %v, want ErrFull", err)
	}
	if err := b.AddAt(9, Entry{}); !errors.Is(err, errOrder) {
		t.Errorf("an offset before the base: got %v", err)
	}
	if err := b.Add(Entry{}); err != nil {
		t.Fatal(err)
	}
	if err := b.AddAt(10, Entry{}); !errors.Is(err, errOrder) {
		t.Errorf("an offset twice: got %v", err)
	}
	if b.Count() != 1 {
		t.Errorf("%d records, want 1", b.Count())
	}
	b.opts.Codec = 7
	if out, err := b.AppendTo([]byte{1}, new(Deflater)); !errors.Is(err, ErrCodec) || len(out) != 1 {
		t.Errorf("codec 7: got %v and %d bytes, want ErrCodec and dst as it was", err, len(out))
	}
}

// What compaction leaves of a batch keeps the batch's offsets.
func TestBuilderExtendTo(t *testing.T) {
	t.Parallel()
	b := NewBuilder(Options{BaseOffset: 10, Producer: &Producer{ID: 1, BaseSequence: 5}})
	for _, offset := range []int64{14, 12, -3} {
		if err := b.ExtendTo(offset); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.ExtendTo(10 + math.MaxInt32 + 1); !errors.Is(err, ErrFull) {
		t.Errorf("2^31 offsets on: got %v, want ErrFull", err)
	}
	if err := b.AddAt(14, Entry{}); !errors.Is(err, errOrder) {
		t.Errorf("a record at an offset given away: got %v", err)
	}
	out, err := b.AppendTo(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := Batch(out); got.LastOffset() != 14 || got.LastSequence() != 9 || got.Count() != 0 || got.CheckCRC() != nil {
		t.Errorf("last offset %d, last sequence %d, count %d", got.LastOffset(), got.LastSequence(), got.Count())
	}
}

// A batch of no record is read like any other.
func TestBuilderEmpty(t *testing.T) {
	t.Parallel()
	b := build(t, Options{BaseOffset: 7})
	if b.Count() != 0 || b.LastOffset() != 6 || b.MaxTimestampMs() != NoTimestamp || b.CheckCRC() != nil {
		t.Errorf("count %d, last offset %d, max timestamp %d", b.Count(), b.LastOffset(), b.MaxTimestampMs())
	}
	if got := readAll(t, b); len(got) != 0 {
		t.Errorf("records: %v", got)
	}
}
