package render

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Configs is the screen of describe configs. A table shows the settings that are
// remarkable, or all; documents have all.
func Configs(w io.Writer, v View, s *inspect.Snapshot, reports []inspect.ConfigReport, all bool) error {
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindConfig, s, ConfigItems(reports)))
	}
	_, err := io.WriteString(w, ConfigsTable(v, reports, all).Text(v))
	return err
}

// configRow is a setting of all brokers, or all topics, that have the same of it.
type configRow struct {
	*inspect.ConfigReport
	brokers []inspect.BrokerID
	topics  int
	// own are the brokers' values, "id=value", where each may have its own; differ:
	// they are not all the same.
	own    []string
	differ bool
}

func (r *configRow) add(o *inspect.ConfigReport) {
	if o.Scope == inspect.ScopeTopic {
		r.topics++
		return
	}
	r.brokers = append(r.brokers, o.Broker)
	if o.Own() && !sensitiveOrNone(o) {
		r.own = append(r.own, fmt.Sprintf("%d=%s", o.Broker, o.Value))
		r.differ = r.differ || !o.Value.Equal(r.Value)
	}
}

// ConfigsTable is the table of describe configs. On a terminal brokers that are
// alike share a row, and so do topics except in the wide form, and notes are
// lines below; in a pipe every broker and topic has its own row.
func ConfigsTable(v View, reports []inspect.ConfigReport, all bool) *Table {
	t := &Table{Columns: []Column{
		{Name: "SCOPE", Only: InPipe},
		{Name: "ENTITY", Elastic: true},
		{Name: "SETTING", Elastic: true, Keep: true},
		{Name: "VALUE", Long: true},
		{Name: "DEFAULT", Long: true, Spare: cheap},
		{Name: "SOURCE", Spare: cheap},
		{Name: "STATUS", Keep: true},
		{Name: "CHANGE", Spare: cheap + 1},
		{Name: "NOTES", Only: InPipe},
	}}
	hidden := 0
	rows, at := make([]configRow, 0, len(reports)), map[string]int{}
	for i := range reports {
		r := &reports[i]
		if !all && !v.wide() && !r.Remarkable() {
			hidden++
			continue
		}
		if v.Terminal && (r.Scope == inspect.ScopeBroker || !v.wide()) {
			if i, ok := at[alike(r)]; ok {
				rows[i].add(r)
				continue
			}
			at[alike(r)] = len(rows)
		}
		row := configRow{ConfigReport: r}
		row.add(r)
		rows = append(rows, row)
	}
	if v.Terminal {
		rows = groupSettings(rows)
	}
	for i := range rows {
		t.Rows = append(t.Rows, configCells(v, &rows[i]))
	}
	if hidden > 0 {
		t.Tail = []string{v.count(hidden, "setting is", "settings are") + " at Kafka's default and not shown (all: kafkaops describe configs --all)"}
	}
	return t
}

// alike is the same for reports that may share a row.
func alike(r *inspect.ConfigReport) string {
	value, known := r.Value.Get()
	if r.Own() && r.Scope == inspect.ScopeBroker && known {
		value = "" // a row for each of a hundred brokers would hide all else
	}
	return fmt.Sprintf("%q", []any{r.Scope, r.Name, value, known, r.Source, r.Notes, r.Untold})
}

func sensitiveOrNone(r *inspect.ConfigReport) bool { return r.Sensitive || !r.Value.IsKnown() }

// groupSettings puts the rows of brokers with the same setting together, in the
// order in which settings first come.
func groupSettings(rows []configRow) []configRow {
	first := map[string]int{}
	for i := range rows {
		if _, seen := first[rows[i].Name]; !seen {
			first[rows[i].Name] = i
		}
	}
	slices.SortStableFunc(rows, func(a, b configRow) int {
		if a.Scope != inspect.ScopeBroker || b.Scope != inspect.ScopeBroker {
			return cmp.Compare(a.Scope, b.Scope)
		}
		return cmp.Compare(first[a.Name], first[b.Name])
	})
	return rows
}

func configCells(v View, r *configRow) Row {
	entity := Text(r.Entity)
	if v.Terminal && r.Scope == inspect.ScopeBroker {
		noun := "broker "
		if len(r.brokers) > 1 {
			noun = "brokers "
		}
		entity = Text(noun + joinIDs(r.brokers))
	}
	if r.Untold != "" {
		none := func() Cell { return Text(Unknown) }
		status := untoldCell(r.Untold)
		return Row{Cells: []Cell{Text(string(r.Scope)), entity, none(), none(), none(), none(), status, none(), Text(string(r.Untold))}}
	}
	if r.topics > 1 {
		entity.Text += fmt.Sprintf(" and %d more", r.topics-1)
	}
	notes := Text("none")
	if len(r.Notes) > 0 {
		notes = Text(strings.Join(r.Notes, "; "))
	}
	change := Text("dynamic")
	if r.ReadOnly {
		change = Text("restart")
	}
	row := Row{Cells: []Cell{
		Text(string(r.Scope)), entity, Text(r.Name), valueCell(v, &r.Config, r.Value), valueCell(v, &r.Config, r.Default()),
		sourceCell(r.Source), configStatus(r.ConfigReport), change, notes,
	}}
	if v.Terminal && r.differ {
		value := strings.Join(r.own, ",")
		row.Cells[3] = valueCell(v, &r.Config, inspect.Known(value))
	}
	for _, n := range r.Notes {
		row.Notes = append(row.Notes, Text("      "+n).Styled(Warn))
	}
	return row
}

// longestValue is how much of a value a table shows that is not wide: lists of
// addresses would leave no room for what matters.
const longestValue = 32

func valueCell(v View, c *inspect.Config, value inspect.Opt[string]) Cell {
	if c.Sensitive {
		return Text("(hidden)")
	}
	text, ok := value.Get()
	switch {
	case !ok:
		return Text("none")
	case text == "":
		return Text(`""`)
	}
	cell := Text(text)
	if !v.wide() {
		cell.Text = ansi.Truncate(cell.Text, longestValue, "…")
	}
	return cell
}

// sourceCell has Kafka's name of the source in a pipe and a word on a terminal.
func sourceCell(s inspect.ConfigSource) Cell {
	words := map[inspect.ConfigSource]string{
		inspect.SourceTopic: "topic", inspect.SourceBroker: "broker", inspect.SourceClusterDefault: "cluster default",
		inspect.SourceStatic: "file", inspect.SourceDefault: "Kafka's default", inspect.SourceOther: Unknown,
	}
	return Cell{Text: words[s], Pipe: string(s)}
}

func configStatus(r *inspect.ConfigReport) Cell {
	var words []string
	add := func(when bool, word string) {
		if when {
			words = append(words, word)
		}
	}
	stored := r.NotApplied().IsKnown()
	add(stored, "not-applied")
	add(r.Disagree, "disagree")
	add(r.Deviates(), "set")
	add(len(words) == 0, "default")
	cell := Cell{Text: strings.Join(words, ", "), Pipe: strings.Join(words, ",")}
	if stored || r.Disagree {
		return cell.Styled(Warn)
	}
	return cell
}
