package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Overview is the screen of describe: the verdict, why, the unhealthy
// partitions worst first, and what to type next.
func Overview(w io.Writer, v View, s *inspect.Snapshot, verdict *inspect.Verdict) error {
	if v.Format.Structured() {
		return write(w, v, NewDocument(KindCluster, s, []ClusterItem{NewClusterItem(s, verdict)}))
	}
	var b strings.Builder
	if v.Terminal {
		overviewTerminal(&b, v, s, verdict)
	} else {
		overviewPipe(&b, v, s, verdict)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func overviewTerminal(b *strings.Builder, v View, s *inspect.Snapshot, verdict *inspect.Verdict) {
	verdictLine(b, v, s, verdict)
	b.WriteByte('\n')
	if verdict.Level == inspect.LevelOK {
		paragraph(b, v, Plain, healthySentence(v, verdict))
	}
	for _, reason := range verdict.Reasons {
		paragraph(b, v, Plain, reason)
	}
	for _, f := range verdict.Findings {
		paragraph(b, v, Dim, findingText(v, &f))
	}
	for _, aside := range asides(v, &verdict.Counts) {
		paragraph(b, v, Dim, aside)
	}
	if len(verdict.Unhealthy) > 0 {
		b.WriteByte('\n')
		b.WriteString(UnhealthyTable(v, s.TakenAt, verdict.Unhealthy).Text(v))
	}
	if next := nextCommands(s, verdict); len(next) > 0 {
		b.WriteByte('\n')
		b.WriteString(flow(v, Dim, "next:", " ", " · ", next))
	}
}

// LevelWord is a verdict as a headline has it: AT RISK.
func LevelWord(l inspect.Level) string {
	return strings.ToUpper(strings.ReplaceAll(string(l), "-", " "))
}

func verdictLine(b *strings.Builder, v View, s *inspect.Snapshot, verdict *inspect.Verdict) {
	word := LevelWord(verdict.Level)
	line := flow(v, Plain, word, "   ", "   ", []string{
		Clean(s.ClusterID.Or("cluster unknown")),
		brokersPhrase(v, s, verdict),
		v.count(verdict.Counts.Topics, "topic", "topics") + ", " + v.count(verdict.Counts.Partitions, "partition", "partitions"),
		s.TakenAt.UTC().Format("2006-01-02 15:04:05Z"),
	})
	painted := Paint(v.Color, Strong, Paint(v.Color, LevelStyle(verdict.Level), word))
	b.WriteString(painted + line[len(word):])
}

// flow writes the parts side by side behind a head; where the terminal is too
// narrow they go on in a line below, aligned with the first.
func flow(v View, s Style, head, first, gap string, parts []string) string {
	var b strings.Builder
	line := head + first
	begun := false
	for _, part := range parts {
		switch {
		case !begun:
			line += part
		case v.Width > 0 && ansi.StringWidth(line+gap+part) > v.Width:
			b.WriteString(Paint(v.Color, s, fit(line, v.Width)) + "\n")
			line = strings.Repeat(" ", ansi.StringWidth(head+first)) + part
		default:
			line += gap + part
		}
		begun = true
	}
	b.WriteString(Paint(v.Color, s, fit(line, v.Width)) + "\n")
	return b.String()
}

func brokersPhrase(v View, s *inspect.Snapshot, verdict *inspect.Verdict) string {
	fenced := verdict.Counts.BrokersFenced.Or(0)
	phrase := v.count(verdict.Counts.BrokersRegistered+fenced, "broker", "brokers")
	if fenced > 0 {
		phrase += ", " + v.number(int64(fenced)) + " fenced"
	}
	n, asked := answering(s).Get()
	switch {
	case !asked:
		return phrase
	case n == verdict.Counts.BrokersRegistered && n > 1 && fenced == 0:
		return phrase + ", all answering"
	}
	return phrase + ", " + v.number(int64(n)) + " answering"
}

func healthySentence(v View, verdict *inspect.Verdict) string {
	c := &verdict.Counts
	if c.Partitions == 0 {
		return "no partitions yet"
	}
	sentence := v.count(c.Partitions, "partition", "partitions")
	if c.Copying == 0 {
		sentence += ", all in sync"
	} else {
		sentence += ", no replica lost, " + v.count(c.Copying, "replica that is being added still copies", "replicas that are being added still copy")
	}
	if c.NoHeadroom+c.SingleReplica == 0 {
		sentence += ", all with headroom"
	}
	return sentence
}

// findingText is a finding with the topics that have it.
func findingText(v View, f *inspect.Finding) string {
	const shown = 3
	if len(f.Topics) == 0 {
		return f.Title
	}
	names := strings.Join(f.Topics[:min(len(f.Topics), shown)], ", ")
	if more := len(f.Topics) - shown; more > 0 {
		names += " and " + v.number(int64(more)) + " more"
	}
	return f.Title + " (" + names + ")"
}

// asides are true in passing and change no verdict.
func asides(v View, c *inspect.Counts) []string {
	var out []string
	if n := c.WrongLeader; n > 0 {
		out = append(out, v.count(n, "partition is", "partitions are")+" led by another than the preferred leader")
	}
	if n := c.Reassigning; n > 0 {
		out = append(out, v.count(n, "partition is", "partitions are")+" being reassigned")
	}
	return out
}

// paragraph writes a sentence indented by two, and its further lines by four.
func paragraph(b *strings.Builder, v View, s Style, text string) {
	const indent = "  "
	lines := []string{Clean(text)}
	if v.Width > 0 {
		lines = wrap(lines[0], v.Width-len(indent), "  ")
	}
	for _, line := range lines {
		// Blanks stay outside of the colour.
		words := strings.TrimLeft(line, " ")
		b.WriteString(indent + line[:len(line)-len(words)] + Paint(v.Color, s, words) + "\n")
	}
}

// nextCommands are the commands that show more of what is wrong.
func nextCommands(s *inspect.Snapshot, verdict *inspect.Verdict) []string {
	c := &verdict.Counts
	var next []string
	add := func(when bool, command string) {
		if when {
			next = append(next, "kafkaops "+command)
		}
	}
	add(c.UnderReplicated+c.UnderMinISR+c.BrokersSilent > 0, "lag --top 10")
	add(c.Offline > 0, "describe topics --unavailable")
	add(c.Offline == 0 && c.UnderMinISR > 0, "describe topics --under-min-isr")
	add(c.BrokersSilent+c.BrokersGone > 0, "describe brokers")
	add(c.UnderReplicated+c.Offline > 0, isrCommand(verdict))
	add(s.QuorumAtRisk(), "describe quorum")
	return next
}

// isrCommand tells the history of the broker that everything is about, if there is one.
func isrCommand(verdict *inspect.Verdict) string {
	out := map[inspect.BrokerID]bool{}
	for i := range verdict.Unhealthy {
		for _, id := range verdict.Unhealthy[i].Health.OutOfSync {
			out[id] = true
		}
	}
	if len(out) == 1 {
		for id := range out {
			return fmt.Sprintf("isr --broker %d", id)
		}
	}
	return "isr"
}

// overviewPipe is a line for each fact, then the table.
func overviewPipe(b *strings.Builder, v View, s *inspect.Snapshot, verdict *inspect.Verdict) {
	c := newCounts(s, verdict)
	line := func(style Style, fields ...string) {
		b.WriteString(Paint(v.Color, style, strings.Join(fields, "\t")) + "\n")
	}
	line(LevelStyle(verdict.Level), "verdict", string(verdict.Level))
	line(Plain, "cluster", Clean(s.ClusterID.Or(Unknown)))
	line(Plain, "taken-at", s.TakenAt.UTC().Format("2006-01-02T15:04:05.000Z"))
	line(Plain, "brokers-answering", c.BrokersAnswering.String())
	line(Plain, "brokers-fenced", c.BrokersFenced.String())
	for _, n := range []struct {
		name string
		n    int
	}{
		{"brokers", c.Brokers},
		{"topics", c.Topics},
		{"partitions", c.Partitions},
		{"offline", c.Offline},
		{"under-min-isr", c.UnderMinISR},
		{"at-min-isr", c.AtMinISR},
		{"under-replicated", c.UnderReplicated},
		{"unknown", c.Unknown},
		{"wrong-leader", c.WrongLeader},
		{"reassigning", c.Reassigning},
	} {
		line(Plain, n.name, strconv.Itoa(n.n))
	}
	for _, reason := range verdict.Reasons {
		line(Plain, "reason", Clean(reason))
	}
	for _, f := range verdict.Findings {
		line(Plain, "finding", string(f.ID), Clean(findingText(v, &f)))
	}
	if len(verdict.Unhealthy) > 0 {
		b.WriteByte('\n')
		b.WriteString(UnhealthyTable(v, s.TakenAt, verdict.Unhealthy).Text(v))
	}
}
