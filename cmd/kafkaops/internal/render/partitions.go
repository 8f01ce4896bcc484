package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Topics is the screen of describe topics: one row for each partition, in the
// order given; JSON sorts them.
func Topics(w io.Writer, v View, s *inspect.Snapshot, judged []inspect.Judged) error {
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindPartition, s, PartitionItems(judged)))
	}
	if v.Terminal && len(judged) == 0 {
		_, err := io.WriteString(w, "no partitions to show\n")
		return err
	}
	_, err := io.WriteString(w, TopicsTable(v, s, judged).Text(v))
	return err
}

// TopicsTable is the table of describe topics.
func TopicsTable(v View, s *inspect.Snapshot, judged []inspect.Judged) *Table {
	shown := v.cut(len(judged), 0)
	t := partitionTable(v.wide(), judged[:shown], topicsColumns(s.TakenAt, judged[:shown]))
	if shown < len(judged) {
		t.Tail = []string{fmt.Sprintf("%s of %s partitions shown (all of them: --all)",
			v.number(int64(shown)), v.number(int64(len(judged))))}
	}
	return t
}

// partitionColumn is a column with how to fill it.
type partitionColumn struct {
	Column
	wide bool
	cell func(j *inspect.Judged) Cell
}

func partitionTable(wide bool, judged []inspect.Judged, columns []partitionColumn) *Table {
	t := &Table{}
	var cells []func(*inspect.Judged) Cell
	for _, c := range columns {
		if wide || !c.wide {
			t.Columns = append(t.Columns, c.Column)
			cells = append(cells, c.cell)
		}
	}
	for i := range judged {
		row := Row{Cells: make([]Cell, 0, len(cells))}
		for _, cell := range cells {
			row.Cells = append(row.Cells, cell(&judged[i]))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// overviewColumns answer "what is wrong with it, since when and why", as of takenAt.
func overviewColumns(takenAt time.Time, judged []inspect.Judged) []partitionColumn {
	return slices.Concat([]partitionColumn{
		{Column: Column{Name: "PARTITION", Elastic: true}, cell: partitionName},
		{Column: Column{Name: "LEADER"}, cell: leaderCell},
		{Column: Column{Name: "ISR"}, cell: isrCell},
		{Column: Column{Name: "OUT"}, cell: outCell},
		{Column: Column{Name: "MIN", Right: true}, cell: func(j *inspect.Judged) Cell { return Number(j.Health.EffectiveMinISR) }},
		{Column: Column{Name: "STATUS", Long: true, Keep: true}, cell: statusCell},
	}, onsetColumns(takenAt, judged), []partitionColumn{
		{Column: Column{Name: "REPLICAS", Spare: 1}, wide: true, cell: replicasCell},
	}, wideColumns())
}

// onsetColumns answer "since when, and why". On a terminal they are left out where the log
// was not asked or told nothing.
func onsetColumns(takenAt time.Time, judged []inspect.Judged) []partitionColumn {
	told := slices.ContainsFunc(judged, func(j inspect.Judged) bool { return j.Onset != nil })
	unlessNone := func(c Cell) Cell {
		if !told { // then the columns are left out on a terminal
			c.Text = ""
		}
		return c
	}

	return []partitionColumn{
		{
			Column: Column{Name: "SINCE", HideBlank: true},
			cell:   func(j *inspect.Judged) Cell { return unlessNone(sinceCell(j, takenAt)) },
		},
		{Column: Column{Name: "CAUSE", HideBlank: true, Spare: 1}, cell: func(j *inspect.Judged) Cell { return unlessNone(causeCell(j)) }},
	}
}

// sinceCell is for how long the partition has not been ok; in a pipe, since when.
func sinceCell(j *inspect.Judged, takenAt time.Time) Cell {
	if j.Onset == nil {
		return Text(Unknown)
	}
	since, more, before := j.Onset.Since, "", ""
	if !since.IsKnown() {
		since, more, before = j.Onset.Before, ">", "before "
	}
	at, ok := since.Get()
	if !ok {
		return Text(Unknown)
	}
	// The controller's clock may be ahead of this one.
	return Cell{Text: more + Millis(max(0, takenAt.Sub(at)).Milliseconds()), Pipe: before + at.UTC().Format(rfc3339Millis)}
}

func causeCell(j *inspect.Judged) Cell {
	if j.Onset == nil {
		return Text(Unknown)
	}
	return Text(string(j.Onset.Cause.Or(Unknown)))
}

func topicsColumns(takenAt time.Time, judged []inspect.Judged) []partitionColumn {
	return slices.Concat([]partitionColumn{
		{Column: Column{Name: "PARTITION", Elastic: true}, cell: partitionName},
		{Column: Column{Name: "LEADER"}, cell: leaderCell},
		{Column: Column{Name: "REPLICAS"}, cell: replicasCell},
		{Column: Column{Name: "ISR"}, cell: isrCell},
		{Column: Column{Name: "OUT"}, cell: outCell},
		{Column: Column{Name: "MIN", Right: true}, cell: func(j *inspect.Judged) Cell { return Number(j.Health.EffectiveMinISR) }},
		{Column: Column{Name: "HEADROOM", Right: true, Spare: cheap}, cell: headroomCell},
		{Column: Column{Name: "STATUS", Long: true, Keep: true}, cell: statusCell},
		{Column: Column{Name: "NOTE", Long: true, HideBlank: true}, cell: noteCell},
	}, wideColumns(), onsetColumns(takenAt, judged)) // in a pipe, behind those that scripts count
}

func wideColumns() []partitionColumn {
	ids := func(name string, spare int, s Style, of func(*inspect.Partition) inspect.Opt[[]inspect.BrokerID]) partitionColumn {
		return partitionColumn{
			Column: Column{Name: name, HideBlank: true, Spare: spare}, wide: true,
			cell: func(j *inspect.Judged) Cell { return Exceptions(of(j.Partition), s) },
		}
	}
	return []partitionColumn{
		{Column: Column{Name: "EPOCH", Right: true, Spare: cheap + 1}, wide: true, cell: func(j *inspect.Judged) Cell { return Number(j.LeaderEpoch) }},
		{Column: Column{Name: "PREFERRED", Right: true, Spare: cheap + 2}, wide: true, cell: func(j *inspect.Judged) Cell { return leaderText(j.PreferredLeader()) }},
		ids("ELR", 3, Plain, func(p *inspect.Partition) inspect.Opt[[]inspect.BrokerID] { return p.ELR }),
		ids("LAST-KNOWN-ELR", 4, Plain, func(p *inspect.Partition) inspect.Opt[[]inspect.BrokerID] { return p.LastKnownELR }),
		ids("OFFLINE", 2, Bad, func(p *inspect.Partition) inspect.Opt[[]inspect.BrokerID] { return inspect.Known(p.Offline) }),
		ids("ADDING", 2, Plain, func(p *inspect.Partition) inspect.Opt[[]inspect.BrokerID] { return p.Adding }),
		ids("REMOVING", 2, Plain, func(p *inspect.Partition) inspect.Opt[[]inspect.BrokerID] { return p.Removing }),
		{
			Column: Column{Name: "CONFIGURED-MIN", Right: true, Spare: cheap + 3}, wide: true,
			cell: func(j *inspect.Judged) Cell { return Number(j.MinInsyncReplicas) },
		},
		{Column: Column{Name: "TOPIC-ID", Spare: cheap + 4}, wide: true, cell: func(j *inspect.Judged) Cell { return Text(j.TopicID.Or(Unknown)) }},
	}
}

func partitionName(j *inspect.Judged) Cell {
	c := Text(nameOf(j.Partition))
	if j.Internal {
		return c.Styled(Dim)
	}
	return c
}

func nameOf(p *inspect.Partition) string { return p.Topic + "-" + strconv.Itoa(int(p.Index)) }

func leaderText(id inspect.BrokerID) Cell {
	if id == inspect.NoBroker {
		return Text("none")
	}
	return Text(strconv.Itoa(int(id)))
}

func leaderCell(j *inspect.Judged) Cell {
	c := leaderText(j.Leader)
	switch {
	case j.Leader == inspect.NoBroker:
		return c.Styled(Bad)
	case j.Health.Has(inspect.StatusWrongLeader):
		return c.Styled(Warn)
	}
	return c
}

func replicasCell(j *inspect.Judged) Cell { return IDs(j.Replicas) }

func isrCell(j *inspect.Judged) Cell { return IDs(j.ISR) }

func outCell(j *inspect.Judged) Cell {
	return Exceptions(inspect.Known(j.Health.OutOfSync), Bad)
}

func headroomCell(j *inspect.Judged) Cell {
	c := Number(j.Health.Headroom)
	if n, ok := j.Health.Headroom.Get(); ok && n < 0 {
		return c.Styled(Bad)
	}
	return c
}

func statusCell(j *inspect.Judged) Cell {
	return Cell{
		Text:  statusText(j.Health.Status, ", "),
		Pipe:  statusText(j.Health.Status, ","),
		Style: StatusStyle(j.Health.Status),
	}
}

func statusText(words []inspect.Status, sep string) string {
	out := make([]string, 0, len(words))
	for _, w := range words {
		out = append(out, string(w))
	}
	return strings.Join(out, sep)
}

// noteCell says what is built into the partition; it is beside the status.
func noteCell(j *inspect.Judged) Cell {
	var notes []string
	for _, f := range j.Health.Findings {
		switch f {
		case inspect.FindingMinISRExceedsRF:
			note := fmt.Sprintf("min ISR %s exceeds RF %d: ineffective", j.MinInsyncReplicas, len(j.Replicas))
			notes = append([]string{note}, notes...)
		case inspect.FindingSingleReplica:
			if !slices.Contains(j.Health.Findings, inspect.FindingMinISRExceedsRF) { // that names the RF
				notes = append(notes, "RF 1")
			}
		case inspect.FindingNoHeadroom:
			if len(j.Replicas) > 1 { // else the single replica says it
				notes = append(notes, "no headroom")
			}
		default:
			notes = append(notes, string(f))
		}
	}
	if j.Internal {
		notes = append(notes, "internal")
	}
	c := Text(strings.Join(notes, "; ")).Styled(Dim)
	if len(notes) == 0 {
		c.Pipe = "none"
	}
	return c
}
