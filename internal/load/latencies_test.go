package load

import (
	"testing"
	"time"
)

// TestLatenciesOfSeveral: a share of records is told where there are enough of them.
func TestLatenciesOfSeveral(t *testing.T) {
	t.Parallel()
	var l Latencies
	if _, ok := l.At(0.5); ok {
		t.Error("of nothing")
	}
	add := func(n int, d time.Duration) {
		p := &Producer{}
		p.meter.reset(time.Now())
		for range n {
			p.meter.lat.add(d)
		}
		l.Add(p)
	}
	add(98, time.Millisecond)
	if d, ok := l.At(0.5); !ok || d != time.Millisecond {
		t.Errorf("p50: %s, %v", d, ok)
	}
	if d, ok := l.At(0.99); ok {
		t.Errorf("p99 of 98 records: %s", d)
	}
	add(2, 3*time.Millisecond)
	if d, ok := l.At(0.99); !ok || d.Round(10*time.Microsecond) != 3*time.Millisecond {
		t.Errorf("p99 of 100 records, two of which took longer: %s, %v", d, ok)
	}
	if _, ok := l.At(0.999); ok {
		t.Error("p99.9 of 100 records")
	}
}
