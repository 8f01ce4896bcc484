package tui

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
)

// listing are the rows of a screen for one look. Only those that are seen are drawn.
type listing struct {
	n int
	// id is what a row is the same by from look to look, and what a filter looks at.
	id func(i int) string
	// table draws these rows.
	table func(v render.View, which []int) *render.Table
	// item is what a row is in JSON.
	item func(i int) any
	// sorts are the orders there are; the first one is how it begins.
	sorts []sorting
}

// sorting is an order, by the Shift-letter that chooses it.
type sorting struct {
	key, name string
	compare   func(i, j int) int
}

// finder is a filter: a regular expression, or what does not match it.
type finder struct {
	re  *regexp.Regexp
	not bool
}

// newFinder reads a filter as it is typed: /orders, /!orders. Case counts where there is a
// capital.
func newFinder(text string) (finder, error) {
	text, not := strings.CutPrefix(text, "!")
	if text == "" {
		return finder{}, nil
	}
	if strings.ToLower(text) == text {
		text = "(?i)" + text
	}
	re, err := regexp.Compile(text)
	return finder{re, not}, err
}

func (f finder) keeps(id string) bool { return f.re == nil || f.re.MatchString(id) != f.not }

// shownKey is what the order of rows depends on.
type shownKey struct {
	look   *Look
	filter string
	order  int
	down   bool
}

// settle brings what a place shows up to date with the state: which rows, in which order,
// and where the cursor is among them. room is how many rows are seen.
func (p *place) settle(s *state, room int) {
	if p.rows == nil {
		p.top = max(0, p.top)
		return
	}
	key := shownKey{s.look(), p.filter, p.order, p.down}
	if p.listed == nil || p.shownOf != key {
		p.list(s, key)
	}
	p.follow(room)
}

// list makes the rows anew.
func (p *place) list(s *state, key shownKey) {
	p.shownOf = key
	p.listed = p.rows(s, p)
	p.shown = p.shown[:0]
	for i := range p.listed.n {
		if p.find.keeps(p.listed.id(i)) {
			p.shown = append(p.shown, i)
		}
	}
	if p.order >= len(p.listed.sorts) {
		return
	}
	by := p.listed.sorts[p.order].compare
	slices.SortStableFunc(p.shown, func(i, j int) int {
		if p.down {
			i, j = j, i
		}
		return cmp.Or(by(i, j), cmp.Compare(i, j))
	})
}

// follow puts the cursor on its row, wherever that has gone, and the row into view.
func (p *place) follow(room int) {
	if len(p.shown) == 0 {
		p.at, p.top = 0, 0
		return
	}
	if p.moved {
		if at := slices.IndexFunc(p.shown, func(i int) bool { return p.listed.id(i) == p.cursor }); at >= 0 {
			p.at = at
		}
	} else {
		p.at = 0
	}
	p.at = min(max(0, p.at), len(p.shown)-1)
	p.cursor = p.listed.id(p.shown[p.at])
	p.top = min(p.top, p.at)
	p.top = max(p.top, p.at-max(1, room)+1, 0)
	p.top = max(0, min(p.top, len(p.shown)-room))
}

// move moves the cursor by n rows, or a text by n lines.
func (p *place) move(n int) {
	if p.rows == nil {
		p.top = max(0, p.top+n)
		return
	}
	if len(p.shown) == 0 {
		return
	}
	p.moved = true
	p.at = min(max(0, p.at+n), len(p.shown)-1)
	p.cursor = p.listed.id(p.shown[p.at])
}

// selected is the index of the row under the cursor, false where there is none.
func (p *place) selected() (int, bool) {
	if p.rows == nil || p.listed == nil || p.at >= len(p.shown) {
		return 0, false
	}
	return p.shown[p.at], true
}

// sortBy chooses the order of this key, turned around where it is the one already.
func (p *place) sortBy(key string) bool {
	if p.listed == nil {
		return false
	}
	for i := range p.listed.sorts {
		if p.listed.sorts[i].key == key {
			p.down = i == p.order && !p.down
			p.order = i
			p.moved = false
			return true
		}
	}
	return false
}

// mark marks the row under the cursor, or takes the mark away, and goes on to the next.
func (p *place) mark() {
	i, ok := p.selected()
	if !ok {
		return
	}
	if p.marks == nil {
		p.marks = map[string]bool{}
	}
	id := p.listed.id(i)
	if p.marks[id] {
		delete(p.marks, id)
	} else {
		p.marks[id] = true
	}
	p.move(1)
}

// items are the marked rows, in the order of the screen, or else the one under the cursor.
func (p *place) items() []any {
	var out []any
	for _, i := range p.shown {
		if p.marks[p.listed.id(i)] {
			out = append(out, p.listed.item(i))
		}
	}
	if i, ok := p.selected(); ok && len(out) == 0 {
		out = append(out, p.listed.item(i))
	}
	return out
}
