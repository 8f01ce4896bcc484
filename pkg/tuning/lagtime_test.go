package tuning_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafkaops/kafkaops/pkg/tuning"
)

const day = 24 * hour

// aWeek is a result with so many episodes a candidate removes somebody in.
func aWeek(episodes int, removed map[int64]float64) tuning.LagResult {
	r := tuning.LagResult{ToMs: 7 * day, IntervalMs: 1000}
	r.Excursions, r.Episodes, r.LongestMs = 2*episodes, episodes, 11_000
	for _, ms := range tuning.CandidatesMs() {
		n := removed[ms]
		r.Candidates = append(r.Candidates, tuning.LagOutcome{LagTimeMaxMs: ms, Removals: 3 * n, Episodes: n, OutMs: 1000 * n})
	}
	b := tuning.BrokerRemovals{Broker: 2}
	for _, o := range r.Candidates {
		b.Removals = append(b.Removals, o.Removals)
	}
	r.Brokers = []tuning.BrokerRemovals{b}
	return r
}

func TestAdviseLagTime(t *testing.T) {
	t.Parallel()
	kraft := tuning.Settings{LagTimeMaxMs: 30_000, FetchWaitMs: 500, SessionTimeoutMs: 9000, HeartbeatMs: 2000}
	shortSession := tuning.Settings{LagTimeMaxMs: 30_000, FetchWaitMs: 500, SessionTimeoutMs: 3000, HeartbeatMs: 1000}
	few := map[int64]float64{2000: 40, 3000: 20, 4000: 9, 5000: 3, 6000: 0.8}
	many := map[int64]float64{}
	for _, ms := range tuning.CandidatesMs() {
		many[ms] = 200_000 / float64(ms)
	}
	for _, tt := range []struct {
		name  string
		r     tuning.LagResult
		s     tuning.Settings
		goal  tuning.Goal
		want  string
		start string
		low   string
		high  string
		says  string
	}{
		{"above the session", aWeek(100, few), kraft, tuning.GoalBalanced, "12000", "", "12000", "", "writes with acks=all wait that long"},
		{"as small as the budget", aWeek(100, few), shortSession, tuning.GoalBalanced, "8000", "", "6000", "", "a margin of 20 %"},
		{"with less patience for removals", aWeek(100, few), shortSession, tuning.GoalThroughput, "10000", "", "8000", "", "budget 0.25"},
		{"as it is", aWeek(100, few), tuning.Settings{LagTimeMaxMs: 12_000}, tuning.GoalBalanced, "12000", "", "12000", "", "The session timeout is unknown"},
		{
			"both cannot be", func() tuning.LagResult { r := aWeek(100, many); r.ObservedRemovals = 18; return r }(), kraft, tuning.GoalBalanced, "", "", "", "",
			"with 30000, the most that a stall of 45 s allows, replicas are removed in 6.7 episodes a week, and the budget is 1. Broker 2 is the follower in 100 %",
		},
		{
			"a session longer than the stall", aWeek(100, few),
			tuning.Settings{SessionTimeoutMs: 40_000, HeartbeatMs: 2000},
			tuning.GoalBalanced, "", "", "", "",
			"shorten broker.session.timeout.ms",
		},
		{"too few", aWeek(5, few), kraft, tuning.GoalBalanced, "", "30000", "", "", "Record for about 28 days"},
		{"none at all", aWeek(0, nil), kraft, tuning.GoalThroughput, "", "45000", "", "", "Record for at least 46.7 days"},
		{"durable starts above the session", aWeek(0, nil), kraft, tuning.GoalDurable, "", "12000", "", "", "has to be fenced"},
		{
			"most were cut off", func() tuning.LagResult { r := aWeek(100, few); r.CutOff = 60; return r }(), kraft, tuning.GoalBalanced, "", "30000", "", "",
			"60 of 260 excursions were not seen to their end",
		},
		{
			"the replay does not tell what happened", func() tuning.LagResult { r := aWeek(100, few); r.ObservedRemovals = 8; return r }(), kraft, tuning.GoalBalanced,
			"", "30000", "", "", "the replay removes 0.0 replicas, and 8 left the ISR",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := tuning.AdviseLagTime(&tt.r, tt.s, tt.goal, tuning.BudgetOf(tt.goal))
			if a.Recommended != tt.want || a.StartingPoint != tt.start {
				t.Errorf("got %q, to begin with %q, want %q and %q", a.Recommended, a.StartingPoint, tt.want, tt.start)
			}
			if a.Bound.Low != tt.low || a.Bound.High != tt.high {
				t.Errorf("bound from %q to %q, want %q to %q: %s", a.Bound.Low, a.Bound.High, tt.low, tt.high, a.Bound.Text)
			}
			if !strings.Contains(a.Why, tt.says) {
				t.Errorf("why: %q, want it to say %q", a.Why, tt.says)
			}
			if changes := tt.want != "" && tt.want != a.Current; changes != (len(a.Apply) > 0) || changes != (len(a.Undo) > 0) {
				t.Errorf("apply %q, undo %q, from %q to %q", a.Apply, a.Undo, a.Current, a.Recommended)
			}
		})
	}
}

