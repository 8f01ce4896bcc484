package tuning_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafkaops/kafkaops/pkg/tuning"
)

func TestAdviseAcks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		e           tuning.AcksEvidence
		recommended string
		says        string
	}{
		{"a proof", tuning.AcksEvidence{Topic: "orders", WindowMs: hour, UnderMinISRMs: 1000, AppendedUnderMinISR: 41}, "all", "41 records were appended while its ISR was below"},
		{"nobody wrote", tuning.AcksEvidence{Topic: "orders", WindowMs: hour, UnderMinISRMs: 300_000}, "", "in the 5 min in which"},
		{"measured", tuning.AcksEvidence{WindowMs: hour, Canary: &tuning.Canary{
			Topic: "canary", One: tuning.Latency{Records: 200, P50Ms: 1.2, P99Ms: 3}, All: tuning.Latency{Records: 150, Failed: 50, P50Ms: 3.14159, P99Ms: 12.5},
		}}, "", "writes to canary: with acks=1 half took at most 1.2 ms and 99 % at most 3 ms, with acks=all half took at most 3.14 ms and 99 % at most 12.5 ms (50 of 200 failed)"},
		{"never below", tuning.AcksEvidence{Topic: "orders", WindowMs: hour}, "", "not observable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := tuning.AdviseAcks(tt.e)
			if a.Recommended != tt.recommended || a.StartingPoint != "" || !strings.Contains(a.Why, tt.says) {
				t.Errorf("got %q, to begin with %q: %s; want %q, and %q", a.Recommended, a.StartingPoint, a.Why, tt.recommended, tt.says)
			}
			if (tt.recommended == "") != (len(a.Apply) == 0) {
				t.Errorf("apply %q", a.Apply)
			}
		})
	}
}

func TestAdviseSession(t *testing.T) {
	t.Parallel()
	// In a week, broker 2 was back 1, 2, 4 and 5 s after it was fenced, broker 3 once
	// after 3 s. Broker 1 was restarted, broker 4 was away for an hour, broker 5 for good.
	flaps := []tuning.Fencing{
		{Broker: 1, AtMs: hour, BackMs: hour + 1000, Restarted: true},
		{Broker: 4, AtMs: hour, BackMs: 2 * hour},
		{Broker: 5, AtMs: hour},
		{Broker: 3, AtMs: 2 * hour, BackMs: 2*hour + 3000},
	}
	for i, ms := range []int64{1000, 2000, 4000, 5000} {
		at := int64(i+3) * day / 2
		flaps = append(flaps, tuning.Fencing{Broker: 2, AtMs: at, BackMs: at + ms})
	}
	unclear := append(slices.Clone(flaps), tuning.Fencing{Broker: 6, AtMs: hour, BackMs: hour + 1000, RestartUnknown: true})
	for _, tt := range []struct {
		name    string
		h       tuning.FencingHistory
		perWeek float64
		want    string
		n       int
		says    string
		cost    []tuning.Cost
	}{
		{"once a week", tuning.FencingHistory{ToMs: 7 * day, Fencings: flaps, SessionTimeoutMs: 9000}, 1, "15000", 5, "were 5 times", []tuning.Cost{tuning.CostRestart}},
		{"twice, and one was silent for just 12 s", tuning.FencingHistory{ToMs: 7 * day, Fencings: flaps, SessionTimeoutMs: 9000}, 2, "15000", 5, "", []tuning.Cost{tuning.CostRestart}},
		{"three times", tuning.FencingHistory{ToMs: 7 * day, Fencings: flaps, SessionTimeoutMs: 9000}, 3, "12000", 5, "", []tuning.Cost{tuning.CostRestart}},
		{"five times", tuning.FencingHistory{ToMs: 7 * day, Fencings: flaps, SessionTimeoutMs: 9000}, 5, "9000", 5, "", nil},
		{"nobody flaps", tuning.FencingHistory{ToMs: 7 * day, Fencings: flaps[:3], SessionTimeoutMs: 9000}, 1, "9000", 0, "0 times a week", nil},
		{"silent for too long", tuning.FencingHistory{ToMs: 7 * day, Fencings: flaps, SessionTimeoutMs: 60_000}, 1, "", 5, "Broker 2 does so most", nil},
		{"nobody knows who was started again", tuning.FencingHistory{ToMs: 7 * day, Fencings: unclear, SessionTimeoutMs: 9000}, 1, "", 5, "1 times a broker was fenced or gone", nil},
		{"an hour", tuning.FencingHistory{ToMs: hour, Fencings: flaps, SessionTimeoutMs: 9000}, 1, "", 5, "a day is needed", nil},
		{"the session is unknown", tuning.FencingHistory{ToMs: 7 * day, Fencings: flaps}, 1, "", 5, "value in force is unknown", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := tuning.AdviseSession(&tt.h, tuning.Budget{RemovalsPerWeek: tt.perWeek})
			if a.Recommended != tt.want || a.Evidence.N != tt.n || !strings.Contains(a.Why, tt.says) {
				t.Errorf("got %q, n %d: %s; want %q, n %d, and %q", a.Recommended, a.Evidence.N, a.Why, tt.want, tt.n, tt.says)
			}
			if diff := cmp.Diff(tt.cost, a.Cost); diff != "" {
				t.Errorf("cost: -want +got:\n%s", diff)
			}
		})
	}
}
