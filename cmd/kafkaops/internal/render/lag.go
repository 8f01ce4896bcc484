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

// Lag is the screen of lag: a row for each replica, the partitions in the order
// given; JSON sorts them. On a terminal the partition's cells are printed once
// and what else is to say of it stands below them.
func Lag(w io.Writer, v View, s *inspect.Snapshot, rows []LagRow) error {
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindReplicaLag, s, LagItems(rows)))
	}
	if v.Terminal && len(rows) == 0 {
		_, err := io.WriteString(w, "no partitions to show\n")
		return err
	}
	_, err := io.WriteString(w, LagTable(v, rows).Text(v))
	return err
}

// WorstLagFirst sorts rows by their worst replica's certain lag, then by LEO −
// HW, then by status, then by name. An unknown lag comes right before none.
func WorstLagFirst(rows []LagRow) []LagRow {
	return slices.SortedFunc(slices.Values(rows), func(a, b LagRow) int {
		return cmp.Or(
			-cmp.Compare(worstLag(&a), worstLag(&b)),
			-cmp.Compare(a.Lag.Uncommitted.Or(0), b.Lag.Uncommitted.Or(0)),
			cmp.Compare(rank(&a.Health), rank(&b.Health)),
			cmp.Compare(a.Partition.Topic, b.Partition.Topic),
			cmp.Compare(a.Partition.Index, b.Partition.Index),
		)
	})
}

// worstLag places a replica whose lag is unknown between 0 and 1 records.
func worstLag(r *LagRow) float64 {
	most := 0.0
	for i := range r.Lag.Replicas {
		lag, ok := r.Lag.Replicas[i].Lag.Get()
		if !ok {
			most = max(most, 0.5)
		}
		most = max(most, float64(lag))
	}
	return most
}

// LagTable is the table of lag.
func LagTable(v View, rows []LagRow) *Table {
	shown := v.cut(len(rows), 0)
	t := &Table{}
	columns := lagColumns(v, rows)
	for _, c := range columns {
		t.Columns = append(t.Columns, c.Column)
	}
	for i := range rows[:shown] {
		t.Rows = append(t.Rows, lagRows(v, columns, &rows[i])...)
	}
	if v.Terminal && v.wide() {
		addBars(t, v, rows[:shown])
	}
	if shown < len(rows) {
		t.Tail = append(t.Tail, fmt.Sprintf("%s of %s partitions shown (all of them: --all)",
			v.number(int64(shown)), v.number(int64(len(rows)))))
	}
	return t
}

// lagColumn is a column with how to fill it, once for the partition or for each
// replica.
type lagColumn struct {
	Column
	partition func(*LagRow) Cell
	replica   func(*LagRow, *inspect.ReplicaLag) Cell
}

func lagColumns(v View, rows []LagRow) []lagColumn {
	columns := []lagColumn{
		{Column: Column{Name: "PARTITION", Elastic: true}, partition: func(r *LagRow) Cell { return partitionName(r.judged()) }},
		{Column: Column{Name: "LEADER", Spare: 3}, partition: func(r *LagRow) Cell { return leaderCell(r.judged()) }},
		{Column: Column{Name: "HW", Right: true, Spare: 1}, partition: func(r *LagRow) Cell { return Number(r.Lag.HW) }},
		{Column: Column{Name: "LEO", Right: true, Spare: 2}, partition: func(r *LagRow) Cell { return Number(r.Lag.LEO) }},
		{Column: Column{Name: "LEO-HW", Right: true}, partition: uncommittedCell},
		{Column: Column{Name: "REPLICA", Keep: true}, replica: func(_ *LagRow, rep *inspect.ReplicaLag) Cell { return Text(strconv.Itoa(int(rep.Broker))) }},
		{Column: Column{Name: "LEO", PipeName: "REPLICA-LEO", Right: true}, replica: func(_ *LagRow, rep *inspect.ReplicaLag) Cell { return Number(rep.LEO) }},
		{Column: Column{Name: "LAG", Right: true, Keep: true}, replica: replicaLagCell},
	}
	timed := slices.ContainsFunc(rows, func(r LagRow) bool { return r.Timing != nil })
	if timed {
		columns = append(
			columns,
			lagColumn{Column: Column{Name: "TIME", PipeName: "TIME-MS", Right: true}, replica: timeCell},
			lagColumn{Column: Column{Name: "TIME-AT-LEAST-MS", Only: InPipe}, replica: func(r *LagRow, rep *inspect.ReplicaLag) Cell {
				return Number(r.Timing.replica(rep.Broker).LagMsAtLeast)
			}},
		)
	}
	columns = append(
		columns,
		lagColumn{Column: Column{Name: "STATE", Keep: true}, replica: func(_ *LagRow, rep *inspect.ReplicaLag) Cell {
			return Text(string(rep.State)).Styled(StateStyle(rep.State))
		}},
		lagColumn{Column: Column{Name: "STATUS", Only: InPipe}, partition: func(r *LagRow) Cell { return statusCell(r.judged()) }},
	)
	if v.wide() {
		columns = append(columns, lagWideColumns(timed)...)
	}
	return columns
}

