package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// LogDirs is the screen of describe log-dirs.
func LogDirs(w io.Writer, v View, s *inspect.Snapshot) error {
	items := DirItems(s)
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindLogDir, s, items))
	}
	_, err := io.WriteString(w, LogDirsTable(v, items).Text(v))
	return err
}

// LogDirsTable is the table of describe log-dirs. Replicas on their way into a
// directory are lines below it on a terminal.
func LogDirsTable(v View, items []DirItem) *Table {
	t := &Table{Columns: []Column{
		{Name: "BROKER", Right: true},
		{Name: "DIR", Elastic: true, Keep: true},
		{Name: "STATE", Keep: true},
		{Name: "TOTAL", PipeName: "TOTAL-BYTES", Right: true},
		{Name: "FREE", PipeName: "USABLE-BYTES", Right: true},
		{Name: "USED", PipeName: "USED-PERCENT", Right: true, Spare: 1},
		{Name: "REPLICAS", Right: true},
		{Name: "SIZE", PipeName: "REPLICAS-BYTES", Right: true},
		{Name: "MOVES", Right: true, HideBlank: true, Spare: 1},
		{Name: "SAME-VOLUME", HideBlank: true, Long: true, Spare: cheap},
		{Name: "MOVING-IN", Only: InPipe},
		{Name: "ERROR", Only: InPipe},
	}}
	for i := range items {
		d := &items[i]
		moves, into, shares, failure := Cell{Pipe: "0"}, Text(movesField(d.Moves)), Cell{Pipe: "none"}, Text("none")
		e, offline := d.Error.Get()
		switch {
		case offline:
			moves, into, shares, failure = Cell{Pipe: Unknown}, Text(Unknown), Cell{Pipe: Unknown}, Text(e)
		case len(d.Moves) > 0:
			moves = Count(len(d.Moves))
		}
		if len(d.SharesVolumeWith) > 0 {
			// Paths are long; which they are is for programs.
			shares = Text(strings.Join(d.SharesVolumeWith, ","))
			shares.Text = "with " + v.count(len(d.SharesVolumeWith), "other", "others")
		}
		row := Row{Cells: []Cell{
			Text(strconv.Itoa(int(d.Broker))), Text(d.Path.Or(Unknown)), dirState(d),
			bytesCell(d.TotalBytes), bytesCell(d.UsableBytes), usedCell(d), Number(d.Replicas), bytesCell(d.ReplicasBytes),
			moves, shares, into, failure,
		}}
		if offline && d.Path.IsKnown() {
			row.Notes = append(row.Notes, Text("        "+e).Styled(Bad))
		}
		for j := range d.Moves {
			row.Notes = append(row.Notes, moveLine(&d.Moves[j]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func dirState(d *DirItem) Cell {
	switch e, failed := d.Error.Get(); {
	case failed && !d.Path.IsKnown():
		return untoldCell(inspect.UntoldCause(e))
	case failed:
		return Text("offline").Styled(Bad)
	}
	if d.Cordoned.Or(false) {
		return Text("cordoned").Styled(Warn)
	}
	return Text("ok").Styled(Good)
}

// untoldCell is a word for what became of a broker.
func untoldCell(c inspect.UntoldCause) Cell {
	word := map[inspect.UntoldCause]string{
		inspect.UntoldFenced: "fenced", inspect.UntoldGone: "gone", inspect.UntoldSilent: "no answer", inspect.UntoldRefused: Unknown,
	}[c]
	return Cell{Text: word, Pipe: strings.ReplaceAll(word, " ", "-"), Style: Warn}
}

// usedCell is how full the volume is, by whatever lies on it. It stands out where
// little is left.
func usedCell(d *DirItem) Cell {
	const tight = 85
	total, ok := d.TotalBytes.Get()
	usable, known := d.UsableBytes.Get()
	if !ok || !known || total <= 0 {
		return Text(Unknown)
	}
	used := float64(total-usable) * 100 / float64(total)
	cell := Cell{Text: fmt.Sprintf("%.0f%%", used), Pipe: strconv.FormatFloat(used, 'f', 1, 64)}
	if used >= tight {
		return cell.Styled(Warn)
	}
	return cell
}

func moveLine(m *DirMoveItem) Cell {
	text := fmt.Sprintf("        moving in: %s-%d", m.Topic, m.Partition)
	if from, ok := m.From.Get(); ok {
		text += " from " + from
	}
	text += ", " + Bytes(m.DoneBytes)
	if of, ok := m.TotalBytes.Get(); ok {
		text += " of " + Bytes(of)
	}
	return Text(text + ", " + Thousands(m.Lag) + " records behind").Styled(Dim)
}

// movesField has every move as topic-partition=done/total/lag.
func movesField(moves []DirMoveItem) string {
	if len(moves) == 0 {
		return "none"
	}
	out := make([]string, 0, len(moves))
	for i := range moves {
		m := &moves[i]
		out = append(out, fmt.Sprintf("%s-%d=%d/%s/%d", m.Topic, m.Partition, m.DoneBytes, m.TotalBytes, m.Lag))
	}
	return strings.Join(out, ";")
}
