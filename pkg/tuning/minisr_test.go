package tuning_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kafkaops/kafkaops/pkg/tuning"
)

const hour = 3_600_000

func ids(n ...int32) []int32 { return n }

// twoDays is a topic of two partitions with three replicas each: broker 3 is out for
// an hour, and broker 2 too for half of it; the second partition has no leader for ten
// minutes.
func twoDays() *tuning.ISRHistory {
	all := ids(1, 2, 3)
	return &tuning.ISRHistory{
		Topic: "orders", FromMs: 0, ToMs: 48 * hour, Racks: map[int32]string{1: "a", 2: "b", 3: "b"},
		States: []tuning.ISRState{
			{AtMs: 0, Partition: 0, Leader: 1, Replicas: all, ISR: all},
			{AtMs: 0, Partition: 1, Leader: 2, Replicas: all, ISR: all},
			{AtMs: 10 * hour, Partition: 0, Leader: 1, Replicas: all, ISR: ids(1, 2)},
			{AtMs: 10*hour + hour/2, Partition: 0, Leader: 1, Replicas: all, ISR: ids(1)},
			{AtMs: 11 * hour, Partition: 0, Leader: 1, Replicas: all, ISR: all},
			{AtMs: 10*hour + hour/2, Partition: 1, Leader: tuning.Unknown, Replicas: all, ISR: ids()},
			{AtMs: 10*hour + hour*2/3, Partition: 1, Leader: 2, Replicas: all, ISR: all},
		},
	}
}

func TestISRReplay(t *testing.T) {
	t.Parallel()
	want := tuning.ISRReplay{
		Partitions: 2, Shrinks: 3, KnownMs: 48 * hour, MinRF: 3, MaxRF: 3, OneCopyMs: hour / 2, LeaderlessMs: hour / 6,
		WorstLoss: 3, MinRacks: 0, AssignedRacks: 2,
		ByMinISR: []tuning.MinISROutcome{
			{MinISR: 1},
			{MinISR: 2, RefusedMs: hour / 2, PartitionRefusedMs: hour / 2, Refusals: 1},
			{MinISR: 3, RefusedMs: hour, PartitionRefusedMs: hour, Refusals: 1},
		},
	}
	if diff := cmp.Diff(want, twoDays().Replay()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestISRReplayAgainstDumb counts millisecond by millisecond.
func TestISRReplayAgainstDumb(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const end = 60
		h := &tuning.ISRHistory{ToMs: end}
		replicas := make([][]int32, 2)
		for p := range replicas {
			replicas[p] = []int32{1, 2, 3, 4}[:rapid.IntRange(1, 4).Draw(t, "rf")]
			for at := int64(0); at < end; at += rapid.Int64Range(1, 30).Draw(t, "for") {
				s := tuning.ISRState{AtMs: at, Partition: int32(p), Leader: rapid.Int32Range(-1, 1).Draw(t, "leader"), Replicas: replicas[p]}
				s.ISR = slices.DeleteFunc(slices.Clone(replicas[p]), func(int32) bool { return rapid.Bool().Draw(t, "out") })
				h.States = append(h.States, s)
			}
		}
		if from := rapid.Int64Range(0, end).Draw(t, "gap"); rapid.Bool().Draw(t, "has gap") {
			h.Gaps = []tuning.Span{{FromMs: from, ToMs: min(end, from+10)}}
		}
		r := h.Replay()
		at := func(p int32, ms int64) (found tuning.ISRState) {
			for _, s := range h.States {
				if s.Partition == p && s.AtMs <= ms {
					found = s
				}
			}
			return found
		}
		var oneCopy, leaderless, known int64
		refused, summed := make([]int64, r.MaxRF+1), make([]int64, r.MaxRF+1)
		for ms := range int64(end) {
			if len(h.Gaps) > 0 && ms >= h.Gaps[0].FromMs && ms < h.Gaps[0].ToMs {
				continue
			}
			known++
			a, b := at(0, ms), at(1, ms)
			if either(a, b, func(s tuning.ISRState) bool { return len(s.Replicas) > 1 && len(s.ISR) < 2 }) > 0 {
				oneCopy++
			}
			if either(a, b, func(s tuning.ISRState) bool { return s.Leader < 0 }) > 0 {
				leaderless++
			}
			for m := 1; m <= r.MaxRF; m++ {
				n := either(a, b, func(s tuning.ISRState) bool { return s.Leader >= 0 && len(s.ISR) < m && len(s.ISR) < len(s.Replicas) })
				summed[m] += n
				refused[m] += min(n, 1)
			}
		}
		if r.KnownMs != known || r.OneCopyMs != oneCopy || r.LeaderlessMs != leaderless {
			t.Fatalf("got %+v, want %d ms known, %d of one copy, %d without leader", r, known, oneCopy, leaderless)
		}
		for m := 1; m <= r.MaxRF; m++ {
			if o := r.ByMinISR[m-1]; o.RefusedMs != refused[m] || o.PartitionRefusedMs != summed[m] {
				t.Fatalf("got %+v, want refused %d, summed %d", o, refused[m], summed[m])
			}
		}
	})
}

func either(a, b tuning.ISRState, is func(tuning.ISRState) bool) (n int64) {
	for _, s := range []tuning.ISRState{a, b} {
		if is(s) {
			n++
		}
	}
	return n
}

