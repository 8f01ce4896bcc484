package kraft

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// ControlType is the type in the key of a control record.
type ControlType int16

// The control types of a KRaft log. 0 and 1 end transactions of producers, which
// it does not have.
const (
	ControlLeaderChange   ControlType = 2
	ControlSnapshotHeader ControlType = 3
	ControlSnapshotFooter ControlType = 4
	ControlKRaftVersion   ControlType = 5
	ControlKRaftVoters    ControlType = 6
)

// String returns the name that Kafka's tools print, or the number.
func (t ControlType) String() string {
	switch t {
	case ControlLeaderChange:
		return "LEADER_CHANGE"
	case ControlSnapshotHeader:
		return "SNAPSHOT_HEADER"
	case ControlSnapshotFooter:
		return "SNAPSHOT_FOOTER"
	case ControlKRaftVersion:
		return "KRAFT_VERSION"
	case ControlKRaftVoters:
		return "KRAFT_VOTERS"
	}
	return "control type " + strconv.Itoa(int(t))
}

// ControlRecord is what the quorum says about itself in its log: a pointer to
// one of this package's structs, or [*UnknownControl].
type ControlRecord interface {
	ControlType() ControlType
	// fields lists the layout, of which the first is always the version.
	fields() []field
}

// UnknownControl stands for a control record of a type or in a version that this
// package does not know.
type UnknownControl struct {
	Of      ControlType
	Version int16
}

// ControlType returns the type that the record's key names.
func (r *UnknownControl) ControlType() ControlType { return r.Of }
func (*UnknownControl) fields() []field            { return nil }

// blankControl returns a new record of that type and its latest version, or nil.
func blankControl(t ControlType) (rec ControlRecord, latest int16) {
	switch t {
	case ControlLeaderChange:
		return new(LeaderChange), 1
	case ControlSnapshotHeader:
		return new(SnapshotHeader), 0
	case ControlSnapshotFooter:
		return new(SnapshotFooter), 0
	case ControlKRaftVersion:
		return new(KRaftVersion), 0
	case ControlKRaftVoters:
		return new(KRaftVoters), 0
	}
	return nil, 0
}

// DecodeControl reads a record of a control batch of the metadata log or of a
// snapshot. What is newer than this package is an [*UnknownControl] and no error.
func DecodeControl(key, value []byte) (ControlRecord, error) {
	// The key may grow: Kafka reads the two numbers of any version.
	if len(key) < 4 {
		return nil, fmt.Errorf("kraft: decode control record: a key of %d bytes: want 4", len(key))
	}
	typ := ControlType(binary.BigEndian.Uint16(key[2:]))
	rec, latest := blankControl(typ)
	if rec == nil {
		return &UnknownControl{Of: typ}, nil
	}
	if len(value) < 2 {
		return nil, fmt.Errorf("kraft: decode %s: a value of %d bytes: want its version, 2 bytes, and more", typ, len(value))
	}
	version := int16(binary.BigEndian.Uint16(value))
	if version < 0 || version > latest {
		return &UnknownControl{Of: typ, Version: version}, nil
	}
	r := &reader{b: value, version: version}
	if r.all(rec.fields()); r.err != nil {
		return nil, fmt.Errorf("kraft: decode %s v%d: %w", typ, version, r.err)
	}
	return rec, nil
}

// AppendControl appends the value of a control record to b, in the version that
// the record names. After an error b is as it was.
func AppendControl(b []byte, rec ControlRecord) ([]byte, error) {
	typ := rec.ControlType()
	_, latest := blankControl(typ)
	fields := rec.fields()
	if len(fields) == 0 {
		return b, fmt.Errorf("kraft: encode %s: not known to this package", typ)
	}
	w := &writer{}
	fields[0].value.write(w)
	if w.version = int16(binary.BigEndian.Uint16(w.b)); w.version < 0 || w.version > latest {
		return b, fmt.Errorf("kraft: encode %s v%d: want version 0 to %d", typ, w.version, latest)
	}
	w.b = b
	if w.fields(fields); w.err != nil {
		return b, fmt.Errorf("kraft: encode %s v%d: %w", typ, w.version, w.err)
	}
	return w.b, nil
}

// AppendControlKey appends the key that goes with the value.
func AppendControlKey(b []byte, t ControlType) []byte {
	b = binary.BigEndian.AppendUint16(b, 0) // the key's version
	return binary.BigEndian.AppendUint16(b, uint16(t))
}
