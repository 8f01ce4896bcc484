package load

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
	"time"
)

// TestMissing: what was acknowledged and is not there is known by its number, and
// what is there twice or is another producer's is no record of this one.
func TestMissing(t *testing.T) {
	t.Parallel()
	const run, other = 7, 8
	var m meter
	m.reset(time.Now())
	for n := range int64(200) {
		var err error
		if n%10 == 3 {
			err = errors.New("refused")
		}
		m.sent()
		m.answered(n, 100, time.Millisecond, err, true)
	}
	var f Found
	value := func(run, n uint64) []byte {
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, run), n)
	}
	for n := range uint64(190) {
		if n != 0 && n != 64 && n != 127 {
			f.add(value(run, n), run)
		}
	}
	f.add(value(run, 5), run)
	f.add(value(other, 64), run)
	f.add([]byte("short"), run)
	s := m.stats(time.Now())
	if s.Sent != 200 || s.Acknowledged != 180 || s.Failed != 20 || s.FirstError == nil || s.Bytes != 18_000 {
		t.Errorf("got %+v, want 180 of 200 acknowledged", s)
	}
	if f.Records != 188 || f.Doubles != 1 {
		t.Errorf("got %d records, %d doubles; want 188 and 1", f.Records, f.Doubles)
	}
	want := []int64{0, 64, 127, 190, 191, 192, 194, 195, 196, 197, 198, 199}
	if got := s.Missing(&f); !slices.Equal(got, want) {
		t.Errorf("missing %v, want %v", got, want)
	}
}

// TestLatencies are to three digits, never rounded down, and bounded.
func TestLatencies(t *testing.T) {
	t.Parallel()
	var m meter
	m.reset(time.Now())
	for n := range int64(1000) {
		m.sent()
		m.answered(n, 1, time.Duration(n+1)*time.Millisecond, nil, false)
	}
	s := m.stats(time.Now())
	for name, l := range map[string][2]time.Duration{
		"p50": {s.P50, 500 * time.Millisecond}, "p99": {s.P99, 990 * time.Millisecond},
		"p99.9": {s.P999, 999 * time.Millisecond}, "max": {s.Max, time.Second},
	} {
		if got, want := l[0], l[1]; got < want || got > want+want/500 {
			t.Errorf("%s: got %s, want %s to three digits", name, got, want)
		}
	}
	m.sent()
	m.sent()
	m.reset(time.Now())
	m.answered(1, 1, time.Hour, nil, false)
	s = m.stats(time.Now())
	if s.Sent != 2 || s.Acknowledged != 1 || s.Max < 9*time.Minute || s.Max > 11*time.Minute {
		t.Errorf("got %+v after a reset with two in flight, want those two, and a latency at its bound", s)
	}
}
