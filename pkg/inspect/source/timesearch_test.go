package source

import (
	"math/rand/v2"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// lookUp is ListOffsets by a time, from the first record to the last.
func lookUp(log map[inspect.Offset]int64, end inspect.Offset, atMs int64) (inspect.Offset, int64) {
	for o := inspect.Offset(0); o < end; o++ {
		if ms, there := log[o]; there && ms >= atMs {
			return o, ms
		}
	}
	return -1, -1
}

// TestTimeSearch compares with what is simply there, on logs of many shapes: idle
// for long, bursts of equal timestamps, holes of compaction, hours out of order.
func TestTimeSearch(t *testing.T) {
	t.Parallel()
	const now, end, mostProbes = int64(1_800_000_000_000), inspect.Offset(60), 40
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 7))
		log, ordered := map[inspect.Offset]int64{}, seed%3 != 0
		at := now
		for o := end - 1; o >= 0; o-- {
			if r.IntN(4) > 0 || o == end-1 {
				at -= int64(r.ExpFloat64() * []float64{0, 50, 5_000, 3_600_000, 90 * 86_400_000}[r.IntN(5)])
				log[o] = at
				if !ordered {
					log[o] = at + r.Int64N(3_600_000) - 1_800_000
				}
			}
		}
		position := inspect.Offset(r.Int64N(int64(end)))
		want, known := int64(0), false // the latest up to the position
		for o := inspect.Offset(0); o <= position; o++ {
			if ms, there := log[o]; there && (!known || ms > want) {
				want, known = ms, true
			}
		}
		s := newTimeSearch(position, now)
		probes := 0
		for ms, more := s.probe(); more; ms, more = s.probe() {
			if probes++; probes > mostProbes {
				t.Fatalf("seed %d: no end after %d probes: %+v", seed, mostProbes, s)
			}
			o, found := lookUp(log, end, ms)
			s.answer(ms, o, found)
		}
		got, ok := s.since().Get()
		switch {
		case ok != known:
			t.Errorf("seed %d: found %t, want %t", seed, ok, known)
		case known && want <= now && (got > want || want-got > max(fineEnoughMs, (now-got)/ageParts)):
			t.Errorf("seed %d: position %d is of %d ms ago, want %d to within a twentieth", seed, position, now-got, now-want)
		}
	}
}

// TestTimeSearchShares: answers about one position help another.
func TestTimeSearchShares(t *testing.T) {
	t.Parallel()
	const now = int64(1_800_000_000_000)
	s := newTimeSearch(10, now)
	s.answer(now-40_000, 10, now-39_000) // a probe of somebody else's
	if got := s.since(); got != inspect.Known(now-39_000) {
		t.Errorf("got %s, want the record's own time", got)
	}
	none := newTimeSearch(10, now)
	for ms, more := none.probe(); more; ms, more = none.probe() {
		none.answer(ms, -1, -1)
	}
	if got := none.since(); got.IsKnown() {
		t.Errorf("records without timestamps: got %s, want unknown", got)
	}
}
