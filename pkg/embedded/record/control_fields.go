package record

import (
	"encoding/binary"
	"slices"
)

// The values of control records are messages of Kafka's protocol, in flexible
// versions but for EndTxn: compact arrays and strings have a count of one more,
// structs end in tagged fields, of which there are none yet.

func (c EndTxn) appendValue(dst []byte) []byte {
	return binary.BigEndian.AppendUint32(append(dst, 0, 0), uint32(c.CoordinatorEpoch))
}

func (c LeaderChange) appendValue(dst []byte) []byte {
	known := func(v Voter) bool { return v.DirectoryID != [16]byte{} }
	withDirs := slices.ContainsFunc(c.Voters, known) || slices.ContainsFunc(c.GrantingVoters, known)
	version := byte(0)
	if withDirs {
		version = 1
	}
	dst = binary.BigEndian.AppendUint32(append(dst, 0, version), uint32(c.LeaderID))
	for _, vs := range [][]Voter{c.Voters, c.GrantingVoters} {
		dst = appendCount(dst, len(vs))
		for _, v := range vs {
			dst = binary.BigEndian.AppendUint32(dst, uint32(v.ID))
			if withDirs {
				dst = append(dst, v.DirectoryID[:]...)
			}
			dst = append(dst, 0)
		}
	}
	return append(dst, 0)
}

func (c SnapshotHeader) appendValue(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint64(append(dst, 0, 0), uint64(c.LastContainedLogTimestampMs))
	return append(dst, 0)
}

func (SnapshotFooter) appendValue(dst []byte) []byte { return append(dst, 0, 0, 0) }

func (c KRaftVersion) appendValue(dst []byte) []byte {
	return append(binary.BigEndian.AppendUint16(append(dst, 0, 0), uint16(c.Version)), 0)
}

func (c KRaftVoters) appendValue(dst []byte) []byte {
	dst = appendCount(append(dst, 0, 0), len(c.Voters))
	for _, v := range c.Voters {
		dst = binary.BigEndian.AppendUint32(dst, uint32(v.ID))
		dst = append(dst, v.DirectoryID[:]...)
		dst = appendCount(dst, len(v.Endpoints))
		for _, e := range v.Endpoints {
			dst = append(appendCount(dst, len(e.Name)), e.Name...)
			dst = append(appendCount(dst, len(e.Host)), e.Host...)
			dst = append(binary.BigEndian.AppendUint16(dst, e.Port), 0)
		}
		dst = binary.BigEndian.AppendUint16(dst, uint16(v.MinVersion))
		dst = binary.BigEndian.AppendUint16(dst, uint16(v.MaxVersion))
		dst = append(dst, 0, 0) // of the versions, of the voter
	}
	return append(dst, 0)
}

func (c UnknownControl) appendValue(dst []byte) []byte { return append(dst, c.Value...) }

func appendCount(dst []byte, n int) []byte { return appendUvarint(dst, uint64(n)+1) }

// fields reads a value. Once bad it stays bad, and its numbers are 0.
type fields struct {
	all, rest []byte
	bad       bool
}

func (d *fields) take(n int) []byte {
	if n < 0 || n > len(d.rest) {
		d.bad = true
		return nil
	}
	v := d.rest[:n]
	d.rest = d.rest[n:]
	return v
}

func (d *fields) int16() int16 {
	if v := d.take(2); v != nil {
		return int16(binary.BigEndian.Uint16(v))
	}
	return 0
}

func (d *fields) int32() int32 {
	if v := d.take(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (d *fields) int64() int64 {
	if v := d.take(8); v != nil {
		return int64(binary.BigEndian.Uint64(v))
	}
	return 0
}

func (d *fields) uvarint() uint64 {
	v, rest, ok := uvarint(d.rest, maxVarintBytes)
	if !ok {
		d.bad = true
		return 0
	}
	d.rest = rest
	return v
}

// count is that of a compact array or string; 0 for null. Every element has a
// byte at least, so that more than are left is wrong.
func (d *fields) count() int {
	n := d.uvarint()
	if n == 0 {
		return 0
	}
	if n-1 > uint64(len(d.rest)) {
		d.bad = true
		return 0
	}
	return int(n - 1)
}

func (d *fields) string() string { return string(d.take(d.count())) }

func (d *fields) tags() {
	for range d.count1() {
		d.uvarint()
		d.take(int(d.uvarint()))
	}
}

// count1 is a count that is not one more.
func (d *fields) count1() int {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.bad = true
		return 0
	}
	return int(n)
}

func (d *fields) voters(withDirs bool) []Voter {
	var out []Voter
	for range d.count() {
		if d.bad {
			break
		}
		v := Voter{ID: d.int32()}
		if withDirs {
			copy(v.DirectoryID[:], d.take(16))
		}
		d.tags()
		out = append(out, v)
	}
	return out
}

func (d *fields) voterNodes() []VoterNode {
	var out []VoterNode
	for range d.count() {
		if d.bad {
			break
		}
		v := VoterNode{Voter: Voter{ID: d.int32()}}
		copy(v.DirectoryID[:], d.take(16))
		for range d.count() {
			if d.bad {
				break
			}
			e := Endpoint{Name: d.string(), Host: d.string(), Port: uint16(d.int16())}
			d.tags()
			v.Endpoints = append(v.Endpoints, e)
		}
		v.MinVersion, v.MaxVersion = d.int16(), d.int16()
		d.tags()
		d.tags()
		out = append(out, v)
	}
	return out
}
