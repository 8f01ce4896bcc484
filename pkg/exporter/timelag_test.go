package exporter

import (
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// lags feeds one partition whose leader writes a record a second, and commits it
// delay seconds later, for so many seconds. leo false is a service that tells no LEO.
func lags(leo bool, delay, seconds int) *timeLags { return lagsBut(leo, delay, seconds, seconds, 0) }

// lagsBut does not look for gap seconds after gapAt.
func lagsBut(leo bool, delay, seconds, gapAt, gap int) *timeLags {
	var l timeLags
	for i := 0; i <= seconds; i++ {
		if i > gapAt && i <= gapAt+gap {
			continue
		}
		o := &inspect.Offsets{HW: inspect.Known(inspect.Offset(i - delay))}
		if leo {
			o.LEOBefore = inspect.Known(inspect.Offset(i))
		}
		l.add(&inspect.Snapshot{
			TakenAt: day.Add(time.Duration(i) * time.Second), Asked: inspect.PartOffsets,
			Topics: []inspect.Topic{{Name: "t", Partitions: []inspect.Partition{
				{Topic: "t", Leader: 1, Replicas: ids{1, 2}, ISR: ids{1, 2}, Offsets: o},
			}}},
		}, time.Second)
	}
	return &l
}

func TestTimeLag(t *testing.T) {
	t.Parallel()
	const unknown = -1
	for _, tt := range []struct {
		name     string
		seconds  int
		position inspect.Offset
		// What written is, at the least and at the most; readable, where records are
		// committed as they are written, is the same.
		least, most float64
		// atLeast is what writtenAtLeast is, at the least.
		atLeast float64
	}{
		{"at the end", 100, 100, 0, 0, 0},
		{"a second ago", 100, 99, 1, 1, 0},
		{"within the fine history", 100, 60, 40, 40, 39},
		{"beyond it", 500, 100, 340, 400, 340},
		{"an hour", 4200, 600, 3540, 3600, 3540},
		{"beyond what is remembered", 10_000, 10, 3600, 9990, 3600},
		{"behind in the only sample", 0, -5, unknown, unknown, unknown},
		{"behind since before it began, for a moment", 30, -5, unknown, unknown, 30},
		{"behind since before it began, for long", 300, -5, 240, 300, 240},
	} {
		l := lags(true, 0, tt.seconds)
		for of, age := range map[string]inspect.Opt[float64]{
			"written": l.written("t", 0, tt.position), "readable": l.readable("t", 0, tt.position),
		} {
			if got := age.Or(unknown); got < tt.least || got > tt.most {
				t.Errorf("%s: %s %v s ago, want %v to %v", tt.name, of, got, tt.least, tt.most)
			}
		}
		if got := l.writtenAtLeast("t", 0, tt.position).Or(unknown); got < tt.atLeast || got > max(tt.most, tt.atLeast) {
			t.Errorf("%s: written at least %v s ago, want %v to %v", tt.name, got, tt.atLeast, tt.most)
		}
	}
	if l := lags(true, 0, 10); l.written("other", 0, 3).IsKnown() || l.writtenAtLeast("other", 0, 3).IsKnown() {
		t.Error("an unknown topic has an age")
	}
}

// TestWrittenAndReadable: a record is nobody's lag before it is committed, and a
// service that tells no LEO tells how long records could be read all the same.
func TestWrittenAndReadable(t *testing.T) {
	t.Parallel()
	for _, leo := range []bool{true, false} {
		l := lags(leo, 20, 100) // LEO 100, HW 80
		if got := l.readable("t", 0, 70); got != inspect.Known(10.0) {
			t.Errorf("leo %v: readable for %s s, want 10", leo, got)
		}
		want := inspect.Known(30.0)
		if !leo {
			want = inspect.Unknown[float64]()
		}
		if got := l.written("t", 0, 70); got != want {
			t.Errorf("leo %v: written %s s ago, want %s", leo, got, want)
		}
	}
}

// TestLagGrowsAsTimePasses: where the fine history ends, a lag does not jump up.
func TestLagGrowsAsTimePasses(t *testing.T) {
	t.Parallel()
	before := 0.0
	for seconds := 31; seconds < 400; seconds++ {
		got := lags(true, 0, seconds).written("t", 0, 30).Or(-1)
		if truth := float64(seconds - 30); got > truth || got < truth-60 || got < before || got > before+1 {
			t.Fatalf("after %v s: %v, and %v before", truth, got, before)
		}
		before = got
	}
}

// TestLagAfterGap: nobody looked for a while, and what is a moment behind then is not
// behind since the look before.
func TestLagAfterGap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		seconds  int
		position inspect.Offset
		want     float64
	}{
		{"at the first look after it", 146, 145, 0},
		{"at the second", 147, 145, 1},
		{"behind since before it", 146, 90, 56},
		{"a short one", 103, 102, 3},
	} {
		gap := 45
		if tt.seconds < 146 {
			gap = 2
		}
		l := lagsBut(true, 0, tt.seconds, 100, gap)
		if got := l.written("t", 0, tt.position); got != inspect.Known(tt.want) {
			t.Errorf("%s: %s s, want %v", tt.name, got, tt.want)
		}
	}
	// One that reaches over the fine history.
	if got := lagsBut(true, 0, 700, 100, 500).written("t", 0, 300); got != inspect.Known(99.0) {
		t.Errorf("before the fine history: %s s, want 99 at the least", got)
	}
}

// TestHistorySize: a large cluster is remembered for fewer samples.
func TestHistorySize(t *testing.T) {
	t.Parallel()
	sized := func(partitions int) int {
		return historySize(&inspect.Snapshot{Topics: []inspect.Topic{{Partitions: make([]inspect.Partition, partitions)}}})
	}
	if got := sized(39_000); got != 64 {
		t.Errorf("39,000 partitions: %d samples, want 64: an hour of one a minute, as METRICS.md says", got)
	}
	if got := sized(100_000); got != 25 {
		t.Errorf("100,000 partitions: %d samples, want 25", got)
	}
	if got := sized(1_000_000); got != leastSamples {
		t.Errorf("1,000,000 partitions: %d samples, want %d", got, leastSamples)
	}
}
