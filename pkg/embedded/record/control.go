package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ControlType is the kind of a control record, by its number in the key
// (ControlRecordType).
type ControlType int16

// The control records of Kafka 4.4.
const (
	TypeAbort          ControlType = 0
	TypeCommit         ControlType = 1
	TypeLeaderChange   ControlType = 2
	TypeSnapshotHeader ControlType = 3
	TypeSnapshotFooter ControlType = 4
	TypeKRaftVersion   ControlType = 5
	TypeKRaftVoters    ControlType = 6
)

// Control is a control record: an [EndTxn], [LeaderChange], [SnapshotHeader],
// [SnapshotFooter], [KRaftVersion], [KRaftVoters] or [UnknownControl].
//
// Its key is a version [2], 0, and a type [2]; its value a version [2] and what
// the type has.
type Control interface {
	Type() ControlType
	// appendValue appends the record's value, its version included.
	appendValue(dst []byte) []byte
}

// EndTxn is the marker that ends a producer's transaction in a partition. Its
// batch is transactional and carries the producer's id and epoch.
type EndTxn struct {
	Commit           bool
	CoordinatorEpoch int32
}

// LeaderChange is the first record of a leader's epoch in the metadata log
// (KIP-595). Directory ids are written if one is not zero (KIP-853).
type LeaderChange struct {
	LeaderID       int32
	Voters         []Voter
	GrantingVoters []Voter
}

// Voter is a controller that votes. DirectoryID is zero where it is not known.
type Voter struct {
	ID          int32
	DirectoryID [16]byte
}

// SnapshotHeader is the first record of a snapshot of the metadata log
// (KIP-630).
type SnapshotHeader struct {
	// LastContainedLogTimestampMs is the append time of the last record that the
	// snapshot stands for.
	LastContainedLogTimestampMs int64
}

// SnapshotFooter is a snapshot's last record.
type SnapshotFooter struct{}

// KRaftVersion is kraft.version, in force from here on (KIP-853).
type KRaftVersion struct{ Version int16 }

// KRaftVoters is the set of voters, in force from here on (KIP-853).
type KRaftVoters struct{ Voters []VoterNode }

// VoterNode is a voter, where it listens and which kraft.versions it knows.
type VoterNode struct {
	Voter

	Endpoints              []Endpoint
	MinVersion, MaxVersion int16
}

// Endpoint is one listener of a voter.
type Endpoint struct {
	Name, Host string
	Port       uint16
}

// UnknownControl is one that Kafka 4.4 does not have; readers skip it.
type UnknownControl struct {
	ControlType ControlType
	Value       []byte
}

// Type is TypeCommit or TypeAbort.
func (c EndTxn) Type() ControlType {
	if c.Commit {
		return TypeCommit
	}
	return TypeAbort
}

// Type is TypeLeaderChange.
func (LeaderChange) Type() ControlType { return TypeLeaderChange }

// Type is TypeSnapshotHeader.
func (SnapshotHeader) Type() ControlType { return TypeSnapshotHeader }

// Type is TypeSnapshotFooter.
func (SnapshotFooter) Type() ControlType { return TypeSnapshotFooter }

// Type is TypeKRaftVersion.
func (KRaftVersion) Type() ControlType { return TypeKRaftVersion }

// Type is TypeKRaftVoters.
func (KRaftVoters) Type() ControlType { return TypeKRaftVoters }

// Type is the one that was read.
func (c UnknownControl) Type() ControlType { return c.ControlType }

// AppendControl appends a control batch that holds cs to dst. Of opts, Codec and
// LogAppendTimeMs are not used: Kafka writes control records plain.
func AppendControl(dst []byte, opts Options, timestampMs int64, cs ...Control) ([]byte, error) {
	opts.control, opts.Codec, opts.LogAppendTimeMs = true, None, nil
	b := NewBuilder(opts)
	for _, c := range cs {
		key := binary.BigEndian.AppendUint16(make([]byte, 2, 4), uint16(c.Type()))
		if err := b.Add(Entry{TimestampMs: timestampMs, Key: key, Value: c.appendValue(nil)}); err != nil {
			return dst, err
		}
	}
	return b.AppendTo(dst, nil)
}

// EndTxn returns the marker of a control batch, false if it holds none: it is
// another control batch, is empty since compaction took the marker, or cannot be
// read.
func (b Batch) EndTxn() (EndTxn, bool) {
	// Kafka writes and takes control batches plain.
	if !b.Control() || b.Codec() != None || b.Count() < 1 {
		return EndTxn{}, false
	}
	var r Record
	if _, reason := r.parse(b.body(), b); reason != "" || len(r.Key) < 4 {
		return EndTxn{}, false
	}
	t := ControlType(binary.BigEndian.Uint16(r.Key[2:]))
	if t != TypeAbort && t != TypeCommit {
		return EndTxn{}, false
	}
	d := fields{all: r.Value, rest: r.Value}
	if d.int16() < 0 {
		return EndTxn{}, false
	}
	e := EndTxn{Commit: t == TypeCommit, CoordinatorEpoch: d.int32()}
	return e, !d.bad
}

var errControl = errors.New("value ends before its last field")

// ParseControl reads a record of a control batch. Fields that a later version
// adds are passed over. It returns ErrInvalid for what is no control record.
func ParseControl(r Record) (Control, error) {
	if len(r.Key) < 4 {
		return nil, fmt.Errorf("%w: control record at offset %d: key of %d bytes, want 4", ErrInvalid, r.Offset, len(r.Key))
	}
	if v := int16(binary.BigEndian.Uint16(r.Key)); v < 0 {
		return nil, fmt.Errorf("%w: control record at offset %d: version %d of the key", ErrInvalid, r.Offset, v)
	}
	t := ControlType(binary.BigEndian.Uint16(r.Key[2:]))
	d := fields{all: r.Value, rest: r.Value}
	c := d.control(t, d.int16())
	if d.bad {
		return nil, fmt.Errorf("%w: control record at offset %d, type %d: %w", ErrInvalid, r.Offset, t, errControl)
	}
	return c, nil
}

func (d *fields) control(t ControlType, version int16) Control {
	switch t {
	case TypeAbort, TypeCommit:
		return EndTxn{Commit: t == TypeCommit, CoordinatorEpoch: d.int32()}
	case TypeLeaderChange:
		return LeaderChange{
			LeaderID: d.int32(), Voters: d.voters(version >= 1), GrantingVoters: d.voters(version >= 1),
		}
	case TypeSnapshotHeader:
		return SnapshotHeader{LastContainedLogTimestampMs: d.int64()}
	case TypeSnapshotFooter:
		return SnapshotFooter{}
	case TypeKRaftVersion:
		return KRaftVersion{Version: d.int16()}
	case TypeKRaftVoters:
		return KRaftVoters{Voters: d.voterNodes()}
	default:
		d.bad = false // a value may be anything, null too
		return UnknownControl{ControlType: t, Value: d.all}
	}
}
