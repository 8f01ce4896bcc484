package tuning_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var writePrediction = flag.Bool("prediction.write", false, "write PREDICTION.md anew, with KAFKAOPS_LONG=1")

// What the table is made of.
const (
	// firstSeed: those below were looked at while the replay was made.
	firstSeed, seeds = 501, 24
	patternMs        = 600_000
	lookEachMs       = 1000
	// recordedMs is the lag time that is in force while it is looked on.
	recordedMs = 30_000
	// leastFit is how many of 100 predictions have to be within their bounds.
	leastFit = 97
	// timerPhases are the runs with each candidate, the leader's timer shifted.
	timerPhases = 8
)

var predicted = []int64{5000, 6000, 9000, 12_000, 15_000}

// cell is a candidate's prediction for a seed, and what then happened in each run.
type cell struct {
	lagMaxMs        int64
	removals, outMs float64
	seenRemovals    []float64
	seenOutMs       []float64
}

type row struct {
	seed       uint64
	name       string
	excursions int
	cells      []cell
	err        error
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// removalsFit and outFit are the tolerances: 1 or 15 % of removals, and half the lag
// time or 15 % of the time out of the ISR.
func removalsFit(got, seen float64) bool { return math.Abs(got-seen) <= max(1, 0.15*seen) }

func (c *cell) outFit(seen float64) bool {
	return math.Abs(c.outMs-seen) <= max(float64(c.lagMaxMs)/2, 0.15*seen)
}

// predict looks on once, and then sees what becomes of it with each candidate.
func predict(seed uint64, forMs int64, candidates []int64, runs int64) row {
	p := draw(seed, forMs)
	r := row{seed: seed, name: p.name}
	recorded, err := runPattern(p, recordedMs, 0, 1, lookEachMs)
	if err != nil {
		r.err = err
		return r
	}
	result := recorded.replay(candidates)
	r.excursions = result.Excursions
	for i, lagMaxMs := range candidates {
		o := result.Candidates[i]
		c := cell{lagMaxMs: lagMaxMs, removals: o.Removals, outMs: o.OutMs}
		for phase := range runs {
			then, err := runPattern(p, lagMaxMs, phase, runs, 0)
			if err != nil {
				r.err = err
				return r
			}
			c.seenRemovals = append(c.seenRemovals, float64(then.removals))
			c.seenOutMs = append(c.seenOutMs, float64(then.outMs))
		}
		r.cells = append(r.cells, c)
	}
	return r
}

// TestPredictionHolds holds the replay to the engine: what it predicts from looks from
// outside happens. Long: all of the table of PREDICTION.md, which it writes with
// -prediction.write, and else compares; every run of it comes to the same.
func TestPredictionHolds(t *testing.T) {
	t.Parallel()
	if os.Getenv("KAFKAOPS_LONG") == "" {
		r := predict(3, 110_000, []int64{6000}, 1) // stalls
		if r.err != nil {
			t.Fatal(r.err)
		}
		c := &r.cells[0]
		seen, seenMs := mean(c.seenRemovals), mean(c.seenOutMs)
		if seen == 0 {
			t.Errorf("nobody was removed, so nothing was tested")
		}
		if !removalsFit(c.removals, seen) || !c.outFit(seenMs) {
			t.Errorf("predicted %.2f removals and %.0f ms, seen %.2f and %.0f ms", c.removals, c.outMs, seen, seenMs)
		}
		return
	}
	rows := make([]row, seeds)
	var wg sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				rows[i] = predict(firstSeed+uint64(i), patternMs, predicted, timerPhases)
			}
		})
	}
	for i := range rows {
		next <- i
	}
	close(next)
	wg.Wait()
	table, wrong := tell(rows)
	for _, w := range wrong {
		t.Error(w)
	}
	if *writePrediction {
		if err := os.WriteFile("PREDICTION.md", []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	was, err := os.ReadFile("PREDICTION.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(was), table); diff != "" {
		t.Errorf("PREDICTION.md is of another time; write it anew with -prediction.write (-file +now):\n%s", diff)
	}
}

// tell makes the table, and says what is not as it has to be.
func tell(rows []row) (table string, wrong []string) {
	var lines strings.Builder
	var removalErrors, outErrors []float64
	cells, fit, single, singleFit := 0, 0, 0, 0
	for _, r := range rows {
		if r.err != nil {
			wrong = append(wrong, fmt.Sprintf("seed %d, %s: %v", r.seed, r.name, r.err))
		}
		for i := range r.cells {
			c := &r.cells[i]
			seen, seenMs := mean(c.seenRemovals), mean(c.seenOutMs)
			removalsOK, outOK := removalsFit(c.removals, seen), c.outFit(seenMs)
			verdict := "yes"
			cells++
			if removalsOK && outOK {
				fit++
			} else {
				verdict = "**no**"
			}
			var each []string
			for k, n := range c.seenRemovals {
				each = append(each, fmt.Sprintf("%.0f", n))
				single++
				if removalsFit(c.removals, n) && c.outFit(c.seenOutMs[k]) {
					singleFit++
				}
			}
			if seen > 0 {
				removalErrors = append(removalErrors, math.Abs(c.removals-seen)/seen)
				outErrors = append(outErrors, math.Abs(c.outMs-seenMs)/seenMs)
			}
			fmt.Fprintf(&lines, "| %d | %s | %d | %d | %.2f | %.2f (%s) | %.1f | %.1f | %s |\n", r.seed, r.name, r.excursions, c.lagMaxMs,
				c.removals, seen, strings.Join(each, " "), c.outMs/1000, seenMs/1000, verdict)
		}
	}
	if len(outErrors) == 0 {
		return "", append(wrong, "nobody was removed at all")
	}
	if fit*100 < cells*leastFit {
		wrong = append(wrong, fmt.Sprintf("%d of %d predictions are within the bounds, want %d %%", fit, cells, leastFit))
	}
	removalsMedian, outMedian := median(removalErrors), median(outErrors)
	if outMedian > 0.10 || removalsMedian > 0.10 {
		wrong = append(wrong, fmt.Sprintf("the median error is %.1f %% of removals, %.1f %% of the time out", 100*removalsMedian, 100*outMedian))
	}
	return fmt.Sprintf(head, seeds, patternMs/60_000, lookEachMs, recordedMs, timerPhases, firstSeed, fit, cells,
		100*removalsMedian, 100*outMedian, singleFit, single) + lines.String(), wrong
}

func median(x []float64) float64 {
	x = slices.Clone(x)
	slices.Sort(x)
	return x[len(x)/2]
}

const head = `# Prediction against reality

Written by a command, and checked by every long run of the tests:

	KAFKAOPS_LONG=1 go test ./pkg/tuning -run TestPredictionHolds -prediction.write

%d patterns of delay, each of %d minutes, on the embedded engine in simulated time: three brokers, one partition with three replicas,
a producer that waits for nobody. Each pattern is run once with looks from outside each %d ms, in step with nothing (ListOffsets of every
replica, the leader's HW, the ISR by metadata) and replica.lag.time.max.ms %d; from those looks alone the replay predicts, for each candidate, how often
a replica is removed from the ISR and for how long replicas are out. Then the same pattern is run with that candidate in force, %d times, with
the leader's timer shifted by a part of its period: the prediction is an average over it, so the mean of these runs is what it is compared with.
The seeds begin at %d; those below were looked at while the replay was made. Candidates begin at five looks, the least that is advised.

Patterns: swell (a link that grows slowly longer and shorter), steps (a link of several lengths), stalls (single appends that take
long), pauses (a process that stands still, and does not answer), bursts (stalls in clusters, of either follower), trickle (a
backlog that is caught up on in small pieces), together (both followers stall), sparse (pauses, and little is written).

**%d of %d** within the bounds: removals to 1 or 15 %%, time out to half the lag time or 15 %%. Median error: removals %.1f %%, time out
%.1f %%. Of the single runs, which differ by the timer's phase alone, %d of %d are within them too.

| seed | pattern | excursions | lag time ms | removals predicted | seen (each run) | out predicted s | seen s | within |
|---|---|---|---|---|---|---|---|---|
`
