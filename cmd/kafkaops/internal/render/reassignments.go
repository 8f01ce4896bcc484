package render

import (
	"fmt"
	"io"
	"strconv"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Reassignments is the screen of describe reassignments.
func Reassignments(w io.Writer, v View, s *inspect.Snapshot, rs []inspect.Reassignment) error {
	items := ReassignmentItems(rs)
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindReassignment, s, items))
	}
	text := ReassignmentsTable(v, items).Text(v)
	if v.Terminal && len(items) == 0 {
		text = ""
		if reassignmentsKnown(s) {
			text = fit("  no partition is being reassigned", v.Width) + "\n"
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

func reassignmentsKnown(s *inspect.Snapshot) bool {
	for p := range s.Partitions {
		if !p.Adding.IsKnown() {
			return false
		}
	}
	return true
}

// ReassignmentsTable is the table of describe reassignments: a row for each
// replica being added, or one for a partition that only loses some.
func ReassignmentsTable(v View, items []ReassignmentItem) *Table {
	t := &Table{Columns: []Column{
		{Name: "PARTITION", Elastic: true},
		{Name: "LEADER"},
		{Name: "REPLICAS", Spare: cheap},
		{Name: "TARGET", Spare: 1},
		{Name: "REMOVING", Spare: 2},
		{Name: "ADDING"},
		{Name: "SIZE", PipeName: "TOTAL-BYTES", Right: true},
		{Name: "DONE", PipeName: "DONE-BYTES", Right: true, Spare: 1},
		{Name: "PERCENT", Right: true, Keep: true},
		{Name: "RATE", PipeName: "BYTES-PER-SECOND", Right: true, HideBlank: true},
		{Name: "ETA", PipeName: "ETA-MS", Right: true, HideBlank: true},
		{Name: "STATE", Keep: true},
	}}
	for i := range items {
		r := &items[i]
		head := []Cell{
			Text(r.Topic + "-" + strconv.Itoa(int(r.Partition))), leaderText(r.Leader.Or(inspect.NoBroker)), IDs(r.Replicas),
			IDs(r.TargetReplicas), Exceptions(inspect.Known(r.RemovingReplicas), Plain),
		}
		if len(r.Copies) == 0 {
			none := Cell{Pipe: "none"}
			t.Rows = append(t.Rows, Row{Cells: append(head, none, none, none, none, none, none, Text("removing"))})
		}
		for j := range r.Copies {
			if j > 0 {
				for k := range head {
					head[k] = head[k].Repeated()
				}
			}
			cells := append(append([]Cell{}, head...), copyCells(&r.Copies[j])...)
			t.Rows = append(t.Rows, Row{Cells: cells})
		}
	}
	if v.Terminal && len(items) > 0 {
		t.Tail = []string{reassignmentTotal(v, items)}
	}
	return t
}

func copyCells(c *CopyItem) []Cell {
	state := Text("copying")
	if c.InSync {
		state = Text("in-sync").Styled(Good)
	}
	part := Text(Unknown)
	if p, ok := c.Percent.Get(); ok {
		// Not rounded up: 100 % is done, and nothing else is.
		part = Cell{Text: fmt.Sprintf("%d%%", int(p)), Pipe: strconv.FormatFloat(p, 'f', -1, 64)}
	}
	rate, eta := Cell{Pipe: Unknown}, Cell{Pipe: Unknown}
	if r, ok := c.BytesPerSecond.Get(); ok {
		rate = Cell{Text: Bytes(int64(max(0, r))) + "/s", Pipe: strconv.FormatFloat(r, 'f', -1, 64)}
		eta = Text(Unknown)
	}
	if ms, ok := c.EtaMs.Get(); ok {
		eta = Cell{Text: Millis(ms), Pipe: strconv.FormatInt(ms, 10)}
	}
	return []Cell{Text(strconv.Itoa(int(c.Broker))), bytesCell(c.TotalBytes), bytesCell(c.DoneBytes), part, rate, eta, state}
}

// bytesCell is a size for people, and the number for programs.
func bytesCell(n inspect.Opt[int64]) Cell {
	size, ok := n.Get()
	if !ok {
		return Text(Unknown)
	}
	return Cell{Text: Bytes(size), Pipe: strconv.FormatInt(size, 10)}
}

func reassignmentTotal(v View, items []ReassignmentItem) string {
	total, done, unknown := int64(0), int64(0), 0
	for i := range items {
		for j := range items[i].Copies {
			c := &items[i].Copies[j]
			t, ok := c.TotalBytes.Get()
			d, known := c.DoneBytes.Get()
			if !ok || !known {
				unknown++
				continue
			}
			total, done = total+t, done+d
		}
	}
	line := v.count(len(items), "partition", "partitions") + ": " + Bytes(done) + " of " + Bytes(total) + " copied"
	if unknown > 0 {
		line += ", without " + v.count(unknown, "copy", "copies") + " whose size is unknown"
	}
	return line
}
