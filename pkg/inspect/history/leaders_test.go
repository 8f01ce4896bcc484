package history

import (
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestLeaders: followers are passed over, so that samples which know them and
// samples which do not are no change; and the leader may be another one each time.
func TestLeaders(t *testing.T) {
	t.Parallel()
	h := NewLeaders(8)
	add := func(sec int, leader inspect.BrokerID, leo, hw inspect.Opt[inspect.Offset]) {
		o := &inspect.Offsets{LEOBefore: leo, HW: hw}
		if sec%10 == 0 {
			o.Followers = []inspect.FollowerOffset{{Broker: 2, LEO: inspect.Known[inspect.Offset](15)}}
		}
		h.Add(&inspect.Snapshot{
			TakenAt: start.Add(time.Duration(sec) * time.Second), Asked: inspect.PartOffsets,
			Topics: []inspect.Topic{{Name: "t", Partitions: []inspect.Partition{
				{Topic: "t", Leader: leader, Replicas: []inspect.BrokerID{1, 2}, Offsets: o},
			}}},
		})
	}
	at := inspect.Known[inspect.Offset]
	for i := range 100 {
		switch { // written at 50 s, committed at 80 s
		case i < 50:
			add(i, 1, at(15), at(15))
		case i < 80:
			add(i, 1, at(20), at(15))
		default:
			add(i, 2, at(20), at(20))
		}
	}
	// 100 samples with 8 kept: only equal ones in a row reach back so far.
	for position, want := range map[inspect.Offset]struct{ written, read Lag }{
		20: {Lag{State: LagKnown}, Lag{State: LagKnown}},
		15: {Lag{State: LagKnown, Ms: 50_000, OverMs: 49_000}, Lag{State: LagKnown, Ms: 20_000, OverMs: 19_000}},
		14: {Lag{State: LagAtLeast, Ms: 99_000, OverMs: 99_000}, Lag{State: LagAtLeast, Ms: 99_000, OverMs: 99_000}},
	} {
		if got := h.WrittenLag("t", 0, position); got != want.written {
			t.Errorf("WrittenLag(%d) = %+v, want %+v", position, got, want.written)
		}
		if got := h.ReadLag("t", 0, position); got != want.read {
			t.Errorf("ReadLag(%d) = %+v, want %+v", position, got, want.read)
		}
	}
	if got := h.TimeLag("t", 0, 2); got.State != LagUnknown {
		t.Errorf("TimeLag of a follower = %+v, want unknown", got)
	}
	if got := h.WrittenLag("nosuch", 0, 0); got.State != LagUnknown {
		t.Errorf("WrittenLag of no topic = %+v", got)
	}
	// A sample that lacks one of the two.
	add(100, 2, at(20), inspect.Unknown[inspect.Offset]())
	if w, r := h.WrittenLag("t", 0, 15).State, h.ReadLag("t", 0, 15).State; w != LagKnown || r != LagUnknown {
		t.Errorf("without a HW: written %s, read %s; want known, unknown", w, r)
	}
	add(101, inspect.NoBroker, at(20), at(20))
	if got := h.WrittenLag("t", 0, 15); got.State != LagUnknown {
		t.Errorf("WrittenLag without a leader = %+v", got)
	}
}
