package storage

import (
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// Dirt is what of a log cleaning could look at: what was appended since the last
// time, as far as it may.
type Dirt struct {
	// From is the first offset that no cleaning has seen; UpTo, the first one that
	// none may see yet, is where a segment begins.
	From, UpTo Offset
	// CleanBytes lie before From, DirtyBytes in between.
	CleanBytes, DirtyBytes int64
	// Overdue: records have waited for longer than max.compaction.lag.ms.
	Overdue bool
}

// Ratio is how much of what would be read is dirty.
func (d Dirt) Ratio() float64 {
	if d.DirtyBytes == 0 {
		return 0
	}
	return float64(d.DirtyBytes) / float64(d.CleanBytes+d.DirtyBytes)
}

// Due reports whether the log is to be cleaned (LogCleanerManager.grabFilthiestCompactedLog),
// where the ratio is to be more than min.cleanable.dirty.ratio.
func (d Dirt) Due(minRatio float64) bool {
	return d.DirtyBytes > 0 && (d.Overdue || d.Ratio() > minRatio)
}

// Dirt looks at the log (LogCleanerManager.cleanableOffsets): the active segment,
// what is not stable, and segments with records younger than
// min.compaction.lag.ms are not cleaned. A log that turned out to be damaged has no dirt.
func (l *Log) Dirt(nowMs int64) (Dirt, error) {
	if l.failed != nil {
		return Dirt{}, l.failed
	}
	d := Dirt{From: l.firstDirty()}
	if l.uncleanable {
		d.UpTo = d.From
		return d, nil
	}
	stable := l.hw
	if o, open := l.producers.FirstUnstable(); open {
		stable = min(stable, o)
	}
	earliest := record.NoTimestamp
	for i, s := range l.segs[:len(l.segs)-1] {
		end := l.segs[i+1].base
		if end <= d.From {
			d.CleanBytes += s.size
			continue
		}
		young, err := l.young(s, nowMs)
		if err != nil {
			return Dirt{}, err
		}
		if end > stable || young {
			break
		}
		first, err := s.first(l.dir.buf())
		if err != nil {
			return Dirt{}, err
		}
		if first > 0 && (earliest < 0 || first < earliest) {
			earliest = first
		}
		d.DirtyBytes += s.size
		d.UpTo = end
	}
	d.UpTo = max(d.UpTo, d.From)
	d.Overdue = earliest >= 0 && earliest < nowMs-max(l.cfg.MaxCompactionLagMs, 0)
	return d, nil
}

// firstDirty is the cleaner's checkpoint if it can be.
func (l *Log) firstDirty() Offset {
	if l.cleanedTo < l.start || l.cleanedTo > l.end {
		return l.start
	}
	return l.cleanedTo
}

// young reports whether a segment has records that may not be cleaned yet.
func (l *Log) young(s *segment, nowMs int64) (bool, error) {
	if l.cfg.MinCompactionLagMs <= 0 {
		return false, nil
	}
	m, err := l.maxTime(s)
	if err != nil {
		return false, err
	}
	ms := m.timestampMs
	if ms == record.NoTimestamp {
		ms = s.createdMs
	}
	return ms > nowMs-l.cfg.MinCompactionLagMs, nil
}

// damaged is after a batch that cannot be read or believed: what cleaning would
// make of it, nobody could tell from what was written.
func (l *Log) damaged(s *segment, why error) {
	l.uncleanable = true
	l.dir.repaired(s.name, s.base, fmt.Errorf("%w: %w", ErrCorrupt, why), "left as it is: the log is not compacted until it is opened again")
}
