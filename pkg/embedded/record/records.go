package record

import (
	"fmt"
	"iter"
)

// Record is one record. Key, value and headers are parts of the batch, or of
// the [Inflater]'s buffer if that was compressed, and live as long as those.
type Record struct {
	// Attributes is not used by Kafka.
	Attributes int8
	// TimestampMs is the append's time in a batch with LogAppendTime, else the
	// producer's.
	TimestampMs int64
	Offset      int64
	// Sequence is NoSequence where the batch has none.
	Sequence int32
	// Key and Value are nil where null, else not nil.
	Key, Value []byte
	// HeaderCount says how many there are; see Headers.
	HeaderCount int

	headers []byte
	size    int
}

// Headers yields keys and values; a value is nil where null.
func (r Record) Headers() iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		rest := r.headers
		for range r.HeaderCount {
			var key, value []byte
			// parse has read all of them: none of this fails.
			key, rest, _ = field(rest)
			value, rest, _ = field(rest)
			if !yield(key, value) {
				return
			}
		}
	}
}

// Records walks the records of one batch. It allocates nothing but an error.
type Records struct {
	batch    Batch
	body     []byte // what is left of it
	size     int    // of body at the beginning
	left     int32
	record   Record
	err      error
	inflated bool
}

// Records returns the batch's records, which it decompresses with in where they
// are compressed; nil stands for a new one. They do not outlive in's next use. The error is one of Inflater.Inflate's, or ErrInvalid for a negative count,
// as a *BatchError with At 0. The CRC is not looked at.
func (b Batch) Records(in *Inflater) (Records, error) {
	rs := Records{batch: b, body: b.body(), left: b.Count()}
	if rs.left < 0 {
		return Records{}, &BatchError{
			Err: ErrInvalid, Byte: atCount, Reason: fmt.Sprintf("count of records is %d", rs.left),
		}
	}
	if c := b.Codec(); c != None {
		if in == nil {
			in = NewInflater(DefaultInflateLimit)
		}
		body, err := in.Inflate(c, rs.body)
		if err != nil {
			return Records{}, whole(sentinel(err), 0, "%v", err)
		}
		rs.body, rs.inflated = body, true
	}
	rs.size = len(rs.body)
	return rs, nil
}

// Next moves to the next record. It returns false after the last and at one
// that cannot be read; see Err.
func (rs *Records) Next() bool {
	if rs.err != nil || rs.left == 0 {
		return false
	}
	start := len(rs.body)
	rest, reason := rs.record.parse(rs.body, rs.batch)
	if reason != "" {
		return rs.fail(start, reason)
	}
	rs.body = rest
	rs.left--
	rs.record.size = start - len(rest)
	// A batch must end with its last record: what is beyond is hidden from
	// every reader that trusts the count.
	if rs.left == 0 && len(rest) > 0 {
		return rs.fail(len(rest), "bytes after the last record")
	}
	return true
}

// Record is the record that Next moved to. Its slices stay valid as long as the
// batch and the Inflater are let alone.
func (rs *Records) Record() Record { return rs.record }

// Err is ErrInvalid, as a *BatchError with At 0, where a record could not be
// read.
func (rs *Records) Err() error { return rs.err }

// fail ends the walk at the byte that is left bytes before the end.
func (rs *Records) fail(left int, reason string) bool {
	at := rs.size - left
	if !rs.inflated {
		at += HeaderSize
	}
	rs.err = &BatchError{
		Err: ErrInvalid, Byte: at, Inflated: rs.inflated,
		Reason: fmt.Sprintf("record %d of %d: %s", rs.batch.Count()-rs.left, rs.batch.Count(), reason),
	}
	return false
}

// Why a record cannot be read. They are constants, so that a good record costs
// nothing.
const (
	badLength  = "its length is no varint, negative, or beyond the batch"
	badFields  = "its fields end beyond its length, or a number is no varint"
	badHeaders = "its count of headers is negative or more than its bytes"
	badHeader  = "a header's key is null, or a header ends beyond the record"
	badEnd     = "its fields end before its length"
)

// parse reads the record at the start of body (DefaultRecord.readFrom).
func (r *Record) parse(body []byte, b Batch) (rest []byte, reason string) {
	length, body, ok := varint(body)
	if !ok || length < 0 || int(length) > len(body) {
		return nil, badLength
	}
	fields, rest := body[:length], body[length:]
	if len(fields) == 0 {
		return nil, badFields
	}
	r.Attributes = int8(fields[0])

	timestampDelta, fields, ok := varlong(fields[1:])
	if !ok {
		return nil, badFields
	}
	offsetDelta, fields, ok := varint(fields)
	if !ok {
		return nil, badFields
	}
	r.stamp(b, timestampDelta, offsetDelta)

	if r.Key, fields, ok = field(fields); !ok {
		return nil, badFields
	}
	if r.Value, fields, ok = field(fields); !ok {
		return nil, badFields
	}
	count, fields, ok := varint(fields)
	if !ok {
		return nil, badFields
	}
	// A header has at least two bytes; one is Kafka's rule, so that both refuse
	// the same for the same reason.
	if count < 0 || int(count) > len(fields) {
		return nil, badHeaders
	}
	r.HeaderCount, r.headers = int(count), fields
	for range count {
		var key []byte
		if key, fields, ok = field(fields); !ok || key == nil {
			return nil, badHeader
		}
		if _, fields, ok = field(fields); !ok {
			return nil, badHeader
		}
	}
	if len(fields) > 0 {
		return nil, badEnd
	}
	return rest, ""
}

// stamp makes the record's own numbers from the batch's and its deltas.
func (r *Record) stamp(b Batch, timestampDelta int64, offsetDelta int32) {
	r.TimestampMs = b.BaseTimestampMs() + timestampDelta
	if b.LogAppendTime() {
		r.TimestampMs = b.MaxTimestampMs()
	}
	r.Offset = b.BaseOffset() + int64(offsetDelta)
	r.Sequence = NoSequence
	if s := b.BaseSequence(); s >= 0 {
		r.Sequence = AddSequence(s, offsetDelta)
	}
}

// field reads a length and that many bytes, nil if the length is negative.
func field(b []byte) (v, rest []byte, ok bool) {
	n, rest, ok := varint(b)
	if !ok || int(n) > len(rest) {
		return nil, b, false
	}
	if n < 0 {
		return nil, rest, true
	}
	return rest[:n:n], rest[n:], true
}

// OffsetOfMaxTimestamp is the offset of the first record whose timestamp is
// MaxTimestampMs, which ListOffsets answers for MAX_TIMESTAMP (KAFKA-16310);
// false if none has it.
func (b Batch) OffsetOfMaxTimestamp(in *Inflater) (int64, bool, error) {
	rs, err := b.Records(in)
	if err != nil {
		return 0, false, err
	}
	for rs.Next() {
		if r := rs.Record(); r.TimestampMs == b.MaxTimestampMs() {
			return r.Offset, true, nil
		}
	}
	return 0, false, rs.Err()
}
