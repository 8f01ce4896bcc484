package load

import (
	"math"
	"math/bits"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Stats is what came of the records of a Producer in a span of time.
type Stats struct {
	// Sent = Acknowledged + Failed + those that are in flight.
	Sent, Acknowledged, Failed int64
	// Bytes are those of the values that were acknowledged.
	Bytes   int64
	Elapsed time.Duration
	// Latencies of the acknowledged records: half of them took at most P50, 99 % at
	// most P99, 99.9 % at most P999; to three digits. 0 where there were none.
	P50, P99, P999, Max time.Duration
	// FirstError is why the first record failed.
	FirstError error

	numbers bitmap
}

// PerSecond is the records acknowledged per second.
func (s *Stats) PerSecond() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Acknowledged) / s.Elapsed.Seconds()
}

// BytesPerSecond is the bytes acknowledged per second.
func (s *Stats) BytesPerSecond() float64 {
	if s.Elapsed <= 0 {
		return 0
	}
	return float64(s.Bytes) / s.Elapsed.Seconds()
}

// Missing are the numbers of records that were acknowledged since the start and that
// are not among those found, ascending. It takes Options.KeepAcknowledged.
func (s *Stats) Missing(f *Found) []int64 {
	var out []int64
	for w, word := range s.numbers {
		if w < len(f.numbers) {
			word &^= f.numbers[w]
		}
		for word != 0 {
			out = append(out, int64(w*64+bits.TrailingZeros64(word)))
			word &= word - 1
		}
	}
	return out
}

// latencies are a histogram of microseconds, up to ten minutes, with three digits.
type latencies struct{ h *hdrhistogram.Histogram }

func (l *latencies) reset() {
	if l.h == nil {
		l.h = hdrhistogram.New(1, (10 * time.Minute).Microseconds(), 3)
		return
	}
	l.h.Reset()
}

func (l *latencies) add(d time.Duration) {
	us := int64(math.Ceil(float64(d) / float64(time.Microsecond)))
	_ = l.h.RecordValue(min(max(us, 1), l.h.HighestTrackableValue()))
}

func (l *latencies) at(q float64) time.Duration {
	if l.h.TotalCount() == 0 {
		return 0
	}
	return time.Duration(l.h.ValueAtQuantile(q*100)) * time.Microsecond
}

func (l *latencies) max() time.Duration { return time.Duration(l.h.Max()) * time.Microsecond }

// bitmap is a set of numbers from 0.
type bitmap []uint64

func (b *bitmap) set(n int64) {
	for int64(len(*b))*64 <= n {
		*b = append(*b, 0)
	}
	(*b)[n/64] |= 1 << (n % 64)
}

func (b bitmap) has(n int64) bool { return n/64 < int64(len(b)) && b[n/64]&(1<<(n%64)) != 0 }

func (b bitmap) clone() bitmap { return append(bitmap(nil), b...) }
