package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

var allScreens = slices.Concat(screens, []string{"lag samples", "check health nagios"}, groupScreens)

// everyScreen calls check with every screen of every scenario under the View.
func everyScreen(t *testing.T, v View, check func(name, out string)) {
	t.Helper()
	for _, sc := range scenarios {
		for _, screen := range allScreens {
			check(sc.name+" "+screen, draw(t, screen, v, sc.snapshot()))
		}
	}
}

// Case 23: without colour there is no escape byte, in any form.
func TestNoEscapesWithoutColor(t *testing.T) {
	t.Parallel()
	for _, f := range Formats() {
		for _, v := range []View{{Format: f}, {Format: f, Terminal: true, Width: 100}, {Format: f, Stream: true}} {
			everyScreen(t, v, func(name, out string) {
				if strings.ContainsRune(out, '\x1b') {
					t.Errorf("%s %+v has an escape byte:\n%q", name, v, out)
				}
			})
		}
	}
}

func TestJSONIsNeverColored(t *testing.T) {
	t.Parallel()
	for _, f := range []Format{FormatJSON, FormatYAML} {
		everyScreen(t, View{Format: f, Color: true, Terminal: true}, func(name, out string) {
			if strings.ContainsRune(out, '\x1b') {
				t.Errorf("%s %s has an escape byte", name, f)
			}
		})
	}
}

// Colour must change nothing but colour: the words carry every meaning.
func TestColorAddsOnlyColor(t *testing.T) {
	t.Parallel()
	for _, f := range []Format{FormatTable, FormatWide} {
		for _, terminal := range []bool{true, false} {
			plain := View{Format: f, Terminal: terminal, Width: 100}
			colored := plain
			colored.Color = true
			for _, sc := range scenarios {
				for _, screen := range allScreens {
					want := draw(t, screen, plain, sc.snapshot())
					got := draw(t, screen, colored, sc.snapshot())
					if diff := cmp.Diff(want, ansi.Strip(got)); diff != "" {
						t.Errorf("%s %s (-plain +stripped):\n%s", sc.name, screen, diff)
					}
				}
			}
		}
	}
}

func TestTerminalNeverWraps(t *testing.T) {
	t.Parallel()
	for _, f := range []Format{FormatTable, FormatWide} {
		for width := 30; width <= 200; width += 7 {
			for _, sc := range scenarios {
				for _, screen := range append([]string{"describe", "describe topics", "describe brokers", "lag", "lag samples"}, groupScreens...) {
					out := draw(t, screen, View{Format: f, Terminal: true, Width: width}, sc.snapshot())
					for line := range strings.SplitSeq(out, "\n") {
						if w := ansi.StringWidth(line); w > width {
							t.Fatalf("%s %s at %d: a line of %d cells:\n%s", sc.name, screen, width, w, line)
						}
						if strings.HasSuffix(line, " ") {
							t.Fatalf("%s %s at %d ends in blanks: %q", sc.name, screen, width, line)
						}
					}
				}
			}
		}
	}
}

// In a pipe a row stands alone: as many fields as the header, none empty.
func TestPipeRowsStandAlone(t *testing.T) {
	t.Parallel()
	for _, f := range []Format{FormatTable, FormatWide} {
		for _, sc := range scenarios {
			for _, screen := range append([]string{"describe topics", "describe brokers", "lag", "lag samples"}, groupScreens...) {
				out := draw(t, screen, View{Format: f, Width: 20}, sc.snapshot())
				lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
				header := strings.Split(lines[0], "\t")
				if len(slices.Compact(slices.Sorted(slices.Values(header)))) != len(header) {
					t.Errorf("%s: a name is there twice: %v", screen, header)
				}
				for _, line := range lines {
					fields := strings.Split(line, "\t")
					if len(fields) != len(header) || slices.Contains(fields, "") {
						t.Errorf("%s %s: want %d fields, none empty: %q", sc.name, screen, len(header), line)
					}
				}
			}
		}
	}
}

// Lists are [] and never null, whatever is nil in the Snapshot.
func TestListsAreNeverNull(t *testing.T) {
	t.Parallel()
	empty := &inspect.Snapshot{Topics: []inspect.Topic{{Name: "t", Partitions: []inspect.Partition{{Topic: "t", Leader: inspect.NoBroker}}}}}
	nilList := map[string]bool{
		"errors": true, "items": true, "replicas": true, "isr": true, "offlineReplicas": true, "outOfSyncReplicas": true,
		"status": true, "findings": true, "reasons": true, "unhealthy": true, "topics": true, "notes": true,
		"partitions": true,
	}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case nil:
			if nilList[name] {
				t.Errorf("%s is null", name)
			}
		case map[string]any:
			for k, e := range v {
				walk(k, e)
			}
		case []any:
			for _, e := range v {
				walk("", e)
			}
		}
	}
	snapshots := []*inspect.Snapshot{empty, {}}
	for _, sc := range scenarios {
		snapshots = append(snapshots, sc.snapshot())
	}
	for _, s := range snapshots {
		for _, screen := range append(groupScreens, screens...) {
			var doc any
			if err := json.Unmarshal([]byte(draw(t, screen, View{Format: FormatJSON}, s)), &doc); err != nil {
				t.Fatal(err)
			}
			walk("", doc)
		}
	}
}

