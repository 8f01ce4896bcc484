package record

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrFull says that a batch cannot take a record more: its size or its offsets
// would not fit their fields.
var ErrFull = errors.New("batch is full")

// errOrder is a programmer's mistake with AddAt.
var errOrder = errors.New("offset not above the last one")

// Options are what a batch says about all of its records. The zero value is a
// plain batch at offset 0 of epoch 0.
type Options struct {
	BaseOffset  int64
	LeaderEpoch int32
	Codec       Codec
	// Producer is nil where it is not idempotent.
	Producer      *Producer
	Transactional bool
	// LogAppendTimeMs, if not nil, stands for the timestamps of all records.
	LogAppendTimeMs *int64

	control bool
	// horizonMs is a delete horizon, which stands in the place of the base timestamp.
	horizonMs *int64
}

// Producer is who wrote a batch, for idempotence.
type Producer struct {
	ID           int64
	Epoch        int16
	BaseSequence int32 // NoSequence in control batches
}

// Entry is a record to write. A nil Key or Value is null.
type Entry struct {
	TimestampMs int64
	Key, Value  []byte
	Headers     []Header
}

// Header is one header of a record to write. A nil Value is null.
type Header struct {
	Key   string
	Value []byte
}

// maxRecordsBytes leaves room for the header in a length of 32 bits.
const maxRecordsBytes = math.MaxInt32 - HeaderSize

// Builder collects records and writes them as a batch:
//
//	b := record.NewBuilder(record.Options{BaseOffset: 5, LeaderEpoch: 1})
//	err := b.Add(record.Entry{TimestampMs: now, Key: k, Value: v})
//	batch, err := b.AppendTo(nil, &deflater)
type Builder struct {
	opts    Options
	records []byte
	count   int32
	// lastDelta is that of the last record, or of ExtendTo; -1 before both.
	lastDelta     int32
	baseTimestamp int64
	maxTimestamp  int64
}

// NewBuilder returns an empty Builder.
func NewBuilder(opts Options) *Builder {
	b := &Builder{}
	b.Reset(opts)
	return b
}

// Reset empties the Builder for another batch; it keeps its buffer.
func (b *Builder) Reset(opts Options) {
	*b = Builder{opts: opts, records: b.records[:0], lastDelta: -1, maxTimestamp: NoTimestamp}
}

// Count is how many records were added.
func (b *Builder) Count() int { return int(b.count) }

// Size is the batch's size in bytes so far, uncompressed.
func (b *Builder) Size() int { return HeaderSize + len(b.records) }

// Add adds a record at the next offset. It returns ErrFull, and adds nothing,
// beyond 2 GiB or 2^31 offsets.
func (b *Builder) Add(e Entry) error {
	return b.AddAt(b.opts.BaseOffset+int64(b.lastDelta)+1, e)
}

// AddAt is Add at an offset above the last record's: what compaction has left.
func (b *Builder) AddAt(offset int64, e Entry) error {
	headers := make([]byte, 0, 64)
	for _, h := range e.Headers {
		headers = appendVarint(headers, int32(len(h.Key)))
		headers = append(headers, h.Key...)
		headers = appendField(headers, h.Value)
	}
	r := Record{
		TimestampMs: e.TimestampMs, Offset: offset,
		Key: e.Key, Value: e.Value, HeaderCount: len(e.Headers), headers: headers,
	}
	return b.add(&r)
}

// ExtendTo makes offset the batch's last, though no record need have it: what
// compaction removes from the end of a batch leaves its offsets and sequences
// behind. It returns ErrFull beyond 2^31 offsets; below the last record's offset
// it does nothing.
func (b *Builder) ExtendTo(offset int64) error {
	delta := offset - b.opts.BaseOffset
	if delta > math.MaxInt32 {
		return ErrFull
	}
	b.lastDelta = max(b.lastDelta, int32(max(delta, -1)))
	return nil
}

