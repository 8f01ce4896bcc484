package tui

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// typing is a line that is being typed: a filter, or the name of a screen.
type typing struct {
	prompt rune
	input  textinput.Model
	// wrong says why the line means nothing; empty where it does.
	wrong string
}

// begin begins to type a line.
func (m *Model) begin(prompt rune, text string) {
	t := &typing{prompt: prompt, input: textinput.New()}
	t.input.SetValue(text)
	t.input.CursorEnd()
	t.input.Focus()
	m.typing = t
}

// typed takes a key while a line is being typed.
func (m *Model) typed(msg tea.KeyPressMsg) tea.Cmd {
	t := m.typing
	switch msg.String() {
	case "esc", "ctrl+c":
		m.typing = nil
		if t.prompt == '/' {
			m.here().setFilter("")
		}
		return nil
	case "enter":
		m.typing = nil
		if t.prompt == ':' {
			return m.command(t.input.Value())
		}
		if t.wrong != "" {
			m.note = t.wrong
		}
		return nil
	case "tab":
		if name := complete(t.input.Value()); t.prompt == ':' && name != "" {
			t.input.SetValue(name)
			t.input.CursorEnd()
		}
		return nil
	}
	t.input, _ = t.input.Update(msg)
	if t.prompt == '/' {
		t.wrong = m.here().setFilter(t.input.Value())
	}
	return nil
}

// setFilter filters by the text, if it is one; else it says why not, and the filter stays.
func (p *place) setFilter(text string) string {
	find, err := newFinder(text)
	if err != nil {
		return err.Error()
	}
	p.filter, p.find = text, find
	return ""
}

// command goes where a line behind a colon says.
func (m *Model) command(name string) tea.Cmd {
	switch name {
	case "":
		return nil
	case "q", "quit", "exit":
		return tea.Quit
	case "help", "h":
		m.helping, m.boxTop = true, 0
		return nil
	}
	sc := screenNamed(name)
	if sc == nil {
		sc = screenNamed(complete(name))
	}
	if sc == nil {
		m.note = "there is no screen " + name + ": " + names()
		return nil
	}
	m.goTo(sc)
	return nil
}

// names are those of all screens.
func names() string {
	text := ""
	for i, sc := range screens() {
		if i > 0 {
			text += ", "
		}
		text += sc.name
	}
	return text
}
