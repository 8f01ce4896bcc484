package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
	"github.com/kafkaops/kafkaops/pkg/inspect/jmx"
)

// Isr is the screen of isr: every event, the newest last, and what agents count, nil
// where none was asked.
func Isr(w io.Writer, v View, s *inspect.Snapshot, e *isrlog.Evidence, events []inspect.IsrEvent, meters []jmx.Meters) error {
	if v.Format.Structured() {
		spool := NewIsrSpool()
		for i := range events {
			if err := spool.Add(&events[i]); err != nil {
				return err
			}
		}
		return spool.Write(w, v, s, e, meters)
	}
	items := IsrEventItems(events)
	var b strings.Builder
	if v.Terminal {
		paragraph(&b, v, Plain, EvidenceLine(e))
		b.WriteByte('\n')
	}
	switch {
	case len(items) > 0 || !v.Terminal:
		b.WriteString(IsrTable(v, items).Text(v))
	case e.Since.IsKnown():
		b.WriteString("  no change of an ISR\n")
	}
	b.WriteString(metersText(v, meters))
	_, err := io.WriteString(w, b.String())
	return err
}

func writeIsr[T any](w io.Writer, v View, s *inspect.Snapshot, e *isrlog.Evidence, kind Kind, items []T, meters []jmx.Meters) error {
	out, err := encode(&IsrDocument[T]{Document: *NewDocument(kind, s, items), Evidence: evidenceItem(e), Meters: meterItems(meters)}, v)
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}

// EvidenceLine says what events rest on, and how far back that reaches.
func EvidenceLine(e *isrlog.Evidence) string {
	since, ok := e.Since.Get()
	at := since.UTC().Format("2006-01-02 15:04:05Z")
	offset := ""
	if from, known := e.From.Get(); known {
		offset = fmt.Sprintf("offset %d ", from)
	}
	var line string
	switch {
	case !ok && e.Where == "":
		return "nothing could be read"
	case !ok:
		line = "nothing is complete"
	case e.Source == inspect.SourceRecording:
		line = fmt.Sprintf("%s %s(%s) to %s", completeness(e), offset, at, end(e))
	case e.Every.IsKnown():
		line = fmt.Sprintf("a lower bound since %s, by a look every %s", at, span(e.Every.Or(0)))
	default:
		line = fmt.Sprintf("complete since %s(%s)", offset, at)
	}
	line += ", source: " + sourceWords(e.Source) + " " + e.Where
	if from, known := e.Tentative.Get(); known {
		line += fmt.Sprintf("; from offset %d on not certainly committed", from)
	}
	return Clean(line)
}

// completeness is how far what was recorded can be relied upon.
func completeness(e *isrlog.Evidence) string {
	if every, ok := e.Every.Get(); ok {
		return fmt.Sprintf("a lower bound, by a look every %s, from", span(every))
	}
	return "complete from"
}

// end is where a recording ends.
func end(e *isrlog.Evidence) string {
	at := "(" + e.Until.Or(time.Time{}).UTC().Format("2006-01-02 15:04:05Z") + ")"
	if to, ok := e.To.Get(); ok {
		return fmt.Sprintf("offset %d %s", to, at)
	}
	return at
}

func sourceWords(s inspect.IsrSource) string {
	switch s {
	case inspect.SourceMetadataLog:
		return "metadata log of"
	case inspect.SourceMetadataDir:
		return "directory"
	case inspect.SourceRecording:
		return "recording"
	}
	return "metadata of"
}

// IsrTable is the table of isr.
func IsrTable(v View, items []IsrEventItem) *Table {
	t := &Table{Columns: []Column{
		{Name: "TIME (UTC)", PipeName: "TIME"},
		{Name: "PARTITION", Elastic: true},
		{Name: "EVENT"},
		{Name: "CAUSE"},
		{Name: "BROKERS"},
		{Name: "ISR-BEFORE", Spare: 3},
		{Name: "ISR", Spare: 1},
		{Name: "LEADER", Spare: 2},
		{Name: "OUT", PipeName: "OUT-MS", Right: v.Terminal, HideBlank: true},
	}}
	if v.wide() {
		t.Columns = append(
			t.Columns, Column{Name: "REPLICAS", Spare: cheap}, Column{Name: "ELR", Spare: cheap}, Column{Name: "LEADER-EPOCH", Right: true, Spare: cheap + 1},
			Column{Name: "PARTITION-EPOCH", Right: true, Spare: cheap + 1}, Column{Name: "OFFSET", Right: true, Spare: cheap}, Column{Name: "SOURCE", Only: InPipe},
		)
	}
	for i := range items {
		t.Rows = append(t.Rows, Row{Cells: isrCells(v, &items[i])})
	}
	return t
}

