package tui

import (
	"fmt"
	"math"
	"strings"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func overviewScreen() *screen {
	return &screen{
		name: "overview", key: "1", aliases: []string{"o", "pulse"}, what: "is anything at risk, and why",
		head: overviewHead, rows: partitionRows, enter: enterPartition,
	}
}

// overviewHead is the verdict with its reasons and its cause, the brokers in a line, and
// figures with where they have been.
func overviewHead(s *state, _ *place, width int) []string {
	l := s.look()
	var out []string
	add := func(style render.Style, text string) {
		const most = 2
		lines := render.Wrap(render.Clean(text), width-2)
		for _, line := range lines[:min(most, len(lines))] {
			out = append(out, "  "+render.Paint(s.color, style, line))
		}
	}
	style := render.LevelStyle(l.Verdict.Level)
	reasons := l.Verdict.Reasons
	mostReasons := 3
	if s.height < 30 {
		mostReasons = 2
	}
	for _, reason := range reasons[:min(mostReasons, len(reasons))] {
		add(style, reason)
	}
	if more := len(reasons) - mostReasons; more > 0 {
		add(render.Dim, "and "+counted(more, "more reason", "more reasons"))
	}
	slips := l.Slipping.line(l)
	switch {
	case slips != "":
		add(render.Warn, slips)
	case len(reasons) == 0:
		add(render.Good, "all in sync")
	}
	switch cause := causeLine(l, "", inspect.NoBroker); {
	case cause == "":
	case len(reasons) == 0 && slips == "": // the looks it rests on are of before
		add(render.Plain, "found lately: "+strings.TrimPrefix(cause, "cause: "))
	default:
		add(render.Strong, cause)
	}
	out = append(out, brokersLine(s, l, width), figuresLine(l, width))
	if n := len(l.Snap.Failures); n > 0 {
		line := render.FailureLine(l.Snap.Failures[0])
		if n > 1 {
			line = fmt.Sprintf("%d answers are missing: %s", n, line)
		}
		out = append(out, "  "+render.Paint(s.color, render.Warn, cut(line, width-2)))
	}
	return append(out, "")
}

// causeLine is the worst finding, of all or of those about a topic or a broker; empty for
// none.
func causeLine(l *Look, topic string, broker inspect.BrokerID) string {
	if l.Report == nil {
		return ""
	}
	for i := range l.Report.Findings {
		f := &l.Report.Findings[i]
		about := topic == "" && broker == inspect.NoBroker
		for _, t := range f.Topics {
			about = about || topic != "" && t == topic
		}
		if id, ok := f.Broker.Get(); ok && broker != inspect.NoBroker {
			about = about || id == broker
		}
		if about && f.Severity != "info" {
			return "cause: " + f.Title
		}
	}
	return ""
}

// brokersLine has a word for each broker.
func brokersLine(s *state, l *Look, room int) string {
	line := "  brokers"
	for i := range l.Brokers {
		b := &l.Brokers[i]
		word, style := "up", render.Good
		switch {
		case b.Fenced.Or(false):
			word, style = "fenced", render.Bad
		case !b.Reachable.Or(true):
			word, style = "no answer", render.Bad
		case !b.Reachable.IsKnown():
			word, style = "unknown", render.Warn
		case b.OutOfSync > 0:
			word, style = fmt.Sprintf("up, out of %s", counted(b.OutOfSync, "ISR", "ISRs")), render.Bad
		}
		next := fmt.Sprintf("  %d %s", b.ID, render.Paint(s.color, style, word))
		if room < width(line+next)+8 {
			line += fmt.Sprintf("  and %d more", len(l.Brokers)-i)
			break
		}
		line += next
	}
	for _, id := range l.Snap.Unlisted() {
		line += fmt.Sprintf("  %d %s", id, render.Paint(s.color, render.Bad, "gone"))
	}
	return line
}

// figuresLine has sparklines of what moves.
func figuresLine(l *Look, width int) string {
	cells := 12
	if width > 140 {
		cells = 24
	}
	if width < 100 {
		cells = 6
	}
	last := l.Trail[len(l.Trail)-1]
	figure := func(name, now string, of func(point) float64) string {
		trail := l.Trail[max(0, len(l.Trail)-cells):]
		values := make([]float64, len(trail))
		for i, p := range trail {
			values[i] = of(p)
		}
		return "  " + name + " " + render.Sparkline(values) + " " + now
	}
	rate := "-"
	if !math.IsNaN(last.appends) {
		rate = render.PerSecond(last.appends)
	}
	return strings.Join([]string{
		figure("writes", rate, func(p point) float64 { return p.appends }),
		figure("LEO-HW", render.Thousands(int64(last.uncommitted)), func(p point) float64 { return p.uncommitted }),
		figure("lag", render.Thousands(int64(last.lag)), func(p point) float64 { return p.lag }),
		figure("out", render.Thousands(int64(last.outOfSync)), func(p point) float64 { return p.outOfSync }),
	}, " ")
}
