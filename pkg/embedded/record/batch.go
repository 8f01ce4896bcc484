package record

import (
	"encoding/binary"
	"hash/crc32"
)

// Sizes and places of a batch's header; see the package comment.
const (
	// LogOverhead is what comes before the bytes that length counts.
	LogOverhead = 12
	// HeaderSize is a batch without its records.
	HeaderSize = 61
	// Magic is the version of the layout, the only one read or written here.
	Magic = 2

	// lowestLength is what length is at least in any magic; less is not a batch
	// but noise (LegacyRecord.RECORD_OVERHEAD_V0).
	lowestLength = 14

	atLength          = 8
	atLeaderEpoch     = 12
	atMagic           = 16
	atCRC             = 17
	atAttributes      = 21
	atLastOffsetDelta = 23
	atBaseTimestamp   = 27
	atMaxTimestamp    = 35
	atProducerID      = 43
	atProducerEpoch   = 51
	atBaseSequence    = 53
	atCount           = 57
)

// What an absent number is written as.
const (
	NoTimestamp     int64 = -1
	NoLeaderEpoch   int32 = -1
	NoProducerID    int64 = -1
	NoProducerEpoch int16 = -1
	NoSequence      int32 = -1
)

// Bits of attributes.
const (
	attrCodec         = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
	attrDeleteHorizon = 0x40
	attrKnown         = attrCodec | attrLogAppendTime | attrTransactional | attrControl | attrDeleteHorizon
)

// castagnoli is CRC-32C's polynomial; the standard library's tables use the
// processor's instruction for it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Batch is the bytes of exactly one batch of magic 2, its length included: what
// [Scan] and [ParseBatch] return. Its methods read a field each and may not be
// called on other bytes.
type Batch []byte

// BaseOffset is the offset of the first record, also when that was compacted away.
func (b Batch) BaseOffset() int64 { return int64(binary.BigEndian.Uint64(b)) }

// LastOffset is the offset of the last record, also when that was compacted away.
func (b Batch) LastOffset() int64 { return b.BaseOffset() + int64(b.LastOffsetDelta()) }

// NextOffset is the offset after the last record's.
func (b Batch) NextOffset() int64 { return b.LastOffset() + 1 }

// LeaderEpoch is the epoch of the leader that appended the batch.
func (b Batch) LeaderEpoch() int32 { return int32(binary.BigEndian.Uint32(b[atLeaderEpoch:])) }

// CRC is the checksum that the batch carries.
func (b Batch) CRC() uint32 { return binary.BigEndian.Uint32(b[atCRC:]) }

// Attributes is the batch's flags; the methods below read them.
func (b Batch) Attributes() uint16 { return binary.BigEndian.Uint16(b[atAttributes:]) }

// LastOffsetDelta is LastOffset - BaseOffset.
func (b Batch) LastOffsetDelta() int32 {
	return int32(binary.BigEndian.Uint32(b[atLastOffsetDelta:]))
}

// BaseTimestampMs is what the records' timestamps are relative to.
func (b Batch) BaseTimestampMs() int64 { return int64(binary.BigEndian.Uint64(b[atBaseTimestamp:])) }

// MaxTimestampMs is the largest timestamp of the records.
func (b Batch) MaxTimestampMs() int64 { return int64(binary.BigEndian.Uint64(b[atMaxTimestamp:])) }

// ProducerID is NoProducerID where the producer is not idempotent.
func (b Batch) ProducerID() int64 { return int64(binary.BigEndian.Uint64(b[atProducerID:])) }

// ProducerEpoch is NoProducerEpoch where there is no producer id.
func (b Batch) ProducerEpoch() int16 { return int16(binary.BigEndian.Uint16(b[atProducerEpoch:])) }

// BaseSequence is the sequence of the first record, NoSequence in control
// batches and where there is no producer id.
func (b Batch) BaseSequence() int32 { return int32(binary.BigEndian.Uint32(b[atBaseSequence:])) }

// LastSequence is the sequence of the last record, NoSequence where there is
// none. Sequences wrap from the largest int32 to 0.
func (b Batch) LastSequence() int32 {
	if b.BaseSequence() == NoSequence {
		return NoSequence
	}
	return AddSequence(b.BaseSequence(), b.LastOffsetDelta())
}

// AddSequence is the sequence n after s (DefaultRecordBatch.incrementSequence).
func AddSequence(s, n int32) int32 {
	return int32((int64(s) + int64(n)) & (1<<31 - 1))
}

// Count is how many records the batch says to hold. It is what the writer
// wrote: do not allocate by it.
func (b Batch) Count() int32 { return int32(binary.BigEndian.Uint32(b[atCount:])) }

// Codec is the records' compression; it may be none that exists.
func (b Batch) Codec() Codec { return Codec(b.Attributes() & attrCodec) }

// LogAppendTime reports whether MaxTimestampMs is the time of the append and
// stands for every record's timestamp.
func (b Batch) LogAppendTime() bool { return b.Attributes()&attrLogAppendTime != 0 }

// Transactional reports whether the batch is part of a transaction, a marker's
// batch included.
func (b Batch) Transactional() bool { return b.Attributes()&attrTransactional != 0 }

// Control reports whether the batch holds a control record; see [ParseControl].
func (b Batch) Control() bool { return b.Attributes()&attrControl != 0 }

// DeleteHorizonMs is when compaction may drop the batch's tombstones (KIP-534);
// false if none is set.
func (b Batch) DeleteHorizonMs() (int64, bool) {
	return b.BaseTimestampMs(), b.Attributes()&attrDeleteHorizon != 0
}

// body is the records as they lie there.
func (b Batch) body() []byte { return b[HeaderSize:] }

// ComputeCRC is the checksum that the batch ought to carry.
func (b Batch) ComputeCRC() uint32 { return crc32.Checksum(b[atAttributes:], castagnoli) }

// CheckCRC returns ErrCorrupt where the bytes are not those that were written.
func (b Batch) CheckCRC() error {
	if got, want := b.ComputeCRC(), b.CRC(); got != want {
		err := whole(ErrCorrupt, 0, "CRC of its bytes is %08x, it says %08x", got, want)
		err.Byte = atCRC
		return err
	}
	return nil
}

// SetBaseOffset moves all offsets. The CRC does not cover them.
func (b Batch) SetBaseOffset(o int64) { binary.BigEndian.PutUint64(b, uint64(o)) }

// SetLastOffset moves the base offset so that the last offset is o
// (DefaultRecordBatch.setLastOffset).
func (b Batch) SetLastOffset(o int64) { b.SetBaseOffset(o - int64(b.LastOffsetDelta())) }

// SetLeaderEpoch stamps the epoch. The CRC does not cover it.
func (b Batch) SetLeaderEpoch(e int32) { binary.BigEndian.PutUint32(b[atLeaderEpoch:], uint32(e)) }

// SetMaxTimestamp stamps the largest timestamp and what kind it is, and the CRC
// if that changes anything (DefaultRecordBatch.setMaxTimestamp).
func (b Batch) SetMaxTimestamp(ms int64, logAppendTime bool) {
	if b.LogAppendTime() == logAppendTime && b.MaxTimestampMs() == ms {
		return
	}
	attrs := b.Attributes() & attrKnown &^ attrLogAppendTime
	if logAppendTime {
		attrs |= attrLogAppendTime
	}
	binary.BigEndian.PutUint16(b[atAttributes:], attrs)
	binary.BigEndian.PutUint64(b[atMaxTimestamp:], uint64(ms))
	b.setCRC()
}

func (b Batch) setCRC() { binary.BigEndian.PutUint32(b[atCRC:], b.ComputeCRC()) }
