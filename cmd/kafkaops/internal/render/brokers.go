package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Brokers is the screen of describe brokers.
func Brokers(w io.Writer, v View, s *inspect.Snapshot) error {
	items := BrokerItems(s)
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindBroker, s, items))
	}
	_, err := io.WriteString(w, BrokersTable(v, items).Text(v))
	return err
}

// BrokersTable is the table of describe brokers. Log directories are lines below
// their broker on a terminal, those that failed always, others in the wide form.
func BrokersTable(v View, items []BrokerItem) *Table {
	t := &Table{Columns: []Column{
		{Name: "ID", Right: true},
		{Name: "ADDRESS", Elastic: true},
		{Name: "RACK", HideBlank: true, Spare: cheap},
		{Name: "STATE", Keep: true},
		{Name: "LEADERS", Right: true},
		{Name: "PREFERRED", Right: true, Spare: cheap + 1},
		{Name: "REPLICAS", Right: true},
		{Name: "UNDER-REPL", Right: true, Spare: 1},
		{Name: "OUT-OF-SYNC", Right: true},
		{Name: "LEO-HW", PipeName: "UNCOMMITTED", Right: true},
		{Name: "VERSION", Spare: cheap + 2},
	}}
	if v.wide() {
		t.Columns = append(
			t.Columns,
			Column{Name: "CONTROLLER", HideBlank: true, Spare: cheap + 3},
			Column{Name: "LOG-DIRS", Only: InPipe},
		)
	}
	shown := v.cut(len(items), 0)
	for i := range items[:shown] {
		b := &items[i]
		row := Row{Cells: brokerCells(b, v.wide())}
		for _, d := range b.LogDirs.Or(nil) {
			if v.wide() || d.Error.IsKnown() {
				row.Notes = append(row.Notes, logDirLine(&d))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if shown < len(items) {
		t.Tail = []string{fmt.Sprintf("%d of %d brokers shown (all: kafkaops describe brokers | less)", shown, len(items))}
	}
	return t
}

func brokerCells(b *BrokerItem, wide bool) []Cell {
	rack := Cell{Pipe: "none"}
	if r, ok := b.Rack.Get(); ok && r != "" {
		rack = Text(r)
	}
	cells := []Cell{
		Text(strconv.Itoa(int(b.ID))), Text(hostPort(b.Host, b.Port)), rack, brokerState(b),
		Count(b.Leaders), Count(b.PreferredLeaders), Count(b.Replicas),
		Nonzero(b.UnderReplicated, Warn), Nonzero(b.OutOfSync, Bad), Number(b.Uncommitted),
		Text(b.VersionRange.Or(Unknown)),
	}
	if !wide {
		return cells
	}
	controller := Text(Unknown)
	if is, ok := b.Controller.Get(); ok {
		controller = Cell{Pipe: "no"}
		if is {
			controller = Text("yes")
		}
	}
	return append(cells, controller, Text(logDirsField(b.LogDirs)))
}

func brokerState(b *BrokerItem) Cell {
	up, asked := b.Reachable.Get()
	switch {
	case b.Fenced.Or(false):
		return Text("fenced").Styled(Warn)
	case !asked:
		return Text(Unknown)
	case up:
		return Text("up").Styled(Good)
	}
	return Cell{Text: "no answer", Pipe: "no-answer", Style: Bad}
}

func logDirLine(d *LogDirItem) Cell {
	const indent = "      "
	if e, failed := d.Error.Get(); failed {
		return Text(indent + d.Path + "   " + e).Styled(Bad)
	}
	parts := []string{}
	total, known := d.TotalBytes.Get()
	usable, knownUsable := d.UsableBytes.Get()
	if known && knownUsable {
		parts = append(parts, fmt.Sprintf("%s of %s free", Bytes(usable), Bytes(total)))
	}
	if n, ok := d.ReplicasBytes.Get(); ok {
		parts = append(parts, "replicas "+Bytes(n))
	}
	if len(parts) == 0 {
		parts = append(parts, Unknown)
	}
	return Text(indent + d.Path + "   " + strings.Join(parts, ", ")).Styled(Dim)
}

// logDirsField has every directory as path=total/usable/replicas or path=ERROR.
func logDirsField(dirs inspect.Opt[[]LogDirItem]) string {
	known, ok := dirs.Get()
	if !ok {
		return Unknown
	}
	if len(known) == 0 {
		return "none"
	}
	out := make([]string, 0, len(known))
	for i := range known {
		d := &known[i]
		if e, failed := d.Error.Get(); failed {
			out = append(out, d.Path+"="+e)
			continue
		}
		out = append(out, fmt.Sprintf("%s=%s/%s/%s", d.Path, d.TotalBytes, d.UsableBytes, d.ReplicasBytes))
	}
	return strings.Join(out, ";")
}
