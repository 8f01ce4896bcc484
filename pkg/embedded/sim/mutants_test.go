package sim

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/kafkaops/kafkaops/internal/mutants"
)

// mutantList has rules of the engine, each broken on purpose.
const mutantList = "testdata/mutants.txt"

// TestMutantsApply: every patch of testdata/mutants.txt still has its place.
func TestMutantsApply(t *testing.T) {
	t.Parallel()
	mutants.MustApply(t, mutantList, 40)
}

// mutantSeeds is within how many seeds a mutant has to fall.
const mutantSeeds = 1000

// TestMutantsAreCaught breaks each rule and runs seeds until one fails.
func TestMutantsAreCaught(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: compiles the engine some fifty times and runs up to a thousand seeds each; set KAFKAOPS_LONG=1")
	}
	first := regexp.MustCompile(`first failure: seed (\d+), (\S+)`)
	for _, m := range mutants.Read(t, mutantList) {
		t.Run(m.Name, func(t *testing.T) {
			out, err := m.Test(t, "-timeout=30m", "-run", "^TestFirstFailure$", ".",
				fmt.Sprintf("-sim.seeds=%d", mutantSeeds), "-sim.first")
			match := first.FindSubmatch(out)
			switch {
			case match != nil:
				t.Logf("seed %s: %s", match[1], match[2])
			case err == nil:
				t.Errorf("no seed up to %d fails with %s broken", mutantSeeds, m.File)
			default:
				t.Errorf("no seed ran: %v\n%s", err, out)
			}
		})
	}
}
