package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
)

// Lines around the rows: what cluster and how it is, where one is, and the footer.
const frameLines = 3

// leastWidth and leastHeight are what a screen needs to say anything.
const leastWidth, leastHeight = 40, 8

// draw is the whole screen, a pure function of the state.
func draw(s *state) string {
	if s.width < leastWidth || s.height < leastHeight {
		return cut(fmt.Sprintf("%d×%d is too small: %d×%d at least", s.width, s.height, leastWidth, leastHeight), max(1, s.width))
	}
	out := []string{topLine(s), crumbs(s)}
	out = append(out, body(s)...)
	for len(out) < s.height-1 {
		out = append(out, "")
	}
	out = append(out[:s.height-1], footer(s))
	for i := range out {
		out[i] = cut(out[i], s.width)
	}
	screen := strings.Join(out, "\n")
	switch {
	case s.asked != nil:
		return over(s, screen, planBox(s).draw(s))
	case s.helping:
		return over(s, screen, helpBox(s).draw(s))
	}
	return screen
}

// topLine is the verdict in a word, the cluster, and how old that is.
func topLine(s *state) string {
	l := s.look()
	if l == nil {
		return "kafkaops top  " + s.title
	}
	word := " " + render.LevelWord(l.Verdict.Level) + " "
	if s.color {
		word = reverse(render.Paint(true, render.LevelStyle(l.Verdict.Level), word))
	}
	c := &l.Verdict.Counts
	left := strings.Join([]string{
		word, render.Clean(l.Snap.ClusterID.Or("-")), counted(c.BrokersRegistered, "broker", "brokers"), counted(c.Topics, "topic", "topics"),
		counted(c.Partitions, "partition", "partitions"),
	}, "  ")
	return spread(left, s.told(), s.width)
}

// told is how current the screen is, in coarse steps.
func (s *state) told() string {
	l := s.look()
	if l == nil {
		return ""
	}
	clock := l.Snap.TakenAt.UTC().Format("15:04:05Z")
	switch {
	case s.stale():
		return render.Paint(s.color, render.Bad, "NO ANSWER for "+coarse(s.now.Sub(s.lostAt)))
	case s.recording && s.ended && s.at < 0:
		return l.Snap.TakenAt.UTC().Format("2006-01-02 15:04:05Z") + "  END"
	case s.recording && s.paused:
		return l.Snap.TakenAt.UTC().Format("2006-01-02 15:04:05Z") + "  PAUSED"
	case s.recording:
		return l.Snap.TakenAt.UTC().Format("2006-01-02 15:04:05Z") + fmt.Sprintf("  ×%g", s.speed)
	case s.paused:
		return render.Paint(s.color, render.Warn, "PAUSED at "+clock)
	case s.at >= 0:
		return render.Paint(s.color, render.Warn, fmt.Sprintf("BACK at %s, %d of %d", clock, s.at+1, len(s.looks)))
	}
	if age := s.age(); age >= 10*time.Second {
		return render.Paint(s.color, render.Warn, coarse(age)+" old")
	}
	return s.title
}

// coarse is a duration in steps, so that the screen does not change each second.
func coarse(d time.Duration) string {
	steps := []time.Duration{
		0, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
		30 * time.Minute, time.Hour, 3 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	}
	at := steps[0]
	for _, step := range steps {
		if d >= step {
			at = step
		}
	}
	if at == 0 {
		return "some seconds"
	}
	return render.Millis(at.Milliseconds())
}

// crumbs are how one got here, and what of it is shown.
func crumbs(s *state) string {
	var titles []string
	for _, p := range s.stack {
		titles = append(titles, p.title())
	}
	left := strings.Join(titles, " › ")
	p := s.here()
	if s.color {
		left = lipgloss.NewStyle().Bold(true).Render(left)
	}
	right := ""
	if p.listed != nil && s.look() != nil {
		if p.filter != "" {
			right = fmt.Sprintf("/%s  %s of %s", render.Clean(p.filter), render.Thousands(int64(len(p.shown))), render.Thousands(int64(p.listed.n)))
		} else {
			right = render.Thousands(int64(len(p.shown)))
		}
		if p.order < len(p.listed.sorts) {
			way := "↓"
			if p.down {
				way = "↑"
			}
			right += "  by " + p.listed.sorts[p.order].name + " " + way
		}
		if n := len(p.marks); n > 0 {
			right += fmt.Sprintf("  %d marked", n)
		}
	}
	return spread(left, render.Paint(s.color, render.Dim, right), s.width)
}

// body is the place that is on the screen.
func body(s *state) []string {
	p := s.here()
	l := s.look()
	if l == nil {
		return waiting(s)
	}
	var out []string
	if s.stale() {
		out = append(out, "  "+render.Paint(s.color, render.Bad, cut(oneLine(s.lost.Error()), s.width-2)))
	}
	if p.rows == nil {
		text := p.text(s, p, s.width)
		top := min(p.top, max(0, len(text)-(s.height-frameLines-len(out))))
		return greyed(s, append(out, text[top:]...), len(out))
	}
	first := len(out)
	if p.head != nil {
		out = append(out, p.head(s, p, s.width)...)
	}
	return greyed(s, append(out, table(s, p, s.height-frameLines-len(out))...), first)
}

