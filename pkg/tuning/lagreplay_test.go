package tuning

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// stalled is a partition that is looked at each second: the leader gets ten records a
// second, follower 2 keeps up, and follower 3 has stopped in [from, to) ms.
type stalled struct{ from, to int64 }

func (s stalled) leo(ms int64) int64 { return ms / 100 }

func (s stalled) look(ms int64) *Look {
	f := s.leo(ms)
	if ms >= s.from && ms < s.to {
		f = s.leo(s.from)
	}
	return &Look{AtMs: ms, Leader: 1, LEO: s.leo(ms), HW: f, Followers: []FollowerLook{{Broker: 2, LEO: s.leo(ms), InISR: true}, {Broker: 3, LEO: f, InISR: true}}}
}

func replayed1(p string, looks []*Look, o LagOptions) LagResult {
	r := NewLagReplay(o)
	for _, l := range looks {
		r.Add(Partition{Topic: p}, l)
	}
	return r.Result()
}

func (s stalled) looks(forMs int64) (looks []*Look) {
	for ms := int64(0); ms < forMs; ms += 1000 {
		looks = append(looks, s.look(ms))
	}
	return looks
}

// TestOneStall holds the replay to what can be worked out by hand: a follower that
// stops for E and is then at once there again is removed with the chance that one of
// the leader's looks, T/2 apart, falls between T and E.
func TestOneStall(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lagMaxMs := rapid.SampledFrom([]int64{4000, 10_000, 30_000}).Draw(t, "T")
		from := rapid.Int64Range(5000, 9000).Draw(t, "from")
		e := rapid.Int64Range(3000, 2*lagMaxMs).Draw(t, "E")
		s := stalled{from, from + e}
		got := replayed1("t", s.looks(from+e+10_000), LagOptions{CandidatesMs: []int64{lagMaxMs}})
		if got.Excursions != 1 || got.Episodes != 1 || got.CutOff != 0 {
			t.Fatalf("got %+v, want one excursion", got.LagTotals)
		}
		// The look that ends it is up to a second late, and half of that is taken off.
		half := float64(lagMaxMs) / 2
		chance := func(e int64) float64 { return min(max(float64(e-lagMaxMs)/half, 0), 1) }
		o := got.Candidates[0]
		if low, high := chance(e-700), chance(e+800); o.Removals < low-0.04 || o.Removals > high+0.04 {
			t.Errorf("stopped for %d ms with T %d: %.3f removals, want %.3f to %.3f", e, lagMaxMs, o.Removals, low, high)
		}
		// Out from the leader's look, on average, to the end.
		out := func(e int64) float64 {
			x := min(max(float64(e-lagMaxMs), 0), half)
			return (x*max(float64(e-lagMaxMs), 0) - x*x/2) / half
		}
		if o.OutMs < out(e-700)-half/16 || o.OutMs > out(e+800)+half/16 {
			t.Errorf("stopped for %d ms with T %d: out for %.0f ms, want %.0f to %.0f", e, lagMaxMs, o.OutMs, out(e-700), out(e+800))
		}
		if o.Episodes != o.Removals {
			t.Errorf("%.3f episodes and %.3f removals of one replica", o.Episodes, o.Removals)
		}
	})
}

// TestTwoStalls: a follower that catches up between two looks and stops again was in sync
// in between, though no look found it so. It was out, with 6 s, from 7.5 s on as a mean to
// the end of the first stall; the second is too short.
func TestTwoStalls(t *testing.T) {
	t.Parallel()
	first, second := stalled{10_000, 20_300}, stalled{20_800, 26_000}
	looks := first.looks(40_000)
	for i, l := range looks {
		if l.AtMs >= second.from {
			looks[i] = second.look(l.AtMs)
		}
	}
	got := replayed1("t", looks, LagOptions{CandidatesMs: []int64{6000}})
	if o := got.Candidates[0]; o.Removals != 1 || math.Abs(o.OutMs-2800) > 500 {
		t.Errorf("%.2f removals and %.0f ms out, want 1 and some 2800 ms", o.Removals, o.OutMs)
	}
}