// lagWideColumns are for pipes, but for the upper bound of lag; on a terminal
// the rest stands in the notes below a partition's cells.
func lagWideColumns(timed bool) []lagColumn {
	pipe := func(name string, cell func(*LagRow) Cell) lagColumn {
		return lagColumn{Column: Column{Name: name, Only: InPipe}, partition: cell}
	}
	columns := []lagColumn{
		{Column: Column{Name: "LAG-MAX", Right: true, HideBlank: true, Spare: 4}, replica: lagMaxCell},
		pipe("LEO-HW-MAX", func(r *LagRow) Cell { return Number(r.Lag.UncommittedMax) }),
		pipe("EPOCH", func(r *LagRow) Cell { return Number(r.Partition.LeaderEpoch) }),
		pipe("LOG-START", func(r *LagRow) Cell { return Number(r.Lag.LogStart) }),
		pipe("LSO", func(r *LagRow) Cell { return Number(r.Lag.LSO) }),
		pipe("ISR", func(r *LagRow) Cell { return IDs(r.Partition.ISR) }),
		pipe("MIN", func(r *LagRow) Cell { return Number(r.Health.EffectiveMinISR) }),
	}
	if timed {
		columns = append(
			columns,
			pipe("APPEND-PER-SECOND", func(r *LagRow) Cell { return rateCell(r.timing().AppendPerSecond) }),
			pipe("COMMIT-PER-SECOND", func(r *LagRow) Cell { return rateCell(r.timing().CommitPerSecond) }),
			pipe("HW-FROZEN-MS", func(r *LagRow) Cell { return Number(r.timing().HWFrozenMs) }),
		)
	}
	return append(
		columns,
		lagColumn{Column: Column{Name: "ERROR", Only: InPipe}, replica: func(_ *LagRow, rep *inspect.ReplicaLag) Cell {
			return orNone(rep.Error)
		}},
		pipe("NOTES", func(r *LagRow) Cell { return orNone(strings.Join(r.Notes, "; ")) }),
	)
}

// lagRows are the rows of one partition.
func lagRows(v View, columns []lagColumn, r *LagRow) []Row {
	var rows []Row
	for i := range r.Lag.Replicas {
		row := Row{Cells: make([]Cell, 0, len(columns))}
		for _, c := range columns {
			switch {
			case c.replica != nil:
				row.Cells = append(row.Cells, c.replica(r, &r.Lag.Replicas[i]))
			case i == 0:
				row.Cells = append(row.Cells, c.partition(r))
			default:
				row.Cells = append(row.Cells, c.partition(r).Repeated())
			}
		}
		rows = append(rows, row)
	}
	if len(rows) > 0 {
		rows[0].Notes = lagNotes(v, r)
	}
	return rows
}
