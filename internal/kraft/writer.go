package kraft

import (
	"encoding/binary"
	"fmt"
)

// writer appends bytes. After its first error what it wrote is of no use.
type writer struct {
	b       []byte
	version int16
	err     error
}

func (w *writer) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *writer) uvarint(n int) { w.b = binary.AppendUvarint(w.b, uint64(n)) }

// size writes the length of a string or an array, −1 for null.
func (w *writer) size(n int) { w.uvarint(n + 1) }

// fields writes a struct with that layout, the counterpart of reader.fields.
func (w *writer) fields(fields []field) {
	set := 0 // tagged fields that are not left out
	for _, f := range fields {
		switch {
		case f.since > w.version:
			if !f.value.isDefault() {
				w.fail("%s: is set, and only versions from %d on have it", f.name, f.since)
			}
		case f.tag == noTag:
			w.named(f)
		case !f.value.isDefault():
			set++
		}
	}
	w.uvarint(set)
	for _, f := range fields { // layouts list their tags in ascending order
		if f.tag != noTag && f.since <= w.version && !f.value.isDefault() {
			w.tagged(f)
		}
	}
}

// tagged writes tag, size and value.
func (w *writer) tagged(f field) {
	sub := writer{version: w.version}
	sub.named(f)
	w.uvarint(f.tag)
	w.uvarint(len(sub.b))
	w.b = append(w.b, sub.b...)
	if w.err == nil {
		w.err = sub.err
	}
}

// named writes the value and says in which field the first error was.
func (w *writer) named(f field) {
	if w.err != nil {
		return
	}
	if f.value.write(w); w.err != nil {
		w.err = fmt.Errorf("%s: %w", f.name, w.err)
	}
}
