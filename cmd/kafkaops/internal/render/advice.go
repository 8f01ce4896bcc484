package render

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// Advice is the screen of tune: for each setting what it is and what it should be, why,
// how sure that is, and what to type. Where nothing is to be changed a line is enough,
// and topics of which the same is to be said share it.
func Advice(w io.Writer, v View, s *inspect.Snapshot, all []tuning.Advice, findings []tuning.Finding) error {
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindAdvice, s, AdviceItems(all)))
	}
	if !v.Terminal {
		_, err := io.WriteString(w, adviceTable(all).Text(v))
		return err
	}
	var b strings.Builder
	for _, group := range inSameWords(all) {
		advice(&b, v, group)
	}
	for i := 0; i < len(findings); {
		f, names := &findings[i], []string{}
		rest := findings[i:]
		for ; len(names) < len(rest) && sameFinding(f, &rest[len(names)]); i++ {
			names = append(names, rest[len(names)].Topic)
		}
		head := string(f.Severity) + strings.Repeat(" ", max(1, settingWidth-len(f.Severity)))
		line := flow(v, Plain, head, "", "   ", []string{Clean(f.Title), nameWords("topic", names)})
		b.WriteString(Paint(v.Color, Warn, head) + line[len(head):])
		paragraph(&b, v, Plain, f.Explanation+". "+f.Remedy)
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func sameFinding(a, b *tuning.Finding) bool {
	return a.Severity == b.Severity && a.Title == b.Title && a.Explanation == b.Explanation && a.Remedy == b.Remedy
}

// inSameWords puts together what is said of several topics in the same words.
func inSameWords(all []tuning.Advice) (groups [][]*tuning.Advice) {
	at := map[string]int{}
	for i := range all {
		a := &all[i]
		key := strings.Join([]string{a.Setting, a.Current, a.Recommended, a.StartingPoint, a.Why, a.Bound.Text}, "\x00")
		if g, ok := at[key]; ok && a.Scope.Kind == tuning.ScopeTopic {
			groups[g] = append(groups[g], a)
			continue
		}
		at[key] = len(groups)
		groups = append(groups, []*tuning.Advice{a})
	}
	return groups
}

const settingWidth = 27

func advice(b *strings.Builder, v View, group []*tuning.Advice) {
	a := group[0]
	head := a.Setting + strings.Repeat(" ", max(1, settingWidth-ansi.StringWidth(a.Setting)))
	var parts []string
	switch {
	case a.Recommended != "" && a.Recommended == a.Current:
		parts = append(parts, a.Current+" is right")
	case a.Recommended != "":
		parts = append(parts, cmp.Or(a.Current, "-")+" -> "+a.Recommended, costWords(a.Cost))
	case a.StartingPoint != "" && a.StartingPoint != a.Current:
		parts = append(parts, cmp.Or(a.Current, "-"), "not enough evidence; a starting point: "+a.StartingPoint)
	default:
		parts = append(parts, cmp.Or(a.Current, "-"), "not enough evidence")
	}
	if a.Scope.Name != "" {
		parts = append(parts, scopeWords(group))
	}
	line := flow(v, Plain, head, "", "   ", parts)
	b.WriteString(Paint(v.Color, Strong, head) + line[len(head):])
	paragraph(b, v, Plain, a.Why)
	if a.Bound.Text != "" {
		paragraph(b, v, Plain, a.Bound.Text)
	}
	for _, steps := range []struct {
		word  string
		steps []string
	}{{"apply", a.Apply}, {"undo", a.Undo}} {
		for i, step := range steps.steps {
			word := steps.word
			if i > 0 {
				word = ""
			}
			fmt.Fprintf(b, "  %-6s %s\n", word, Clean(step))
		}
	}
	if n := len(group) - 1; n > 0 && len(a.Apply) > 0 {
		paragraph(b, v, Dim, fmt.Sprintf("and the same for %s; -o json has the commands of each", v.count(n, "other topic", "other topics")))
	}
	b.WriteByte('\n')
}

func costWords(costs []tuning.Cost) string {
	words := map[tuning.Cost]string{
		tuning.CostDynamic: "at once, no restart", tuning.CostRestart: "restart of each broker", tuning.CostClearsELR: "forgets eligible leader replicas",
	}
	var out []string
	for _, c := range costs {
		out = append(out, words[c])
	}
	return strings.Join(out, ", ")
}

func scopeWords(group []*tuning.Advice) string {
	var names []string
	for _, a := range group {
		names = append(names, a.Scope.Name)
	}
	return nameWords(string(group[0].Scope.Kind), names)
}

// nameWords are the first few of the names.
func nameWords(kind string, names []string) string {
	const shown = 3
	if len(names) > 1 {
		kind += "s"
	}
	text := kind + " " + Clean(strings.Join(names[:min(shown, len(names))], ", "))
	if n := len(names) - shown; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

func adviceTable(all []tuning.Advice) *Table {
	t := &Table{Columns: []Column{
		{Name: "SETTING"},
		{Name: "SCOPE"},
		{Name: "NAME"},
		{Name: "CURRENT"},
		{Name: "RECOMMENDED"},
		{Name: "STARTING-POINT"},
		{Name: "N", Right: true},
		{Name: "WINDOW-MS", Right: true},
		{Name: "COST"},
		{Name: "WHY"},
	}}
	for i := range all {
		a := &all[i]
		var costs []string
		for _, c := range a.Cost {
			costs = append(costs, string(c))
		}
		var row Row
		for _, text := range []string{
			a.Setting, string(a.Scope.Kind), a.Scope.Name, a.Current, a.Recommended, a.StartingPoint, fmt.Sprint(a.Evidence.N),
			fmt.Sprint(a.Evidence.WindowMs), strings.Join(costs, ","), a.Why,
		} {
			text = cmp.Or(Clean(text), "-")
			row.Cells = append(row.Cells, Cell{Text: text, Pipe: text})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