// The order in which a broker happens to list things is no part of the output.
func TestJSONIsByteStable(t *testing.T) {
	t.Parallel()
	shuffled := pausedFollower()
	slices.Reverse(shuffled.Brokers)
	slices.Reverse(shuffled.Failures)
	slices.Reverse(shuffled.Topics)
	slices.Reverse(shuffled.Groups)
	for _, topic := range shuffled.Topics {
		slices.Reverse(topic.Partitions)
		for i := range topic.Partitions {
			slices.Reverse(topic.Partitions[i].ISR)
		}
	}
	for _, screen := range []string{"describe topics", "describe brokers", "lag", "lag groups"} {
		want := draw(t, screen, View{Format: FormatJSON}, pausedFollower())
		if diff := cmp.Diff(want, draw(t, screen, View{Format: FormatJSON}, shuffled)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", screen, diff)
		}
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	one := draw(t, "lag", View{Format: FormatJSON, Stream: true}, healthy())
	if strings.Count(one, "\n") != 1 || !json.Valid([]byte(one)) {
		t.Errorf("a document in a stream is not one line of JSON: %q", one)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(draw(t, "lag", View{Format: FormatJSON}, healthy()))); err != nil {
		t.Fatal(err)
	}
	if compact.String()+"\n" != one {
		t.Error("the line differs from the indented document")
	}
	if y := draw(t, "lag", View{Format: FormatYAML, Stream: true}, healthy()); !strings.HasPrefix(y, "---\napiVersion: kafkaops/v1\n") {
		t.Errorf("YAML in a stream does not begin a document: %.60q", y)
	}
}

// YAML read back is what the JSON says.
func TestYAMLIsTheSame(t *testing.T) {
	t.Parallel()
	for _, sc := range scenarios {
		for _, screen := range append(groupScreens, screens...) {
			var fromJSON, fromYAML any
			doc := draw(t, screen, View{Format: FormatJSON}, sc.snapshot())
			if err := json.Unmarshal([]byte(doc), &fromJSON); err != nil {
				t.Fatal(err)
			}
			out := draw(t, screen, View{Format: FormatYAML}, sc.snapshot())
			if err := yaml.Unmarshal([]byte(out), &fromYAML); err != nil {
				t.Fatalf("%v:\n%s", err, out)
			}
			if diff := cmp.Diff(fromJSON, floats(fromYAML)); diff != "" {
				t.Errorf("%s %s (-json +yaml):\n%s", sc.name, screen, diff)
			}
		}
	}
}

// floats turns all numbers into float64, as encoding/json has them.
func floats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = floats(v[k])
		}
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case uint64:
		return float64(v)
	case int64:
		return float64(v)
	}
	return v
}

func TestYAMLScalars(t *testing.T) {
	t.Parallel()
	in := []string{
		"no", "1", "1e3", ".inf", "~", "null", "0x1f", "12:30:45", "2026-11-29", "", "a: b", "- x", "# c", "<<", "=", "? a",
		"\x1b[31m", "\u009b31m", "a\tb", "a\nb", "\u202e", "\U000e0001", "😀", "\"q\"", `back\slash`, "orders-0", "under-min-isr",
	}
	doc, err := json.Marshal(map[string]any{"s": in, "big": json.Number("9007199254740993"), "empty": map[string]any{}, "nested": [][]int{{1}, {}}})
	if err != nil {
		t.Fatal(err)
	}
	out, err := toYAML(doc, false)
	if err != nil {
		t.Fatal(err)
	}
	if !isClean(strings.ReplaceAll(string(out), "\n", "")) {
		t.Errorf("unprintable bytes in %q", out)
	}
	if !strings.Contains(string(out), "big: 9007199254740993\n") {
		t.Errorf("a large number lost digits:\n%s", out)
	}
	var back struct {
		S      []string
		Nested [][]int
	}
	if err := yaml.Unmarshal(out, &back); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if !reflect.DeepEqual(back.S, in) {
		t.Errorf("strings changed:\ngot  %q\nwant %q\n%s", back.S, in, out)
	}
	if fmt.Sprint(back.Nested) != "[[1] []]" {
		t.Errorf("nested lists changed: %v\n%s", back.Nested, out)
	}
}
