package isrrule

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestTimeLag(t *testing.T) {
	t.Parallel()
	at := func(ms, leo int64) Sample { return Sample{AtMs: ms, LeaderLEO: leo} }
	for _, tt := range []struct {
		name    string
		samples []Sample // oldest first
		leo     int64
		want    Age
	}{
		{"no sample", nil, 10, Age{}},
		{"one sample, caught up", []Sample{at(1000, 10)}, 10, Age{Within, 0, 0}},
		{"one sample, behind", []Sample{at(1000, 10)}, 9, Age{}},
		{"ahead of a leader that lost records", []Sample{at(1000, 10)}, 11, Age{Within, 0, 0}},
		{"two intervals", []Sample{at(1000, 10), at(2000, 20), at(3000, 30)}, 15, Age{Within, 2000, 1000}},
		{"equal counts", []Sample{at(1000, 10), at(2000, 20), at(3000, 30)}, 20, Age{Within, 1000, 0}},
		{"behind in all", []Sample{at(1000, 10), at(2000, 20), at(3000, 30)}, 9, Age{AtLeast, 2000, 2000}},
		{"idle since", []Sample{at(1000, 10), at(2000, 20), at(3000, 20), at(4000, 20)}, 15, Age{Within, 3000, 2000}},
		{"gap", []Sample{at(1000, 10), at(9000, 20)}, 15, Age{Within, 8000, 0}},
		{"leader lost records", []Sample{at(1000, 100), at(2000, 50), at(3000, 60)}, 50, Age{Within, 1000, 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := TimeLag(newestFirst(tt.samples), tt.leo); got != tt.want {
				t.Errorf("TimeLag = %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestBehind(t *testing.T) {
	t.Parallel()
	// A follower that trails by one second: its log is one second old, yet it was
	// last caught up when the samples began.
	samples := []Sample{{1000, 10, 10}, {2000, 20, 10}, {3000, 30, 20}, {4000, 40, 30}}
	if got, want := Behind(newestFirst(samples)), (Age{Within, 3000, 2000}); got != want {
		t.Errorf("Behind = %+v, want %+v", got, want)
	}
	if got, want := TimeLag(newestFirst(samples), 30), (Age{Within, 1000, 0}); got != want {
		t.Errorf("TimeLag = %+v, want %+v", got, want)
	}
}

// fetchSim is the dumb version of everything: one leader and one follower,
// written down millisecond by millisecond.
type fetchSim struct {
	leader, follower []int64 // LEO at each ms
	fetches          []Fetch
	maxGapMs         int64 // between fetches
}

func drawSim(t *rapid.T) fetchSim {
	var s fetchSim
	endMs := rapid.Int64Range(20, 400).Draw(t, "endMs")
	gapMs := rapid.Int64Range(1, 20).Draw(t, "fetchEveryMs")
	maxAppend := rapid.Int64Range(0, 5).Draw(t, "maxAppend")
	batch := rapid.Int64Range(0, 60).Draw(t, "maxFetch")
	stalledFrom := rapid.Int64Range(0, endMs).Draw(t, "stalledFrom")
	stalledFor := rapid.Int64Range(0, endMs).Draw(t, "stalledFor")
	s.maxGapMs = gapMs + stalledFor
	var l, f int64
	for ms := range endMs {
		if maxAppend > 0 {
			l += rapid.Int64Range(0, maxAppend).Draw(t, "append")
		}
		stalled := ms >= stalledFrom && ms < stalledFrom+stalledFor
		if ms%gapMs == 0 && !stalled {
			s.fetches = append(s.fetches, Fetch{Offset: f, LeaderLEO: l, AtMs: ms})
			f = min(l, f+batch)
		}
		s.leader, s.follower = append(s.leader, l), append(s.follower, f)
	}
	return s
}

// samples looks at the simulation every intervalMs, the last ms included.
func (s *fetchSim) samples(intervalMs int64) []Sample {
	var out []Sample
	for ms := int64(len(s.leader)) - 1; ms >= 0; ms -= intervalMs {
		out = append(out, Sample{ms, s.leader[ms], s.follower[ms]})
	}
	slices.Reverse(out)
	return out
}

// TestFetchedAgainstDumb compares the record with one that keeps every fetch.
func TestFetchedAgainstDumb(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSim(t)
		p := NewProgress()
		for i, f := range s.fetches {
			p.Fetched(f)
			var want int64
			for j, g := range s.fetches[:i+1] {
				if g.Offset >= g.LeaderLEO {
					want = max(want, g.AtMs)
				} else if j > 0 && g.Offset >= s.fetches[j-1].LeaderLEO {
					want = max(want, s.fetches[j-1].AtMs)
				}
			}
			if p.LastCaughtUpMs != want {
				t.Fatalf("after fetch %d: LastCaughtUpMs = %d, want %d", i, p.LastCaughtUpMs, want)
			}
		}
	})
}

// TestTimeLagAgainstDumb checks that the age from samples encloses the one
// counted millisecond by millisecond.
func TestTimeLagAgainstDumb(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSim(t)
		nowMs := int64(len(s.leader)) - 1
		leo := rapid.Int64Range(-1, s.leader[nowMs]+1).Draw(t, "leo")
		truth, found := int64(0), false
		for ms := nowMs; ms >= 0 && !found; ms-- {
			truth, found = nowMs-ms, s.leader[ms] <= leo
		}
		got := TimeLag(newestFirst(s.samples(rapid.Int64Range(1, 50).Draw(t, "intervalMs"))), leo)
		switch {
		case got.Certainty == Within && !found:
			t.Fatalf("%+v, but it was behind all the time", got)
		case got.Certainty == Within && (truth > got.Ms || truth <= got.OverMs && got.Ms > 0):
			t.Fatalf("%+v, truth %d ms", got, truth)
		case got.Certainty == AtLeast && found && truth <= got.OverMs:
			t.Fatalf("%+v, truth %d ms", got, truth)
		}
	})
}

// TestLeaderClockLiesBetween checks what the documents of TimeLag and Behind
// promise: the leader's own clock for a follower lies between the two.
func TestLeaderClockLiesBetween(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawSim(t)
		p := NewProgress()
		for _, f := range s.fetches {
			p.Fetched(f)
		}
		nowMs := int64(len(s.leader)) - 1
		clockMs := nowMs - p.LastCaughtUpMs
		samples := s.samples(rapid.Int64Range(1, 50).Draw(t, "intervalMs"))
		lag := TimeLag(newestFirst(samples), s.follower[nowMs])
		if lag.Certainty != Unknown && clockMs < lag.OverMs {
			t.Fatalf("the leader's clock is at %d ms, under %+v", clockMs, lag)
		}
		behind := Behind(newestFirst(samples))
		seenMs := nowMs - behind.Ms
		// The leader learns from the next fetch what a sample has seen, and takes it
		// for a fact of the fetch before.
		told := len(s.fetches) > 0 && s.fetches[len(s.fetches)-1].AtMs > seenMs
		if behind.Certainty == Within && told && clockMs > behind.Ms+s.maxGapMs {
			t.Fatalf("the leader's clock is at %d ms, over %+v", clockMs, behind)
		}
	})
}

func newestFirst(samples []Sample) func(func(Sample) bool) {
	return func(yield func(Sample) bool) {
		for _, s := range slices.Backward(samples) {
			if !yield(s) {
				return
			}
		}
	}
}
