package diagnose_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
)

var writeScore = flag.Bool("score.write", false, "write SCORE.md anew, with KAFKAOPS_LONG=1")

// What the score is made of.
const (
	firstIncident = 2001
	firstHealthy  = 3001
	healthyRuns   = 20
	// leastNamed is how many of the incidents have to be named in full, of 100.
	leastNamed = 95
)

// kinds are the incidents of the score, each with how many are drawn.
var kinds = []struct {
	times int
	incident
}{
	{4, incident{name: "slow disk", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		return []string{slowDisk(w, anyOf(rng), between(rng, 1200, 3000))}
	}}},
	{3, incident{name: "slow link", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		a, b := twoOf(rng)
		w.Link(a, b).Slow(between(rng, 1200, 3000))
		return []string{cause(diagnose.SlowLink, b) + "|" + string(diagnose.SlowLink)}
	}}},
	{2, incident{name: "cut link", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		a, b := twoOf(rng)
		w.Link(a, b).Cut()
		return []string{string(diagnose.SlowLink)}
	}}},
	{3, incident{name: "slow leader", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		p := rng.Perm(3)
		for _, to := range p[1:] {
			w.Link(p[0]+1, to+1).Slow(between(rng, 1500, 2500))
		}
		return []string{cause(diagnose.SlowLeader, p[0]+1) + "|" + cause(diagnose.SlowBroker, p[0]+1)}
	}}},
	{2, incident{name: "paused", rate: pace, do: pause}},
	{2, incident{name: "paused, hardly any traffic", rate: 2, do: pause}},
	{2, incident{name: "killed", rate: pace, do: kill}},
	{2, incident{name: "killed, hardly any traffic", rate: 2, do: kill}},
	{2, incident{name: "killed two", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		a, b := twoOf(rng)
		w.Broker(a).Kill()
		w.Broker(b).Kill()
		w.awaitFenced(a)
		w.awaitFenced(b)
		return []string{cause(diagnose.BrokerDown, a), cause(diagnose.BrokerDown, b)}
	}}},
	{2, incident{name: "heartbeats do not arrive", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		id := anyOf(rng)
		w.Broker(id).Fence()
		w.awaitFenced(id)
		return []string{cause(diagnose.BrokerDown, id)}
	}}},
	{1, incident{name: "full disk", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		id := anyOf(rng)
		w.Broker(id).FillDisk()
		w.awaitFenced(id)
		return []string{cause(diagnose.BrokerDown, id)}
	}}},
	{2, incident{name: "no controller", rate: pace, looks: 4, do: func(w *ward, _ *rand.Rand) []string {
		w.Controller().Kill()
		return []string{string(diagnose.NoController)}
	}}},
	{1, incident{name: "the controller's clock", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		w.Controller().JumpClock(between(rng, 60_000, 7_200_000))
		return []string{cause(diagnose.ClockSkew, embedded.ControllerID)}
	}}},
	{2, incident{name: "the only replica", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		id := anyOf(rng)
		w.topic("single", []int32{int32(id)})
		w.Broker(id).Kill()
		w.awaitFenced(id)
		return []string{cause(diagnose.BrokerDown, id)}
	}}},
	{2, incident{name: "all leaders on one broker", rate: 30, do: func(w *ward, rng *rand.Rand) []string {
		id := anyOf(rng)
		var assignment [][]int32
		for range 24 {
			assignment = append(assignment, []int32{int32(id), int32(id%3 + 1), int32((id+1)%3 + 1)})
		}
		w.topic("hot", assignment...)
		w.write("hot", 600)
		return []string{cause(diagnose.HotBroker, id)}
	}}},
	{2, incident{
		name: "a session that is too short", rate: 50, looks: 6,
		options: embedded.Options{Config: map[string]string{"broker.session.timeout.ms": "800", "broker.heartbeat.interval.ms": "400"}},
		do: func(w *ward, rng *rand.Rand) []string {
			id := anyOf(rng)
			w.Link(id, embedded.ControllerID).Slow(700 * time.Millisecond)
			time.Sleep(8 * time.Second)
			return []string{cause(diagnose.Flapping, id)}
		},
	}},
	{2, incident{
		name: "leaders that nobody moves back", rate: pace, options: embedded.Options{Config: map[string]string{"auto.leader.rebalance.enable": "false"}},
		do: func(w *ward, rng *rand.Rand) []string {
			w.restart(anyOf(rng))
			return []string{string(diagnose.LeadersAway)}
		},
	}},
	{1, incident{
		name: "one broker has another lag time", rate: pace, options: embedded.Options{BrokerConfig: map[int]map[string]string{2: {"replica.lag.time.max.ms": "20000"}}},
		do: func(*ward, *rand.Rand) []string { return []string{string(diagnose.ConfigsDiffer)} },
	}},
	{3, incident{name: "killed, and a slow disk", rate: pace, options: embedded.Options{Config: map[string]string{"broker.session.timeout.ms": "1500"}}, do: func(w *ward, rng *rand.Rand) []string {
		a, b := twoOf(rng)
		w.Broker(a).Kill()
		w.awaitFenced(a)
		return []string{cause(diagnose.BrokerDown, a), slowDisk(w, b, between(rng, 1500, 2500))}
	}}},
	{2, incident{name: "no controller, and a slow disk", rate: pace, looks: 6, do: func(w *ward, rng *rand.Rand) []string {
		w.Controller().Kill()
		return []string{string(diagnose.NoController), slowDisk(w, anyOf(rng), between(rng, 1500, 2500))}
	}}},
	{2, incident{name: "a clock, and a paused broker", rate: pace, do: func(w *ward, rng *rand.Rand) []string {
		w.Controller().JumpClock(between(rng, 60_000, 7_200_000))
		return append(pause(w, rng), cause(diagnose.ClockSkew, embedded.ControllerID))
	}}},
}

