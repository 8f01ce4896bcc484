package source

import (
	"fmt"
	"slices"
)

// refusals counts error codes inside one answer, so that ten thousand partitions
// with the same error are one line.
type refusals struct{ byCode map[int16]*refused }

type refused struct {
	code  int16
	count int
	first string
}

func newRefusals() *refusals { return &refusals{map[int16]*refused{}} }

func (r *refusals) add(code int16, name string) {
	e := r.byCode[code]
	if e == nil {
		e = &refused{code: code, first: name}
		r.byCode[code] = e
	}
	e.count++
	e.first = min(e.first, name)
}

func (r *refusals) sorted() []*refused {
	out := make([]*refused, 0, len(r.byCode))
	for _, e := range r.byCode {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b *refused) int { return int(a.code) - int(b.code) })
	return out
}

// what names what was refused: "topic a", "12 topics, a among them".
func (e *refused) what(noun string) string {
	if e.count == 1 {
		return noun + " " + e.first
	}
	return fmt.Sprintf("%d %ss, %s among them", e.count, noun, e.first)
}
