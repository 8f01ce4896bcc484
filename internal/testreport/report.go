package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

// event is a line of go test -json; see go doc test2json.
type event struct {
	Action  string
	Package string
	Test    string
	Elapsed float64
	Output  string
}

// maxLineBytes bounds one event. Output comes line by line, and a test that
// prints longer lines than this has gone mad.
const maxLineBytes = 16 << 20

// maxNames is how many tests with the same reason are named.
const maxNames = 8

// report collects events. What failed is printed as it comes, the rest by finish.
type report struct {
	out, progress io.Writer
	packages      int
	failed        bool
	// running holds the output of tests that have not ended, by package and test.
	running map[string]map[string]*strings.Builder
	// results are go test's own lines: "ok  \tpackage\t1.2s".
	results []string
	// slow are tests, not their parts, that took long.
	slow []slowTest
	// skipped holds the names of tests by package and reason.
	skipped map[skip][]string
	// turns are those with a real Kafka, by package.
	turns map[string]kafkatest.Turn
}

type skip struct{ pkg, reason string }

type slowTest struct {
	pkg, name string
	seconds   float64
}

// What takes a whole run's time is told by the tests that took at least so many seconds,
// and no more than so many of them. A parallel one counts while it waits for its turn.
const (
	slowSeconds = 15
	maxSlow     = 20
)

func newReport(out, progress io.Writer) *report {
	return &report{
		out: out, progress: progress,
		running: map[string]map[string]*strings.Builder{},
		skipped: map[skip][]string{},
		turns:   map[string]kafkatest.Turn{},
	}
}

// read takes in all events until r ends. Lines that are no events are go's own
// and are passed on.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLineBytes)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(r.out, lines.Text())
			continue
		}
		r.add(e)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	return nil
}

func (r *report) add(e event) {
	switch e.Action {
	case "output":
		r.addOutput(e)
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "build-fail":
		r.failed = true
	case "pass", "skip", "fail":
		if e.Test != "" {
			if e.Elapsed >= slowSeconds && !strings.Contains(e.Test, "/") {
				r.slow = append(r.slow, slowTest{e.Package, e.Test, e.Elapsed})
			}
			r.endTest(e)
		} else {
			r.endPackage(e)
		}
	}
}

// resultLine is how go test ends with a package.
var resultLine = regexp.MustCompile(`^(ok  |FAIL|\?   )\t`)

func (r *report) addOutput(e event) {
	if turn, ok := kafkatest.ParseTurn(e.Output); ok {
		all := r.turns[e.Package]
		r.turns[e.Package] = kafkatest.Turn{Waited: all.Waited + turn.Waited, Held: all.Held + turn.Held}
		return
	}
	if e.Test == "" && resultLine.MatchString(e.Output) {
		r.results = append(r.results, strings.TrimRight(e.Output, "\n"))
		return
	}
	tests := r.running[e.Package]
	if tests == nil {
		tests = map[string]*strings.Builder{}
		r.running[e.Package] = tests
	}
	if tests[e.Test] == nil {
		tests[e.Test] = &strings.Builder{}
	}
	tests[e.Test].WriteString(e.Output)
}

func (r *report) endTest(e event) {
	output := r.take(e.Package, e.Test)
	switch e.Action {
	case "fail":
		r.failed = true
		fmt.Fprint(r.out, output)
	case "skip":
		key := skip{e.Package, skipReason(output)}
		r.skipped[key] = append(r.skipped[key], e.Test)
	}
}

func (r *report) endPackage(e event) {
	r.packages++
	if e.Action == "fail" {
		r.failed = true
		// What is left is of tests that never ended, as in a panic or a timeout, and
		// of the package itself.
		for _, test := range slices.Sorted(maps.Keys(r.running[e.Package])) {
			fmt.Fprint(r.out, r.take(e.Package, test))
		}
	}
	delete(r.running, e.Package)
	if e.Action != "skip" { // a package without tests
		fmt.Fprintf(r.progress, "%s: %s in %.1f s\n", e.Package, e.Action, e.Elapsed)
	}
}

func (r *report) take(pkg, test string) string {
	b := r.running[pkg][test]
	if b == nil {
		return ""
	}
	delete(r.running[pkg], test)
	return b.String()
}

// finish prints what is known at the end and reports whether all is well.
func (r *report) finish() bool {
	if len(r.skipped) > 0 {
		fmt.Fprintf(r.out, "\nskipped:\n")
	}
	for _, key := range slices.SortedFunc(maps.Keys(r.skipped), func(a, b skip) int {
		return strings.Compare(a.pkg+"\x00"+a.reason, b.pkg+"\x00"+b.reason)
	}) {
		fmt.Fprintf(r.out, "  %s: %s\n    %s\n", key.pkg, names(r.skipped[key]), key.reason)
	}
	fmt.Fprintln(r.out)
	slices.SortStableFunc(r.results, func(a, b string) int {
		return strings.Compare(packageOf(a), packageOf(b))
	})
	r.tellSlow()
	r.tellTurns()
	for _, line := range r.results {
		fmt.Fprintln(r.out, line)
	}
	if r.packages == 0 {
		fmt.Fprintln(r.out, "FAIL\tno package was tested")
	}
	return !r.failed && r.packages > 0
}

func (r *report) tellSlow() {
	if len(r.slow) == 0 {
		return
	}
	slices.SortStableFunc(r.slow, func(a, b slowTest) int { return cmp.Compare(b.seconds, a.seconds) })
	fmt.Fprintln(r.out, "slow:")
	for _, s := range r.slow[:min(len(r.slow), maxSlow)] {
		fmt.Fprintf(r.out, "  %6.1f s  %s %s\n", s.seconds, s.pkg, s.name)
	}
	fmt.Fprintln(r.out)
}

// tellTurns says who had the machine for a real Kafka: those turns come one after the
// other, and their sum is the least that a whole run takes.
func (r *report) tellTurns() {
	if len(r.turns) == 0 {
		return
	}
	fmt.Fprintln(r.out, "turns with Kafka:")
	var sum time.Duration
	for _, pkg := range slices.SortedFunc(maps.Keys(r.turns), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.turns[b].Held, r.turns[a].Held), strings.Compare(a, b))
	}) {
		t := r.turns[pkg]
		sum += t.Held
		fmt.Fprintf(r.out, "  %6.1f s  after %.1f s  %s\n", t.Held.Seconds(), t.Waited.Seconds(), pkg)
	}
	fmt.Fprintf(r.out, "  %6.1f s in all\n\n", sum.Seconds())
}

func packageOf(result string) string {
	_, rest, _ := strings.Cut(result, "\t")
	pkg, _, _ := strings.Cut(rest, "\t")
	return pkg
}

func names(tests []string) string {
	slices.Sort(tests)
	if len(tests) <= maxNames {
		return strings.Join(tests, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(tests[:maxNames], ", "), len(tests)-maxNames)
}

// position is where t.Skip was called, which is no part of the reason.
var position = regexp.MustCompile(`^[\w.-]+\.go:\d+: `)

// skipReason is what a skipped test said, without go test's own lines.
func skipReason(output string) string {
	var said []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		said = append(said, position.ReplaceAllString(line, ""))
	}
	if len(said) == 0 {
		return "without a reason"
	}
	return strings.Join(said, " ")
}
