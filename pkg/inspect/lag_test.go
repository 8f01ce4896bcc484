package inspect

import (
	"fmt"
	"strings"
	"testing"
)

// offsets builds Offsets from numbers; a negative one is unknown.
func offsets(l0, hw, l2 int64, followers ...FollowerOffset) *Offsets {
	return &Offsets{LEOBefore: at(l0), HW: at(hw), LEOAfter: at(l2), Followers: followers}
}

func at(n int64) Opt[Offset] {
	if n < 0 {
		return Unknown[Offset]()
	}
	return Known(Offset(n))
}

func follower(id BrokerID, leo int64) FollowerOffset {
	f := FollowerOffset{Broker: id, LEO: at(leo)}
	if leo < 0 {
		f.Error = "no reply"
	}
	return f
}

// lagText is the whole answer in one line: partition, then each replica.
func lagText(l PartitionLag) string {
	var b strings.Builder
	fmt.Fprintf(&b, "hw %s leo %s uncommitted %s..%s", l.HW, l.LEO, l.Uncommitted, l.UncommittedMax)
	for _, r := range l.Replicas {
		fmt.Fprintf(&b, " | %d %s leo %s lag %s..%s caught-up %s", r.Broker, r.State, r.LEO, r.Lag, r.LagMax, r.CaughtUp)
	}
	return b.String()
}

func TestLag(t *testing.T) {
	t.Parallel()
	late := follower(2, 105)
	late.Late = true
	refused := FollowerOffset{Broker: 2, Refused: true, Error: "NOT_LEADER_OR_FOLLOWER"}
	for _, tt := range []struct {
		name    string
		p       *Partition
		offsets *Offsets
		want    string
	}{
		{
			"quiet", part(1, "12", "12", 1), offsets(100, 100, 100, follower(2, 100)),
			"hw 100 leo 100 uncommitted 0..0 | 1 leader leo 100 lag 0..0 caught-up true | 2 in-sync leo 100 lag 0..0 caught-up true",
		},
		{ // The log moves while it is read: the lower bound must not invent lag.
			"busy and caught up", part(1, "12", "12", 1), offsets(100, 104, 110, follower(2, 102)),
			"hw 104 leo 104 uncommitted 0..6 | 1 leader leo 104 lag 0..0 caught-up true | 2 in-sync leo 102 lag 0..8 caught-up true",
		},
		{ // LEO 91, HW 50: acks=1 writes below min ISR.
			"strict min ISR", part(1, "12", "1", 2), offsets(91, 50, 91, follower(2, 50)),
			"hw 50 leo 91 uncommitted 41..41 | 1 leader leo 91 lag 0..0 caught-up true | 2 out-of-sync leo 50 lag 41..41 caught-up false",
		},
		{
			"silent follower", part(1, "12", "12", 1), offsets(100, 90, 101, follower(2, -1)),
			"hw 90 leo 100 uncommitted 10..11 | 1 leader leo 100 lag 0..0 caught-up true | 2 unknown leo - lag -..- caught-up -",
		},
		{
			"silent leader", part(1, "12", "12", 1), offsets(-1, -1, -1, follower(2, 100)),
			"hw - leo - uncommitted -..- | 1 unknown leo - lag -..- caught-up - | 2 in-sync leo 100 lag -..- caught-up -",
		},
		{ // Two replicas of a leaderless partition at 497 and 477.
			"leaderless", part(NoBroker, "12", "", 1), offsets(-1, -1, -1, follower(1, 497), follower(2, 477)),
			"hw - leo - uncommitted -..- | 1 out-of-sync leo 497 lag -..- caught-up - | 2 out-of-sync leo 477 lag -..- caught-up -",
		},
		{ // Read after L2, so L2 − f bounds nothing.
			"late follower", part(1, "12", "12", 1), offsets(100, 100, 103, late),
			"hw 100 leo 100 uncommitted 0..3 | 1 leader leo 100 lag 0..0 caught-up true | 2 in-sync leo 105 lag 0..- caught-up true",
		},
		{
			"replica id -2 refused", part(1, "12", "12", 1), offsets(-1, 100, -1, refused),
			"hw 100 leo - uncommitted -..- | 1 leader leo - lag -..- caught-up - | 2 in-sync leo - lag -..- caught-up -",
		},
		{ // The leader's log was cut between its two readings.
			"truncated while read", part(1, "12", "12", 1), offsets(100, 100, 60, follower(2, 60)),
			"hw 100 leo 100 uncommitted 0..- | 1 leader leo 100 lag 0..0 caught-up true | 2 in-sync leo 60 lag 40..- caught-up false",
		},
		{ // The same, with the first reading refused.
			"truncated, first reading refused", part(1, "12", "12", 1), offsets(-1, 100, 50, follower(2, 60)),
			"hw 100 leo - uncommitted -..- | 1 leader leo - lag -..- caught-up - | 2 in-sync leo 60 lag -..- caught-up -",
		},
		{
			"follower ahead of a new leader", part(1, "12", "12", 1), offsets(100, 100, 100, follower(2, 120)),
			"hw 100 leo 100 uncommitted 0..0 | 1 leader leo 100 lag 0..0 caught-up true | 2 in-sync leo 120 lag 0..0 caught-up true",
		},
		{
			"not asked", part(1, "12", "12", 1), nil,
			"hw - leo - uncommitted -..- | 1 unknown leo - lag -..- caught-up - | 2 unknown leo - lag -..- caught-up -",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.p.Offsets = tt.offsets
			if got := lagText(tt.p.Lag()); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestLagOffline(t *testing.T) {
	t.Parallel()
	p := part(1, "123", "1", 1)
	p.Offline = ids("23")
	p.Offsets = offsets(100, 100, 100, follower(2, -1), follower(3, 40))
	l := p.Lag()
	// A fenced broker may still answer; then its LEO is shown.
	for i, want := range []ReplicaState{ReplicaLeader, ReplicaOffline, ReplicaOffline} {
		if got := l.Replicas[i].State; got != want {
			t.Errorf("replica %d: state = %s, want %s", l.Replicas[i].Broker, got, want)
		}
	}
	if got := l.Replicas[2].Lag; got != Known[int64](60) {
		t.Errorf("lag of the fenced one = %s, want 60", got)
	}
}

func TestMaxLag(t *testing.T) {
	t.Parallel()
	p := part(1, "123", "123", 1)
	p.Offsets = offsets(100, 10, 100, follower(2, 90), follower(3, -1))
	l := p.Lag()
	if got := l.MaxLag(); got != Known[int64](10) {
		t.Errorf("max lag = %s, want 10", got)
	}
	p.Offsets = offsets(-1, -1, -1, follower(2, 90))
	l = p.Lag()
	if got := l.MaxLag(); got.IsKnown() {
		t.Errorf("max lag without a leader = %s, want unknown", got)
	}
}
