package render

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// groupLen is how many rows belong together: the first, and those after it whose
// first cell is blank.
func (l *layout) groupLen(rows []Row) int {
	n := 1
	for n < len(rows) && len(l.columns) > 0 && rows[n].Cells[l.columns[0].index].Text == "" {
		n++
	}
	return n
}

// group writes rows with the notes of the first among and behind them.
func (l *layout) group(b *strings.Builder, rows []Row, color bool) {
	room := l.width
	for i := 1; i < len(rows); i++ {
		room = min(room, l.blank(&rows[i]))
	}
	notes := wrapNotes(rows[0].Notes, room, l.width)
	for i := range rows {
		var lead Cell
		if i > 0 && len(notes) > 0 && ansi.StringWidth(notes[0].Text) <= room {
			lead, notes = notes[0], notes[1:]
		}
		l.row(b, rows[i].Cells, lead, color)
	}
	for _, note := range notes {
		b.WriteString(Paint(color, note.Style, fit(note.Text, l.width)))
		b.WriteByte('\n')
	}
}

// wrapNotes breaks notes into lines that fit the room left of the cells, or the
// whole width where that room is too small for words.
func wrapNotes(notes []Cell, room, width int) []Cell {
	const least = 20
	if room < least {
		room = width
	}
	var out []Cell
	for _, note := range notes {
		text := strings.TrimLeft(note.Text, " ")
		indent := note.Text[:len(note.Text)-len(text)]
		if len(indent)+ansi.StringWidth(text) <= room {
			out = append(out, note)
			continue
		}
		for _, line := range wrap(text, room-len(indent), "  ") {
			out = append(out, Cell{Text: indent + line, Style: note.Style})
		}
	}
	return out
}

// blank is how many cells at the start of the row are free for a note.
func (l *layout) blank(r *Row) int {
	for _, c := range l.columns {
		if r.Cells[c.index].Text != "" {
			return c.start - columnGap
		}
	}
	return l.width
}
