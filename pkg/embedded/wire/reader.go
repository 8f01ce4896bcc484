package wire

import (
	"encoding/binary"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// reader takes a header's fields off the front of src. A field that src does not
// hold sets failed and reads as its zero value, as does every field after it.
type reader struct {
	src    []byte
	failed bool
}

// kmsg.SkipTags works without Ok too, but then a tag count of four billion keeps
// it counting on an empty reader.
var _ interface {
	kmsg.TagReader
	Ok() bool
} = (*reader)(nil)

// Span returns the next n bytes, not copied.
func (r *reader) Span(n int) []byte {
	if r.failed || n < 0 || n > len(r.src) {
		r.fail()
		return nil
	}
	span := r.src[:n]
	r.src = r.src[n:]
	return span
}

// Uvarint returns the next unsigned varint; one beyond 32 bits fails.
func (r *reader) Uvarint() uint32 {
	v, n := binary.Uvarint(r.src)
	if r.failed || n <= 0 || v > 1<<32-1 {
		r.fail()
		return 0
	}
	r.src = r.src[n:]
	return uint32(v)
}

// Ok says whether all fields so far were there.
func (r *reader) Ok() bool { return !r.failed }

func (r *reader) int16() int16 {
	if b := r.Span(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) int32() int32 {
	if b := r.Span(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// nullableString reads a 16-bit length and as many bytes. Null is −1; anything
// else below zero is malformed.
func (r *reader) nullableString() *string {
	n := r.int16()
	if r.failed || n == -1 {
		return nil
	}
	b := r.Span(int(n))
	if r.failed {
		return nil
	}
	s := string(b)
	return &s
}

func (r *reader) fail() {
	r.src = nil
	r.failed = true
}
