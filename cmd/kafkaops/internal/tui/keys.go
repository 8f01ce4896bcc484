package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// binding is one key: what dispatch does, what the footer and help say of it. The table in
// [bindings] is all there is.
type binding struct {
	// keys are all that do it, as bubbletea names them; label is how it is written.
	keys  []string
	label string
	help  string
	group string
	// brief is what the footer says; empty keeps it out.
	brief string
	// when says where it is of use; nil is everywhere.
	when func(*state) bool
	do   func(*Model) tea.Cmd
}

// The groups of help.
const (
	helpScreens = "screens"
	helpMove    = "move"
	helpRows    = "rows"
	helpTime    = "time"
	helpActions = "actions"
	helpOther   = "kafkaops top"
)

// bindings are all keys that do something where nothing is being typed.
func bindings(s *state) []binding {
	list := func(s *state) bool { return s.here().rows != nil }
	player := func(s *state) bool { return s.recording }
	timeline := func(s *state) bool { return s.here().name == "isr" }
	var out []binding
	for _, sc := range screens() {
		out = append(out, binding{
			keys: []string{sc.key}, label: sc.key, group: helpScreens, help: sc.name + ": " + sc.what,
			do: func(m *Model) tea.Cmd { m.goTo(sc); return nil },
		})
	}
	move := func(by func(m *Model) int) func(*Model) tea.Cmd {
		return func(m *Model) tea.Cmd { m.here().move(by(m)); return nil }
	}
	rows := func(n int) func(m *Model) int { return func(*Model) int { return n } }
	pages := func(n int) func(m *Model) int { return func(m *Model) int { return n * max(1, m.room()-1) } }
	const far = 1 << 30
	out = append(out,
		binding{keys: []string{"j", "down"}, label: "j ↓", group: helpMove, help: "down", do: move(rows(1))},
		binding{keys: []string{"k", "up"}, label: "k ↑", group: helpMove, help: "up", do: move(rows(-1))},
		binding{keys: []string{"pgdown", "ctrl+f"}, label: "PgDn", group: helpMove, help: "a page down", do: move(pages(1))},
		binding{keys: []string{"pgup", "ctrl+b"}, label: "PgUp", group: helpMove, help: "a page up", do: move(pages(-1))},
		binding{keys: []string{"g", "home"}, label: "g Home", group: helpMove, help: "to the first, and stay there", do: func(m *Model) tea.Cmd {
			m.here().move(-far)
			m.here().moved = false
			return nil
		}},
		binding{keys: []string{"G", "end"}, label: "G End", group: helpMove, help: "to the last", do: move(rows(far))},
		binding{keys: []string{"enter"}, label: "enter", group: helpRows, help: "what lies behind the row", brief: "open", when: func(s *state) bool { return s.here().enter != nil }, do: (*Model).enter},
		binding{keys: []string{"esc"}, label: "esc", group: helpRows, help: "end the filter, or go back", brief: "back", when: func(s *state) bool { return len(s.stack) > 1 || s.here().filter != "" }, do: (*Model).escape},
		binding{keys: []string{"/"}, label: "/", group: helpRows, help: "filter by a regular expression; /!… is what does not match", brief: "filter", when: list, do: func(m *Model) tea.Cmd { m.begin('/', m.here().filter); return nil }},
		binding{keys: []string{"space"}, label: "space", group: helpRows, help: "mark the row", when: list, do: func(m *Model) tea.Cmd { m.here().mark(); return nil }},
		binding{keys: []string{"y"}, label: "y", group: helpRows, help: "copy the marked rows, or this one, as JSON", when: list, do: (*Model).copy},
	)
	if p := s.here(); p.listed != nil {
		for _, by := range p.listed.sorts {
			out = append(out, binding{
				keys: []string{by.key}, label: "⇧" + by.key, group: helpRows, help: "sort by " + by.name + "; again: turned around",
				do: func(m *Model) tea.Cmd { m.here().sortBy(by.key); return nil },
			})
		}
	}
	out = append(out,
		binding{keys: []string{"p"}, label: "p", group: helpTime, help: "hold the screen, or let it go on", brief: "pause", do: (*Model).pause},
		binding{keys: []string{"["}, label: "[", group: helpTime, help: "a look back", do: func(m *Model) tea.Cmd { m.step(-1); return nil }},
		binding{keys: []string{"]"}, label: "]", group: helpTime, help: "a look on; behind the newest, live again", do: func(m *Model) tea.Cmd { m.step(1); return nil }},
		binding{keys: []string{"{"}, label: "{", group: helpTime, help: "a minute back in a recording", when: player, do: func(m *Model) tea.Cmd { return m.seek(-time.Minute) }},
		binding{keys: []string{"}"}, label: "}", group: helpTime, help: "a minute on in a recording", when: player, do: func(m *Model) tea.Cmd { return m.seek(time.Minute) }},
		binding{keys: []string{">"}, label: ">", group: helpTime, help: "play twice as fast", when: player, do: func(m *Model) tea.Cmd { return m.play(2) }},
		binding{keys: []string{"<"}, label: "<", group: helpTime, help: "play half as fast", when: player, do: func(m *Model) tea.Cmd { return m.play(0.5) }},
		binding{keys: []string{"+", "="}, label: "+", group: helpTime, help: "half of the time, in more detail", when: timeline, do: func(m *Model) tea.Cmd { m.zoom(0.5); return nil }},
		binding{keys: []string{"-"}, label: "-", group: helpTime, help: "twice as much time", when: timeline, do: func(m *Model) tea.Cmd { m.zoom(2); return nil }},
		binding{keys: []string{"left", "h"}, label: "h ←", group: helpTime, help: "back in the timeline", when: timeline, do: func(m *Model) tea.Cmd { m.scroll(-0.25); return nil }},
		binding{keys: []string{"right", "l"}, label: "l →", group: helpTime, help: "on in the timeline", when: timeline, do: func(m *Model) tea.Cmd { m.scroll(0.25); return nil }},
	)
	if s.readOnly == "" {
		for i := range s.actions {
			a := &s.actions[i]
			out = append(out, binding{
				keys: []string{a.Key}, label: a.Key, group: helpActions, help: a.Name, brief: a.brief(),
				when: func(s *state) bool { return a.On == nil || a.On(s.target()) },
				do:   func(m *Model) tea.Cmd { return m.plan(a) },
			})
		}
	}
	return append(out,
		binding{keys: []string{":"}, label: ":", group: helpOther, help: "go to a screen by its name; tab completes", brief: "go to", do: func(m *Model) tea.Cmd { m.begin(':', ""); return nil }},
		binding{keys: []string{"w"}, label: "w", group: helpOther, help: "write the looks into a recording", when: func(s *state) bool { return !s.recording }, do: (*Model).write},
		binding{keys: []string{"?"}, label: "?", group: helpOther, help: "this help", brief: "help", do: func(m *Model) tea.Cmd { m.helping, m.boxTop = true, 0; return nil }},
		binding{keys: []string{"q"}, label: "q", group: helpOther, help: "quit", brief: "quit", do: func(*Model) tea.Cmd { return tea.Quit }},
	)
}

// brief is the name of an action without what explains it.
func (a *Action) brief() string {
	if end := strings.IndexAny(a.Name, ":("); end > 0 {
		return strings.TrimSpace(a.Name[:end])
	}
	return a.Name
}

// bound is what a key does on the screen, false where nothing.
func bound(s *state, key string) (binding, bool) {
	for _, b := range bindings(s) {
		if slices.Contains(b.keys, key) && (b.when == nil || b.when(s)) {
			return b, true
		}
	}
	return binding{}, false
}

// target is what is selected.
func (s *state) target() Target {
	p := s.here()
	t := Target{Screen: p.name, Look: s.look()}
	if t.Look == nil {
		return t
	}
	if p.partition.Topic != "" {
		t.Partition = inspect.Known(p.partition)
	}
	if p.broker > 0 {
		t.Broker = inspect.Known(p.broker)
	}
	i, ok := p.selected()
	if !ok {
		return t
	}
	switch p.name {
	case "brokers":
		t.Broker = inspect.Known(t.Look.Brokers[i].ID)
	case "partitions", "overview":
		if in := p.enter(s, p, i); in != nil {
			t.Partition = inspect.Known(in.partition)
		}
	}
	return t
}
