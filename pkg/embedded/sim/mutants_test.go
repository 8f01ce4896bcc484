package sim

import (
	"flag"
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

// mutantSeeds is within how many seeds a mutant has to fall. The last ones do so within
// some hundred, and at others whenever the code draws otherwise.
const mutantSeeds = 3000

// TestMutantsAreCaught breaks each rule and runs seeds until one fails. With -rewrite
// it writes into the list which one it was.
func TestMutantsAreCaught(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: compiles the engine some fifty times and runs up to some thousand seeds each; set KAFKAOPS_LONG=1")
	}
	first := regexp.MustCompile(`first failure: seed (\d+), (\w+):`)
	caught := map[string]string{}
	if flag.Lookup("rewrite").Value.String() == "true" {
		defer func() { mutants.NoteCaught(t, mutantList, caught) }()
	}
	for _, m := range mutants.Read(t, mutantList) {
		t.Run(m.Name, func(t *testing.T) {
			out, err := m.Test(t, "-timeout=30m", "-run", "^TestFirstFailure$", ".",
				fmt.Sprintf("-sim.seeds=%d", mutantSeeds), "-sim.first")
			match := first.FindSubmatch(out)
			switch {
			case match != nil:
				caught[m.Name] = fmt.Sprintf("%s, seed %s", match[2], match[1])
				t.Log(caught[m.Name])
			case err == nil:
				t.Errorf("no seed up to %d fails with %s broken", mutantSeeds, m.File)
			default:
				t.Errorf("no seed ran: %v\n%s", err, out)
			}
		})
	}
}
