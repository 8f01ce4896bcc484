package record

import (
	"bytes"
	"errors"
	"runtime/metrics"
	"testing"
)

// fuzzLimit is what fuzzed batches may decompress to, in bytes.
const fuzzLimit = 1 << 20

// fuzzBase is what the codecs allocate however small their input: gzip's and
// zstd's tables and histories, lz4's blocks of up to 4 MiB, which a frame's
// header asks for.
const fuzzBase = 10 << 20

// allocated is how many bytes f allocates, give or take what the runtime has not
// counted yet: runtime.ReadMemStats counts all, and stops the world for it.
func allocated(f func()) uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	f()
	metrics.Read(sample)
	return sample[0].Value.Uint64() - before
}

// known reports whether err is one of the errors that the package promises.
func known(err error) bool {
	for _, want := range []error{ErrCorrupt, ErrInvalid, ErrCodec, ErrTimestamp, ErrTooLarge} {
		if errors.Is(err, want) {
			return true
		}
	}
	return false
}

// Anything as the records of a Produce, of a Fetch, or as a segment. The length
// and CRC are made right for a second try, since no fuzzer finds them.
func FuzzBatch(f *testing.F) {
	for _, tc := range cases() {
		f.Add(tc.make(f, testNowMs))
	}
	marker, err := AppendControl(nil, Options{}, testNowMs, EndTxn{}, LeaderChange{}, KRaftVoters{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(marker)
	v := NewValidator(fuzzLimit)
	rules := DefaultRules()
	rules.BeforeMaxMs, rules.AfterMaxMs = 1<<62, 1<<62
	f.Fuzz(func(t *testing.T, buf []byte) {
		limit := fuzzBase + 4*fuzzLimit + 64*uint64(len(buf))
		if got := allocated(func() { tryBatch(t, v, rules, bytes.Clone(buf)) }); got > limit {
			t.Errorf("%d bytes allocated %d, want at most %d", len(buf), got, limit)
		}
		if len(buf) >= HeaderSize {
			b := Batch(bytes.Clone(buf))
			b[atMagic] = Magic
			tryBatch(t, v, rules, reseal(b))
		}
	})
}

func tryBatch(t *testing.T, v *Validator, rules Rules, buf []byte) {
	s := Scan(buf)
	hides := false // a batch's own timestamps
	for s.Next() {
		tryRecords(t, s.Batch(), v.Inflater())
		hides = hides || s.Batch().LogAppendTime()
	}
	if s.Err() != nil && !known(s.Err()) {
		t.Errorf("scan: %v", s.Err())
	}
	if _, err := CheckReplicated(buf, 0, 5); err != nil && !known(err) {
		t.Errorf("check: %v", err)
	}
	res, err := v.Assign(buf, rules, Stamp{Offset: 9, LeaderEpoch: 3, NowMs: testNowMs})
	if err != nil {
		if !known(err) {
			t.Errorf("assign: %v", err)
		}
		return
	}
	// What was taken must be as good the second time.
	b := res.Bytes
	if err := b.CheckCRC(); err != nil || b.BaseOffset() != 9 || b.LeaderEpoch() != 3 {
		t.Errorf("assigned: %v, base offset %d, leader epoch %d", err, b.BaseOffset(), b.LeaderEpoch())
	}
	b.SetBaseOffset(0)
	if _, err := v.Assign(b, rules, Stamp{NowMs: testNowMs}); err != nil && !(hides && errors.Is(err, ErrTimestamp)) {
		// A producer that sets LogAppendTime hides its records' timestamps from
		// LogValidator.validateTimestamp, which then makes them count.
		t.Errorf("assigned twice: %v", err)
	}
}

func tryRecords(t *testing.T, b Batch, in *Inflater) {
	rs, err := b.Records(in)
	if err != nil {
		if !known(err) {
			t.Errorf("records: %v", err)
		}
		return
	}
	for rs.Next() {
		r := rs.Record()
		n := 0
		for range r.Headers() {
			n++
		}
		if n != r.HeaderCount {
			t.Errorf("%d headers, want %d", n, r.HeaderCount)
		}
		if _, err := ParseControl(r); err != nil && !known(err) {
			t.Errorf("control: %v", err)
		}
	}
	if rs.Err() != nil && !known(rs.Err()) {
		t.Errorf("records: %v", rs.Err())
	}
}

// Anything as a batch's records, in an otherwise good batch.
func FuzzRecords(f *testing.F) {
	for _, tc := range cases() {
		if b := tc.make(f, testNowMs); len(b) > HeaderSize && Batch(b).Codec() == None {
			f.Add(int32(1), b[HeaderSize:])
		}
	}
	f.Fuzz(func(t *testing.T, count int32, records []byte) {
		b := put32(atCount, uint32(count))(append(build(t, Options{}), records...))
		reseal(b)
		if n := testing.AllocsPerRun(1, func() {
			rs, err := b.Records(nil)
			if err != nil {
				return
			}
			for rs.Next() {
			}
		}); n > 8 { // an error and its text
			t.Errorf("%v allocations", n)
		}
		tryRecords(t, b, nil)
	})
}

func fuzzCodec(f *testing.F, c Codec) {
	for _, n := range []int{0, 1, 100, 70_000} {
		f.Add(deflate(f, c, bytes.Repeat([]byte("kafka"), n/5+1)[:n]))
	}
	in, d := NewInflater(fuzzLimit), new(Deflater) // one for all: they cost more than what they do here
	f.Fuzz(func(t *testing.T, src []byte) {
		var out []byte
		var err error
		if got := allocated(func() { out, err = in.Inflate(c, src) }); got > fuzzBase+4*fuzzLimit {
			t.Errorf("%d bytes allocated %d", len(src), got)
		}
		if err != nil {
			if !known(err) {
				t.Errorf("got %v", err)
			}
			return
		}
		if len(out) > fuzzLimit {
			t.Errorf("%d bytes, want at most %d", len(out), fuzzLimit)
		}
		out = bytes.Clone(out)
		frame, err := d.Append(nil, c, out)
		if err != nil {
			t.Fatal(err)
		}
		again, err := in.Inflate(c, frame)
		if err != nil || !bytes.Equal(again, out) {
			t.Errorf("written again: %d bytes, %v, want %d", len(again), err, len(out))
		}
	})
}

func FuzzGzip(f *testing.F)   { fuzzCodec(f, Gzip) }
func FuzzSnappy(f *testing.F) { fuzzCodec(f, Snappy) }
func FuzzLZ4(f *testing.F)    { fuzzCodec(f, LZ4) }
func FuzzZstd(f *testing.F)   { fuzzCodec(f, Zstd) }
