package sim

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var (
	flagSeeds  = flag.Int("sim.seeds", 0, "how many seeds to run; 0: as many as belong to an ordinary test")
	flagFrom   = flag.Uint64("sim.from", 1, "the first seed")
	flagSeed   = flag.Uint64("sim.seed", 0, "run this seed alone, and tell its end")
	flagEvents = flag.Int("sim.events", DefaultEvents, "how many events a run has before its faults end")
	flagOnce   = flag.Bool("sim.once", false, "run each seed once, without comparing two runs")
	flagLines  = flag.Int("sim.lines", 60, "how many lines of a history that failed to tell")
	flagFirst  = flag.Bool("sim.first", false, "TestFirstFailure: run seeds until one fails")
	flagShow   = flag.Bool("sim.show", false, "tell the end of a history that did not fail, too")
)

// TestMain lets garbage lie for longer: a world has some MB, and half of the time went
// into looking after them.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800)
	}
	os.Exit(m.Run())
}

// TestSeeds runs seeds, each twice: the two histories must be one, and no rule
// may be broken.
func TestSeeds(t *testing.T) {
	if *flagSeed != 0 {
		runSeed(t, *flagSeed)
		return
	}
	n := *flagSeeds
	if n == 0 {
		n = ordinarySeeds
	}
	const shards = 8
	start := time.Now()
	var events [shards]int
	var ended atomic.Int64
	var stats [shards]Stats
	t.Run("shards", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for seed := *flagFrom + uint64(shard); seed < *flagFrom+uint64(n); seed += shards {
					r := runSeed(t, seed)
					events[shard] += r.Events
					stats[shard].Add(r.Stats)
					if done := ended.Add(1); done%10_000 == 0 { // of a long search
						fmt.Fprintf(os.Stderr, "%d seeds, %.0f a minute\n", done, float64(done)/time.Since(start).Minutes())
					}
				}
			})
		}
	})
	sum, all := Stats{}, 0
	for shard := range shards {
		all += events[shard]
		sum.Add(stats[shard])
	}
	took := time.Since(start)
	t.Logf("%d seeds of %d events in %v, %.0f a minute: %+v", n, all/max(n, 1), took.Round(time.Millisecond), float64(n)/took.Minutes(), sum)
}

// runSeed runs a seed and tells what is wrong with it.
func runSeed(t *testing.T, seed uint64) Result {
	t.Helper()
	first := Run(Options{Seed: seed, Events: *flagEvents})
	if !*flagOnce {
		if second := Run(Options{Seed: seed, Events: *flagEvents}); second.Hash != first.Hash {
			t.Errorf("seed %d: two runs, two histories: %x after %d events, %x after %d", seed, first.Hash, first.Events, second.Hash, second.Events)
		}
	}
	if first.Err == nil && !*flagShow {
		return first
	}
	var lines []string
	traced := Run(Options{Seed: seed, Events: *flagEvents, Trace: func(line string) {
		if lines = append(lines, line); len(lines) > 4**flagLines {
			lines = append(lines[:0], lines[len(lines)-*flagLines:]...)
		}
	}})
	lines = lines[max(0, len(lines)-*flagLines):]
	fmt.Fprintf(os.Stderr, "%s\nseed %d: %v\n%s\n%+v\n", strings.Join(lines, "\n"), seed, first.Err, traced.Plan.String(), traced.Stats)
	if traced.Hash != first.Hash {
		fmt.Fprintf(os.Stderr, "(the traced run has another history)\n")
	}
	if first.Err != nil {
		t.Errorf("seed %d: %v\nreplay: go test ./pkg/embedded/sim -run TestSeeds -sim.seed=%d -sim.events=%d", seed, first.Err, seed, *flagEvents)
	}
	return first
}

// TestFirstFailure says which seed is the first to fail and by which rule: how long
// a mutant lives.
func TestFirstFailure(t *testing.T) {
	if !*flagFirst {
		t.Skip("for mutants: set -sim.first")
	}
	for seed := *flagFrom; seed < *flagFrom+uint64(*flagSeeds); seed++ {
		r := Run(Options{Seed: seed, Events: *flagEvents})
		if v, ok := errors.AsType[*ViolationError](r.Err); ok {
			t.Fatalf("first failure: seed %d, %s: %.300s", seed, v.Rule, v.Reason)
		}
	}
}
