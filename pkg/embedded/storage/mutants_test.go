package storage

import (
	"os"
	"testing"

	"github.com/kafkaops/kafkaops/internal/mutants"
)

// mutantList has rules of compaction, each broken on purpose.
const mutantList = "testdata/mutants.txt"

// TestMutantsApply: every patch of the list still has its place, so that it keeps
// up with the code.
func TestMutantsApply(t *testing.T) {
	t.Parallel()
	mutants.MustApply(t, mutantList, 20)
}

// TestMutantsAreCaught breaks each rule and runs the tests of compaction, which must
// fail, and not for want of compiling.
func TestMutantsAreCaught(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: compiles and runs the tests once for each; set KAFKAOPS_LONG=1")
	}
	for _, m := range mutants.Read(t, mutantList) {
		t.Run(m.Name, func(t *testing.T) {
			m.MustFail(t, "-run", "Clean|Dirt|Swap|CutIsDirty", "-skip", "Kafka$", ".")
		})
	}
}
