// Package mutants breaks rules of the code on purpose, one at a time, to see whether
// a test falls. What is shipped has no switch for it: a broken file takes the place of
// the true one by go's -overlay.
//
// Start from [Read]:
//
//	for _, m := range mutants.Read(t, "testdata/mutants.txt") {
//		out, err := m.Test(t, "-run", "TestRules", ".")
//		...
//	}
//
// A list has, for each of them,
//
//	== what is broken
//	file.go
//	# words for people
//	 a line of context
//	-a line that goes
//	+a line that comes
//
// where the file is told from the list's package, and the lines that stand before,
// context and "-", occur once in it. What comes before the first "== " is for people.
//
// For tests only.
package mutants

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Mutant is a rule broken on purpose.
type Mutant struct {
	Name string
	// File is what it is broken in.
	File string

	before, after string
}

// Read reads a list.
func Read(t testing.TB, path string) []Mutant {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mutants, err := parse(string(data))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return mutants
}

func parse(list string) ([]Mutant, error) {
	var mutants []Mutant
	for _, entry := range strings.Split("\n"+list, "\n== ")[1:] {
		lines := strings.Split(strings.TrimRight(entry, "\n"), "\n")
		if len(lines) < 3 {
			return nil, fmt.Errorf("%q has no file and lines", lines[0])
		}
		m := Mutant{Name: lines[0], File: filepath.FromSlash(lines[1]), before: "\n", after: "\n"}
		for _, line := range lines[2:] {
			kind, text := " ", ""
			if line != "" {
				kind, text = line[:1], line[1:]
			}
			switch kind {
			case "#":
			case "-":
				m.before += text + "\n"
			case "+":
				m.after += text + "\n"
			case " ", "\t":
				m.before += text + "\n"
				m.after += text + "\n"
			default:
				return nil, fmt.Errorf("%q: line %q begins with none of \" -+#\"", m.Name, line)
			}
		}
		if m.before == m.after {
			return nil, fmt.Errorf("%q changes nothing", m.Name)
		}
		mutants = append(mutants, m)
	}
	return mutants, nil
}

// Apply returns the file with the rule broken. The test fails if the lines that it
// replaces are not in the file exactly once: the code has moved on, and so must the
// list.
func (m Mutant) Apply(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile(m.File)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), m.before); n != 1 {
		t.Errorf("%s: its old text is %d times in %s, want once:\n%s", m.Name, n, m.File, m.before)
	}
	return strings.Replace(string(data), m.before, m.after, 1)
}

// MustApply reads a list and applies each of it, so that the list keeps up with the
// code. It has to be least long.
func MustApply(t testing.TB, path string, least int) {
	t.Helper()
	list := Read(t, path)
	if len(list) < least {
		t.Errorf("only %d mutants", len(list))
	}
	for _, m := range list {
		m.Apply(t)
	}
}

// NoteCaught writes into a list what has caught its mutants, by their names, as lines
// "# caught by ..." behind what else is said of them. Those that are not named stay as
// they are.
func NoteCaught(t testing.TB, path string, by map[string]string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(noteCaught(string(data), by)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func noteCaught(list string, by map[string]string) string {
	const caught = "# caught by "
	var out []string
	note := "" // that is to be written before the patch of the present mutant
	for _, line := range strings.Split(list, "\n") {
		if name, ok := strings.CutPrefix(line, "== "); ok {
			note = by[name]
		} else if note != "" && strings.HasPrefix(line, caught) {
			continue
		} else if note != "" && line != "" && strings.ContainsAny(line[:1], "-+ \t") {
			out, note = append(out, caught+note), ""
		}
		out = append(out, line)
	}
	return strings.Join(out, "\n")
}

// Test runs `go test` with the rule broken and returns what it said. An error alone
// does not say that a test failed: the broken code may not compile.
func (m Mutant) Test(t testing.TB, args ...string) ([]byte, error) {
	t.Helper()
	args = append([]string{"test", "-overlay", m.overlay(t), "-vet=off", "-count=1"}, args...)
	return exec.CommandContext(t.Context(), "go", args...).CombinedOutput()
}

// MustFail runs `go test` with the rule broken; the test fails unless one of its tests does.
func (m Mutant) MustFail(t testing.TB, args ...string) {
	t.Helper()
	out, err := m.Test(t, args...)
	switch {
	case err == nil:
		t.Errorf("no test fails with %s broken", m.File)
	case !strings.Contains(string(out), "--- FAIL") && !strings.Contains(string(out), "panic:"):
		t.Errorf("no test ran:\n%s", out)
	}
}

// overlay writes the broken file and go's -overlay file that puts it in place.
func (m Mutant) overlay(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.go")
	original, err := filepath.Abs(m.File)
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: broken}})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	for path, content := range map[string]string{broken: m.Apply(t), overlay: string(replace)} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}
