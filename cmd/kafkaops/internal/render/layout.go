package render

import (
	"slices"

	"github.com/charmbracelet/x/ansi"
)

// layout is where a table's columns stand on a terminal.
type layout struct {
	t       *Table
	width   int // of the terminal; unlimited is a very large one
	columns []placed
	// dropped are the names of columns that found no room.
	dropped []string
}

type placed struct{ index, start, width int }

const (
	unlimited = 1 << 30
	// minLongWidth still shows the longest status word.
	minLongWidth = 16
	// minElasticWidth leaves the end of a topic's name and its partition.
	minElasticWidth = 20
	// Where nothing is left to leave out, even a piece of a word is better than none.
	leastLongWidth    = 10
	leastElasticWidth = 9
)

// layout gives every column its natural width if that fits. Else it leaves out
// cheap columns, then shortens long ones, the last first, then elastic ones, then
// leaves out what else is spare, then what is not to be kept, shortens further, and cuts
// what is still too long at the edge.
func (t *Table) layout(width int) *layout {
	if width <= 0 {
		width = unlimited
	}
	l := &layout{t: t, width: width}
	widths := t.naturalWidths()
	for {
		over := l.place(widths)
		spare := l.mostSpare()
		if over > 0 && (spare < 0 || t.Columns[spare].Spare < cheap) {
			over = l.shorten(over, minLongWidth, minElasticWidth)
		}
		if over <= 0 {
			return l
		}
		if spare < 0 {
			spare = l.leastTelling()
		}
		if spare < 0 {
			if l.shorten(over, leastLongWidth, leastElasticWidth) > 0 {
				l.clip()
			}
			return l
		}
		l.dropped = append(l.dropped, t.Columns[spare].Name)
		widths[spare] = 0
	}
}

// naturalWidths are what each column needs for all of its text; 0 where it is
// not drawn.
func (t *Table) naturalWidths() []int {
	widths := make([]int, len(t.Columns))
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Only == InPipe {
			continue
		}
		for _, r := range t.Rows {
			widths[i] = max(widths[i], ansi.StringWidth(r.Cells[i].Text))
		}
		if widths[i] > 0 || !c.HideBlank {
			widths[i] = max(widths[i], ansi.StringWidth(c.Name), c.Room)
		}
	}
	return widths
}

// place sets the columns side by side and returns by how much they are too wide.
func (l *layout) place(widths []int) int {
	l.columns = l.columns[:0]
	for i, w := range widths {
		if w > 0 {
			l.columns = append(l.columns, placed{index: i, width: w})
		}
	}
	return l.align()
}

// shorten narrows the columns that may be and returns what is still too much.
func (l *layout) shorten(over, long, elastic int) int {
	for i := range slices.Backward(l.columns) {
		if l.t.Columns[l.columns[i].index].Long {
			over -= shrink(&l.columns[i], over, long)
		}
	}
	for i := range l.columns {
		if l.t.Columns[l.columns[i].index].Elastic {
			over -= shrink(&l.columns[i], over, elastic)
		}
	}
	return l.align()
}

// align sets where columns start and returns by how much they are too wide.
func (l *layout) align() int {
	at := 0
	for i := range l.columns {
		l.columns[i].start = at
		at += l.columns[i].width + columnGap
	}
	return l.textWidth() - l.width
}

// shrink takes up to by from the column, leaving least, and returns what it took.
func shrink(c *placed, by, least int) int {
	took := max(0, min(by, c.width-least))
	c.width -= took
	return took
}

// mostSpare is the index of the column to leave out next, or −1.
func (l *layout) mostSpare() int {
	most, at := 0, -1
	for _, c := range l.columns {
		if s := l.t.Columns[c.index].Spare; s > most {
			most, at = s, c.index
		}
	}
	return at
}

// leastTelling is the index of the last column that is neither to be kept nor the first,
// or −1.
func (l *layout) leastTelling() int {
	for i := len(l.columns) - 1; i > 0; i-- {
		if at := l.columns[i].index; !l.t.Columns[at].Keep {
			return at
		}
	}
	return -1
}

// clip narrows or removes what lies beyond the edge.
func (l *layout) clip() {
	for i := range l.columns {
		c := &l.columns[i]
		if c.start+c.width > l.width {
			c.width = max(0, l.width-c.start)
			keep := i
			if c.width > 0 {
				keep++
			}
			for _, gone := range l.columns[keep:] {
				l.dropped = append(l.dropped, l.t.Columns[gone.index].Name)
			}
			l.columns = l.columns[:keep]
			return
		}
	}
}

// textWidth is the width of the columns as they stand.
func (l *layout) textWidth() int {
	if len(l.columns) == 0 {
		return 0
	}
	last := l.columns[len(l.columns)-1]
	return last.start + last.width
}
