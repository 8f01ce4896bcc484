package render

import (
	"strconv"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Table is rows under a header. [Table.Text] draws it for a View.
type Table struct {
	Columns []Column
	Rows    []Row
	// Tail is printed below the rows on a terminal, dimmed: what was cut, and
	// what to type to see it.
	Tail []string
}

// Column is one column of a Table.
type Column struct {
	Name string
	// PipeName is the header in a pipe, where it must be unique; empty is Name.
	PipeName string
	Right    bool
	// Only says where the column exists.
	Only Where
	// HideBlank leaves it out on a terminal where no row has text in it.
	HideBlank bool
	// Elastic and Long columns may be shortened on a narrow terminal: names in
	// their middle, texts at their end.
	Elastic, Long bool
	// Spare columns are left out, highest first, on a terminal too narrow for
	// all; a line below says so. 0 stays longer than any; cheap ones and above go before
	// any text is shortened.
	Spare int
	// Keep: the column goes after all others that have no Spare either, which go from
	// the right. What the row is of, in the first column, always stays.
	Keep bool
	// Room is the least width that its text is taken to need: where not all rows are drawn,
	// that of the others.
	Room int
}

const cheap = 10

// Where limits a Column to one form of output.
type Where uint8

// The forms.
const (
	Everywhere Where = iota
	OnTerminal
	InPipe
)

// Row is one row, with a cell for each column.
type Row struct {
	Cells []Cell
	// Notes, on a terminal, are written below the row: over the first cells of
	// the rows that follow, where those are blank and the note fits, else on
	// lines of their own behind those rows.
	Notes []Cell
}

// Cell is a text for terminals and one for pipes. Neither holds escape bytes.
type Cell struct {
	Text, Pipe string
	Style      Style
}

// Styled returns the cell in another style.
func (c Cell) Styled(s Style) Cell {
	c.Style = s
	return c
}

// Repeated returns the cell blank on a terminal, where the row above shows it.
func (c Cell) Repeated() Cell {
	c.Text = ""
	return c
}

// Text is a cell of text that may come from a cluster.
func Text(s string) Cell {
	s = Clean(s)
	return Cell{Text: s, Pipe: s}
}

// Number is a cell of a number that may be unknown.
func Number[T ~int32 | ~int64 | ~int](n inspect.Opt[T]) Cell {
	v, ok := n.Get()
	if !ok {
		return Text(Unknown)
	}
	return Cell{Text: Thousands(int64(v)), Pipe: strconv.FormatInt(int64(v), 10)}
}

// Count is a cell of a number that is known.
func Count(n int) Cell { return Number(inspect.Known(n)) }

// Nonzero is a Count that stands out in the style where it is not 0.
func Nonzero(n int, s Style) Cell {
	if n == 0 {
		return Count(n)
	}
	return Count(n).Styled(s)
}

// IDs is a cell of broker ids; "none" where there are none.
func IDs(ids []inspect.BrokerID) Cell {
	if len(ids) == 0 {
		return Text("none")
	}
	return Text(joinIDs(ids))
}

// Exceptions is IDs for a list that is usually empty, and then blank on a
// terminal.
func Exceptions(ids inspect.Opt[[]inspect.BrokerID], s Style) Cell {
	list, ok := ids.Get()
	switch {
	case !ok:
		return Text(Unknown)
	case len(list) == 0:
		return Cell{Pipe: "none"}
	}
	return Text(joinIDs(list)).Styled(s)
}
