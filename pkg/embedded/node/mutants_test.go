package node

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutant is a rule broken on purpose.
type mutant struct {
	name, file string
	old, new   string
}

// TestMutantsApply: every patch of testdata/mutants.txt still has its place, so
// that the list keeps up with the code.
func TestMutantsApply(t *testing.T) {
	t.Parallel()
	mutants := readMutants(t)
	if len(mutants) < 50 {
		t.Errorf("only %d mutants", len(mutants))
	}
	for _, m := range mutants {
		m.apply(t)
	}
}

// TestMutantsAreCaught breaks each rule and runs the tests of this package and
// of logstate, which must fail, and not for want of compiling.
func TestMutantsAreCaught(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: compiles and runs the tests once for each; set KAFKAOPS_LONG=1")
	}
	for _, m := range readMutants(t) {
		t.Run(m.name, func(t *testing.T) {
			overlay := m.overlay(t)
			out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-vet=off", "-count=1",
				"-skip", "^TestMutants", ".").CombinedOutput()
			switch {
			case err == nil:
				t.Errorf("no test fails with %s broken", m.file)
			case !strings.Contains(string(out), "--- FAIL") && !strings.Contains(string(out), "panic:"):
				t.Errorf("no test ran:\n%s", out)
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

func readMutants(t *testing.T) []mutant {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "mutants.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var mutants []mutant
	for _, entry := range strings.Split(string(data), "\n== ")[1:] {
		lines := strings.Split(strings.TrimRight(entry, "\n"), "\n")
		m := mutant{name: lines[0], file: filepath.FromSlash(lines[1]), old: "\n", new: "\n"}
		for _, line := range lines[2:] {
			switch line[:1] {
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
