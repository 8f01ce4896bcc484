package record

import (
	"errors"
	"fmt"
	"math"
)

// Rules are a topic's settings that a leader judges a producer's batch by.
type Rules struct {
	// MaxBatchBytes is max.message.bytes.
	MaxBatchBytes int
	// KeepCodec is compression.type=producer; else batches are stored with Codec.
	KeepCodec bool
	Codec     Codec
	// LogAppendTime is message.timestamp.type=LogAppendTime.
	LogAppendTime bool
	// BeforeMaxMs and AfterMaxMs are message.timestamp.before.max.ms and after:
	// how far a record's timestamp may be from the append's time.
	BeforeMaxMs, AfterMaxMs int64
	// Compacted is cleanup.policy with compact: every record needs a key.
	Compacted bool
	// Internal is an append of the broker itself (AppendOrigin.COORDINATOR): a
	// transaction's marker, a group's state. It may write control records.
	Internal bool
}

// DefaultRules are those of a topic without settings of its own in Kafka 4.4.
func DefaultRules() Rules {
	return Rules{
		MaxBatchBytes: 1<<20 + LogOverhead,
		KeepCodec:     true,
		BeforeMaxMs:   math.MaxInt64,
		AfterMaxMs:    3_600_000,
	}
}

// Stamp is what the leader writes into a batch.
type Stamp struct {
	// Offset is the first record's, the leader's LEO.
	Offset      int64
	LeaderEpoch int32
	// NowMs is the time of the append.
	NowMs int64
}

// Result is a batch that may be appended.
type Result struct {
	// Bytes is the batch: the buffer that was given without what lay beyond the
	// batch, or another if Rebuilt.
	Bytes Batch
	// Rebuilt says that the batch was written anew, since its codec was not the
	// topic's.
	Rebuilt bool
}

// Validator judges batches for a leader. It is not for two goroutines at once.
type Validator struct {
	inflater *Inflater
	deflater Deflater
	builder  Builder
}

// NewValidator returns a Validator that refuses batches which decompress to
// more than limit bytes; see DefaultInflateLimit.
func NewValidator(limit int) *Validator { return &Validator{inflater: NewInflater(limit)} }

// Inflater is the Validator's own, for readers on the same goroutine. What it
// returned before is lost with the next Assign.
func (v *Validator) Inflater() *Inflater { return v.inflater }

// Assign judges the records of one partition in a Produce as Kafka's leader
// does, and stamps offset, leader epoch and timestamp into them. Nothing is
// copied unless the batch must be Rebuilt, and nothing is allocated if it is
// not compressed. On error buf is as it was; errors are *BatchError.
//
// The rules and their order are those of ProduceRequest.validateRecords,
// UnifiedLog.analyzeAndValidateRecords and LogValidator: one batch, of magic 2;
// base offset 0; not larger than max.message.bytes; CRC; codec; count and last
// offset delta agree; no control records; every record readable, with a key if
// the topic is compacted, and a timestamp in range.
func (v *Validator) Assign(buf []byte, rules Rules, st Stamp) (Result, error) {
	b, err := only(buf)
	if err != nil {
		return Result{}, err
	}
	if err := checkBatch(b, rules); err != nil {
		return Result{}, err
	}
	maxTimestamp, dense, err := v.checkRecords(b, rules, st.NowMs)
	if err != nil {
		return Result{}, err
	}
	target := rules.Codec
	if rules.KeepCodec || (b.Control() && b.Codec() == None) {
		target = b.Codec()
	}
	switch {
	case target != b.Codec():
		return v.rebuild(b, target, rules, st)
	case target != None && !dense:
		// Kafka means to write such a batch anew and fails at it, with
		// UNKNOWN_SERVER_ERROR: no client can depend on it.
		return Result{}, whole(ErrInvalid, 0, "offset deltas in a compressed batch are not 0, 1, 2 and so on")
	}
	if rules.LogAppendTime {
		maxTimestamp = st.NowMs
	}
	b.SetLastOffset(st.Offset + int64(b.Count()) - 1)
	b.SetLeaderEpoch(st.LeaderEpoch)
	b.SetMaxTimestamp(maxTimestamp, rules.LogAppendTime)
	return Result{Bytes: b}, nil
}

// only returns the batch that buf must hold alone; a beginning of another is
// cut off, as UnifiedLog.trimInvalidBytes does.
func only(buf []byte) (Batch, error) {
	s := Scan(buf)
	if !s.Next() {
		if s.Err() != nil {
			return nil, s.Err()
		}
		return nil, whole(ErrInvalid, 0, "%d bytes hold no whole batch, want one", len(buf))
	}
	b := s.Batch()
	if s.Next() {
		return nil, whole(ErrInvalid, s.At(), "a second batch, want one")
	}
	return b, s.Err()
}

