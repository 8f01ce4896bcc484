package sim

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mutant is a rule of the engine broken on purpose.
type mutant struct {
	name, file string
	old, new   string
}

// TestMutantsApply: every patch of testdata/mutants.txt still has its place.
func TestMutantsApply(t *testing.T) {
	t.Parallel()
	mutants := readMutants(t)
	if len(mutants) < 40 {
		t.Errorf("only %d mutants", len(mutants))
	}
	for _, m := range mutants {
		m.apply(t)
	}
}

// mutantSeeds is within how many seeds a mutant has to fall.
const mutantSeeds = 1000

// TestMutantsAreCaught breaks each rule and runs seeds until one fails.
func TestMutantsAreCaught(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: compiles the engine some fifty times and runs up to a thousand seeds each; set KAFKAOPS_LONG=1")
	}
	first := regexp.MustCompile(`first failure: seed (\d+), (\S+)`)
	for _, m := range readMutants(t) {
		t.Run(m.name, func(t *testing.T) {
			out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", m.overlay(t), "-vet=off", "-count=1", "-timeout=30m",
				"-run", "^TestFirstFailure$", ".", fmt.Sprintf("-sim.seeds=%d", mutantSeeds), "-sim.first").CombinedOutput()
			match := first.FindSubmatch(out)
			switch {
			case match != nil:
				t.Logf("seed %s: %s", match[1], match[2])
			case err == nil:
				t.Errorf("no seed up to %d fails with %s broken", mutantSeeds, m.file)
			default:
				t.Errorf("no seed ran: %v\n%s", err, out)
			}
		})
	}
}

// overlay writes the broken file and go's -overlay file that puts it in place.
func (m mutant) overlay(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.go")
	original, err := filepath.Abs(m.file)
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: broken}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	for path, content := range map[string]string{broken: m.apply(t), overlay: string(replace)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}

// apply returns the file with the rule broken.
func (m mutant) apply(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(m.file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), m.old); n != 1 {
		t.Errorf("%s: its old text is %d times in %s, want once:\n%s", m.name, n, m.file, m.old)
	}
	return strings.Replace(string(data), m.old, m.new, 1)
}

// readMutants reads the list, whose form its head tells.
func readMutants(t *testing.T) []mutant {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "mutants.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var mutants []mutant
	for entry := range strings.SplitSeq(string(data), "\n== ") {
		lines := strings.Split(strings.TrimRight(entry, "\n"), "\n")
		if !strings.HasPrefix(lines[1], "../") {
			continue // the head
		}
		m := mutant{name: lines[0], file: filepath.FromSlash(lines[1]), old: "\n", new: "\n"}
		for _, line := range lines[2:] {
			switch line[:1] {
			case "#":
			case "-":
				m.old += line[1:] + "\n"
			case "+":
				m.new += line[1:] + "\n"
			default:
				m.old += line[1:] + "\n"
				m.new += line[1:] + "\n"
			}
		}
		mutants = append(mutants, m)
	}
	return mutants
}