// waiting is what there is before the first look.
func waiting(s *state) []string {
	if s.lost == nil {
		return []string{"", "  asking the cluster …"}
	}
	out := []string{"", "  " + render.Paint(s.color, render.Bad, "no answer yet; asking again")}
	for _, line := range render.Wrap(oneLine(s.lost.Error()), s.width-4) {
		out = append(out, "  "+line)
	}
	return out
}

func oneLine(text string) string { return render.Clean(strings.ReplaceAll(text, "\n", "; ")) }

// room is how many rows there are between head and footer.
func (s *state) room() int {
	p := s.here()
	n := s.height - frameLines
	if s.look() == nil || p.rows == nil {
		return n
	}
	if s.stale() {
		n--
	}
	if p.head != nil {
		n -= len(p.head(s, p, s.width))
	}
	return max(1, n-1) // the header
}

// table draws the rows that are seen, with a mark before the one under the cursor.
func table(s *state, p *place, height int) []string {
	if p.listed == nil || height < 2 {
		return nil
	}
	if len(p.shown) == 0 {
		if p.filter != "" {
			return []string{"  nothing matches /" + render.Clean(p.filter)}
		}
		return []string{"  there is none"}
	}
	rows := height - 1
	which := p.shown[min(p.top, len(p.shown)-1):]
	which = which[:min(rows, len(which))]
	v := view(s, s.width-2)
	text := strings.Split(p.listed.table(v, which).Text(v), "\n")
	out := []string{"  " + text[0]}
	for n, i := range which {
		if n+1 >= len(text) {
			break
		}
		gutter := " "
		if p.marks[p.listed.id(i)] {
			gutter = "*"
		}
		line := text[n+1]
		if i == p.shown[p.at] {
			out = append(out, cursorLine(s, gutter, line))
			continue
		}
		out = append(out, gutter+" "+line)
	}
	return out
}

// cursorLine is the row under the cursor, told by a sign too.
func cursorLine(s *state, gutter, line string) string {
	if !s.color {
		return gutter + ">" + line
	}
	line = ansi.Strip(line)
	return gutter + reverse(">"+line+strings.Repeat(" ", max(0, s.width-2-width(line))))
}

func reverse(text string) string { return "\x1b[7m" + text + "\x1b[0m" }

// greyed takes the colours from what is no longer told.
func greyed(s *state, text []string, from int) []string {
	if !s.stale() || !s.color {
		return text
	}
	for i := from; i < len(text); i++ {
		text[i] = render.Paint(true, render.Dim, ansi.Strip(text[i]))
	}
	return text
}

// footer is what is being typed, what was said last, or the keys.
func footer(s *state) string {
	if t := s.typing; t != nil {
		line := string(t.prompt) + render.Clean(t.input.Value()) + "▏"
		if name := complete(t.input.Value()); t.prompt == ':' && name != "" {
			line += render.Paint(s.color, render.Dim, name[len(t.input.Value()):]+"  tab completes")
		}
		if t.wrong != "" {
			line += "  " + render.Paint(s.color, render.Warn, oneLine(t.wrong))
		}
		return line
	}
	if s.note != "" {
		return render.Paint(s.color, render.Strong, oneLine(s.note))
	}
	return render.Paint(s.color, render.Dim, keysLine(s))
}

// keysLine says what can be done here, as much of it as there is room for: what lies behind
// a row and actions before the rest, and always how one gets help, and out.
func keysLine(s *state) string {
	const apart = "  "
	var first, actions, then, last []string
	for _, b := range bindings(s) {
		if b.brief == "" || b.when != nil && !b.when(s) {
			continue
		}
		key := b.label + " " + b.brief
		switch {
		case b.keys[0] == "enter":
			first = append(first, key)
		case b.group == helpActions:
			actions = append(actions, key)
		case b.keys[0] == "?" || b.keys[0] == "q":
			last = append(last, key)
		default:
			then = append(then, key)
		}
	}
	end := strings.Join(last, apart)
	line := ""
	fits := func(more string) bool { return width(line+more+apart+end) <= s.width }
	all := screens()
	short := all[0].key + "–" + all[len(all)-1].key + " screens"
	for _, key := range slices.Concat(first, actions, then) {
		if fits(key + apart + short) {
			line += key + apart
		}
	}
	var names []string
	for _, sc := range all {
		names = append(names, sc.key+" "+sc.name)
	}
	if long := strings.Join(names, apart); fits(long) {
		line += long + apart
	} else if fits(short) {
		line += short + apart
	}
	return cut(line+end, s.width)
}

func view(s *state, width int) render.View {
	return render.View{Terminal: true, Color: s.color, Width: max(20, width)}
}

func width(text string) int { return ansi.StringWidth(text) }

// counted is a number with what it counts.
func counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return render.Thousands(int64(n)) + " " + many
}

// cut shortens a line to the width.
func cut(line string, w int) string { return ansi.Truncate(line, max(0, w), "…") }

// spread puts one text at the left and one at the right; the left one is cut for it.
func spread(left, right string, w int) string {
	room := w - width(right) - 1
	if room < 1 {
		return cut(right, w)
	}
	left = cut(left, room)
	return left + strings.Repeat(" ", max(1, w-width(left)-width(right))) + right
}
