package looks

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// cell is a number that may be unknown.
type cell struct {
	n     int64
	known bool
}

// grid is rows of cells, a row after the other; rows may differ in width.
type grid struct {
	widths []int
	cells  []cell
}

func (g *grid) reset() { g.widths, g.cells = g.widths[:0], g.cells[:0] }

// endRow makes a row of what was appended to cells since the last one.
func (g *grid) endRow(width int) { g.widths = append(g.widths, width) }

// table is a grid at the last look. Cells that are unknown now keep the last number that
// was known.
type table struct {
	grid
	// climbs says of which columns the numbers grow from look to look: those are told by
	// their growth, others as they are.
	climbs  func(column int) bool
	columns columnReader
}

// wordBits is how many cells one number of the column of known cells speaks for.
const wordBits = 32

// shape makes the table fit rows of these widths. Where they are others than before it
// forgets its numbers.
func (t *table) shape(widths []int) {
	if slices.Equal(t.widths, widths) {
		return
	}
	n := 0
	for _, w := range widths {
		n += w
	}
	t.widths = append(t.widths[:0], widths...)
	t.cells = append(t.cells[:0], make([]cell, n)...)
}

// each calls take with every row.
func (t *table) each(take func(row int, cells []cell)) {
	at := 0
	for row, width := range t.widths {
		take(row, t.cells[at:at+width])
		at += width
	}
}

// columnOf is the column, in the format, of a row's cell; words that of the known bits
// of 32 cells. Column 0 is for the rows that are passed over.
func columnOf(at int) int  { return 1 + at/wordBits + 1 + at }
func wordsOf(word int) int { return 1 + word*(wordBits+1) }

// append appends the columns of what is not in now as it is in the table, which then has it.
// Nothing is appended where all is as it was.
func (t *table) append(out []byte, now *grid) []byte {
	t.shape(now.widths)
	var columns [][]byte
	put := func(column int, v uint64) {
		for len(columns) <= column {
			columns = append(columns, nil)
		}
		columns[column] = binary.AppendUvarint(columns[column], v)
	}
	at, passed := 0, uint64(0)
	for _, width := range now.widths {
		row, was := now.cells[at:at+width], t.cells[at:at+width]
		at += width
		if sameRow(row, was) {
			passed++
			continue
		}
		put(0, passed)
		passed = 0
		for word := 0; word*wordBits < width; word++ {
			lo, hi := word*wordBits, min(width, (word+1)*wordBits)
			put(wordsOf(word), knownBits(row[lo:hi])^knownBits(was[lo:hi]))
		}
		for i, c := range row {
			was[i].known = c.known
			if !c.known {
				continue
			}
			v := c.n
			if t.climbs(i) {
				v -= was[i].n
			}
			was[i].n = c.n
			put(columnOf(i), protowire.EncodeZigZag(v))
		}
	}
	for _, c := range columns {
		out = binary.AppendUvarint(out, uint64(len(c)))
		out = append(out, c...)
	}
	return out
}

func sameRow(a, b []cell) bool {
	for i := range a {
		if a[i].known != b[i].known || a[i].known && a[i].n != b[i].n {
			return false
		}
	}
	return true
}

func knownBits(row []cell) (bits uint64) {
	for i, c := range row {
		if c.known {
			bits |= 1 << i
		}
	}
	return bits
}

// apply takes in what append appended, and calls moved with each row that is not as it
// was.
func (t *table) apply(in []byte, moved func(row int, cells []cell)) error {
	columns := &t.columns
	if err := columns.split(in); err != nil {
		return err
	}
	row, at := 0, 0
	for columns.more(0) {
		passed, err := columns.next(0)
		if err != nil {
			return err
		}
		for ; passed > 0 && row < len(t.widths); passed-- {
			at += t.widths[row]
			row++
		}
		if row == len(t.widths) {
			return ErrNotOurs
		}
		cells := t.cells[at : at+t.widths[row]]
		if err := t.applyRow(columns, cells); err != nil {
			return err
		}
		moved(row, cells)
		at += t.widths[row]
		row++
	}
	return nil
}

func (t *table) applyRow(columns *columnReader, cells []cell) error {
	for word := 0; word*wordBits < len(cells); word++ {
		bits, err := columns.next(wordsOf(word))
		if err != nil {
			return err
		}
		for i := word * wordBits; i < min(len(cells), (word+1)*wordBits); i++ {
			cells[i].known = cells[i].known != (bits>>(i%wordBits)&1 != 0)
		}
	}
	for i := range cells {
		if !cells[i].known {
			continue
		}
		v, err := columns.next(columnOf(i))
		if err != nil {
			return err
		}
		if t.climbs(i) {
			cells[i].n += protowire.DecodeZigZag(v)
		} else {
			cells[i].n = protowire.DecodeZigZag(v)
		}
	}
	return nil
}

// columnReader reads columns side by side.
type columnReader struct {
	in []byte
	// at is where each column goes on in in, end where it ends.
	at, end []int
}

func (r *columnReader) split(in []byte) error {
	r.in, r.at, r.end = in, r.at[:0], r.end[:0]
	for at := 0; at < len(in); {
		size, n := binary.Uvarint(in[at:])
		if n <= 0 || size > uint64(len(in)-at-n) {
			return ErrNotOurs
		}
		at += n
		r.at, r.end = append(r.at, at), append(r.end, at+int(size))
		at += int(size)
	}
	return nil
}

func (r *columnReader) more(column int) bool {
	return column < len(r.at) && r.at[column] < r.end[column]
}

func (r *columnReader) next(column int) (uint64, error) {
	if !r.more(column) {
		return 0, ErrNotOurs
	}
	at := r.at[column]
	if v := r.in[at]; v < 0x80 { // most are small
		r.at[column]++
		return uint64(v), nil
	}
	v, n := binary.Uvarint(r.in[at:r.end[column]])
	if n <= 0 {
		return 0, ErrNotOurs
	}
	r.at[column] += n
	return v, nil
}