func isrCells(v View, e *IsrEventItem) []Cell {
	at := e.Time.UTC()
	out := Cell{Pipe: Unknown}
	if ms, ok := e.DurationMs.Get(); ok {
		out = Cell{Text: Millis(ms), Pipe: strconv.FormatInt(ms, 10)}
	}
	cells := []Cell{
		{Text: at.Format("01-02 15:04:05"), Pipe: at.Format(rfc3339Millis)},
		Text(e.Topic + "-" + strconv.Itoa(int(e.Partition))),
		Text(string(e.Type)).Styled(eventStyle(e)), Text(string(e.Cause)), IDs(e.Brokers), IDs(e.ISRBefore), IDs(e.ISR),
		leaderText(e.Leader.Or(inspect.NoBroker)), out,
	}
	if v.wide() {
		elr := Text(Unknown)
		if known, ok := e.ELR.Get(); ok {
			elr = IDs(known)
		}
		cells = append(cells, IDs(e.Replicas), elr, Number(e.LeaderEpoch), Number(e.PartitionEpoch), Number(e.Offset), Text(string(e.Source)))
	}
	return cells
}

func eventStyle(e *IsrEventItem) Style {
	switch {
	case e.Type == inspect.IsrLeader && !e.Leader.IsKnown(), e.Cause == inspect.CauseUncleanElection, e.Cause == inspect.CauseLastKnownLeader:
		return Bad
	case e.Type == inspect.IsrShrink && e.Cause != inspect.CauseReassignment, e.Cause == inspect.CauseUncleanRestart:
		return Warn
	case e.Type == inspect.IsrExpand:
		return Good
	}
	return Plain
}

// IsrStream draws events one by one as they happen.
type IsrStream struct {
	view   View
	snap   *inspect.Snapshot
	begun  bool
	widths []int
}

// NewIsrStream begins a stream. The Snapshot names the cluster.
func NewIsrStream(v View, s *inspect.Snapshot) *IsrStream { return &IsrStream{view: v, snap: s} }

// Event draws one: a document on one line, or a row. On a terminal columns grow with
// what they hold, and never shrink.
func (st *IsrStream) Event(w io.Writer, e *isrlog.Evidence, event *inspect.IsrEvent) error {
	items := IsrEventItems([]inspect.IsrEvent{*event})
	if st.view.Format.Structured() {
		return writeIsr(w, st.view, st.snap, e, KindIsrEvent, items, nil)
	}
	t := IsrTable(st.view, items)
	var text string
	if st.view.Terminal {
		text = st.row(t)
	} else {
		text = t.Text(st.view)
		if st.begun {
			_, text, _ = strings.Cut(text, "\n")
		}
	}
	st.begun = true
	_, err := io.WriteString(w, text)
	return err
}

// row is one row, with a header above the first.
func (st *IsrStream) row(t *Table) string {
	if st.widths == nil {
		st.widths = []int{14, 12, 8, 19, 7, 10, 7, 6, 6} // what most events take
	}
	var b strings.Builder
	write := func(cell func(i int) Cell) {
		var line strings.Builder
		for i := range t.Columns {
			if t.Columns[i].Only == InPipe {
				continue
			}
			c := cell(i)
			for len(st.widths) <= i {
				st.widths = append(st.widths, 0)
			}
			st.widths[i] = max(st.widths[i], len(c.Text), len(t.Columns[i].Name))
			line.WriteString(Paint(st.view.Color, c.Style, c.Text) + strings.Repeat(" ", st.widths[i]-len(c.Text)+columnGap))
		}
		b.WriteString(fit(strings.TrimRight(line.String(), " "), st.view.Width) + "\n")
	}
	if !st.begun {
		write(func(i int) Cell { return Cell{Text: t.Columns[i].Name, Style: Strong} })
	}
	write(func(i int) Cell { return t.Rows[0].Cells[i] })
	return b.String()
}

