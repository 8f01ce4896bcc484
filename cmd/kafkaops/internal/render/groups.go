package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Groups is the screen of lag groups: a row for each group, in the order given;
// JSON sorts them.
func Groups(w io.Writer, v View, s *inspect.Snapshot, rows []GroupRow) error {
	switch {
	case v.Format.Structured():
		return write(w, v, NewDocument(KindGroupLag, s, GroupItems(rows)))
	case v.Terminal && len(rows) == 0:
		_, err := io.WriteString(w, "no groups to show\n")
		return err
	}
	_, err := io.WriteString(w, GroupsTable(v, rows).Text(v))
	return err
}

// MostBehindFirst sorts groups by what is known of their lag, then by name. Of
// equals, one whose lag is unknown in part comes first.
func MostBehindFirst(rows []GroupRow) []GroupRow {
	return slices.SortedFunc(slices.Values(rows), func(a, b GroupRow) int {
		return cmp.Or(
			-cmp.Compare(a.LagKnown.Or(-1), b.LagKnown.Or(-1)),
			-cmp.Compare(a.UnknownPartitions.Or(0), b.UnknownPartitions.Or(0)),
			strings.Compare(a.Name, b.Name),
		)
	})
}

// groupColumn is a column with how to fill it for a group.
type groupColumn struct {
	Column
	cell func(*GroupRow) Cell
}

// GroupsTable is the table of lag groups.
func GroupsTable(v View, rows []GroupRow) *Table {
	shown := v.cut(len(rows), 0)
	columns := groupColumns(timedGroups(rows))
	t := &Table{}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for i := range rows[:shown] {
		row := Row{Cells: make([]Cell, 0, len(columns))}
		for _, c := range columns {
			row.Cells = append(row.Cells, c.cell(&rows[i]))
		}
		t.Rows = append(t.Rows, row)
	}
	if tail := groupsCut(v, shown, len(rows)); tail != "" {
		t.Tail = append(t.Tail, tail)
	}
	return t
}

func timedGroups(rows []GroupRow) bool {
	return slices.ContainsFunc(rows, func(r GroupRow) bool { return r.Times != nil })
}

func groupsCut(v View, shown, of int) string {
	if shown == of {
		return ""
	}
	return fmt.Sprintf("%s of %s groups shown (all of them: --all)", v.number(int64(shown)), v.number(int64(of)))
}

func groupColumns(timed bool) []groupColumn {
	columns := []groupColumn{
		{Column: Column{Name: "GROUP", Elastic: true}, cell: func(r *GroupRow) Cell { return Text(r.Name) }},
		{Column: Column{Name: "TYPE", Spare: cheap}, cell: groupTypeCell},
		{Column: Column{Name: "STATE", Keep: true}, cell: func(r *GroupRow) Cell { return Text(r.State.Or(Unknown)) }},
		{Column: Column{Name: "COORDINATOR", Right: true, Spare: cheap + 1}, cell: func(r *GroupRow) Cell { return Text(strconv.Itoa(int(r.Coordinator))) }},
		{Column: Column{Name: "MEMBERS", Right: true}, cell: func(r *GroupRow) Cell { return Number(r.memberCount()) }},
		{Column: Column{Name: "IDLE-MEMBERS", Only: InPipe}, cell: func(r *GroupRow) Cell { return Number(r.IdleMembers) }},
		{Column: Column{Name: "PARTITIONS", Right: true, Spare: 1}, cell: groupPartitionsCell},
		{Column: Column{Name: "LAG", Right: true, Keep: true}, cell: func(r *GroupRow) Cell { return Number(r.Lag) }},
		{Column: Column{Name: "LAG-KNOWN", Only: InPipe}, cell: func(r *GroupRow) Cell { return Number(r.LagKnown) }},
		{Column: Column{Name: "UNKNOWN", Only: InPipe}, cell: func(r *GroupRow) Cell { return Number(r.UnknownPartitions) }},
	}
	if timed {
		columns = append(
			columns,
			groupColumn{Column: Column{Name: "TIME", PipeName: "TIME-MS", Right: true}, cell: func(r *GroupRow) Cell { return readTimeCell(r.worstTime()) }},
			groupColumn{Column: Column{Name: "TIME-AT-LEAST-MS", Only: InPipe}, cell: func(r *GroupRow) Cell { return Number(r.worstTime().LagMsAtLeast) }},
		)
	}
	return append(columns, groupColumn{Column: Column{Name: "NOTE", Long: true, HideBlank: true}, cell: groupNoteCell})
}

// groupTypeCell tells groups of something else than consumers by their protocol.
func groupTypeCell(r *GroupRow) Cell {
	kind := r.Type.Or(Unknown)
	if kind == inspect.GroupClassic && r.Protocol != "" && r.Protocol != inspect.ProtocolConsumer {
		return Text(string(kind) + "/" + r.Protocol)
	}
	return Text(string(kind))
}

func groupPartitionsCell(r *GroupRow) Cell {
	if !r.Commits.IsKnown() && len(r.Partitions) == 0 {
		return Text(Unknown)
	}
	return Count(len(r.Partitions))
}

// groupNoteCell is what a sum does not tell.
func groupNoteCell(r *GroupRow) Cell {
	notes, style := groupNotes(r)
	return orNone(strings.Join(notes, "; ")).Styled(style)
}

func groupNotes(r *GroupRow) ([]string, Style) {
	var ahead, lost int64
	measured, uncommitted, gone := 0, 0, 0
	for i := range r.Partitions {
		p := &r.Partitions[i]
		ahead += p.Ahead.Or(0)
		lost += p.BelowStart.Or(0)
		switch {
		case p.Lag.IsKnown():
			measured++
		case p.Gone:
			gone++
		case !p.Committed.IsKnown() && r.Commits.IsKnown():
			uncommitted++
		}
	}
	style := Dim
	var notes []string
	add := func(when bool, s Style, note string) {
		if when {
			notes = append(notes, note)
			if style == Dim || s == Bad {
				style = s
			}
		}
	}
	unknown := r.UnknownPartitions.Or(0)
	add(r.Error != "", Warn, r.Error)
	add(unknown > 0 && measured == 0, Warn, fmt.Sprintf("unknown in %d", unknown))
	add(unknown > 0 && measured > 0, Warn, fmt.Sprintf("unknown in %d, %s in the others", unknown, Thousands(r.LagKnown.Or(0))))
	add(lost > 0, Bad, Thousands(lost)+" lost to retention")
	add(ahead > 0, Bad, "ahead "+Thousands(ahead))
	add(uncommitted > 0, Dim, fmt.Sprintf("nothing committed in %d", uncommitted))
	add(gone > 0, Dim, fmt.Sprintf("%d deleted", gone))
	if idle := r.IdleMembers.Or(0); idle > 0 && len(r.Partitions) > 0 {
		add(true, Dim, fmt.Sprintf("%d idle", idle))
	}
	return notes, style
}

// readTimeCell marks a lower bound on a terminal; in a pipe it has a column.
func readTimeCell(t ReadTime) Cell {
	if ms, ok := t.LagMs.Get(); ok {
		return Cell{Text: Millis(ms), Pipe: strconv.FormatInt(ms, 10)}
	}
	c := Text(Unknown)
	if ms, ok := t.LagMsAtLeast.Get(); ok {
		c.Text = ">" + Millis(ms)
	}
	return c
}
