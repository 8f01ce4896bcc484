package record

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestFilter: what is kept of a batch is what was there, and the batch's offsets and
// sequences stay.
func TestFilter(t *testing.T) {
	t.Parallel()
	var f Filter
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 400 {
		logAppendMs := int64(5000)
		opts := Options{BaseOffset: rng.Int64N(1 << 40), LeaderEpoch: 3, Codec: Codec(i % 5), Transactional: i%3 == 0}
		if i%2 == 0 {
			opts.Producer = &Producer{ID: 7, Epoch: 2, BaseSequence: 1<<31 - 3}
		}
		if i%7 == 0 {
			opts.LogAppendTimeMs = &logAppendMs
		}
		b := NewBuilder(opts)
		for range 1 + rng.IntN(6) {
			e := Entry{TimestampMs: rng.Int64N(1000), Key: []byte{byte(rng.IntN(9))}, Headers: []Header{{Key: "h"}, {Key: "i", Value: []byte{}}}}
			if rng.IntN(3) > 0 {
				e.Value = fmt.Append(nil, rng.Uint64())
			}
			if err := b.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		buf, err := b.AppendTo(nil, &Deflater{})
		if err != nil {
			t.Fatal(err)
		}
		checkFilter(t, &f, Batch(buf), rng)
	}
}

func checkFilter(t *testing.T, f *Filter, batch Batch, rng *rand.Rand) {
	t.Helper()
	all, tombstones := recordsIn(t, batch)
	for _, keep := range []int{0, rng.IntN(1 << len(all)), 1<<len(all) - 1} {
		var want []string
		i, tombstone := -1, false
		r := Retention{KeepEmpty: rng.IntN(2) == 0, HorizonMs: 77, Keep: func(*Record) bool {
			i++
			return keep>>i&1 == 1
		}}
		for k, text := range all {
			if keep>>k&1 == 1 {
				want = append(want, text)
				tombstone = tombstone || tombstones[k]
			}
		}
		out, kept, err := f.Append([]byte("before"), batch, r)
		if err != nil || kept != len(want) || !bytes.HasPrefix(out, []byte("before")) {
			t.Fatalf("kept %d of %d: %v", kept, len(want), err)
		}
		out = out[len("before"):]
		if len(want) == 0 && !r.KeepEmpty {
			if len(out) > 0 {
				t.Fatalf("%d bytes are left of nothing", len(out))
			}
			continue
		}
		got, rest, err := ParseBatch(out)
		if err != nil || len(rest) > 0 || got.CheckCRC() != nil {
			t.Fatalf("%v, rest %d, %v", err, len(rest), got.CheckCRC())
		}
		if got.BaseOffset() != batch.BaseOffset() || got.LastOffset() != batch.LastOffset() || got.LeaderEpoch() != batch.LeaderEpoch() ||
			got.ProducerID() != batch.ProducerID() || got.ProducerEpoch() != batch.ProducerEpoch() ||
			got.BaseSequence() != batch.BaseSequence() || got.LastSequence() != batch.LastSequence() ||
			got.Transactional() != batch.Transactional() || got.LogAppendTime() != batch.LogAppendTime() {
			t.Fatalf("header % x, it was % x", got[:HeaderSize], batch[:HeaderSize])
		}
		if len(want) == 0 && (len(got) != HeaderSize || got.MaxTimestampMs() != batch.MaxTimestampMs()) {
			t.Fatalf("an empty batch of %d bytes, max timestamp %d", len(got), got.MaxTimestampMs())
		}
		if ms, set := got.DeleteHorizonMs(); set != tombstone || set && ms != 77 {
			t.Fatalf("horizon %d %t, a tombstone stays: %t", ms, set, tombstone)
		}
		if left, _ := recordsIn(t, got); fmt.Sprint(left) != fmt.Sprint(want) {
			t.Fatalf("left\n%s\nwant\n%s", left, want)
		}
		if len(want) == len(all) && !tombstone && !bytes.Equal(got, batch) {
			t.Fatal("nothing goes, and the bytes are others")
		}
		// A horizon that is set stays.
		r.HorizonMs, i = 99, -1
		r.Keep = func(*Record) bool { return true }
		again, _, err := f.Append(nil, got, r)
		if err != nil || len(want) > 0 && !bytes.Equal(again, got) {
			t.Fatalf("once more: % x, before % x, %v", again, got, err)
		}
	}
}

func recordsIn(t *testing.T, b Batch) (texts []string, tombstones []bool) {
	t.Helper()
	rs, err := b.Records(nil)
	if err != nil {
		t.Fatal(err)
	}
	for rs.Next() {
		r := rs.Record()
		text := fmt.Sprintf("%d %d %d %q %q %t", r.Offset, r.TimestampMs, r.Sequence, r.Key, r.Value, r.Value == nil)
		for k, v := range r.Headers() {
			text += fmt.Sprintf(" %s=%q %t", k, v, v == nil)
		}
		texts, tombstones = append(texts, text), append(tombstones, r.Value == nil)
	}
	if rs.Err() != nil {
		t.Fatal(rs.Err())
	}
	return texts, tombstones
}

// FuzzFilter: of any bytes that pass for a batch, what is left is one.
func FuzzFilter(f *testing.F) {
	b := NewBuilder(Options{Codec: Gzip})
	for i := range 4 {
		if err := b.Add(Entry{Key: []byte{byte(i)}, Value: []byte("value")}); err != nil {
			f.Fatal(err)
		}
	}
	buf, err := b.AppendTo(nil, &Deflater{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(buf, uint64(5))
	f.Fuzz(func(t *testing.T, buf []byte, keep uint64) {
		batch, _, err := ParseBatch(buf)
		if err != nil {
			return
		}
		fl := Filter{inflater: NewInflater(1 << 16), builder: NewBuilder(Options{})}
		i := 0
		out, kept, err := fl.Append(nil, batch, Retention{KeepEmpty: true, Keep: func(*Record) bool {
			i++
			return keep>>(i%64)&1 == 1
		}})
		if err != nil {
			return
		}
		got, rest, err := ParseBatch(out)
		if err != nil || len(rest) > 0 || kept > 0 && int(got.Count()) != kept {
			t.Fatalf("%d are kept, the batch says %d: %v", kept, got.Count(), err)
		}
	})
}
