package tui

import (
	"fmt"
	"slices"
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

// box is a text over the screen. Where the window is too low for it, lines are scrolled
// between head and foot, which always are seen.
type box struct{ head, lines, foot []string }

// frame is what the border takes of the height, and of the width with what keeps a distance
// from it.
const frameHeight, frameWidth = 2, 4

// airy says whether there is room for blank lines.
func airy(s *state) bool { return s.height >= 16 }

// room is how many lines are seen, of all that there are.
func (b *box) room(s *state) int {
	n := s.height - frameHeight - len(b.head) - len(b.foot)
	if len(b.lines) <= n {
		return len(b.lines)
	}
	return max(1, n-1) // where one is
}

// top is the first line that is seen.
func (b *box) top(s *state) int { return min(s.boxTop, len(b.lines)-b.room(s)) }

func (b *box) draw(s *state) string {
	n, top := b.room(s), b.top(s)
	out := slices.Concat(b.head, b.lines[top:top+n])
	if n < len(b.lines) {
		out = append(out, render.Paint(s.color, render.Dim, fmt.Sprintf("%d to %d of %d lines: j k", top+1, top+n, len(b.lines))))
	}
	out = append(out, b.foot...)
	for i := range out {
		out[i] = cut(out[i], s.width-frameWidth)
	}
	return lipgloss.NewStyle().Border(lipgloss.RoundedBorder()).Padding(0, 1).Render(strings.Join(out, "\n"))
}

// scrollBox moves what lies over the screen, if the key is one that does and there is more
// of it than is seen.
func (s *state) scrollBox(key string) bool {
	b := helpBox(s)
	if s.asked != nil {
		b = planBox(s)
	}
	n := b.room(s)
	if n == len(b.lines) {
		return false
	}
	by, ok := map[string]int{
		"j": 1, "down": 1, "k": -1, "up": -1, "pgdown": n, "ctrl+f": n, "space": n, "pgup": -n, "ctrl+b": -n,
		"g": -len(b.lines), "home": -len(b.lines), "G": len(b.lines), "end": len(b.lines),
	}[key]
	s.boxTop = max(0, min(b.top(s)+by, len(b.lines)-n))
	return ok
}

// planBox is what an action would do, and the question.
func planBox(s *state) *box {
	const most = 76
	b := &box{
		head: []string{render.Paint(s.color, render.Strong, render.Clean(s.asked.Title)+"?")},
		foot: []string{render.Paint(s.color, render.Strong, "y") + " do it   " + render.Paint(s.color, render.Strong, "n") + " or esc: do nothing"},
	}
	for _, l := range s.asked.Lines {
		b.lines = append(b.lines, render.Wrap(render.Clean(l), min(most, s.width-frameWidth))...)
	}
	if airy(s) {
		b.head, b.foot = append(b.head, ""), append([]string{""}, b.foot...)
	}
	return b
}

// helpBox lists all keys, from the table that they are dispatched by: in one column, in two
// where that is too high and the window wide, and else scrolled.
func helpBox(s *state) *box {
	var all []string
	group := ""
	for _, b := range bindings(s) {
		if b.when != nil && !b.when(s) {
			continue
		}
		if b.group != group {
			if group = b.group; len(all) > 0 && airy(s) {
				all = append(all, "")
			}
			all = append(all, render.Paint(s.color, render.Strong, group))
		}
		all = append(all, "  "+b.label+strings.Repeat(" ", max(1, 8-width(b.label)))+b.help)
	}
	if s.readOnly != "" {
		all = append(all, "nothing can be changed: "+s.readOnly)
	}
	high := s.height - frameHeight
	if len(all) <= high {
		return &box{lines: all}
	}
	half := (s.width-frameWidth)/2 - 2
	if slices.ContainsFunc(all, func(line string) bool { return width(line) > half }) {
		return &box{lines: all} // a text that is cut is no help
	}
	// Blank lines go first where two columns are not enough.
	if (len(all)+1)/2 > high {
		all = slices.DeleteFunc(all, func(line string) bool { return line == "" })
	}
	n := (len(all) + 1) / 2
	return &box{lines: strings.Split(lipgloss.JoinHorizontal(lipgloss.Top, strings.Join(all[:n], "\n"), "   ", strings.Join(all[n:], "\n")), "\n")}
}
