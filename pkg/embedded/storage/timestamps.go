package storage

import (
	"errors"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// TimestampOffset is a record's timestamp, its offset and its batch's leader epoch.
type TimestampOffset struct {
	TimestampMs int64
	Offset      Offset
	LeaderEpoch Epoch
}

// OffsetForTimestamp finds the first record that is not older, false if there is
// none (UnifiedLog.fetchOffsetByTimestamp). It looks beyond the HW too: who asks
// for a client drops what is not committed. in decompresses; nil is a new one.
func (l *Log) OffsetForTimestamp(timestampMs int64, in *record.Inflater) (TimestampOffset, bool, error) {
	if l.segs == nil {
		return TimestampOffset{}, false, l.failed
	}
	for _, s := range l.segs {
		m, err := l.maxTime(s)
		if err != nil {
			return TimestampOffset{}, false, err
		}
		if m.timestampMs < timestampMs {
			continue
		}
		r, found, err := l.inSegment(s, timestampMs, in)
		if err != nil || found {
			return r, found, err
		}
	}
	return TimestampOffset{}, false, nil
}

// inSegment walks from where the time index says that all before is older.
func (l *Log) inSegment(s *segment, timestampMs int64, in *record.Inflater) (TimestampOffset, bool, error) {
	from := l.start
	e, err := s.times.floor(func(e []byte) bool { return parseTimeEntry(e, s.base).timestampMs > timestampMs }, l.dir.buf())
	if err != nil {
		return TimestampOffset{}, false, err
	}
	if e != nil {
		entry := parseTimeEntry(e, s.base)
		_, ok, err := s.provesTime(entry, l.cfg.IndexIntervalBytes, l.dir.buf())
		if err != nil {
			return TimestampOffset{}, false, err
		}
		if ok {
			from = max(from, entry.offset)
		}
	}
	p, found, err := s.locate(from, l.cfg.IndexIntervalBytes, l.dir.buf())
	for err == nil && found {
		if p.maxMs >= timestampMs {
			var r TimestampOffset
			r, found, err = l.inBatch(s, p, in, func(r record.Record) bool {
				return r.TimestampMs >= timestampMs && Offset(r.Offset) >= l.start
			})
			if err != nil || found {
				return r, found, err
			}
		}
		p, found, err = s.locate(p.last+1, l.cfg.IndexIntervalBytes, l.dir.buf())
	}
	return TimestampOffset{}, false, err
}

// inBatch returns the first record of a batch that fits.
func (l *Log) inBatch(s *segment, p place, in *record.Inflater, fits func(r record.Record) bool) (TimestampOffset, bool, error) {
	buf := make([]byte, p.size)
	if err := s.readAt(buf, p.start, p.base); err != nil {
		return TimestampOffset{}, false, err
	}
	rs, err := record.Batch(buf).Records(in)
	if err != nil {
		return TimestampOffset{}, false, failed("read", s.name, p.base, errors.Join(ErrCorrupt, err))
	}
	for rs.Next() {
		if r := rs.Record(); fits(r) {
			return TimestampOffset{TimestampMs: r.TimestampMs, Offset: Offset(r.Offset), LeaderEpoch: p.epoch}, true, nil
		}
	}
	if rs.Err() != nil {
		return TimestampOffset{}, false, failed("read", s.name, p.base, errors.Join(ErrCorrupt, rs.Err()))
	}
	return TimestampOffset{}, false, nil
}

// MaxTimestamp finds the first record that has the largest timestamp of the log,
// false if no record has one (ListOffsets -3, KIP-734, KAFKA-16310). As in Kafka it
// may be a record before Start whose segment is not deleted yet.
func (l *Log) MaxTimestamp(in *record.Inflater) (TimestampOffset, bool, error) {
	if l.segs == nil {
		return TimestampOffset{}, false, l.failed
	}
	best, of := timeEntry{timestampMs: record.NoTimestamp}, (*segment)(nil)
	for _, s := range l.segs {
		m, err := l.maxTime(s)
		if err != nil {
			return TimestampOffset{}, false, err
		}
		if m.timestampMs > best.timestampMs {
			best, of = m, s
		}
	}
	if of == nil {
		return TimestampOffset{}, false, nil
	}
	p, found, err := of.locate(best.offset, l.cfg.IndexIntervalBytes, l.dir.buf())
	if err != nil || !found {
		return TimestampOffset{}, false, err
	}
	return l.inBatch(of, p, in, func(r record.Record) bool { return r.TimestampMs == best.timestampMs })
}

// maxTime is a segment's largest timestamp.
func (l *Log) maxTime(s *segment) (timeEntry, error) {
	if s == l.active() {
		if err := l.ready(); err != nil {
			return timeEntry{}, err
		}
	}
	return s.maxTime(l.cfg.IndexIntervalBytes, l.dir.buf())
}
