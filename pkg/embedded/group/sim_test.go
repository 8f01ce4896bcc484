package group

import (
	"flag"
	"testing"
)

var (
	simSeeds = flag.Int("group.seeds", 1000, "how many random histories to run")
	simFrom  = flag.Uint64("group.from", 1, "the first seed")
)

// TestSeeds runs random histories of a group (case E34): members that come, go, hang,
// die and are born again, static ones and others, lost requests and answers, and a
// coordinator that moves. In each of them:
//
//   - a request is answered once
//   - generations only grow under one coordinator
//   - who syncs gets what a leader gave it, and never nothing
//   - a member that is prompt stays known
//   - an acknowledged offset is not read back as an older one, or as none
//   - when the faults are over, all members share all partitions in one generation
//
// Each seed runs twice, and does the same both times.
func TestSeeds(t *testing.T) {
	t.Parallel()
	seeds := *simSeeds
	if testing.Short() || raced {
		seeds = min(seeds, 100)
	}
	var all stats
	for seed := *simFrom; seed < *simFrom+uint64(seeds); seed++ {
		w := newWorld(t, seed, false)
		runSeed(t, w, seed)
		again := newWorld(t, seed, false)
		runSeed(t, again, seed)
		if w.hash.Sum64() != again.hash.Sum64() {
			t.Fatalf("seed %d is not the same twice", seed)
		}
		all.joins += w.stats.joins
		all.syncs += w.stats.syncs
		all.commits += w.stats.commits
		all.moves += w.stats.moves
	}
	t.Logf("%d seeds: %d joins, %d syncs, %d commits, %d moves", seeds, all.joins, all.syncs, all.commits, all.moves)
	if all.moves == 0 || all.commits == 0 || all.syncs == 0 {
		t.Error("nothing was tested")
	}
}

func runSeed(t *testing.T, w *world, seed uint64) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("seed %d: go test ./pkg/embedded/group -run TestSeeds -group.from=%d -group.seeds=1", seed, seed)
		}
	}()
	w.run(historyMs)
}
