package render

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// GroupPartitions is the screen of lag groups for one group, and of its wide
// form: every partition of every group. On a terminal each group has a line and a
// table of its own; in a pipe it is one table, every row of which stands alone.
func GroupPartitions(w io.Writer, v View, s *inspect.Snapshot, rows []GroupRow) error {
	if v.Format.Structured() || len(rows) == 0 {
		return Groups(w, v, s, rows)
	}
	if !v.Terminal {
		_, err := io.WriteString(w, groupPartitionsPipe(rows).Text(v))
		return err
	}
	shown := v.cut(len(rows), 0)
	var b strings.Builder
	for i := range rows[:shown] {
		if i > 0 {
			b.WriteByte('\n')
		}
		groupHeadline(&b, v, &rows[i])
		if len(rows[i].Partitions) > 0 {
			b.WriteString(groupPartitionsTable(v, &rows[i]).Text(v))
		}
	}
	if tail := groupsCut(v, shown, len(rows)); tail != "" {
		b.WriteString("\n" + Paint(v.Color, Dim, fit(tail, v.Width)) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// groupHeadline is the group and its total in a line; a long name has its own, so
// that the total is never cut off.
func groupHeadline(b *strings.Builder, v View, r *GroupRow) {
	name := Clean(r.Name)
	parts := []string{
		groupTypeCell(r).Text + ", " + Clean(r.State.Or("state unknown")),
		"coordinator " + strconv.Itoa(int(r.Coordinator)),
	}
	if n, ok := r.memberCount().Get(); ok {
		parts = append(parts, v.count(n, "member", "members"))
	}
	if r.Commits.IsKnown() || r.Error != "" {
		parts = append(parts, "lag "+Number(r.Lag).Text)
	}
	if t := readTimeCell(r.worstTime()).Text; r.Times != nil && t != Unknown {
		parts = append(parts, "time "+t)
	}
	notes, _ := groupNotes(r)
	for _, note := range notes {
		parts = append(parts, Clean(note))
	}
	if v.Width > 0 && ansi.StringWidth(name) > v.Width/3 {
		for _, line := range wrap(name, v.Width, "") {
			b.WriteString(Paint(v.Color, Strong, line) + "\n")
		}
		b.WriteString(flow(v, Plain, "", "  ", "   ", parts))
		return
	}
	line := flow(v, Plain, name, "   ", "   ", parts)
	b.WriteString(Paint(v.Color, Strong, name) + strings.TrimPrefix(line, name))
}

// groupPartitionColumn is a column with how to fill it for a group's partition.
type groupPartitionColumn struct {
	Column
	cell func(r *GroupRow, i int) Cell
}

func groupPartitionsTable(v View, r *GroupRow) *Table {
	return fillGroup(groupPartitionColumns(v, r.Times != nil), []*GroupRow{r})
}

func groupPartitionsPipe(rows []GroupRow) *Table {
	group := func(name string, cell func(*GroupRow) Cell) groupPartitionColumn {
		return groupPartitionColumn{Column{Name: name}, func(r *GroupRow, _ int) Cell { return cell(r) }}
	}
	columns := []groupPartitionColumn{
		group("GROUP", func(r *GroupRow) Cell { return Text(r.Name) }),
		group("TYPE", groupTypeCell),
		group("STATE", func(r *GroupRow) Cell { return Text(r.State.Or(Unknown)) }),
		group("COORDINATOR", func(r *GroupRow) Cell { return Text(strconv.Itoa(int(r.Coordinator))) }),
		group("MEMBERS", func(r *GroupRow) Cell { return Number(r.memberCount()) }),
	}
	columns = append(columns, groupPartitionColumns(View{}, timedGroups(rows))...)
	all := make([]*GroupRow, len(rows))
	for i := range rows {
		all[i] = &rows[i]
	}
	return fillGroup(columns, all)
}

// fillGroup makes a row for every partition; a group without one has a row too.
func fillGroup(columns []groupPartitionColumn, rows []*GroupRow) *Table {
	t := &Table{}
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for _, r := range rows {
		for i := range max(1, len(r.Partitions)) {
			row := Row{Cells: make([]Cell, 0, len(columns))}
			for _, c := range columns {
				row.Cells = append(row.Cells, c.cell(r, i))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func groupPartitionColumns(v View, timed bool) []groupPartitionColumn {
	// of is a cell about a partition, "-" for a group that has none.
	of := func(cell func(r *GroupRow, p *inspect.GroupPartition) Cell) func(*GroupRow, int) Cell {
		return func(r *GroupRow, i int) Cell {
			if i >= len(r.Partitions) {
				return Text(Unknown)
			}
			return cell(r, &r.Partitions[i])
		}
	}
	offset := func(name string, spare int, get func(p *inspect.GroupPartition) inspect.Opt[inspect.Offset]) groupPartitionColumn {
		return groupPartitionColumn{
			Column{Name: name, Right: true, Spare: spare},
			of(func(_ *GroupRow, p *inspect.GroupPartition) Cell { return Number(get(p)) }),
		}
	}
	columns := []groupPartitionColumn{
		{Column{Name: "PARTITION", Elastic: true}, of(func(_ *GroupRow, p *inspect.GroupPartition) Cell {
			return Text(p.Topic + "-" + strconv.Itoa(int(p.Partition)))
		})},
		offset("COMMITTED", 0, func(p *inspect.GroupPartition) inspect.Opt[inspect.Offset] { return p.Committed }),
		offset("LOG-START", 3, func(p *inspect.GroupPartition) inspect.Opt[inspect.Offset] { return p.LogStart }),
		offset("LSO", 2, func(p *inspect.GroupPartition) inspect.Opt[inspect.Offset] { return p.LSO }),
		offset("HW", 0, func(p *inspect.GroupPartition) inspect.Opt[inspect.Offset] { return p.HW }),
		offset("LEO", 1, func(p *inspect.GroupPartition) inspect.Opt[inspect.Offset] { return p.LEO }),
		{Column{Name: "LAG", Right: true, Keep: true}, of(func(_ *GroupRow, p *inspect.GroupPartition) Cell { return Number(p.Lag) })},
		{Column{Name: "TO-LSO", PipeName: "LAG-READ-COMMITTED", Right: true, HideBlank: true, Spare: 2}, of(readCommittedCell)},
	}
	if timed {
		columns = append(
			columns,
			groupPartitionColumn{Column{Name: "TIME", PipeName: "TIME-MS", Right: true}, func(r *GroupRow, i int) Cell { return readTimeCell(r.time(i)) }},
			groupPartitionColumn{Column{Name: "TIME-AT-LEAST-MS", Only: InPipe}, func(r *GroupRow, i int) Cell { return Number(r.time(i).LagMsAtLeast) }},
		)
	}
	pipe := func(name string, cell func(*GroupRow, *inspect.GroupPartition) Cell) groupPartitionColumn {
		return groupPartitionColumn{Column{Name: name, Only: InPipe}, of(cell)}
	}
	memberID := groupPartitionColumn{Column{Name: "MEMBER-ID", PipeName: "MEMBER", HideBlank: true, Long: true, Spare: cheap}, of(func(r *GroupRow, p *inspect.GroupPartition) Cell {
		return memberCell(r, p, func(m *inspect.Member) string { return m.ID })
	})}
	if !v.wide() {
		memberID.Only = InPipe
	}
	return append(
		columns,
		pipe("AHEAD", func(_ *GroupRow, p *inspect.GroupPartition) Cell { return Number(p.Ahead) }),
		pipe("BELOW-START", func(_ *GroupRow, p *inspect.GroupPartition) Cell { return Number(p.BelowStart) }),
		groupPartitionColumn{Column{Name: "NOTE", Long: true, HideBlank: true}, of(partitionNoteCell)},
		// Behind the note, for of long columns the last is shortened first.
		groupPartitionColumn{Column{Name: "MEMBER", Only: OnTerminal, HideBlank: true, Long: true}, of(func(r *GroupRow, p *inspect.GroupPartition) Cell {
			return memberCell(r, p, func(m *inspect.Member) string { return m.ClientID + "@" + hostOf(m) })
		})},
		memberID,
		pipe("CLIENT", func(r *GroupRow, p *inspect.GroupPartition) Cell {
			return memberCell(r, p, func(m *inspect.Member) string { return m.ClientID })
		}),
		pipe("HOST", func(r *GroupRow, p *inspect.GroupPartition) Cell { return memberCell(r, p, hostOf) }),
	)
}

// readCommittedCell is blank on a terminal where it is the same as the lag.
func readCommittedCell(_ *GroupRow, p *inspect.GroupPartition) Cell {
	c := Number(p.LagReadCommitted)
	if p.LagReadCommitted.Equal(p.Lag) {
		return c.Repeated()
	}
	return c
}

// memberCell tells a partition that no member has from one whose member is not
// known.
func memberCell(r *GroupRow, p *inspect.GroupPartition, text func(*inspect.Member) string) Cell {
	switch members, known := r.Members.Get(); {
	case p.Member != nil:
		return Text(text(p.Member))
	case known && len(members) == 0:
		return orNone("")
	case r.IdleMembers.IsKnown():
		return Text("none")
	}
	return Text(Unknown) // as while a classic group rebalances
}

// hostOf is the member's host without the slash of Java's InetAddress.
func hostOf(m *inspect.Member) string { return strings.TrimPrefix(m.Host, "/") }

func partitionNoteCell(_ *GroupRow, p *inspect.GroupPartition) Cell {
	var notes []string
	style := Dim
	if n := p.BelowStart.Or(0); n > 0 {
		notes, style = append(notes, Thousands(n)+" lost to retention"), Bad
	}
	if n := p.Ahead.Or(0); n > 0 {
		notes, style = append(notes, "ahead "+Thousands(n)), Bad
	}
	if p.Note != "" {
		notes = append(notes, p.Note)
		if style == Dim && p.Committed.IsKnown() && !p.Gone {
			style = Warn
		}
	}
	return orNone(strings.Join(slices.Clip(notes), "; ")).Styled(style)
}
