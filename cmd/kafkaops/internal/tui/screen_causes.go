package tui

import (
	"fmt"
	"strings"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
)

func findingsScreen() *screen {
	return &screen{
		name: "findings", key: "7", aliases: []string{"f", "diagnose"}, what: "what is wrong, by its cause (diagnose)",
		text: func(s *state, _ *place, width int) []string {
			l := s.look()
			if l.Report == nil {
				return nil
			}
			var b strings.Builder
			if err := render.Diagnosis(&b, view(s, width-2), l.Snap, l.Report); err != nil {
				return []string{"  " + err.Error()}
			}
			return append(soFar(s, l), lines(b.String())...)
		},
	}
}

func adviceScreen() *screen {
	return &screen{
		name: "advice", key: "8", aliases: []string{"a", "tune"}, what: "which settings, by what was seen so far (tune)",
		text: func(s *state, _ *place, width int) []string {
			l := s.look()
			var b strings.Builder
			if err := render.Advice(&b, view(s, width-2), l.Snap, l.Advice.Advice, l.Advice.Findings); err != nil {
				return []string{"  " + err.Error()}
			}
			return append(soFar(s, l), lines(b.String())...)
		},
	}
}

// soFar says what something rests on.
func soFar(s *state, l *Look) []string {
	text := fmt.Sprintf("%d looks in %s, and no events of before", l.Looks, render.Millis(l.Looked.Milliseconds()))
	if n := len(l.Known); n > 0 {
		text = fmt.Sprintf("%d looks in %s, and all changes of ISRs since %s", l.Looks, render.Millis(l.Looked.Milliseconds()), l.Known[n-1].Since.UTC().Format("2006-01-02 15:04:05Z"))
	}
	return []string{"  " + render.Paint(s.color, render.Dim, text), ""}
}
