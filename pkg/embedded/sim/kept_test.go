package sim

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestKeptSeeds runs the seeds that have found something.
func TestKeptSeeds(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("testdata", "seeds.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		seed, _, ok := strings.Cut(line, " ")
		if s, err := strconv.ParseUint(seed, 10, 64); ok && err == nil {
			runSeed(t, s)
			n++
		}
	}
	if n < 5 {
		t.Errorf("only %d seeds are read", n)
	}
}
