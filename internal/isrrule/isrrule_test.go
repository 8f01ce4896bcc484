package isrrule

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFetched(t *testing.T) {
	t.Parallel()
	// A leader at LEO 100 was asked for offset 80 at 1000 ms; the follower was
	// last caught up at 500 ms.
	before := Progress{LEO: 80, LastCaughtUpMs: 500, LastFetchMs: 1000, LastFetchLeaderLEO: 100}
	for _, tt := range []struct {
		name   string
		before Progress
		fetch  Fetch
		want   Progress
	}{
		{
			// Replica.updateFetchStateOrThrow, first rule.
			name: "has all", before: before,
			fetch: Fetch{Offset: 120, LeaderLEO: 120, AtMs: 1500},
			want:  Progress{LEO: 120, LastCaughtUpMs: 1500, LastFetchMs: 1500, LastFetchLeaderLEO: 120},
		},
		{
			// Second rule: caught up at the previous fetch, not now.
			name: "has all of the previous fetch", before: before,
			fetch: Fetch{Offset: 100, LeaderLEO: 120, AtMs: 1500},
			want:  Progress{LEO: 100, LastCaughtUpMs: 1000, LastFetchMs: 1500, LastFetchLeaderLEO: 120},
		},
		{
			name: "one short of the previous fetch", before: before,
			fetch: Fetch{Offset: 99, LeaderLEO: 120, AtMs: 1500},
			want:  Progress{LEO: 99, LastCaughtUpMs: 500, LastFetchMs: 1500, LastFetchLeaderLEO: 120},
		},
		{
			// The follower truncated: its LEO goes down, its past does not change.
			name: "lower than before", before: before,
			fetch: Fetch{Offset: 70, LeaderLEO: 100, AtMs: 1500},
			want:  Progress{LEO: 70, LastCaughtUpMs: 500, LastFetchMs: 1500, LastFetchLeaderLEO: 100},
		},
		{
			// Math.max: a clock that steps back takes nothing away.
			name: "clock stepped back", before: before,
			fetch: Fetch{Offset: 120, LeaderLEO: 120, AtMs: 400},
			want:  Progress{LEO: 120, LastCaughtUpMs: 500, LastFetchMs: 400, LastFetchLeaderLEO: 120},
		},
		{
			// A LEO that a delayed fetch was compared with may be older.
			name: "older leader LEO", before: before,
			fetch: Fetch{Offset: 90, LeaderLEO: 95, AtMs: 1500},
			want:  Progress{LEO: 90, LastCaughtUpMs: 500, LastFetchMs: 1500, LastFetchLeaderLEO: 100},
		},
		{
			// ReplicaState.EMPTY: the second rule compares with LEO 0 at time 0.
			name: "first fetch ever, behind", before: NewProgress(),
			fetch: Fetch{Offset: 10, LeaderLEO: 20, AtMs: 1500},
			want:  Progress{LEO: 10, LastFetchMs: 1500, LastFetchLeaderLEO: 20},
		},
		{
			name: "first fetch of an empty partition", before: NewProgress(),
			fetch: Fetch{Offset: 0, LeaderLEO: 0, AtMs: 1500},
			want:  Progress{LEO: 0, LastCaughtUpMs: 1500, LastFetchMs: 1500},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.before
			got.Fetched(tt.fetch)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestLeaderEpochStarted(t *testing.T) {
	t.Parallel()
	before := Progress{LEO: 80, LastCaughtUpMs: 500, LastFetchMs: 1000, LastFetchLeaderLEO: 100}
	// Replica.resetReplicaState's four cases.
	for _, tt := range []struct {
		name      string
		reElected bool
		inISR     bool
		want      Progress
	}{
		{"new leader, in ISR", false, true, Progress{LEO: UnknownLEO, LastCaughtUpMs: 2000, LastFetchLeaderLEO: -1}},
		{"new leader, not in ISR", false, false, Progress{LEO: UnknownLEO, LastFetchLeaderLEO: -1}},
		{"re-elected, in ISR", true, true, Progress{LEO: 80, LastCaughtUpMs: 2000, LastFetchMs: 2000, LastFetchLeaderLEO: 110}},
		{"re-elected, not in ISR", true, false, Progress{LEO: 80, LastFetchLeaderLEO: 110}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := before
			got.LeaderEpochStarted(LeaderEpoch{StartOffset: 110, AtMs: 2000, ReElected: tt.reElected}, tt.inISR)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestFirstFetchOfNewLeaderEpochAddsNothing(t *testing.T) {
	t.Parallel()
	// The second rule holds for any offset after a reset (LastFetchLeaderLEO −1),
	// but with time 0: a follower that was out stays out until it has caught up.
	p := NewProgress()
	p.LeaderEpochStarted(LeaderEpoch{StartOffset: 100, AtMs: 2000}, false)
	p.Fetched(Fetch{Offset: 50, LeaderLEO: 100, AtMs: 2100})
	if p.LastCaughtUpMs != 0 {
		t.Errorf("LastCaughtUpMs = %d, want 0", p.LastCaughtUpMs)
	}
}

func TestCaughtUp(t *testing.T) {
	t.Parallel()
	const lagMaxMs = 30_000
	for _, tt := range []struct {
		name      string
		p         Progress
		leaderLEO int64
		nowMs     int64
		want      bool
	}{
		// ReplicaState.isCaughtUp.
		{"has all, silent for an hour", Progress{LEO: 100}, 100, 3_600_000, true},
		{"behind, exactly at the limit", Progress{LEO: 99, LastCaughtUpMs: 1000}, 100, 31_000, true},
		{"behind, one ms past the limit", Progress{LEO: 99, LastCaughtUpMs: 1000}, 100, 31_001, false},
		{"not heard from, time left", Progress{LEO: UnknownLEO, LastCaughtUpMs: 1000}, 100, 2000, true},
		{"not heard from, no time left", Progress{LEO: UnknownLEO}, 100, 40_000, false},
		// Equal, not "at least": it is ahead of a leader that lost records.
		{"ahead of the leader", Progress{LEO: 101}, 100, 40_000, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.p.CaughtUp(tt.leaderLEO, tt.nowMs, lagMaxMs); got != tt.want {
				t.Errorf("CaughtUp = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestOutOfSync(t *testing.T) {
	t.Parallel()
	const nowMs, lagMaxMs = 100_000, 30_000
	fresh := Progress{LEO: 40, LastCaughtUpMs: 90_000}
	stale := Progress{LEO: 40, LastCaughtUpMs: 60_000}
	for _, tt := range []struct {
		name     string
		isr      []int32
		progress map[int32]Progress
		want     []int32
	}{
		{"all in sync", []int32{1, 2, 3}, map[int32]Progress{2: fresh, 3: fresh}, nil},
		{"one late", []int32{1, 2, 3}, map[int32]Progress{2: fresh, 3: stale}, []int32{3}},
		// All late ones leave in one request, in the order of the ISR.
		{"two late", []int32{3, 1, 2}, map[int32]Progress{2: stale, 3: stale}, []int32{3, 2}},
		{"late but equal", []int32{1, 2}, map[int32]Progress{2: {LEO: 50, LastCaughtUpMs: 1}}, nil},
		{"a member without record", []int32{1, 2}, nil, []int32{2}},
		// Only members can leave.
		{"late outside the ISR", []int32{1, 2}, map[int32]Progress{2: fresh, 3: stale}, nil},
		{"leader alone", []int32{1}, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			progress := func(id int32) (Progress, bool) {
				p, ok := tt.progress[id]
				return p, ok
			}
			got := OutOfSync(tt.isr, Leader[int32]{ID: 1, LEO: 50}, progress, nowMs, lagMaxMs)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestShrinkCheckMs(t *testing.T) {
	t.Parallel()
	if got := ShrinkCheckMs(30_000); got != 15_000 {
		t.Errorf("ShrinkCheckMs(30000) = %d, want 15000", got)
	}
}
