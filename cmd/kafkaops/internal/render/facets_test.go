package render

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// facet is a screen of describe's subcommands in one state.
type facet struct {
	name     string
	snapshot *inspect.Snapshot
	draw     func(io.Writer, View, *inspect.Snapshot) error
}

func (f *facet) text(t *testing.T, v View) string {
	t.Helper()
	var b bytes.Buffer
	if err := f.draw(&b, v, f.snapshot); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// checkFacets compares the screens with testdata/name and holds them to what
// every screen obeys.
func checkFacets(t *testing.T, name string, facets ...facet) {
	t.Helper()
	var got archive
	for i := range facets {
		f := &facets[i]
		for _, v := range []struct {
			name string
			view View
		}{
			{"80 columns", View{Terminal: true, Width: 80}},
			{"120 columns wide", View{Format: FormatWide, Terminal: true, Width: 120}},
			{"pipe", View{Format: FormatTable}},
			{"pipe wide", View{Format: FormatWide}},
			{"json", View{Format: FormatJSON}},
		} {
			got.add(f.name+", "+v.name, f.text(t, v.view))
		}
		checkForms(t, f, name == "access.txtar")
	}
	golden(t, name, got.String())
}

// checkForms: where more follows a table in a pipe, there is a blank line between.
func checkForms(t *testing.T, f *facet, more bool) {
	t.Helper()
	for _, format := range []Format{FormatTable, FormatWide} {
		for width := 30; width <= 200; width += 17 {
			for line := range strings.SplitSeq(f.text(t, View{Format: format, Terminal: true, Width: width}), "\n") {
				if ansi.StringWidth(line) > width || strings.HasSuffix(line, " ") {
					t.Errorf("%s at %d: too long, or ends in blanks: %q", f.name, width, line)
				}
			}
		}
		plain := f.text(t, View{Format: format, Terminal: true, Width: 100})
		colored := f.text(t, View{Format: format, Terminal: true, Width: 100, Color: true})
		if strings.ContainsRune(plain, '\x1b') || ansi.Strip(colored) != plain {
			t.Errorf("%s %s: colour changes more than colour", f.name, format)
		}
		table := f.text(t, View{Format: format})
		if more {
			table, _, _ = strings.Cut(table, "\n\n")
		}
		lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
		header := strings.Split(lines[0], "\t")
		if len(slices.Compact(slices.Sorted(slices.Values(header)))) != len(header) {
			t.Errorf("%s: a name is there twice: %v", f.name, header)
		}
		for _, line := range lines {
			if fields := strings.Split(line, "\t"); len(fields) != len(header) || slices.Contains(fields, "") {
				t.Errorf("%s: want %d fields, none empty: %q", f.name, len(header), line)
			}
		}
	}
	if one := f.text(t, View{Format: FormatJSON, Stream: true, Color: true}); strings.Count(one, "\n") != 1 || !json.Valid([]byte(one)) {
		t.Errorf("%s: not one line of JSON: %q", f.name, one)
	}
}
