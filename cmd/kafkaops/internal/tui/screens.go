package tui

import (
	"slices"
	"strings"
)

// screen is one view: what it is called, and what it shows of a look.
type screen struct {
	// name is what is typed behind a colon, and aliases are shorter ones; key goes there at
	// once. what it is for, in a few words.
	name, what string
	key        string
	aliases    []string
	// crumb says where one is; nil is the name.
	crumb func(*place) string
	// head are lines above the rows that stay where they are.
	head func(s *state, p *place, width int) []string
	// rows are those of a look; nil where the screen is a text.
	rows func(*state, *place) *listing
	// text is what a screen without rows says, which is scrolled.
	text func(s *state, p *place, width int) []string
	// enter is what lies behind a row; nil for nothing.
	enter func(s *state, p *place, row int) *place
	// groups: it needs the groups with every look.
	groups bool
}

// screens are those that one can go to by their names.
func screens() []*screen {
	return []*screen{
		overviewScreen(), partitionsScreen(), brokersScreen(), isrScreen(), groupsScreen(), quorumScreen(), findingsScreen(), adviceScreen(),
	}
}

// screenNamed finds a screen by its name or an alias; nil where there is none.
func screenNamed(name string) *screen {
	for _, sc := range screens() {
		if sc.name == name || slices.Contains(sc.aliases, name) {
			return sc
		}
	}
	return nil
}

// complete is the first name that begins so; empty where none does.
func complete(text string) string {
	for _, sc := range screens() {
		if text != "" && strings.HasPrefix(sc.name, text) {
			return sc.name
		}
	}
	return ""
}

func newPlace(sc *screen) *place { return &place{screen: sc, span: isrSpan} }

// title is what the crumbs say of a place.
func (p *place) title() string {
	switch {
	case p.crumb != nil:
		return p.crumb(p)
	case p.name == "isr":
		return "ISR"
	}
	return strings.ToUpper(p.name[:1]) + p.name[1:]
}
