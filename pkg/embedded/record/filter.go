package record

import "encoding/binary"

// Filter writes batches anew without the records that compaction removes
// (MemoryRecords.filterTo). It is not for two goroutines at once; its zero value is
// ready.
type Filter struct {
	inflater *Inflater
	deflater Deflater
	builder  *Builder
	keeps    []bool
}

// Retention says what is to be left of a batch.
type Retention struct {
	// Keep tells of each record, in order, whether it stays. The record is valid
	// during the call.
	Keep func(r *Record) bool
	// KeepEmpty: the header stays where no record does, for the offsets and
	// sequences that it names.
	KeepEmpty bool
	// HorizonMs is the delete horizon of a batch that has none yet and needs one: it
	// keeps a tombstone, or is the Marker of a transaction without records (KIP-534).
	HorizonMs int64
	Marker    bool
}

// Append appends to dst what is left of b: b itself where nothing changes, else a
// batch with the same offsets, sequences and leader epoch and fewer records, or
// nothing. kept is how many records there are in it. The CRC is not looked at. Errors are those of
// [Batch.Records] and [Records.Next], ErrFull, and those of a codec.
func (f *Filter) Append(dst []byte, b Batch, keep Retention) (out []byte, kept int, err error) {
	if f.inflater == nil {
		f.inflater, f.builder = NewInflater(DefaultInflateLimit), NewBuilder(Options{})
	}
	all, err := b.Records(f.inflater)
	if err != nil {
		return dst, 0, err
	}
	f.keeps = f.keeps[:0]
	tombstones := false
	rs := all
	for rs.Next() {
		keeps := keep.Keep(&rs.record)
		f.keeps = append(f.keeps, keeps)
		if keeps {
			kept++
			tombstones = tombstones || rs.record.Value == nil
		}
	}
	if rs.Err() != nil {
		return dst, 0, rs.Err()
	}
	horizon, has := b.DeleteHorizonMs()
	sets := !has && (tombstones || keep.Marker)
	switch {
	case kept == 0 && keep.KeepEmpty:
		return appendEmpty(dst, b), 0, nil
	case kept == 0:
		return dst, 0, nil
	case kept == len(f.keeps) && !sets:
		return append(dst, b...), kept, nil
	}
	opts := Options{
		BaseOffset: b.BaseOffset(), LeaderEpoch: b.LeaderEpoch(), Codec: b.Codec(), Transactional: b.Transactional(), control: b.Control(),
		Producer: &Producer{ID: b.ProducerID(), Epoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence()},
	}
	if b.LogAppendTime() {
		ms := b.MaxTimestampMs()
		opts.LogAppendTimeMs = &ms
	}
	switch {
	case has:
		opts.horizonMs = &horizon
	case sets:
		opts.horizonMs = &keep.HorizonMs
	}
	f.builder.Reset(opts)
	for i := 0; all.Next(); i++ {
		if !f.keeps[i] {
			continue
		}
		if err := f.builder.add(&all.record); err != nil {
			return dst, 0, err
		}
	}
	if err := f.builder.ExtendTo(b.LastOffset()); err != nil {
		return dst, 0, err
	}
	out, err = f.builder.AppendTo(dst, &f.deflater)
	return out, kept, err
}

// appendEmpty appends a batch that has b's offsets, sequences and largest timestamp,
// and no record (DefaultRecordBatch.writeEmptyHeader).
func appendEmpty(dst []byte, b Batch) []byte {
	start := len(dst)
	dst = append(dst, b[:HeaderSize]...)
	out := Batch(dst[start:])
	noTimestamp := NoTimestamp
	binary.BigEndian.PutUint32(out[atLength:], HeaderSize-LogOverhead)
	binary.BigEndian.PutUint16(out[atAttributes:], b.Attributes()&(attrLogAppendTime|attrTransactional|attrControl))
	binary.BigEndian.PutUint64(out[atBaseTimestamp:], uint64(noTimestamp))
	binary.BigEndian.PutUint32(out[atCount:], 0)
	out.setCRC()
	return dst
}
