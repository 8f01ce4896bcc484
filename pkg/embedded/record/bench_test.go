package record

import (
	"math/rand/v2"
	"testing"
)

// batch64K is a batch of some 64 KiB uncompressed: records of 1 KiB, half of
// each of them random.
func batch64K(tb testing.TB, c Codec) Batch {
	tb.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var es []Entry
	for range 62 {
		v := make([]byte, 1024)
		for i := range 512 {
			v[i] = byte(rng.Uint32())
		}
		es = append(es, Entry{TimestampMs: testNowMs, Key: v[:16], Value: v})
	}
	return build(tb, Options{Codec: c}, es...)
}

// BenchmarkAssign is what a leader does to a batch of 64 KiB.
func BenchmarkAssign(b *testing.B) {
	for _, c := range codecs {
		for _, mode := range []string{"CreateTime", "LogAppendTime"} {
			b.Run(c.String()+"/"+mode, func(b *testing.B) {
				batch := batch64K(b, c)
				v := NewValidator(DefaultInflateLimit)
				rules := DefaultRules()
				rules.LogAppendTime = mode == "LogAppendTime"
				b.ReportAllocs()
				b.SetBytes(int64(len(batch)))
				now := int64(testNowMs)
				for b.Loop() {
					now++
					batch.SetBaseOffset(0)
					batch[atAttributes+1] &^= attrLogAppendTime // as a producer sends it
					if rules.LogAppendTime {
						batch.setCRC()
					}
					if _, err := v.Assign(batch, rules, Stamp{Offset: now, NowMs: now}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkScan is a walk over the headers of 1,000 batches.
func BenchmarkScan(b *testing.B) {
	var buf []byte
	for range 1000 {
		buf = append(buf, build(b, Options{}, Entry{})...)
	}
	b.ReportAllocs()
	for b.Loop() {
		s := Scan(buf)
		for s.Next() {
		}
	}
}
