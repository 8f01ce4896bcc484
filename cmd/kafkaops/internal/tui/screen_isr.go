package tui

import (
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/isrlog"
)

// isrSpan is how much the timeline shows at first; + and - halve and double it.
const isrSpan = time.Hour

func isrScreen() *screen {
	return &screen{
		name: "isr", key: "4", aliases: []string{"i", "timeline"}, what: "who left ISRs, when and why: brokers by time",
		text: isrText,
	}
}

// isrText is the timeline of the brokers that left ISRs, by cause, and the events below it.
func isrText(s *state, p *place, width int) []string {
	until := s.look().Snap.TakenAt.Add(-p.back)
	from := until.Add(-p.span)
	var events []inspect.IsrEvent
	for _, e := range s.events {
		if !e.Time.Before(from) && !e.Time.After(until) {
			events = append(events, e)
		}
	}
	head := render.Millis(p.span.Milliseconds()) + " to " + until.UTC().Format("15:04:05Z")
	out := []string{"  " + head + "  " + render.Paint(s.color, render.Dim, cut(s.evidence, width-len(head)-4)), ""}
	cells := min(80, max(12, width-66))
	items := render.IsrSummaryItems(isrlog.Summarize(events, from, until, cells))
	if len(items) == 0 {
		return append(out, "  no replica left an ISR in this time, as far as is known")
	}
	v := view(s, width-2)
	out = append(out, lines(render.IsrSummaryTable(v, from, until, items).Text(v))...)
	out = append(out, "")
	return append(out, newestFirst(s, events, width-2)...)
}

// newestFirst is the table of events.
func newestFirst(s *state, events []inspect.IsrEvent, width int) []string {
	const most = 500
	events = slices.Clone(events[max(0, len(events)-most):])
	slices.Reverse(events)
	v := view(s, width)
	return lines(render.IsrTable(v, render.IsrEventItems(events)).Text(v))
}

// lines are those of a text, indented as all is.
func lines(text string) []string {
	const indent = "  "
	out := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range out {
		if out[i] != "" {
			out[i] = indent + out[i]
		}
	}
	return out
}