// TestLastFetch: a follower waits at its leader for the next record, and asks again each
// half second where none comes.
func TestLastFetch(t *testing.T) {
	t.Parallel()
	track := &Track{r: NewLagReplay(LagOptions{})}
	for _, tt := range []struct {
		name              string
		f                 follower
		atMs, hadMs, want int64
	}{
		{"records come often: it asked when it had the last one", follower{}, 1500, 1400, 1400},
		{"seldom: some time in the last half second", follower{}, 2000, 1000, 1750},
		{"it fell silent before: no later than that", follower{silentMs: 1200}, 2000, 100, 950},
		{"and not before it had the last one", follower{silentMs: 1200}, 2000, 900, 900},
		{"nor can it have fallen silent before that", follower{silentMs: 1200}, 2000, 1300, 1300},
		{"since the look before", follower{silentMs: 2600, answeredMs: 1010}, 2000, 100, 1255},
		{"since the last record", follower{silentMs: 2600, answeredMs: 1010}, 2000, 1900, 1900},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.f.lastFetchMs(tt.atMs, tt.hadMs, track); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

func TestWhatIsNoExcursion(t *testing.T) {
	t.Parallel()
	busy := stalled{10_000, 40_000}
	change := func(do func(l *Look)) []*Look {
		looks := busy.looks(60_000)
		for _, l := range looks {
			do(l)
		}
		return looks
	}
	drop := func(from, to int64) (left []*Look) {
		for _, l := range busy.looks(60_000) {
			if l.AtMs < from || l.AtMs >= to {
				left = append(left, l)
			}
		}
		return left
	}
	for _, tt := range []struct {
		name  string
		looks []*Look
		want  LagTotals
	}{
		{"as it is", busy.looks(60_000), LagTotals{Looks: 60, Excursions: 1, Episodes: 1, LongestMs: 29_600}},
		{
			"idle: it has all there is, however long it stands", change(func(l *Look) { l.LEO, l.Followers[0].LEO, l.Followers[1].LEO = 7, 7, 7 }),
			LagTotals{Looks: 60},
		},
		{"two looks missed", drop(20_000, 22_000), LagTotals{Looks: 58, Excursions: 1, Episodes: 1, LongestMs: 29_600}},
		{"four looks missed", drop(20_000, 24_000), LagTotals{Looks: 56, CutOff: 1}},
		{
			"the leader did not answer", change(func(l *Look) {
				if l.AtMs >= 20_000 && l.AtMs < 24_000 {
					l.LEO = Unknown
				}
			}),
			LagTotals{Looks: 60, Missed: 4, CutOff: 1},
		},
		{
			"another leader", change(func(l *Look) {
				if l.AtMs >= 20_000 {
					l.LeaderEpoch = 1
				}
			}),
			LagTotals{Looks: 60, CutOff: 1},
		},
		{
			"the follower was cut back", change(func(l *Look) {
				if l.AtMs == 20_000 {
					l.Followers[1].LEO = 50
				}
			}),
			LagTotals{Looks: 60, CutOff: 1},
		},
		{
			"behind from the beginning: since when is not known", stalled{0, 30_000}.looks(60_000)[1:],
			LagTotals{Looks: 59},
		},
		{"behind to the end", busy.looks(40_000), LagTotals{Looks: 40}},
		{
			"not to come back", stalled{10_000, 1 << 50}.looks(31 * 60_000),
			LagTotals{Looks: 1860, Unhealed: 1},
		},
		{"one look alone", stalled{10_500, 11_200}.looks(60_000), LagTotals{Looks: 60, Excursions: 1, Brief: 1}},
		{
			"silent and out of the ISR", change(func(l *Look) {
				if l.AtMs >= 20_000 && l.AtMs < 40_000 {
					l.Followers[1].LEO, l.Followers[1].InISR = Unknown, false
				}
			}),
			LagTotals{Looks: 60, CutOff: 1},
		},
		{
			"silent in the ISR: the HW tells what it has", change(func(l *Look) {
				if l.AtMs >= 11_000 && l.AtMs < 40_000 {
					l.Followers[1].LEO = Unknown
				}
			}),
			LagTotals{Looks: 60, Excursions: 1, Episodes: 1, LongestMs: 29_600},
		},
		{
			"left the ISR, and answered", change(func(l *Look) { l.Followers[1].InISR = l.AtMs < 30_000 || l.AtMs >= 40_000 }),
			LagTotals{Looks: 60, Excursions: 1, Episodes: 1, LongestMs: 29_600, ObservedRemovals: 1},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := replayed1("t", tt.looks, LagOptions{}).LagTotals
			if diff := got.LongestMs - tt.want.LongestMs; diff < -600 || diff > 600 {
				t.Errorf("LongestMs = %d, want about %d", got.LongestMs, tt.want.LongestMs)
			}
			got.LongestMs = tt.want.LongestMs
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestEpisodes: what overlaps in time, in whatever partition, has one cause as far as
// anybody knows.
func TestEpisodes(t *testing.T) {
	t.Parallel()
	r := NewLagReplay(LagOptions{CandidatesMs: []int64{4000}})
	for ms := int64(0); ms < 120_000; ms += 1000 {
		r.Add(Partition{"a", 0}, stalled{10_000, 30_000}.look(ms))
		r.Add(Partition{"a", 1}, stalled{20_000, 40_000}.look(ms))
		r.Add(Partition{"b", 0}, stalled{60_000, 70_000}.look(ms))
	}
	got := r.Result()
	if got.Excursions != 3 || got.Episodes != 2 || got.Candidates[0].Removals != 3 || got.Candidates[0].Episodes != 2 {
		t.Errorf("got %+v, %+v, want 3 excursions with removals in 2 episodes", got.LagTotals, got.Candidates)
	}
	want := []BrokerRemovals{{Broker: 3, Removals: []float64{3}}}
	if diff := cmp.Diff(want, got.Brokers); diff != "" {
		t.Errorf("by broker: -want +got:\n%s", diff)
	}
}

// TestSmallerLagTimesRemoveMore holds for any looks of followers that stop and go.
func TestSmallerLagTimesRemoveMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := NewLagReplay(LagOptions{})
		var leo, f2, f3 int64
		for ms := int64(0); ms < 60_000; ms += 1000 {
			leo += rapid.Int64Range(0, 20).Draw(t, "append")
			if rapid.IntRange(0, 9).Draw(t, "moves") > 7 {
				f2 = leo
			}
			f3 = max(f3, rapid.Int64Range(f3, leo).Draw(t, "f3"))
			r.Add(Partition{}, &Look{AtMs: ms, Leader: 1, LEO: leo, HW: min(f2, f3), Followers: []FollowerLook{{Broker: 2, LEO: f2, InISR: true}, {Broker: 3, LEO: f3, InISR: true}}})
		}
		got := r.Result()
		for i, o := range got.Candidates[1:] {
			if before := got.Candidates[i]; o.OutMs > before.OutMs+1 || o.Episodes > before.Episodes+1e-9 {
				t.Fatalf("more with %d than with %d: %+v, %+v", o.LagTimeMaxMs, before.LagTimeMaxMs, o, before)
			}
			if o.OutMs < 0 {
				t.Fatalf("%+v", o)
			}
		}
	})
}

func TestMarks(t *testing.T) {
	t.Parallel()
	m := marks{{0, 10}, {1000, 10}, {2000, 19}, {3000, 19}}
	for _, tt := range []struct{ offset, asOf int64 }{
		{9, 0},     // before all that is kept
		{10, 1100}, // ten gaps between nine records
		{14, 1500},
		{18, 1900},
		{19, 3000}, // still so
		{30, 3000},
	} {
		if got := m.asOf(tt.offset); got != tt.asOf {
			t.Errorf("asOf(%d) = %d, want %d", tt.offset, got, tt.asOf)
		}
	}
	for offset, want := range map[int64]int64{9: 0, 10: 0, 11: 1100, 15: 1500, 19: 1900} {
		if got := m.hadMs(offset); got != want {
			t.Errorf("hadMs(%d) = %d, want %d", offset, got, want)
		}
	}
	for ms, want := range map[int64]int64{-5: 10, 0: 10, 1500: 14, 2000: 19, 2500: 19, 9000: 19} {
		if got := m.leoAt(ms); got != want {
			t.Errorf("leoAt(%d) = %d, want %d", ms, got, want)
		}
	}
}

func TestSight(t *testing.T) {
	t.Parallel()
	look := func(leo, hw, f2, f3 int64, in3 bool) *Look {
		return &Look{AtMs: 5, LEO: leo, HW: hw, Followers: []FollowerLook{{Broker: 2, LEO: f2, InISR: true}, {Broker: 3, LEO: f3, AtMs: 9, InISR: in3}}}
	}
	// late is a look whose leader told late, and follower 3 still later.
	late := func(l *Look, leader, follower int64) *Look {
		l.BeganMs = l.AtMs
		l.AtMs += leader
		l.Followers[1].AtMs += leader + follower
		return l
	}
	for _, tt := range []struct {
		name string
		look *Look
		want sight
		ok   bool
	}{
		{"it answered", look(100, 80, 100, 90, false), sight{90, 9, true, false, false, Unknown}, true},
		{"it answered, and alone holds the HW back", look(100, 80, 100, 90, true), sight{90, 9, true, false, false, 80}, true},
		{"it answered, and another holds the HW back", look(100, 80, 99, 90, true), sight{90, 9, true, false, false, Unknown}, true},
		{"late", late(look(100, 80, 100, 90, false), 0, 300), sight{90, 309, true, false, true, Unknown}, true},
		{"the whole look waited, for it alone", late(look(100, 80, 100, 90, false), 300, 0), sight{90, 309, true, false, true, Unknown}, true},
		{"or for another", late(look(100, 80, Unknown, 90, false), 300, 0), sight{90, 309, true, false, false, Unknown}, true},
		{"who holds the HW back", look(100, 80, 100, Unknown, true), sight{80, 9, false, true, false, Unknown}, true},
		{"or might", look(100, 80, 80, Unknown, true), sight{}, false},
		{"or another that is silent too", look(100, 80, Unknown, Unknown, true), sight{}, false},
		{"nobody does", look(100, 100, Unknown, Unknown, true), sight{100, 9, false, true, false, Unknown}, true},
		{"not in the ISR", look(100, 80, 100, Unknown, false), sight{}, false},
		{"no HW", look(100, Unknown, 100, Unknown, true), sight{}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, ok := tt.look.sight(1); got != tt.want || ok != tt.ok {
				t.Errorf("got %+v, %t, want %+v, %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// TestPoisson compares the approximations with the sums that they stand for.
func TestPoisson(t *testing.T) {
	t.Parallel()
	upTo := func(n int, mean float64) float64 {
		term, sum := math.Exp(-mean), 0.0
		for k := range n + 1 {
			sum += term
			term *= mean / float64(k+1)
		}
		return sum
	}
	for n := range 60 {
		if p := upTo(n, atMost(float64(n))); p < 0.047 || p > 0.053 {
			t.Errorf("%d or fewer have a chance of %.4f at %.3f, want 0.05", n, p, atMost(float64(n)))
		}
		if n == 0 {
			continue
		}
		if p := 1 - upTo(n-1, atLeast(float64(n))); p < 0.038 || p > 0.055 {
			t.Errorf("%d or more have a chance of %.4f at %.3f, want 0.05", n, p, atLeast(float64(n)))
		}
	}
}

// looksAt are looks each second at a leader and a follower 3 with these LEOs. Follower
// 2 keeps up. silent says when follower 3 does not answer; the HW is what it has.
func looksAt(forMs int64, leo, f3 func(ms int64) int64, silent func(ms int64) bool) (looks []*Look) {
	for ms := int64(0); ms < forMs; ms += 1000 {
		l := &Look{AtMs: ms, Leader: 1, LEO: leo(ms), HW: min(leo(ms), f3(ms)), Followers: []FollowerLook{{Broker: 2, LEO: leo(ms), InISR: true}, {Broker: 3, LEO: f3(ms), InISR: true}}}
		if silent(ms) {
			l.Followers[1].LEO = Unknown
		}
		looks = append(looks, l)
	}
	return looks
}

func never(int64) bool { return false }

func tenASecond(ms int64) int64 { return max(ms, 0) / 100 }

// longLink is a follower with 1.5 s each way to its leader in [10, 70) s: a fetch comes
// to the leader each 3 s, and what it finds there to the follower 1.5 s later.
func longLink(ms int64) int64 {
	if ms < 10_000 || ms >= 70_000 {
		return tenASecond(ms)
	}
	return tenASecond(max(10_000, (ms-11_500)/3000*3000+10_000))
}

// TestLongLink: no look finds a follower on a long link caught up, and the leader takes
// it for just that, one fetch late (second rule of isrrule.Progress.Fetched). What
// it compares with the lag time goes from 3 to 6 s.
func TestLongLink(t *testing.T) {
	t.Parallel()
	got := replayed1("t", looksAt(100_000, tenASecond, longLink, never), LagOptions{CandidatesMs: []int64{4000, 8000}})
	if o := got.Candidates[1]; o.Removals != 0 {
		t.Errorf("with 8 s: %+v, want nobody removed", o)
	}
	if o := got.Candidates[0]; o.Removals != 1 || o.OutMs < 50_000 {
		t.Errorf("with 4 s: %+v, want one removal, for nearly all of the minute", o)
	}
}

// TestComesBackOverALongLink: a follower that was removed, and then fetches over a long
// link, has less than the leader's LEO for ever. It comes back because the HW waits
// for it, once it has been caught up within the lag time.
func TestComesBackOverALongLink(t *testing.T) {
	t.Parallel()
	stopped := func(ms int64) int64 {
		if ms < 32_000 {
			ms = min(ms, 10_000)
		}
		return longLink(ms)
	}
	got := replayed1("t", looksAt(100_000, tenASecond, stopped, never), LagOptions{CandidatesMs: []int64{8000}})
	if o := got.Candidates[0]; o.Removals != 1 || o.OutMs < 12_000 || o.OutMs > 26_000 {
		t.Errorf("%+v, want one removal for some 20 s", o)
	}
}

// TestBacklogInPieces: a follower that stopped for 8 s and then needs 8 s to catch up
// was not caught up for 16 s, though its log was never 9 s old.
func TestBacklogInPieces(t *testing.T) {
	t.Parallel()
	f3 := func(ms int64) int64 {
		switch {
		case ms < 10_000:
			return tenASecond(ms)
		case ms < 18_000:
			return tenASecond(10_000)
		}
		// In the end it is there, and still a record short of each look.
		return min(tenASecond(ms)-1, tenASecond(10_000+2*(ms-18_000)))
	}
	got := replayed1("t", append(looksAt(60_000, tenASecond, f3, never), stalled{}.look(60_000)), LagOptions{CandidatesMs: []int64{9000, 20_000}})
	// From between 19 and 23.5 s to 26 s.
	if o := got.Candidates[0]; o.Removals != 1 || o.OutMs < 4000 || o.OutMs > 5500 {
		t.Errorf("with 9 s: %+v, want it removed, for 4.75 s", o)
	}
	if o := got.Candidates[1]; o.Removals != 0 {
		t.Errorf("with 20 s: %+v, want nobody removed", o)
	}
}

// TestStoppedWhileIdle: who stops while nothing is written is behind from the next
// record on, and was caught up last when it stopped.
func TestStoppedWhileIdle(t *testing.T) {
	t.Parallel()
	leo := func(ms int64) int64 {
		if ms < 30_000 {
			return tenASecond(min(ms, 10_000))
		}
		return tenASecond(ms)
	}
	f3 := func(ms int64) int64 {
		if ms < 33_500 {
			return leo(min(ms, 15_000))
		}
		return leo(ms)
	}
	silent := func(ms int64) bool { return ms >= 15_000 && ms < 33_500 }
	got := replayed1("t", looksAt(60_000, leo, f3, silent), LagOptions{CandidatesMs: []int64{6000, 20_000}})
	if o := got.Candidates[0]; o.Removals < 0.9 || o.OutMs > 4000 {
		t.Errorf("with 6 s: %+v, want it removed at the first look after the record", o)
	}
	if o := got.Candidates[1]; o.Removals != 0 {
		t.Errorf("with 20 s: %+v, want nobody removed", o)
	}
}

// TestLastFetchOverALongLink: the last fetch that came late is answered fast, so that no
// move of its own shows it. The HW does.
func TestLastFetchOverALongLink(t *testing.T) {
	t.Parallel()
	const end = 70_000 // fetches come each 6 s from 10 s on, answers 3 s later
	f3 := func(ms int64) int64 {
		if ms < 10_000 || ms >= end+3000 {
			return tenASecond(ms)
		}
		return tenASecond(max(10_000, (ms-13_000)/6000*6000+10_000))
	}
	looks := looksAt(100_000, tenASecond, f3, never)
	for _, l := range looks {
		l.HW = min(l.HW, f3(l.AtMs-3000))
	}
	got := replayed1("t", looks, LagOptions{CandidatesMs: []int64{13_000}})
	if o := got.Candidates[0]; o.Removals != 0 {
		t.Errorf("%+v, want nobody removed: the age is 12 s at most", o)
	}
}

// TestFirstAnswerOverALongLink: the fetch that waited at the leader when the link grew long
// is answered with one record alone. What the next one brings tells when that came, half a
// gap between two records after the first that it found.
func TestFirstAnswerOverALongLink(t *testing.T) {
	t.Parallel()
	twoASecond := func(ms int64) int64 { return ms / 500 }
	f3 := func(ms int64) int64 {
		switch {
		case ms < 10_000:
			return twoASecond(ms)
		case ms < 14_250: // the record of 10 500 is under way
			return 20
		case ms < 22_000: // the fetch comes at 18 s, and finds 36
			return 21
		}
		return 36
	}
	r := NewLagReplay(LagOptions{})
	track := r.Track(Partition{Topic: "t"})
	looks := looksAt(25_000, twoASecond, f3, never)
	for _, l := range looks[:18] {
		track.Add(l)
	}
	// The HW shows that the leader knows that it has 21.
	if n := len(track.events); n != 2 || track.events[1].offset != 21 {
		t.Fatalf("%+v, want that it fell behind, and the fetch that the HW tells of", track.events)
	}
	for _, l := range looks[18:] {
		track.Add(l)
	}
	if len(track.events) < 2 {
		t.Fatalf("%+v, want that it fell behind, and a fetch", track.events)
	}
	loose, fetch := track.events[0], track.events[1]
	if loose.kind != loosened || math.Abs(float64(loose.caughtUpMs-10_000)) > 250 {
		t.Errorf("%+v, want it to have fetched at some 10 s", loose)
	}
	if fetch.kind != fetched || fetch.offset != 21 || fetch.leo != 36 || math.Abs(float64(fetch.atMs-18_000)) > 250 {
		t.Errorf("%+v, want it to have fetched at 18 s, when it had 21 of 36", fetch)
	}
}

// TestCutShort: looks at 9 s and 10 s, ten records a second.
func TestCutShort(t *testing.T) {
	t.Parallel()
	track := &Track{r: NewLagReplay(LagOptions{}), marks: marks{{8000, 80}, {9000, 90}, {10_000, 100}}}
	f := follower{seenMs: 9000, answeredMs: 9000, offset: 60}
	for _, tt := range []struct {
		name          string
		offset, known int64
		want          bool
	}{
		{"a fetch at 68 came after 9 s, and its answer has less than there was then", 70, 68, true},
		{"it may have all that there was", 90, 68, false},
		{"the leader knows of no fetch since", 70, 60, false},
		{"the answer to the fetch that it knows of is under way", 70, 70, false},
		{"it is not known what the leader knows", 70, Unknown, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := f.cutShort(sight{offset: tt.offset, known: tt.known}, track); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

// TestShortBacklogInPieces: a follower stood still for 3.5 s and then takes two records each
// 0.2 s, while one is written: it is through after another 3.5 s. The HW shows that its
// answers are cut short, and how long its fetches take. On the engine it was caught up until
// 1.6 s, as its leader then knew by a fetch at 8.5 s, and in the ISR again at 8.7 s.
func TestShortBacklogInPieces(t *testing.T) {
	t.Parallel()
	r := NewLagReplay(LagOptions{CandidatesMs: []int64{5000}})
	for i, x := range []struct{ hw, f3 int64 }{
		{1, 1}, {6, 6}, {9, 9}, {9, 9}, {9, 9}, {9, 9}, {16, 18}, {26, 28}, {36, 38}, {44, 45}, {49, 50}, {54, 55},
	} {
		leo := int64(5 * i)
		r.Add(Partition{Topic: "t"}, &Look{
			AtMs: int64(i) * 1000, Leader: 1, LEO: leo, HW: x.hw,
			Followers: []FollowerLook{{Broker: 2, LEO: leo + 1, InISR: true}, {Broker: 3, LEO: x.f3, InISR: true}},
		})
	}
	got := r.Result()
	// Of 2.5 s the timer falls in 1.9 s (6.6 to 8.5 s).
	if o := got.Candidates[0]; got.Excursions != 1 || math.Abs(o.Removals-0.75) > 0.1 || math.Abs(o.OutMs-895) > 200 {
		t.Errorf("%+v, %+v; want 0.75 removals and 895 ms out", got.LagTotals, o)
	}
}

// TestLoosenedIsNoFetch: to fall behind is not to fetch. What the next fetch shows is that
// the follower had everything when it fetched last, and not when the first record came that
// it has not got.
func TestLoosenedIsNoFetch(t *testing.T) {
	t.Parallel()
	l := leader{lagMaxMs: 5000, followers: []replayed{{known: true, tight: true, inISR: true}}}
	l.take(&event{atMs: 3000, kind: loosened, offset: 10, leo: 10, caughtUpMs: 1000})
	l.take(&event{atMs: 5000, kind: fetched, offset: 11, leo: 20})
	if got := l.followers[0].progress.LastCaughtUpMs; got != 1000 {
		t.Errorf("caught up at %d ms, want 1000", got)
	}
}

// TestBackAfterPieces: one whose fetches are 100 ms on their way has caught up with a backlog
// at 9.5 s by its own log. Its leader takes it for caught up 100 ms later, as of 9.4 s, and it
// is in the ISR again with the next fetch.
func TestBackAfterPieces(t *testing.T) {
	t.Parallel()
	m := marks{{8000, 80}, {9000, 90}, {10_000, 100}}
	back := func(ways, waysMs int64) []event {
		// The window is open, so that what is emitted is kept.
		track := &Track{r: NewLagReplay(LagOptions{}), marks: m, events: []event{{}}}
		f := follower{state: loose, inPieces: true, seenMs: 9000, answeredMs: 9000, offset: 70, ways: ways, waysMs: waysMs}
		f.tighten(0, sight{offset: 100, atMs: 10_000, answered: true, known: Unknown}, track)
		return track.events[1:]
	}
	want := []event{
		{atMs: 9400, kind: fetched, offset: 70, leo: 94},
		{atMs: 9600, kind: fetched, offset: 94, leo: 96},
		{atMs: 9800, kind: tightened, leo: 98},
	}
	if diff := cmp.Diff(want, back(3, 300), cmp.AllowUnexported(event{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := back(0, 0); len(got) != 1 || got[0].atMs != 9500 {
		t.Errorf("%+v, want it back at 9.5 s where nothing shows how long its fetches take", got)
	}
	f := follower{seenMs: 9000, answeredMs: 9000, offset: 70}
	f.measureWay(sight{offset: 90, known: 88, atMs: 10_000})
	f.measureWay(sight{offset: 90, known: 88, atMs: 10_000})
	f.measureWay(sight{offset: 90, known: Unknown, atMs: 10_000}) // tells nothing
	if f.ways != 2 || f.waysMs != 200 {
		t.Errorf("%d ways of %d ms in all, want 2 of 200: 20 records in a second, and 2 of them are not known", f.ways, f.waysMs)
	}
}

func TestCaughtUpMs(t *testing.T) {
	t.Parallel()
	m := marks{{8000, 80}, {9000, 90}, {10_000, 100}}
	for _, tt := range []struct {
		name string
		f    follower
		s    sight
		want int64
	}{
		{"between two answers", follower{seenMs: 9000, answeredMs: 9010}, sight{100, 10_010, true, true, false, Unknown}, 9510},
		{"silent, and asked after it was back", follower{seenMs: 9000, answeredMs: 9400, silentMs: 5000}, sight{100, 10_010, true, true, false, Unknown}, 9700},
		{"silent, and answered when it came back", follower{seenMs: 9000, answeredMs: 9400, silentMs: 5000}, sight{100, 10_300, true, true, true, Unknown}, 10_300},
		{"a fifth of a second is left of a whole one", follower{seenMs: 9000, answeredMs: 9010, inPieces: true, lagMs: 1000}, sight{97, 10_010, true, true, false, Unknown}, 10_000 + 273*1000/727},
		{"not before its last fetch", follower{seenMs: 9000, answeredMs: 9010, fetchedMs: 9900}, sight{100, 10_010, true, true, false, Unknown}, 9900},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.f.caughtUpMs(tt.s, m); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}