func TestAdviseMinISR(t *testing.T) {
	t.Parallel()
	fourReplicas := func() *tuning.ISRHistory {
		h := twoDays()
		for i := range h.States {
			h.States[i].Replicas = ids(1, 2, 3, 4)
			if len(h.States[i].ISR) > 0 {
				h.States[i].ISR = append(slices.Clone(h.States[i].ISR), 4)
			}
		}
		return h
	}
	ofReplicas := func(n int) *tuning.ISRHistory {
		r := ids(1, 2)[:n]
		return &tuning.ISRHistory{ToMs: 48 * hour, States: []tuning.ISRState{{Leader: 1, Replicas: r, ISR: r}}}
	}
	short := twoDays()
	short.ToMs = 20 * hour
	for _, tt := range []struct {
		name        string
		h           *tuning.ISRHistory
		s           tuning.TopicSettings
		refusedMs   int64 // a week
		recommended string
		start       string
		cost        []tuning.Cost
		apply, undo string
	}{
		{
			"one less than the replicas", twoDays(),
			tuning.TopicSettings{Topic: "orders", MinISR: 1},
			4 * hour, "2", "",
			[]tuning.Cost{tuning.CostDynamic},
			"kafka-configs.sh --bootstrap-server HOST:PORT --alter --topic orders --add-config min.insync.replicas=2",
			"kafka-configs.sh --bootstrap-server HOST:PORT --alter --topic orders --delete-config min.insync.replicas",
		},
		{
			"with ELR, of the topic", twoDays(),
			tuning.TopicSettings{Topic: "orders", MinISR: 3, OfTopic: true, ELR: true},
			4 * hour, "2", "",
			[]tuning.Cost{tuning.CostDynamic, tuning.CostClearsELR},
			"kafka-configs.sh --bootstrap-server HOST:PORT --alter --topic orders --add-config min.insync.replicas=2",
			"kafka-configs.sh --bootstrap-server HOST:PORT --alter --topic orders --add-config min.insync.replicas=3",
		},
		{"as it is", twoDays(), tuning.TopicSettings{MinISR: 2}, 4 * hour, "2", "", nil, "", ""},
		{"half an hour in two days is too much", twoDays(), tuning.TopicSettings{MinISR: 1}, hour, "", "", []tuning.Cost{tuning.CostDynamic}, "", ""},
		{"four replicas: 3 refuses too long", fourReplicas(), tuning.TopicSettings{MinISR: 2}, hour, "2", "", nil, "", ""},
		{"two replicas", ofReplicas(2), tuning.TopicSettings{MinISR: 1}, hour, "1", "", nil, "", ""},
		{"one replica", ofReplicas(1), tuning.TopicSettings{MinISR: 1}, hour, "", "", []tuning.Cost{tuning.CostDynamic}, "", ""},
		{"not a day", short, tuning.TopicSettings{MinISR: 1}, hour, "", "2", []tuning.Cost{tuning.CostDynamic}, "", ""},
		{"nothing seen", &tuning.ISRHistory{ToMs: 48 * hour}, tuning.TopicSettings{}, hour, "", "", []tuning.Cost{tuning.CostDynamic}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := tuning.AdviseMinISR(tt.h, tt.s, tuning.Budget{RefusedMsPerWeek: tt.refusedMs})
			if a.Recommended != tt.recommended || a.StartingPoint != tt.start || a.Why == "" {
				t.Errorf("got %q, to begin with %q, want %q and %q: %s", a.Recommended, a.StartingPoint, tt.recommended, tt.start, a.Why)
			}
			if diff := cmp.Diff(tt.cost, a.Cost); diff != "" {
				t.Errorf("cost: -want +got:\n%s", diff)
			}
			if got := one(a.Apply); got != tt.apply {
				t.Errorf("apply: got %q, want %q", got, tt.apply)
			}
			if got := one(a.Undo); got != tt.undo {
				t.Errorf("undo: got %q, want %q", got, tt.undo)
			}
		})
	}
}

func one(s []string) string {
	if len(s) != 1 {
		return ""
	}
	return s[0]
}

func TestFindTopic(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		s         tuning.TopicSettings
		rf, racks int
		want      []tuning.FindingID
	}{
		{"fine", tuning.TopicSettings{MinISR: 2}, 3, 3, nil},
		{"unknown", tuning.TopicSettings{}, 3, 1, nil},
		{"no replica may be out", tuning.TopicSettings{MinISR: 3}, 3, 3, []tuning.FindingID{tuning.FindingRFNotAboveMinISR}},
		{"two of two", tuning.TopicSettings{MinISR: 2}, 2, 0, []tuning.FindingID{tuning.FindingRFNotAboveMinISR}},
		{"one of one", tuning.TopicSettings{MinISR: 1}, 1, 1, nil},
		{"one of two", tuning.TopicSettings{MinISR: 1}, 2, 1, nil},
		{"one of three", tuning.TopicSettings{MinISR: 1}, 3, 1, []tuning.FindingID{tuning.FindingMinISROne}},
		{"more than there are", tuning.TopicSettings{MinISR: 2}, 1, 1, []tuning.FindingID{tuning.FindingMinISRAboveRF}},
		{"unclean", tuning.TopicSettings{MinISR: 2, Unclean: true}, 3, 2, []tuning.FindingID{tuning.FindingUncleanElection}},
		{"one rack", tuning.TopicSettings{MinISR: 2}, 3, 1, []tuning.FindingID{tuning.FindingRacksBelowMinISR}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []tuning.FindingID
			for _, f := range tuning.FindTopic(tt.s, tt.rf, tt.racks) {
				got = append(got, f.ID)
				if f.Title == "" || f.Explanation == "" || f.Remedy == "" {
					t.Errorf("%s does not say all: %+v", f.ID, f)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