// checkBatch is everything that the header tells, and the CRC.
func checkBatch(b Batch, rules Rules) error {
	if !rules.Internal && b.BaseOffset() != 0 {
		return whole(ErrInvalid, 0, "base offset is %d, of a producer 0", b.BaseOffset())
	}
	if len(b) > rules.MaxBatchBytes {
		return whole(ErrTooLarge, 0, "%d bytes, max.message.bytes is %d", len(b), rules.MaxBatchBytes)
	}
	if err := b.CheckCRC(); err != nil {
		return err
	}
	if !b.Codec().valid() {
		return &BatchError{Err: ErrCodec, Byte: atAttributes, Reason: b.Codec().String()}
	}
	if rules.Internal {
		return nil
	}
	count, delta := b.Count(), b.LastOffsetDelta()
	switch {
	case delta < 0:
		return &BatchError{
			Err: ErrInvalid, Byte: atLastOffsetDelta, Reason: fmt.Sprintf("last offset delta is %d", delta),
		}
	case count <= 0:
		return &BatchError{Err: ErrInvalid, Byte: atCount, Reason: fmt.Sprintf("count of records is %d", count)}
	case int64(count) != int64(delta)+1:
		return &BatchError{
			Err: ErrInvalid, Byte: atCount,
			Reason: fmt.Sprintf("count of records is %d, last offset delta %d", count, delta),
		}
	case b.Control():
		return &BatchError{Err: ErrInvalid, Byte: atAttributes, Reason: "a control batch, which only brokers write"}
	}
	return nil
}

// checkRecords reads all records. maxTimestamp is their largest; dense says
// that their offsets are 0, 1, 2 and so on.
func (v *Validator) checkRecords(b Batch, rules Rules, nowMs int64) (maxTimestamp int64, dense bool, err error) {
	rs, err := b.Records(v.inflater)
	if err != nil {
		return 0, false, err
	}
	maxTimestamp, dense = NoTimestamp, true
	var refused refusals
	for i := 0; rs.Next(); i++ {
		r := &rs.record
		if reason, kind := refuse(r, b, rules, nowMs); kind != nil {
			refused.add(i, reason, kind)
		}
		maxTimestamp = max(maxTimestamp, r.TimestampMs)
		dense = dense && r.Offset == int64(i)
	}
	if rs.Err() != nil {
		return 0, false, rs.Err()
	}
	return maxTimestamp, dense, refused.err()
}

// refuse returns what is wrong with one record, and which sentinel that is
// (LogValidator.validateRecord).
func refuse(r *Record, b Batch, rules Rules, nowMs int64) (reason string, kind error) {
	if rules.Compacted && r.Key == nil {
		return "no key, and the topic is compacted", ErrInvalid
	}
	if !rules.LogAppendTime && r.TimestampMs != NoTimestamp {
		age := nowMs - r.TimestampMs
		if age > rules.BeforeMaxMs || -age > rules.AfterMaxMs {
			return fmt.Sprintf("timestamp %d is more than %d ms before or %d ms after now, %d",
				r.TimestampMs, rules.BeforeMaxMs, rules.AfterMaxMs, nowMs), ErrTimestamp
		}
	} else if b.LogAppendTime() {
		return "the producer set LogAppendTime, which only brokers do", ErrTimestamp
	}
	return "", nil
}

// refusals are the records that a leader does not take. One is enough to
// refuse the batch, and a bad timestamp is what the batch is refused for if
// there is one (LogValidator.processRecordErrors).
type refusals struct {
	kind    error
	count   int
	records []RecordError
}

func (f *refusals) add(index int, reason string, kind error) {
	f.count++
	if f.kind == nil || errors.Is(kind, ErrTimestamp) {
		f.kind = kind
	}
	if len(f.records) < maxRecordErrors {
		f.records = append(f.records, RecordError{Index: index, Reason: reason})
	}
}

func (f *refusals) err() error {
	if f.count == 0 {
		return nil
	}
	first := f.records[0]
	e := whole(f.kind, 0, "%d records refused; record %d: %s", f.count, first.Index, first.Reason)
	e.Records = f.records
	return e
}

// rebuild writes the batch anew with codec target and dense offsets
// (LogValidator.buildRecordsAndAssignOffsets).
func (v *Validator) rebuild(b Batch, target Codec, rules Rules, st Stamp) (Result, error) {
	opts := Options{
		BaseOffset: st.Offset, LeaderEpoch: st.LeaderEpoch, Codec: target,
		Producer:      &Producer{ID: b.ProducerID(), Epoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence()},
		Transactional: b.Transactional(), control: b.Control(),
	}
	if rules.LogAppendTime {
		opts.LogAppendTimeMs = &st.NowMs
	}
	v.builder.Reset(opts)
	rs, err := b.Records(v.inflater)
	if err != nil {
		return Result{}, err
	}
	for rs.Next() {
		r := rs.Record()
		r.Offset = st.Offset + int64(v.builder.count)
		if err := v.builder.add(&r); err != nil {
			return Result{}, whole(ErrTooLarge, 0, "%v", err)
		}
	}
	if rs.Err() != nil {
		return Result{}, rs.Err()
	}
	out, err := v.builder.AppendTo(nil, &v.deflater)
	if err != nil {
		return Result{}, whole(ErrCodec, 0, "%v", err)
	}
	if len(out) > rules.MaxBatchBytes {
		return Result{}, whole(ErrTooLarge, 0, "%d bytes once it is %v, max.message.bytes is %d",
			len(out), target, rules.MaxBatchBytes)
	}
	return Result{Bytes: out, Rebuilt: true}, nil
}
