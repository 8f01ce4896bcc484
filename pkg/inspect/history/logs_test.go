package history

import (
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestLogs: samples that know the HW and samples that do not are no change to it.
func TestLogs(t *testing.T) {
	t.Parallel()
	h := NewLogs(8)
	for i := range 100 {
		o := &inspect.Offsets{
			LEOBefore: inspect.Known[inspect.Offset](20),
			Followers: []inspect.FollowerOffset{{Broker: 2, LEO: inspect.Known[inspect.Offset](15)}},
		}
		if i < 50 {
			o.LEOBefore = inspect.Known[inspect.Offset](15)
		}
		if i%10 == 0 {
			o.HW = inspect.Known[inspect.Offset](15)
		}
		h.Add(&inspect.Snapshot{
			TakenAt: start.Add(time.Duration(i) * time.Second), Asked: inspect.PartOffsets,
			Topics: []inspect.Topic{{Name: "t", Partitions: []inspect.Partition{{Topic: "t", Leader: 1, Replicas: []inspect.BrokerID{1, 2}, Offsets: o}}}},
		})
	}
	// 100 samples with 8 kept: only equal ones in a row reach back so far.
	if got := h.TimeLag("t", 0, 2); got.State != LagKnown || got.Ms != 50_000 || got.OverMs != 49_000 {
		t.Errorf("TimeLag = %+v, want 50 s", got)
	}
	for position, want := range map[inspect.Offset]Lag{
		20: {State: LagKnown},
		15: {State: LagKnown, Ms: 50_000, OverMs: 49_000},
		14: {State: LagAtLeast, Ms: 99_000, OverMs: 99_000},
	} {
		if got := h.WrittenLag("t", 0, position); got != want {
			t.Errorf("WrittenLag(%d) = %+v, want %+v", position, got, want)
		}
	}
	if got := h.ReadLag("t", 0, 15); got.State != LagUnknown {
		t.Errorf("ReadLag = %+v without a HW", got)
	}
	if got := h.WrittenLag("nosuch", 0, 0); got.State != LagUnknown {
		t.Errorf("WrittenLag of no topic = %+v", got)
	}
}
