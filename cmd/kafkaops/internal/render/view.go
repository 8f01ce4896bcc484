package render

import (
	"fmt"
	"strings"
)

// Format is the value of --output.
type Format string

// The formats. JSON and YAML are the same documents.
const (
	FormatTable Format = "table"
	FormatWide  Format = "wide"
	FormatJSON  Format = "json"
	FormatYAML  Format = "yaml"
)

// Formats is the list for help and completion.
func Formats() []Format { return []Format{FormatTable, FormatWide, FormatJSON, FormatYAML} }

// ParseFormat reads the value of --output.
func ParseFormat(s string) (Format, error) {
	words := make([]string, 0, len(Formats()))
	for _, f := range Formats() {
		if s == string(f) {
			return f, nil
		}
		words = append(words, string(f))
	}
	return "", fmt.Errorf("unknown output format %q: use one of %s", s, strings.Join(words, ", "))
}

// Structured reports whether the format is read by programs: JSON or YAML.
func (f Format) Structured() bool { return f == FormatJSON || f == FormatYAML }

// View says how to draw. The zero value is a plain table for a pipe.
type View struct {
	Format Format
	// Terminal: aligned for people, else tab-separated for programs.
	Terminal bool
	// Color allows escape sequences; nothing else writes any.
	Color bool
	// Width is the terminal's width in cells; 0 is unlimited.
	Width int
	// Rows is how many partitions (or brokers) a list on a terminal shows before
	// it is cut; 0 is the screen's own choice. Pipes are never cut.
	Rows int
	// Stream: this is one of several documents (--watch): JSON takes one line,
	// YAML begins with "---".
	Stream bool
}

func (v *View) wide() bool { return v.Format == FormatWide }

// cut is how many of total rows to show where the screen's own choice is usual;
// 0 for usual is all.
func (v *View) cut(total, usual int) int {
	limit := usual
	if v.Rows > 0 {
		limit = v.Rows
	}
	if !v.Terminal || limit == 0 || total <= limit {
		return total
	}
	return limit
}