// add adds a record whose headers are written already.
func (b *Builder) add(r *Record) error {
	delta := r.Offset - b.opts.BaseOffset
	switch {
	case delta <= int64(b.lastDelta):
		return fmt.Errorf("add a record at offset %d after %d: %w",
			r.Offset, b.opts.BaseOffset+int64(b.lastDelta), errOrder)
	case delta > math.MaxInt32, len(r.Key)+len(r.Value)+len(r.headers) > maxRecordsBytes:
		return ErrFull
	}
	if b.count == 0 {
		b.baseTimestamp = r.TimestampMs
		if b.opts.horizonMs != nil {
			b.baseTimestamp = *b.opts.horizonMs
		}
	}
	timestampDelta := r.TimestampMs - b.baseTimestamp
	size := 1 + varlongSize(timestampDelta) + varintSize(int32(delta)) + fieldSize(r.Key) + fieldSize(r.Value) +
		varintSize(int32(r.HeaderCount)) + len(r.headers)
	if len(b.records)+maxVarintBytes+size > maxRecordsBytes {
		return ErrFull
	}

	out := slices.Grow(b.records, maxVarintBytes+size)
	out = appendVarint(out, int32(size))
	out = append(out, byte(r.Attributes))
	out = appendVarlong(out, timestampDelta)
	out = appendVarint(out, int32(delta))
	out = appendField(out, r.Key)
	out = appendField(out, r.Value)
	out = appendVarint(out, int32(r.HeaderCount))
	out = append(out, r.headers...)
	b.records = out

	b.count++
	b.lastDelta = int32(delta)
	b.maxTimestamp = max(b.maxTimestamp, r.TimestampMs)
	return nil
}

// AppendTo appends the batch to dst. The batch is whole, its CRC included, and
// the Builder as it was. d may be nil if nothing is compressed. A batch without
// records, and without ExtendTo, has a last offset delta of -1.
func (b *Builder) AppendTo(dst []byte, d *Deflater) ([]byte, error) {
	start := len(dst)
	dst = append(dst, make([]byte, HeaderSize)...)
	if b.opts.Codec == None {
		dst = append(dst, b.records...)
	} else {
		var err error
		if dst, err = d.Append(dst, b.opts.Codec, b.records); err != nil {
			return dst[:start], err
		}
	}
	b.putHeader(Batch(dst[start:]))
	return dst, nil
}

func (b *Builder) putHeader(out Batch) {
	p := Producer{ID: NoProducerID, Epoch: NoProducerEpoch, BaseSequence: NoSequence}
	if b.opts.Producer != nil {
		p = *b.opts.Producer
	}
	attrs := uint16(b.opts.Codec)
	maxTimestamp := b.maxTimestamp
	if b.opts.LogAppendTimeMs != nil {
		attrs |= attrLogAppendTime
		maxTimestamp = *b.opts.LogAppendTimeMs
	}
	if b.opts.Transactional {
		attrs |= attrTransactional
	}
	if b.opts.control {
		attrs |= attrControl
	}
	if b.opts.horizonMs != nil {
		attrs |= attrDeleteHorizon
	}

	out.SetBaseOffset(b.opts.BaseOffset)
	binary.BigEndian.PutUint32(out[atLength:], uint32(len(out)-LogOverhead))
	out.SetLeaderEpoch(b.opts.LeaderEpoch)
	out[atMagic] = Magic
	binary.BigEndian.PutUint16(out[atAttributes:], attrs)
	binary.BigEndian.PutUint32(out[atLastOffsetDelta:], uint32(b.lastDelta))
	binary.BigEndian.PutUint64(out[atBaseTimestamp:], uint64(b.baseTimestamp))
	binary.BigEndian.PutUint64(out[atMaxTimestamp:], uint64(maxTimestamp))
	binary.BigEndian.PutUint64(out[atProducerID:], uint64(p.ID))
	binary.BigEndian.PutUint16(out[atProducerEpoch:], uint16(p.Epoch))
	binary.BigEndian.PutUint32(out[atBaseSequence:], uint32(p.BaseSequence))
	binary.BigEndian.PutUint32(out[atCount:], uint32(b.count))
	out.setCRC()
}

// appendField appends a length and v; -1 if v is nil.
func appendField(dst, v []byte) []byte {
	if v == nil {
		return appendVarint(dst, -1)
	}
	return append(appendVarint(dst, int32(len(v))), v...)
}

func fieldSize(v []byte) int {
	if v == nil {
		return varintSize(-1)
	}
	return varintSize(int32(len(v))) + len(v)
}
