package kraft

import (
	"encoding/binary"
	"fmt"
	"math"
)

// frameVersion is the only one: 0 was that of the preview in Kafka 2.8.
const frameVersion = 1

// Record is one change of the cluster's metadata: a pointer to one of this
// package's structs, or [*Unknown].
type Record interface {
	// Type says which record it is.
	Type() Type
	// fields lists the layout, in the order of the bytes.
	fields() []field
}

// Unknown stands for a record of a type or in a version that this package does
// not know. It keeps nothing of the body, which may hold secrets.
type Unknown struct {
	Of      Type
	Version int16
}

// Type returns the type that the record's frame names.
func (r *Unknown) Type() Type    { return r.Of }
func (*Unknown) fields() []field { return nil }

// Decode reads the value of a data record of the metadata log. What is newer
// than this package is an [*Unknown] and no error; an error means that the bytes
// are not a metadata record, or not a whole one. The record does not share
// memory with value.
func Decode(value []byte) (Record, error) { return (*Decoder)(nil).Decode(value) }

// Decoder decodes one record after the other as [Decode] does, but changes of partitions,
// which are most of a log, into one and the same: what it returns is good until the next.
type Decoder struct {
	change kind
	layout []field // of its record
}

func (d *Decoder) kindOf(t Type) (k kind, layout func() []field, ok bool) {
	if d == nil || t != TypePartitionChange {
		k, ok = kindOf(t)
		return k, func() []field { return k.blank.fields() }, ok
	}
	if d.layout == nil {
		d.change, _ = kindOf(t)
		d.layout = d.change.blank.fields()
	}
	return d.change, func() []field { return d.layout }, true
}

// Decode is [Decode].
func (d *Decoder) Decode(value []byte) (Record, error) {
	r := &reader{b: value}
	frame, typ, version := r.short("frame version"), Type(r.short("type")), r.short("version")
	switch {
	case r.err != nil:
		return nil, fmt.Errorf("kraft: decode record: %w", r.err)
	case frame != frameVersion:
		return nil, fmt.Errorf("kraft: decode record: frame version %d: want %d; is it a record of __cluster_metadata?", frame, frameVersion)
	}
	k, layout, ok := d.kindOf(typ)
	if !ok || version > k.latest {
		return &Unknown{Of: typ, Version: version}, nil
	}
	r.version = version
	if k.secret { // nothing behind the fields that are listed is looked at
		r.placed(layout())
	} else {
		r.all(layout())
	}
	if r.err != nil {
		return nil, fmt.Errorf("kraft: decode %s v%d: %w", typ, version, r.err)
	}
	return k.blank, nil
}

// Append appends rec in that version to b, as the value of a data record. It
// fails if rec sets a field that the version does not have, rather than lose it,
// and for records that this package cannot write: unknown ones and those with
// secrets. After an error b is as it was.
func Append(b []byte, rec Record, version int16) ([]byte, error) {
	typ := rec.Type()
	k, ok := kindOf(typ)
	if _, unknown := rec.(*Unknown); unknown || !ok {
		return b, fmt.Errorf("kraft: encode %s: not known to this package", typ)
	}
	switch {
	case k.secret:
		return b, fmt.Errorf("kraft: encode %s: it holds secrets, which this package does not keep", typ)
	case version < 0 || version > k.latest:
		return b, fmt.Errorf("kraft: encode %s v%d: want version 0 to %d", typ, version, k.latest)
	}
	w := &writer{b: b, version: version}
	for _, n := range []uint64{frameVersion, uint64(typ), uint64(version)} {
		w.b = binary.AppendUvarint(w.b, n)
	}
	w.fields(rec.fields())
	if w.err != nil {
		return b, fmt.Errorf("kraft: encode %s v%d: %w", typ, version, w.err)
	}
	return w.b, nil
}

// short reads an unsigned varint that must fit in 15 bits, as those of a frame.
func (r *reader) short(what string) int16 {
	n := r.uvarint()
	if r.err == nil && n > math.MaxInt16 {
		r.fail("%s %d: more than %d", what, n, math.MaxInt16)
	}
	return int16(n)
}
