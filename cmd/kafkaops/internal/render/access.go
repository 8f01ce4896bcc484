package render

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
)

// Access is the screen of check access: which commands work, what is missing in
// the others, and what grants it, ready to be pasted.
func Access(w io.Writer, v View, s *inspect.Snapshot, r *access.Report, who Credentials) error {
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindAccess, s, AccessItems(r, who)))
	}
	var b strings.Builder
	if v.Terminal {
		accessHead(&b, v, s, r, who)
		b.WriteString(AccessTable(v, r, who).Text(v))
	} else { // the table is what is cut into columns, so it comes first
		b.WriteString(AccessTable(v, r, who).Text(v) + "\n")
		accessHead(&b, v, s, r, who)
	}
	accessMissing(&b, v, r, who)
	_, err := io.WriteString(w, b.String())
	return err
}

// accessHead is the answer in a line, and what was there to be seen.
func accessHead(b *strings.Builder, v View, s *inspect.Snapshot, r *access.Report, who Credentials) {
	word, style := accessWord(r)
	of := map[access.Status]int{}
	for _, c := range r.Commands {
		of[c.Status]++
	}
	parts := []string{Clean(s.ClusterID.Or("cluster unknown"))}
	if who.Principal != "" {
		parts = append(parts, "as "+Clean(who.Principal))
	}
	count := fmt.Sprintf("%d of %d commands work", of[access.Works], len(r.Commands)-of[access.Unavailable])
	for _, status := range []access.Status{access.Partly, access.Refused, access.Unknown} {
		if of[status] > 0 {
			count += fmt.Sprintf(", %d %s", of[status], status)
		}
	}
	parts = append(parts, count, s.TakenAt.UTC().Format("2006-01-02 15:04:05Z"))
	line := flow(v, Plain, word, "   ", "   ", parts)
	b.WriteString(Paint(v.Color, Strong, Paint(v.Color, style, word)) + line[len(word):] + "\n")
	if r.Authorizer.Equal(inspect.Known(false)) {
		paragraph(b, v, Plain, "this cluster has no authorizer: whoever can connect may do everything")
	} else {
		for _, text := range seenSentences(v, r) {
			paragraph(b, v, Dim, text)
		}
	}
	if v.Terminal {
		b.WriteByte('\n')
	}
}

// accessWord is the headline. What is certainly missing comes before what is not
// known.
func accessWord(r *access.Report) (string, Style) {
	of := map[access.Status]int{}
	for i := range r.Commands {
		c := &r.Commands[i]
		if c.Status == access.Works && !asksMuch(c) {
			continue // that it works says nothing of the credentials
		}
		of[c.Status]++
	}
	switch {
	case r.OK():
		return "OK", Good
	case of[access.Works] == 0 && of[access.Refused] > of[access.Partly]:
		return "REFUSED", Bad
	case of[access.Refused]+of[access.Partly] > 0:
		return "PARTLY", Warn
	}
	return "UNKNOWN", Warn
}

// asksMuch: it takes an ACL for a command to work.
func asksMuch(c *access.CommandReport) bool {
	for i := range c.Parts {
		if !c.Parts[i].Beside && len(c.Parts[i].Needs) > 0 {
			return true
		}
	}
	return false
}

// seenSentences say how many names of each resource may be described, and whether
// there are others.
func seenSentences(v View, r *access.Report) []string {
	var whole, more, byRule []string
	for i := range r.Grants {
		g := &r.Grants[i]
		if g.Operation != inspect.OpDescribe || g.Resource == inspect.ResourceCluster || g.Status == access.Unknown {
			continue
		}
		one, many := g.Resource.Noun(), g.Resource.Noun()+"s"
		if g.Resource == inspect.ResourceTransactionalID && !g.Asked.Exact() {
			one, many = "open transaction", "open transactions"
		}
		text := v.count(g.Seen, one, many)
		if g.Seen == 0 {
			text = "no " + one
		}
		if len(g.Absent) > 0 {
			text += "; may describe " + someNames(g.Absent) + ", of which nothing is seen"
		}
		switch without := withoutOf(g); {
		case len(without) > 0:
			more = append(more, "sees "+text+"; may not describe "+someNames(without))
		case len(g.Absent) > 0:
			more = append(more, "sees "+text)
		case !g.All && g.ByRule:
			whole, byRule = append(whole, text), append(byRule, g.Resource.Noun())
		case !g.All:
			more = append(more, "sees "+text+"; those without DESCRIBE are invisible, and Kafka does not tell how many")
		default:
			whole = append(whole, text)
		}
	}
	if len(byRule) > 0 {
		more = append(more, "of a "+strings.Join(byRule, " or a ")+" that a rule denies Kafka does not tell")
	}
	if len(whole) == 0 {
		return more
	}
	return append([]string{"sees " + strings.Join(whole, ", ")}, more...)
}