func pause(w *ward, rng *rand.Rand) []string {
	id := anyOf(rng)
	w.Broker(id).Pause()
	return []string{cause(diagnose.BrokerSilent, id) + "|" + cause(diagnose.BrokerDown, id)}
}

func kill(w *ward, rng *rand.Rand) []string {
	id := anyOf(rng)
	w.Broker(id).Kill()
	return []string{cause(diagnose.BrokerSilent, id) + "|" + cause(diagnose.BrokerDown, id)}
}

// restart stops a broker cleanly, starts it and waits until it is in all ISRs.
func (w *ward) restart(id int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	if err := w.Broker(id).Stop(ctx); err != nil {
		w.t.Fatal(err)
	}
	if err := w.Broker(id).Restart(ctx); err != nil {
		w.t.Fatal(err)
	}
	w.observed().awaitCaughtUp()
}

// wells are runs in which nothing is wrong.
var wells = []incident{
	{name: "idle", do: func(*ward, *rand.Rand) []string { return nil }},
	{name: "hardly any traffic", rate: 2, do: func(*ward, *rand.Rand) []string { return nil }},
	{name: "busy", rate: pace, do: func(*ward, *rand.Rand) []string { return nil }},
	{name: "busier", do: func(w *ward, rng *rand.Rand) []string {
		w.write("orders", float64(800+rng.IntN(1200)))
		return nil
	}},
	{name: "rolling restart", rate: pace, options: embedded.Options{Config: map[string]string{"broker.session.timeout.ms": "1500"}}, do: func(w *ward, rng *rand.Rand) []string {
		for _, id := range rng.Perm(3) {
			w.restart(id + 1)
		}
		return nil
	}},
}

// scored is a run's result.
type scored struct {
	seed      uint64
	name      string
	got, want []string
}