// heavy draws from a Pareto distribution with index 1.5, cut at high.
func heavy(rng *rand.Rand, low, high int64) int64 {
	u := 1 - rng.Float64()
	x := float64(low)
	for i := u; i < 1; i *= 1.5 * 1.5 * 1.5 { // x = low · u^(−2/3), without math
		x *= 1.5 * 1.5
	}
	return min(int64(x), high)
}

// hiccups are looks at partitions whose followers stop now and then.
func hiccups(seed uint64, partitions int, forMs int64) (looks []tuning.Look) {
	rng := rand.New(rand.NewPCG(seed, 0))
	stopped, at := make([]int64, partitions), make([]int64, partitions)
	for ms := int64(0); ms < forMs; ms += 1000 {
		for p := range partitions {
			if ms >= stopped[p] {
				at[p] = ms
				if rng.IntN(100) == 0 {
					stopped[p] = ms + heavy(rng, 1500, 40_000)
				}
			}
			looks = append(looks, tuning.Look{
				AtMs: ms, Leader: 1, LEO: ms / 50, HW: at[p] / 50,
				Followers: []tuning.FollowerLook{{Broker: 2, LEO: at[p] / 50, InISR: true}, {Broker: 3, LEO: ms / 50, InISR: true}},
			})
		}
	}
	return looks
}

func adviseOn(looks []tuning.Look, partitions int) tuning.Advice {
	r := tuning.NewLagReplay(tuning.LagOptions{})
	for i := range looks {
		r.Add(tuning.Partition{Topic: "t", Index: int32(i % partitions)}, &looks[i])
	}
	result := r.Result()
	// A budget that a short window can speak to.
	return tuning.AdviseLagTime(&result, tuning.Settings{SessionTimeoutMs: 3000, HeartbeatMs: 1000}, tuning.GoalBalanced, tuning.Budget{RemovalsPerWeek: 700, StallMs: 180_000})
}

func TestSameEvidenceSameAdvice(t *testing.T) {
	t.Parallel()
	looks := hiccups(1, 3, hour)
	var first []byte
	for range 5 {
		b, err := json.Marshal(adviseOn(looks, 3))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		}
		if diff := cmp.Diff(string(first), string(b)); diff != "" {
			t.Fatalf("-first +now:\n%s", diff)
		}
	}
	if !strings.Contains(string(first), `"Recommended":"`) || strings.Contains(string(first), `"Recommended":""`) {
		t.Errorf("nothing is recommended: %s", first)
	}
}

// TestHalvesWithinTheBound: what half of the evidence leads to lies within the bound
// that the whole states, in 95 of 100.
func TestHalvesWithinTheBound(t *testing.T) {
	t.Parallel()
	const partitions = 1
	recordings := 10
	if os.Getenv("KAFKAOPS_LONG") != "" {
		recordings = 100
	}
	given, within, bounded := 0, 0, 0
	for seed := range recordings {
		looks := hiccups(100+uint64(seed), partitions, 2*hour)
		whole := adviseOn(looks, partitions)
		if whole.Recommended == "" {
			continue
		}
		candidates := tuning.CandidatesMs()
		place := func(ms string) int {
			return slices.IndexFunc(candidates, func(c int64) bool { return strconv.FormatInt(c, 10) == ms })
		}
		high := place(whole.Bound.High)
		if high >= 0 {
			bounded++
		} else {
			high = len(candidates)
		}
		for _, half := range [][]tuning.Look{looks[:len(looks)/2], looks[len(looks)/2:]} {
			a := adviseOn(half, partitions)
			if a.Recommended == "" {
				continue
			}
			given++
			if i := place(a.Recommended); i >= place(whole.Bound.Low) && i <= high {
				within++
			}
		}
	}
	t.Logf("%d of %d halves give a number, %d of those within the bound; %d bounds are closed", given, 2*recordings, within, bounded)
	if given < recordings || within*100 < given*95 || bounded < recordings/2 {
		t.Errorf("%d of %d halves give a number, %d of those within the bound; %d bounds are closed", given, 2*recordings, within, bounded)
	}
}
