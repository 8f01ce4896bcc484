package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
)

// over lays a box over the middle of the screen.
func over(s *state, screen, box string) string {
	under := strings.Split(screen, "\n")
	lines := strings.Split(box, "\n")
	lines = lines[:min(len(lines), len(under))]
	wide := 0
	for _, l := range lines {
		wide = max(wide, width(l))
	}
	left, top := max(0, (s.width-wide)/2), max(0, (len(under)-len(lines))/2)
	for i, l := range lines {
		line := under[top+i]
		before := ansi.Truncate(line, left, "")
		before += strings.Repeat(" ", max(0, left-width(before)))
		after := ansi.TruncateLeft(line, left+wide, "")
		under[top+i] = cut(before+l+after, s.width)
	}
	return strings.Join(under, "\n")
}

func box(text []string) string {
	return lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).Padding(0, 1).Render(strings.Join(text, "\n"))
}

// planBox is what an action would do, and the question.
func planBox(s *state) string {
	const most = 76
	room := min(most, s.width-4)
	out := []string{render.Paint(s.color, render.Strong, cut(render.Clean(s.asked.Title)+"?", room)), ""}
	for _, l := range s.asked.Lines {
		out = append(out, render.Wrap(render.Clean(l), room)...)
	}
	return box(append(out, "", render.Paint(s.color, render.Strong, "y")+" do it   "+render.Paint(s.color, render.Strong, "n")+" or esc: do nothing"))
}

// helpBox lists all keys, from the table that they are dispatched by, in as many columns
// as there is room for.
func helpBox(s *state) string {
	room := s.width - 4
	var all []string
	group := ""
	for _, b := range bindings(s) {
		if b.when != nil && !b.when(s) {
			continue
		}
		if b.group != group {
			if group = b.group; len(all) > 0 {
				all = append(all, "")
			}
			all = append(all, render.Paint(s.color, render.Strong, group))
		}
		all = append(all, "  "+b.label+strings.Repeat(" ", max(1, 8-width(b.label)))+b.help)
	}
	if s.readOnly != "" {
		all = append(all, "", "nothing can be changed: "+s.readOnly)
	}
	high := s.height - 2
	if len(all) <= high {
		return box(cutAll(all, room))
	}
	// Two columns; blank lines go first where that is not enough.
	half := room/2 - 1
	if (len(all)+1)/2 > high {
		kept := all[:0]
		for _, l := range all {
			if l != "" {
				kept = append(kept, l)
			}
		}
		all = kept
	}
	n := (len(all) + 1) / 2
	left, right := cutAll(all[:n], half), cutAll(all[n:], half)
	return box([]string{lipgloss.JoinHorizontal(lipgloss.Top, strings.Join(left, "\n"), "  ", strings.Join(right, "\n"))})
}

func cutAll(lines []string, room int) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = cut(l, room)
	}
	return out
}
