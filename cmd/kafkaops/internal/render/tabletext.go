package render

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Text draws the table, every line ended.
func (t *Table) Text(v View) string {
	var b strings.Builder
	if v.Terminal {
		l := t.layout(v.Width)
		l.header(&b, v.Color)
		for rows := t.Rows; len(rows) > 0; {
			n := l.groupLen(rows)
			l.group(&b, rows[:n], v.Color)
			rows = rows[n:]
		}
		for _, note := range append(l.leftOut(), t.Tail...) {
			for _, line := range below(note, v.Width) {
				b.WriteString(Paint(v.Color, Dim, line))
				b.WriteByte('\n')
			}
		}
		return b.String()
	}
	t.tabbed(&b, v.Color)
	return b.String()
}

func (t *Table) tabbed(b *strings.Builder, color bool) {
	line := func(cell func(i int) string) {
		first := true
		for i := range t.Columns {
			if t.Columns[i].Only == OnTerminal {
				continue
			}
			if !first {
				b.WriteByte('\t')
			}
			first = false
			b.WriteString(cell(i))
		}
		b.WriteByte('\n')
	}
	line(func(i int) string {
		if name := t.Columns[i].PipeName; name != "" {
			return name
		}
		return t.Columns[i].Name
	})
	for _, r := range t.Rows {
		line(func(i int) string { return Paint(color, r.Cells[i].Style, r.Cells[i].Pipe) })
	}
}

const columnGap = 2

// header writes the column names.
func (l *layout) header(b *strings.Builder, color bool) {
	names := make([]Cell, len(l.t.Columns))
	for i := range l.t.Columns {
		names[i] = Cell{Text: l.t.Columns[i].Name, Style: Strong}
	}
	l.row(b, names, Cell{}, color)
}

// row writes cells, the first of which are blank where there is a lead.
func (l *layout) row(b *strings.Builder, cells []Cell, lead Cell, color bool) {
	// at is where the pen is; blanks are only written before text, so that no
	// line ends in them.
	b.WriteString(Paint(color, lead.Style, lead.Text))
	at := ansi.StringWidth(lead.Text)
	for _, c := range l.columns {
		text := l.cell(c, cells[c.index].Text)
		if text == "" {
			continue
		}
		start := c.start
		if l.t.Columns[c.index].Right {
			start += c.width - ansi.StringWidth(text)
		}
		b.WriteString(strings.Repeat(" ", max(0, start-at)))
		b.WriteString(Paint(color, cells[c.index].Style, text))
		at = start + ansi.StringWidth(text)
	}
	b.WriteByte('\n')
}

// cell shortens text to its column's width.
func (l *layout) cell(c placed, text string) string {
	if ansi.StringWidth(text) <= c.width {
		return text
	}
	if l.t.Columns[c.index].Elastic {
		return middle(text, c.width)
	}
	return ansi.Truncate(text, c.width, "…")
}

// leftOut says which columns the width had no room for.
func (l *layout) leftOut() []string {
	if len(l.dropped) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("(no room in %d columns for %s)", l.width, strings.Join(l.dropped, ", "))}
}

// below breaks a line that says what was left out, which is not to be cut itself.
func below(line string, width int) []string {
	if width <= 0 || ansi.StringWidth(line) <= width {
		return []string{line}
	}
	return wrap(line, width, "  ")
}

// fit cuts a line at width; 0 is unlimited.
func fit(line string, width int) string {
	if width <= 0 {
		return line
	}
	return ansi.Truncate(line, width, "…")
}

// middle shortens a name in its middle: what tells partitions apart is at the
// end of their names.
func middle(s string, width int) string {
	all := ansi.StringWidth(s)
	if all <= width {
		return s
	}
	if width < 3 {
		return ansi.Truncate(s, width, "…")
	}
	tail := (width - 1) * 2 / 3
	return ansi.Truncate(s, width-1-tail, "") + ansi.TruncateLeft(s, all-tail, "…")
}
