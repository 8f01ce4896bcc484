package render

import (
	"cmp"
	"io"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
)

// Diagnosis is the screen of diagnose: each cause with why it is taken for one, what it
// accounts for, what to do and what to type; then what was looked for.
func Diagnosis(w io.Writer, v View, s *inspect.Snapshot, r *diagnose.Report) error {
	if v.Format.Structured() {
		out, err := encode(&DiagnosisDocument{Document: *NewDocument(KindFinding, s, DiagnosisItems(r.Findings)), Checks: CheckItems(r.Checks)}, v)
		if err != nil {
			return err
		}
		_, err = w.Write(out)
		return err
	}
	if !v.Terminal {
		_, err := io.WriteString(w, findingTable(r.Findings).Text(v))
		return err
	}
	var b strings.Builder
	for i := range r.Findings {
		finding(&b, v, &r.Findings[i])
	}
	if len(r.Findings) == 0 {
		b.WriteString(flow(v, Good, "OK", "   ", "   ", []string{"nothing was found"}) + "\n")
	}
	checks(&b, v, r)
	_, err := io.WriteString(w, b.String())
	return err
}

// severityWidth is the longest word of them, and what sets it off.
const severityWidth = len("CRITICAL") + 3

func severityStyle(s diagnose.Severity) Style {
	switch s {
	case diagnose.SeverityCritical:
		return Bad
	case diagnose.SeverityWarning:
		return Warn
	}
	return Plain
}

func finding(b *strings.Builder, v View, f *diagnose.Finding) {
	word := strings.ToUpper(string(f.Severity))
	head := word + strings.Repeat(" ", max(1, severityWidth-len(word)))
	lines := []string{Clean(f.Title)}
	if v.Width > 0 {
		lines = wrap(lines[0], max(1, v.Width-len(head)), "")
	}
	for i, line := range lines {
		if i > 0 {
			word = strings.Repeat(" ", len(word))
		}
		b.WriteString(Paint(v.Color, severityStyle(f.Severity), word) + head[len(word):] + Paint(v.Color, Strong, line) + "\n")
	}
	paragraph(b, v, Plain, f.Explanation)
	for i := range f.Symptoms {
		paragraph(b, v, Dim, "so: "+f.Symptoms[i].Title)
	}
	paragraph(b, v, Plain, f.Remedy)
	if len(f.Topics) > 0 {
		paragraph(b, v, Dim, nameWords("topic", f.Topics))
	}
	for i, command := range f.Next {
		word := "next  "
		if i > 0 {
			word = strings.Repeat(" ", len(word))
		}
		b.WriteString("  " + Paint(v.Color, Dim, word) + Clean(command) + "\n")
	}
	b.WriteByte('\n')
}

// checks is what was looked for, and what could not be told.
func checks(b *strings.Builder, v View, r *diagnose.Report) {
	var done []string
	for _, c := range r.Checks {
		if c.Missing == "" {
			done = append(done, c.What)
		}
	}
	if len(done) > 0 {
		paragraph(b, v, Dim, "checked: "+strings.Join(done, "; "))
	}
	for _, c := range r.Checks {
		if c.Missing != "" {
			paragraph(b, v, Dim, "not checked: "+c.What+": "+c.Missing)
		}
	}
}

func findingTable(all []diagnose.Finding) *Table {
	t := &Table{Columns: []Column{
		{Name: "SEVERITY"}, {Name: "ID"}, {Name: "BROKER", Right: true}, {Name: "TOPICS"}, {Name: "TITLE"}, {Name: "SYMPTOMS"}, {Name: "REMEDY"}, {Name: "NEXT"},
	}}
	for i := range all {
		f := &all[i]
		var symptoms []string
		for j := range f.Symptoms {
			symptoms = append(symptoms, string(f.Symptoms[j].ID))
		}
		var row Row
		for _, text := range []string{
			string(f.Severity), string(f.ID), f.Broker.String(), strings.Join(f.Topics, ","), f.Title, strings.Join(symptoms, ","), f.Remedy, strings.Join(f.Next, "; "),
		} {
			text = cmp.Or(Clean(text), "-")
			row.Cells = append(row.Cells, Cell{Text: text, Pipe: text})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
