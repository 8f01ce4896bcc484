package kraft

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// errShort: the bytes end within a field.
var errShort = errors.New("ends early")

// reader takes bytes apart from the front. After its first error it reads
// nothing more, so that only the end need ask.
type reader struct {
	b       []byte
	version int16
	err     error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// take returns the next n bytes, nil after an error.
func (r *reader) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n > len(r.b) {
		r.fail("%w: %d bytes wanted, %d left", errShort, n, len(r.b))
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

// uvarint reads an unsigned varint of at most 32 bits, in at most 5 bytes.
func (r *reader) uvarint() uint32 {
	if r.err != nil {
		return 0
	}
	n, size := binary.Uvarint(r.b)
	switch {
	case size == 0:
		r.fail("%w: within a varint", errShort)
		return 0
	case size < 0 || size > binary.MaxVarintLen32 || n > math.MaxUint32:
		r.fail("a varint of more than 32 bits")
		return 0
	}
	r.b = r.b[size:]
	return uint32(n)
}

// length reads that of a string or an array, of which each element takes at
// least width bytes; −1 is null. What cannot be there is refused before anything
// is allocated for it.
func (r *reader) length(width int, nullable bool) int {
	n := int64(r.uvarint()) - 1
	switch {
	case r.err != nil:
		return -1
	case n < 0 && !nullable:
		r.fail("is null, which it cannot be")
	case n*int64(width) > int64(len(r.b)):
		r.fail("%w: %d times %d bytes announced, %d left", errShort, n, width, len(r.b))
		return -1
	}
	return int(n)
}

// all reads a struct that must be all there is.
func (r *reader) all(fields []field) {
	r.fields(fields)
	if r.err == nil && len(r.b) > 0 {
		r.fail("%d bytes after the last field", len(r.b))
	}
}

// fields reads a struct with that layout: first what has its place, then the
// tagged fields.
func (r *reader) fields(fields []field) {
	r.placed(fields)
	r.tags(fields)
}

func (r *reader) placed(fields []field) {
	for _, f := range fields {
		if f.tag != noTag || f.since > r.version {
			f.value.reset()
			continue
		}
		if f.value.read(r); r.err != nil {
			r.err = fmt.Errorf("%s: %w", f.name, r.err)
			return
		}
	}
}

func (r *reader) tags(fields []field) {
	last := -1
	for n := r.uvarint(); n > 0 && r.err == nil; n-- {
		tag, size := int(r.uvarint()), int(r.uvarint())
		body := r.take(size)
		if r.err == nil && tag <= last {
			r.fail("tag %d after tag %d: want ascending tags", tag, last)
		}
		last = tag
		if i := slices.IndexFunc(fields, func(f field) bool { return f.tag == tag }); i >= 0 && r.err == nil {
			r.tagged(fields[i], body)
		} // else it is newer than this package: skipped
	}
}

// tagged reads a tagged field, of which body is all.
func (r *reader) tagged(f field, body []byte) {
	sub := reader{b: body, version: r.version}
	if f.since > r.version {
		sub.fail("tag %d is not for versions before %d", f.tag, f.since)
	}
	f.value.read(&sub)
	if sub.err == nil && len(sub.b) > 0 {
		sub.fail("%d of %d bytes left over", len(sub.b), len(body))
	}
	if sub.err != nil {
		r.err = fmt.Errorf("%s: %w", f.name, sub.err)
	}
}
