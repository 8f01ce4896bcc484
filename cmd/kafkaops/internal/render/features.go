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

// Features is the screen of describe features.
func Features(w io.Writer, v View, s *inspect.Snapshot, features []inspect.Feature) error {
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindFeature, s, FeatureItems(features)))
	}
	text := FeaturesTable(v, features).Text(v)
	if v.Terminal && len(features) == 0 {
		text = fit("  no broker tells of features: ZooKeeper mode has none, nor has Kafka before 2.7", v.Width) + "\n"
	}
	_, err := io.WriteString(w, text)
	return err
}

// FeaturesTable is the table of describe features. Where brokers differ, or one
// told nothing, lines
// below the feature say how; the wide form says so always.
func FeaturesTable(v View, features []inspect.Feature) *Table {
	t := &Table{Columns: []Column{
		{Name: "FEATURE", Elastic: true},
		{Name: "FINALIZED"},
		{Name: "SUPPORTED", PipeName: "MIN-SUPPORTED"},
		{Name: "MAX-SUPPORTED", Only: InPipe},
		{Name: "STATUS", Long: true, Keep: true},
		{Name: "EPOCH", Right: true, Spare: cheap},
		{Name: "BROKERS", Only: InPipe},
	}}
	items := FeatureItems(features)
	for i := range features {
		f := &features[i]
		row := Row{Cells: []Cell{
			Text(f.Name), levelCell(f, f.Level), commonRange(f), maxSupported(f),
			Text(joinWords(f.Status)).Styled(featureStyle(f.Status)), Number(f.Epoch), Text(brokersField(items[i].Brokers)),
		}}
		row.Cells[4].Pipe = strings.ReplaceAll(row.Cells[4].Pipe, ", ", ",")
		if v.wide() || slices.Contains(f.Status, inspect.FeatureDisagree) || len(f.Untold) > 0 {
			for _, line := range whoHas(f) {
				row.Notes = append(row.Notes, Text("      "+line).Styled(Dim))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// levelCell is the level by its name and, where that is another, its number.
func levelCell(f *inspect.Feature, level inspect.Opt[int16]) Cell {
	n, ok := level.Get()
	if !ok {
		return Text(Unknown)
	}
	number := strconv.Itoa(int(n))
	cell := Cell{Text: number, Pipe: number}
	switch name := f.LevelName(n); {
	case n == 0:
		cell.Text = "0 (off)"
	case name != number:
		cell.Text = number + " (" + name + ")"
	}
	return cell
}

func commonRange(f *inspect.Feature) Cell {
	low, ok := f.Min.Get()
	high, _ := f.Max.Get()
	if !ok {
		return Text(Unknown)
	}
	return Cell{Text: rangeText(f, low, high), Pipe: strconv.Itoa(int(low))}
}

func rangeText(f *inspect.Feature, low, high int16) string {
	text := fmt.Sprintf("%d to %d", low, high)
	if name := f.LevelName(high); name != strconv.Itoa(int(high)) {
		text += " (" + name + ")"
	}
	return text
}

func maxSupported(f *inspect.Feature) Cell {
	high, ok := f.Max.Get()
	if !ok {
		return Text(Unknown)
	}
	return Text(strconv.Itoa(int(high)))
}

func joinWords[T ~string](words []T) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return strings.Join(out, ", ")
}

func featureStyle(words []inspect.FeatureStatus) Style {
	switch words[0] {
	case inspect.FeatureOK:
		return Good
	case inspect.FeatureUnsupported:
		return Bad
	case inspect.FeatureUpgradable:
		return Plain
	}
	return Warn
}

// whoHas groups the brokers by what they tell: "brokers 1,2: 25, supports 7 to 33".
func whoHas(f *inspect.Feature) []string {
	groups := map[string][]inspect.BrokerID{}
	for _, b := range f.Brokers {
		what := "level " + levelCell(f, b.Level).Text + ", supports " + rangeText(f, b.Min, b.Max)
		if b.Min == 0 && b.Max == 0 {
			what = "level " + levelCell(f, b.Level).Text + ", does not know the feature"
		}
		groups[what] = append(groups[what], b.Broker)
	}
	for _, u := range f.Untold {
		groups[string(u.Cause)] = append(groups[string(u.Cause)], u.Broker)
	}
	out := make([]string, 0, len(groups))
	for what, brokers := range groups {
		noun := "broker "
		if len(brokers) > 1 {
			noun = "brokers "
		}
		out = append(out, noun+joinIDs(brokers)+": "+what)
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Compare(strings.TrimPrefix(a, "brokers"), strings.TrimPrefix(b, "brokers"))
	})
	return out
}

// brokersField has every broker as id=level/min/max.
func brokersField(items []BrokerFeatureItem) string {
	parts := make([]string, 0, len(items))
	for _, b := range items {
		parts = append(parts, fmt.Sprintf("%d=%s/%s/%s", b.Broker, b.FinalizedLevel, b.MinSupported, b.MaxSupported))
	}
	return strings.Join(parts, ";")
}