// someNames lists a few names and counts the others.
func someNames(names []string) string {
	const few = 5
	if len(names) <= few {
		return Clean(strings.Join(names, ", "))
	}
	return fmt.Sprintf("%s and %d more", Clean(strings.Join(names[:few], ", ")), len(names)-few)
}

// AccessTable has a row for each command.
func AccessTable(v View, r *access.Report, who Credentials) *Table {
	t := &Table{Columns: []Column{
		{Name: "COMMAND"},
		{Name: "STATUS", Keep: true},
		{Name: "MISSING", Long: true, HideBlank: true},
		{Name: "NEEDS", Long: true, Only: InPipe},
	}}
	if v.wide() {
		t.Columns[3].Only, t.Columns[3].HideBlank = Everywhere, true
		t.Columns = append(t.Columns, Column{Name: "LOST", Only: InPipe}, Column{Name: "ADD", Only: InPipe})
	}
	for i := range r.Commands {
		c := &r.Commands[i]
		var parts, needs, lost []string
		var grants []access.Grant
		for j := range c.Parts {
			p := &c.Parts[j]
			missing := p.Missing()
			if len(missing) == 0 {
				continue
			}
			parts = append(parts, p.Name)
			lost = addNew(lost, p.Lost...)
			for _, acl := range missing {
				if words := string(acl.Operation) + " on " + acl.Resource.Noun(); len(addNew(needs, words)) > len(needs) {
					needs, grants = append(needs, words), append(grants, *r.Grant(acl))
				}
			}
		}
		cells := []Cell{
			Text(c.Command), Text(string(c.Status)).Styled(accessStyle(c.Status)), blankOr(parts, ","), blankOr(needs, ","),
		}
		if v.wide() {
			cells = append(cells, blankOr(lost, "; "), blankOr(accessCommands(toLook(grants), who), " && "))
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	return t
}

func addNew(list []string, words ...string) []string {
	for _, w := range words {
		found := false
		for _, have := range list {
			found = found || have == w
		}
		if !found {
			list = append(list, w)
		}
	}
	return list
}

// blankOr is a list, which on a terminal is blank where there is nothing in it.
func blankOr(words []string, gap string) Cell {
	if len(words) == 0 {
		return Cell{Pipe: "none"}
	}
	return Cell{Text: Clean(strings.Join(words, strings.TrimSpace(gap)+" ")), Pipe: Clean(strings.Join(words, gap))}
}

func accessStyle(s access.Status) Style {
	switch s {
	case access.Works:
		return Good
	case access.Refused:
		return Bad
	case access.Unavailable:
		return Dim
	}
	return Warn
}

func accessCommands(grants []access.Grant, who Credentials) []string {
	adds := access.Additions(grants)
	out := make([]string, len(adds))
	for i := range adds {
		out[i] = adds[i].Command(who.Bootstrap, who.Secured, who.principal())
	}
	return out
}

// toLook are the grants that allow to look and no more.
func toLook(grants []access.Grant) []access.Grant {
	return slices.DeleteFunc(slices.Clone(grants), func(g access.Grant) bool { return access.Caution(g.ACL) != "" })
}

// accessMissing says what is lost and how to grant it. What allows more than to
// look stands apart: a block that is pasted as it is must not hold it.
func accessMissing(b *strings.Builder, v View, r *access.Report, who Credentials) {
	missing, advice := r.Missing(), accessAdvice(r)
	if len(missing)+len(advice) == 0 {
		return
	}
	b.WriteByte('\n')
	for i := range missing {
		g := &missing[i]
		text := g.String() + " is missing"
		if without := withoutOf(g); g.Status == access.Partly || len(g.Closed) > 0 {
			text += " on " + someNames(without)
		}
		paragraph(b, v, Plain, text+"; without it: "+strings.Join(lostWithout(r, g.ACL), "; "))
	}
	for _, text := range advice {
		paragraph(b, v, Plain, text)
	}
	head := "to be pasted by who may change ACLs"
	if who.Secured {
		head += ", with their " + access.AdminConfig
	}
	if who.Principal == "" {
		head += ", with the name in place of " + placeholder + " that the brokers know you by:"
	} else {
		head += "; " + Clean(who.Principal) + " is the name by Kafka's default rules, the cluster may have others:"
	}
	accessBlock(b, v, head, accessCommands(toLook(missing), who))
	for i := range missing {
		if caution := access.Caution(missing[i].ACL); caution != "" {
			head := caution + ", so it is not above. Grant it where that is meant:"
			accessBlock(b, v, head, accessCommands(missing[i:i+1], who))
		}
	}
	if len(missing) > 0 {
		accessBlock(b, v, "what is missing still, a DENY rule takes away:", []string{access.Tool(who.Bootstrap, who.Secured, "--list")})
	}
}

// accessAdvice is what to do where nothing can be pasted.
func accessAdvice(r *access.Report) []string {
	var out []string
	for i := range r.Grants {
		g := &r.Grants[i]
		if advice := g.Advice(); advice != "" {
			out = append(out, g.String()+": "+advice)
		}
	}
	return out
}

// accessBlock is commands, one below the other, under a line about them.
func accessBlock(b *strings.Builder, v View, head string, commands []string) {
	if len(commands) == 0 {
		return
	}
	b.WriteByte('\n')
	for _, line := range wrap(head, v.lineWidth(), "") {
		b.WriteString(Paint(v.Color, Dim, line) + "\n")
	}
	for _, command := range commands {
		for _, line := range shellLines(Clean(command), v.Width) {
			b.WriteString(line + "\n")
		}
	}
}

// lostWithout is what the table says of an ACL's requests that commands send.
func lostWithout(r *access.Report, acl inspect.ACL) []string {
	var lost []string
	for _, c := range r.Commands {
		for i := range c.Parts {
			for _, id := range c.Parts[i].Requests {
				request := access.RequestOf(id)
				for _, n := range request.Needs {
					if n.ACL == acl {
						lost = addNew(lost, request.Lost)
					}
				}
			}
		}
	}
	return lost
}

// lineWidth is the terminal's width, or a very large one.
func (v *View) lineWidth() int {
	if v.Width <= 0 {
		return unlimited
	}
	return v.Width
}

// shellLines breaks a command as a shell allows it, so that it can be copied from
// a screen that is narrower: before options, and between one and its value where
// both are wider than the screen. A longer word stays whole.
func shellLines(command string, width int) []string {
	const hang, more = "    ", ` \`
	if width <= 0 || ansi.StringWidth(command) <= width {
		return []string{command}
	}
	var lines []string
	line := ""
	add := func(words string) {
		switch {
		case line == "":
			line = words
		case ansi.StringWidth(line)+1+ansi.StringWidth(words)+len(more) <= width:
			line += " " + words
		default:
			lines = append(lines, line+more)
			line = hang + words
		}
	}
	words := shellWords(command)
	for i := 0; i < len(words); i++ {
		word := words[i]
		if strings.HasPrefix(word, "--") && i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
			if both := word + " " + words[i+1]; ansi.StringWidth(hang+both+more) <= width {
				word = both
				i++
			}
		}
		add(word)
	}
	return append(lines, line)
}

// shellWords splits at blanks outside of single quotes.
func shellWords(command string) []string {
	quoted, escaped := false, false
	return strings.FieldsFunc(command, func(r rune) bool {
		if r == '\'' && !escaped {
			quoted = !quoted
		}
		escaped = r == '\\' && !quoted && !escaped
		return r == ' ' && !quoted
	})
}
