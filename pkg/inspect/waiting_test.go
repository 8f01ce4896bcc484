package inspect_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestWaitingSince: what two looks prove of a record's wait, and what they do not.
func TestWaitingSince(t *testing.T) {
	t.Parallel()
	type look struct {
		id              string
		epoch           inspect.Epoch
		leo, hw, after  inspect.Offset // −1 is unknown
		absent, noOffer bool
	}
	known := func(o inspect.Offset) inspect.Opt[inspect.Offset] {
		if o < 0 {
			return inspect.Unknown[inspect.Offset]()
		}
		return inspect.Known(o)
	}
	snapshot := func(l look) *inspect.Snapshot {
		s := &inspect.Snapshot{}
		if l.absent {
			return s
		}
		p := inspect.Partition{
			Topic: "orders", TopicID: inspect.Known(l.id), Index: 3, Leader: 1, LeaderEpoch: inspect.Known(l.epoch),
			Replicas: []inspect.BrokerID{1}, ISR: []inspect.BrokerID{1},
		}
		if !l.noOffer {
			p.Offsets = &inspect.Offsets{LEOBefore: known(l.leo), HW: known(l.hw), LEOAfter: known(l.after)}
		}
		s.Topics = []inspect.Topic{{Name: "orders", Partitions: []inspect.Partition{p}}}
		return s
	}
	first := look{id: "a", epoch: 5, leo: 100, hw: 90, after: 100}
	for name, tt := range map[string]struct {
		before, now      look
		waiting, unknown int
	}{
		"it stands":                   {first, look{id: "a", epoch: 5, leo: 100, hw: 90, after: 100}, 1, 0},
		"it moves, and is too slow":   {first, look{id: "a", epoch: 5, leo: 200, hw: 99, after: 210}, 1, 0},
		"the last one is committed":   {first, look{id: "a", epoch: 5, leo: 200, hw: 100, after: 210}, 0, 0},
		"committed by another leader": {first, look{id: "a", epoch: 6, leo: 200, hw: 100, after: 210}, 0, 0},
		"another leader":              {first, look{id: "a", epoch: 6, leo: 98, hw: 95, after: 98}, 0, 1},
		"another leader has all":      {first, look{id: "a", epoch: 6, leo: 95, hw: 95, after: 95}, 0, 0},
		"another topic of that name":  {first, look{id: "b", epoch: 5, leo: 20, hw: 10, after: 20}, 0, 0},
		"created meanwhile":           {look{absent: true}, look{id: "a", epoch: 5, leo: 20, hw: 10, after: 20}, 0, 0},
		"deleted meanwhile":           {first, look{absent: true}, 0, 0},
		"no HW":                       {first, look{id: "a", epoch: 5, leo: 200, hw: -1, after: 210}, 0, 1},
		"no LEO at first":             {look{id: "a", epoch: 5, leo: -1, hw: 90, after: 100}, look{id: "a", epoch: 5, leo: 200, hw: 99, after: 210}, 0, 1},
		"no LEO at first, none waits": {look{id: "a", epoch: 5, leo: -1, hw: 90, after: 100}, look{id: "a", epoch: 5, leo: 200, hw: 200, after: 200}, 0, 0},
		"not asked at first":          {look{id: "a", epoch: 5, noOffer: true}, look{id: "a", epoch: 5, leo: 200, hw: 99, after: 210}, 0, 1},
		// What came while the first look lasted may be younger than its end.
		"what came after L0": {look{id: "a", epoch: 5, leo: 90, hw: 90, after: 100}, look{id: "a", epoch: 5, leo: 100, hw: 90, after: 100}, 0, 0},
	} {
		got := snapshot(tt.now).WaitingSince(snapshot(tt.before))
		want := inspect.Waiting{Unknown: tt.unknown}
		if tt.waiting > 0 {
			want.Partitions = []inspect.TopicPartition{{Topic: "orders", Partition: 3}}
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s: -got +want:\n%s", name, diff)
		}
	}
}