// TestScoreOnEngine: of at least 95 of 100 incidents the cause is named first and no other
// with it, of two that are there at once both, by seeds that no rule was made with; there is
// no alarm in runs in which nothing is wrong.
func TestScoreOnEngine(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("takes minutes: KAFKAOPS_LONG=1")
	}
	var mu sync.Mutex
	var incidents, healthy []scored
	t.Run("runs", func(t *testing.T) {
		run := func(in incident, seed uint64, to *[]scored, at int) {
			t.Run(fmt.Sprintf("%s %d", in.name, seed), func(t *testing.T) {
				t.Parallel()
				got, want := in.run(t, seed)
				mu.Lock()
				defer mu.Unlock()
				(*to)[at] = scored{seed, in.name, got, want}
			})
		}
		n := 0
		for _, k := range kinds {
			n += k.times
		}
		incidents, healthy = make([]scored, n), make([]scored, healthyRuns)
		at := 0
		for _, k := range kinds {
			for range k.times {
				run(k.incident, uint64(firstIncident+at), &incidents, at)
				at++
			}
		}
		for i := range healthyRuns {
			run(wells[i%len(wells)], uint64(firstHealthy+i), &healthy, i)
		}
	})
	score(t, "On the embedded engine", fmt.Sprintf(`Three brokers, twelve partitions of three replicas, looked at ten times in three seconds (%s between looks).`, interval), incidents, healthy)
}

// score counts, complains, and writes a part of SCORE.md.
func score(t *testing.T, part, how string, incidents, healthy []scored) {
	t.Helper()
	right, wrong := 0, 0
	for _, s := range incidents {
		if named(s.got, s.want) {
			right++
		} else {
			t.Logf("%s %d: got %q, want %q", s.name, s.seed, s.got, s.want)
		}
	}
	for _, s := range healthy {
		if alarms(s.got) > 0 {
			wrong++
			t.Errorf("%s %d: nothing is wrong, and %q", s.name, s.seed, s.got)
		}
	}
	t.Logf("%d of %d incidents named; %d of %d healthy runs with an alarm", right, len(incidents), wrong, len(healthy))
	if right*100 < leastNamed*len(incidents) {
		t.Errorf("%d of %d incidents named", right, len(incidents))
	}
	if *writeScore {
		writePart(t, part, how+"\n\n"+scoreTable(incidents, healthy, right, wrong))
	}
}

const scoreHead = `# What diagnose finds

After something was broken a cluster is looked at, and diagnosed. A cause counts as named where it is the first finding, two that are there at once where they are the first two, in
any order, and nothing else is of the severity warning or above. Brokers, delays and rates are drawn from seeds that no rule was made with.

	KAFKAOPS_LONG=1 go test ./pkg/inspect/diagnose -run TestScore -timeout 90m -score.write
`

// writePart writes a part of SCORE.md anew, and leaves the others.
func writePart(t *testing.T, name, text string) {
	t.Helper()
	const file, begins = "SCORE.md", "\n## "
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(strings.TrimRight(string(old), "\n"), begins)[1:]
	mine := name + "\n\n" + strings.TrimRight(text, "\n")
	at := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, name+"\n") })
	if at < 0 {
		parts = append(parts, mine)
	} else {
		parts[at] = mine
	}
	out := strings.TrimRight(scoreHead, "\n")
	for _, p := range parts {
		out += "\n" + begins + strings.TrimRight(p, "\n")
	}
	if err := os.WriteFile(file, []byte(out+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func scoreTable(incidents, healthy []scored, right, wrong int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `%d of %d incidents were named; in %d of %d healthy runs there was an alarm.

| incident | seed | causes | found | |
|---|---|---|---|---|
`, right, len(incidents), wrong, len(healthy))
	for _, s := range incidents {
		word := "named"
		if !named(s.got, s.want) {
			word = "**not**"
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s |\n", s.name, s.seed, cells(s.want), cells(s.got), word)
	}
	b.WriteString("\n| healthy | seed | found |\n|---|---|---|\n")
	for _, s := range healthy {
		fmt.Fprintf(&b, "| %s | %d | %s |\n", s.name, s.seed, cells(s.got))
	}
	return b.String()
}

func cells(all []string) string {
	if len(all) == 0 {
		return "–"
	}
	return strings.ReplaceAll(strings.Join(all, ", "), "|", " or ")
}
