package render

import (
	"fmt"
	"io"
	"strconv"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Transactions is the screen of describe transactions.
func Transactions(w io.Writer, v View, s *inspect.Snapshot, open []inspect.OpenTransaction) error {
	items := TransactionItems(s, open)
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindTransaction, s, items))
	}
	text := TransactionsTable(v, items).Text(v)
	if v.Terminal && len(items) == 0 {
		text = ""
		switch {
		case s.Transactions.IsKnown() && s.Complete():
			text = fit("  no transaction is open, and no LSO is held back", v.Width) + "\n"
		case s.Complete():
			text = fit("  this cluster does not tell of its transactions (Kafka 3.0 and newer do)", v.Width) + "\n"
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

// TransactionsTable is the table of describe transactions. On a terminal the
// partitions whose LSO a transaction holds are lines below it, all in the wide
// form; in a pipe every partition has a row.
func TransactionsTable(v View, items []TransactionItem) *Table {
	t := &Table{Columns: []Column{
		{Name: "TRANSACTION", Elastic: true},
		{Name: "PRODUCER", Right: true, Spare: cheap},
		{Name: "EPOCH", Right: true, Only: InPipe},
		{Name: "COORDINATOR", Spare: cheap + 1},
		{Name: "STATE", Spare: 1},
		{Name: "OPEN", PipeName: "OPEN-MS", Right: true},
		{Name: "TIMEOUT", PipeName: "TIMEOUT-MS", Right: true},
		{Name: "LAST-WRITE", Right: v.Terminal, Spare: 2},
		{Name: "PARTITIONS", Right: true, Only: OnTerminal},
		{Name: "HOLDS-LSO", Right: true, Only: OnTerminal},
		{Name: "PARTITION", Only: InPipe},
		{Name: "START", Only: InPipe},
		{Name: "LSO", Only: InPipe},
		{Name: "HW", Only: InPipe},
		{Name: "HOLDS", PipeName: "HOLDS-LSO", Only: InPipe},
		{Name: "STATUS", Keep: true},
		{Name: "WHY", Only: InPipe},
	}}
	for i := range items {
		item := &items[i]
		if v.Terminal {
			row := Row{Cells: transactionCells(item, nil)}
			if item.Why != "" {
				row.Notes = append(row.Notes, Text("      "+item.Why).Styled(transactionStyle(item.Status)))
			}
			for j := range item.Partitions {
				if p := &item.Partitions[j]; p.HoldsLSO.Or(true) || v.wide() {
					row.Notes = append(row.Notes, openPartitionLine(p))
				}
			}
			t.Rows = append(t.Rows, row)
			continue
		}
		for j := range item.Partitions {
			t.Rows = append(t.Rows, Row{Cells: transactionCells(item, &item.Partitions[j])})
		}
		if len(item.Partitions) == 0 {
			t.Rows = append(t.Rows, Row{Cells: transactionCells(item, nil)})
		}
	}
	return t
}

func transactionCells(t *TransactionItem, p *OpenPartitionItem) []Cell {
	holds := inspect.Known[int64](0)
	for i := range t.Partitions {
		switch held, ok := t.Partitions[i].HoldsLSO.Get(); {
		case !ok:
			holds = inspect.Unknown[int64]()
		case held:
			holds = sum(holds, inspect.Known[int64](1))
		}
	}
	none := Cell{Pipe: "none"}
	partition, start, lso, hw, held := none, none, none, none, none
	if p != nil {
		partition = Text(p.Topic + "-" + strconv.Itoa(int(p.Partition)))
		start, lso, hw, held = Number(p.StartOffset), Number(p.LastStableOffset), Number(p.HighWatermark), Text(Unknown)
		switch holds, told := p.HoldsLSO.Get(); {
		case told && holds:
			held = Text("yes")
		case told:
			held = Text("no")
		}
	}
	why := Text("none")
	if t.Why != "" {
		why = Text(t.Why)
	}
	return []Cell{
		transactionName(t), plainNumber(t.ProducerID), Number(t.ProducerEpoch), plainNumber(t.Coordinator), Text(t.State.Or(Unknown)),
		duration(t.OpenMs), duration(t.TimeoutMs), writeCell(t), Count(len(t.Partitions)), Number(holds),
		partition, start, lso, hw, held, Text(string(t.Status)).Styled(transactionStyle(t.Status)), why,
	}
}

// transactionName is its transactional id, which may be empty or look like
// anything, so programs read it from JSON.
func transactionName(t *TransactionItem) Cell {
	id, ok := t.TransactionalID.Get()
	producer, told := t.ProducerID.Get()
	switch {
	case !ok && told:
		return Cell{Text: "producer " + strconv.FormatInt(producer, 10), Pipe: Unknown}
	case !ok:
		return Text(Unknown)
	case id == "":
		return Text(`""`)
	}
	return Text(id)
}

// plainNumber is an id: without separators.
func plainNumber[T ~int32 | ~int64](n inspect.Opt[T]) Cell { return Text(n.String()) }

// duration is for people, and milliseconds for programs.
func duration(ms inspect.Opt[int64]) Cell {
	n, ok := ms.Get()
	if !ok {
		return Text(Unknown)
	}
	return Cell{Text: Millis(n), Pipe: strconv.FormatInt(n, 10)}
}

func writeCell(t *TransactionItem) Cell {
	at, ok := t.LastWrite.Get()
	if !ok {
		return Text(Unknown)
	}
	return Cell{Text: at.UTC().Format("01-02 15:04:05Z"), Pipe: at.UTC().Format(rfc3339Millis)}
}

func openPartitionLine(p *OpenPartitionItem) Cell {
	name := "      " + p.Topic + "-" + strconv.Itoa(int(p.Partition))
	lso, ok := p.LastStableOffset.Get()
	hw, known := p.HighWatermark.Get()
	switch holds, told := p.HoldsLSO.Get(); {
	case !told:
		return Text(name + ": whether it holds the LSO is unknown").Styled(Warn)
	case !holds || !ok || !known:
		return Text(name + ": does not hold the LSO").Styled(Dim)
	}
	return Text(fmt.Sprintf("%s: holds the LSO at %s, %s records to the HW wait behind it",
		name, Thousands(int64(lso)), Thousands(int64(hw-lso)))).Styled(Dim)
}

func transactionStyle(s inspect.TransactionStatus) Style {
	switch s {
	case inspect.TransactionHanging:
		return Bad
	case inspect.TransactionOpen:
		return Good
	}
	return Warn
}
