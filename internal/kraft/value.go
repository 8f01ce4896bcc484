package kraft

import (
	"encoding/binary"
)

// maxString is the most bytes of a string, compact or not.
const maxString = 1<<15 - 1

// word is a value of a fixed number of bytes: a number, a bool or a [UUID].
type word[T comparable] struct {
	p   *T
	def T
}

func fixed[T comparable](p *T) word[T]          { return word[T]{p: p} }
func fixedOr[T comparable](p *T, def T) word[T] { return word[T]{p: p, def: def} }

func (v word[T]) isDefault() bool { return *v.p == v.def }
func (v word[T]) reset()          { *v.p = v.def }

func (v word[T]) write(w *writer) {
	b, err := binary.Append(w.b, binary.BigEndian, *v.p)
	if err != nil {
		w.fail("%w", err) // T is of no fixed size: a wrong layout
		return
	}
	w.b = b
}

func (v word[T]) read(r *reader) {
	if id, ok := any(v.p).(*UUID); ok { // which the package for it takes apart by reflection
		copy(id[:], r.take(len(id)))
		return
	}
	b := r.take(binary.Size(*v.p))
	if r.err != nil {
		return
	}
	if _, err := binary.Decode(b, binary.BigEndian, v.p); err != nil {
		r.fail("%w", err)
	}
}

// list is an array of such values.
type list[T comparable] struct {
	p        *[]T
	nullable bool
}

// fixeds is an array that cannot be null: an empty one is read as nil.
func fixeds[T comparable](p *[]T) list[T] { return list[T]{p: p} }

// nullFixeds is an array that is null by default: null is nil, and an empty one
// is not.
func nullFixeds[T comparable](p *[]T) list[T] { return list[T]{p: p, nullable: true} }

func (v list[T]) reset() { *v.p = nil }

func (v list[T]) isDefault() bool {
	if v.nullable {
		return *v.p == nil
	}
	return len(*v.p) == 0
}

func (v list[T]) write(w *writer) {
	if v.nullable && *v.p == nil {
		w.size(-1)
		return
	}
	w.size(len(*v.p))
	b, err := binary.Append(w.b, binary.BigEndian, *v.p)
	if err != nil {
		w.fail("%w", err)
		return
	}
	w.b = b
}

func (v list[T]) read(r *reader) {
	var zero T
	width := binary.Size(zero)
	n := r.length(width, v.nullable)
	if n < 0 || n == 0 && !v.nullable {
		*v.p = nil
		return
	}
	*v.p = make([]T, n)
	if _, err := binary.Decode(r.take(n*width), binary.BigEndian, *v.p); err != nil {
		r.fail("%w", err)
	}
}

// text is a string that cannot be null.
type text struct{ p *string }

func (v text) isDefault() bool { return *v.p == "" }
func (v text) reset()          { *v.p = "" }

func (v text) write(w *writer) {
	if len(*v.p) > maxString {
		w.fail("a string of %d bytes: more than %d", len(*v.p), maxString)
	}
	w.size(len(*v.p))
	w.b = append(w.b, *v.p...)
}

func (v text) read(r *reader) {
	n := r.length(1, false)
	if n > maxString {
		r.fail("a string of %d bytes: more than %d", n, maxString)
	}
	*v.p = string(r.take(max(n, 0)))
}

// nullText is a string that is null by default, as a nil pointer.
type nullText struct{ p **string }

func (v nullText) isDefault() bool { return *v.p == nil }
func (v nullText) reset()          { *v.p = nil }

func (v nullText) write(w *writer) {
	if *v.p == nil {
		w.size(-1)
		return
	}
	text{*v.p}.write(w)
}

func (v nullText) read(r *reader) {
	if len(r.b) > 0 && r.b[0] == 0 {
		_, *v.p = r.take(1), nil
		return
	}
	*v.p = new(string)
	text{*v.p}.read(r)
}

// structs is an array of structs. It is never null; an empty one is read as nil.
type structs[T any] struct {
	p      *[]T
	layout func(*T) []field
}

// many makes structs, for Go infers types of arguments only.
func many[T any](p *[]T, layout func(*T) []field) structs[T] { return structs[T]{p, layout} }

func (v structs[T]) isDefault() bool { return len(*v.p) == 0 }
func (v structs[T]) reset()          { *v.p = nil }

func (v structs[T]) write(w *writer) {
	w.size(len(*v.p))
	for i := range *v.p {
		w.fields(v.layout(&(*v.p)[i]))
	}
}

func (v structs[T]) read(r *reader) {
	*v.p = nil
	for n := r.length(1, false); n > 0 && r.err == nil; n-- { // grown as they come: n may be a lie
		*v.p = append(*v.p, *new(T))
		r.fields(v.layout(&(*v.p)[len(*v.p)-1]))
	}
}

// single is a struct within a struct.
type single []field

func (v single) write(w *writer) { w.fields(v) }
func (v single) read(r *reader)  { r.fields(v) }

func (v single) isDefault() bool {
	for _, f := range v {
		if !f.value.isDefault() {
			return false
		}
	}
	return true
}

func (v single) reset() {
	for _, f := range v {
		f.value.reset()
	}
}