// IsrSummary is the screen of isr summary: who was missing, for how long and why, and
// what agents count, nil where none was asked.
func IsrSummary(
	w io.Writer, v View, s *inspect.Snapshot, e *isrlog.Evidence, from, until time.Time, all []isrlog.Absences, meters []jmx.Meters,
) error {
	items := IsrSummaryItems(all)
	if v.Format.Structured() {
		return writeIsr(w, v, s, e, KindIsrSummary, items, meters)
	}
	var b strings.Builder
	if v.Terminal {
		head := fmt.Sprintf("%s to %s, %s", span(until.Sub(from).Round(time.Second)), until.UTC().Format("15:04:05Z"), EvidenceLine(e))
		paragraph(&b, v, Plain, Clean(head))
		b.WriteByte('\n')
	}
	switch {
	case len(items) > 0 || !v.Terminal:
		b.WriteString(IsrSummaryTable(v, from, until, items).Text(v))
	case e.Since.IsKnown():
		b.WriteString("  no replica left an ISR\n")
	}
	if v.Terminal {
		b.WriteString(worst(v, items))
	}
	b.WriteString(metersText(v, meters))
	_, err := io.WriteString(w, b.String())
	return err
}

// IsrSummaryTable is the table of isr summary.
func IsrSummaryTable(v View, from, until time.Time, items []IsrSummaryItem) *Table {
	t := &Table{Columns: []Column{
		{Name: "BROKER", Right: true},
		{Name: "OUT", PipeName: "OUT-MS", Right: true},
		{Name: "TIMES", Right: true},
		{Name: "CAUSE"},
		{Name: "LONGEST", PipeName: "LONGEST-MS", Right: true, Spare: 2},
		{Name: "PARTITIONS", Right: true, Spare: 3},
		{Name: "STILL-OUT", Right: true, HideBlank: true, Spare: 4},
		{Name: timelineHead(from, until, timelineOf(items)), PipeName: "TIMELINE", Spare: 1},
	}}
	for i := range items {
		it := &items[i]
		out, longest := Cell{Text: Millis(it.OutMs), Pipe: strconv.FormatInt(it.OutMs, 10)}, Cell{Text: Millis(it.LongestMs), Pipe: strconv.FormatInt(it.LongestMs, 10)}
		counts := make([]string, len(it.Timeline))
		values := make([]float64, len(it.Timeline))
		for j, n := range it.Timeline {
			counts[j], values[j] = strconv.Itoa(n), float64(n)
		}
		stillOut := Count(it.StillOut).Styled(Warn)
		if it.StillOut == 0 {
			stillOut.Text = ""
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{
			Text(strconv.Itoa(int(it.Broker))), out, Count(it.Times), Text(string(it.Cause)), longest, Count(len(it.Partitions)),
			stillOut,
			{Text: Sparkline(values), Pipe: strings.Join(counts, ",")},
		}})
	}
	return t
}

func timelineOf(items []IsrSummaryItem) int {
	if len(items) == 0 {
		return 0
	}
	return len(items[0].Timeline)
}

// timelineHead writes times above a timeline of so many cells.
func timelineHead(from, until time.Time, cells int) string {
	layout, every := "15:04", 6
	if until.Sub(from) < time.Hour {
		layout, every = "15:04:05", 12
	}
	var b strings.Builder
	for i := 0; i+len(layout) <= cells; i += every {
		at := from.Add(time.Duration(float64(until.Sub(from)) * float64(i) / float64(cells)))
		fmt.Fprintf(&b, "%-*s", every, at.UTC().Format(layout))
	}
	if head := strings.TrimRight(b.String(), " "); head != "" {
		return head
	}
	return "TIMELINE"
}

// worst names, for each broker and cause, the partitions that missed it longest, and
// those that it left again and again.
func worst(v View, items []IsrSummaryItem) string {
	const most = 3
	var b strings.Builder
	for i := range items {
		it := &items[i]
		if len(it.Partitions) < 2 && it.Times < 2 {
			continue
		}
		var parts []string
		for _, p := range it.Partitions[:min(most, len(it.Partitions))] {
			parts = append(parts, fmt.Sprintf("%s-%d %s", p.Topic, p.Partition, Millis(p.OutMs)))
		}
		line := fmt.Sprintf("  broker %d, %s: longest %s", it.Broker, it.Cause, strings.Join(parts, ", "))
		if n := slices.IndexFunc(it.Partitions, func(p IsrAbsenceItem) bool { return p.Flapped }); n >= 0 {
			p := &it.Partitions[n]
			line += fmt.Sprintf("; flapped: %s-%d left %d times from %s to %s", p.Topic, p.Partition, p.Times, p.First.UTC().Format("15:04:05"), p.Last.UTC().Format("15:04:05Z"))
		}
		b.WriteString(fit(Clean(line), v.Width) + "\n")
	}
	if b.Len() > 0 {
		return "\n" + b.String()
	}
	return ""
}
