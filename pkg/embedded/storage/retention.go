package storage

import (
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// SetStart moves the log start offset up, as DeleteRecords does on the leader and
// a Fetch's answer on a follower; a lower one than now changes nothing. It is
// durable when it returns. Segments that lie before it go with the next
// [Log.ApplyRetention]. ErrOffsetOutOfRange beyond the HW.
func (l *Log) SetStart(start Offset) error {
	switch {
	case l.failed != nil:
		return l.failed
	case start > l.hw:
		return fmt.Errorf("move start of %s to offset %d, HW is %d: %w", l.name, start, l.hw, ErrOffsetOutOfRange)
	case start <= l.start:
		return nil
	}
	return l.fail(l.setStart(start))
}

func (l *Log) setStart(start Offset) error {
	l.start = start
	if err := l.dir.writeStarts(); err != nil {
		return err
	}
	if l.epochs.TruncateFromStart(start) {
		return l.writeEpochs()
	}
	return nil
}

// ApplyRetention deletes the oldest segments that are too old, too many or before
// Start, as UnifiedLog.deleteOldSegments does, never one that reaches beyond the
// HW, and returns how many. Time and size are not looked at if the log is only
// compacted: the caller sets both to -1.
func (l *Log) ApplyRetention(nowMs int64) (int, error) {
	if l.failed != nil {
		return 0, l.failed
	}
	n, err := l.applyRetention(nowMs)
	return n, l.fail(err)
}

func (l *Log) applyRetention(nowMs int64) (int, error) {
	n, err := l.deletable(nowMs)
	if err != nil || n == 0 {
		return 0, err
	}
	if n == len(l.segs) {
		// There is always one.
		if err := l.roll(nil, nowMs); err != nil {
			return 0, err
		}
	}
	// First the new start, durably: a crash may bring any of the names back that
	// are removed next, and then they are known to be old.
	if start := l.segs[n].base; start > l.start {
		if err := l.setStart(start); err != nil {
			return 0, err
		}
	}
	if err := l.endCleaning(); err != nil {
		return 0, err
	}
	gone := l.segs[:n:n]
	l.segs = l.segs[n:]
	if err := l.removeSegments(gone...); err != nil {
		return 0, err
	}
	first := l.segs[0].base
	return n, l.removeSnapshots(func(o Offset) bool { return o < first })
}

// deletable is how many of the oldest segments may go.
func (l *Log) deletable(nowMs int64) (int, error) {
	n := 0
	excess := l.SizeBytes() - l.cfg.RetentionBytes
	for i, s := range l.segs {
		end := l.end
		if i+1 < len(l.segs) {
			end = l.segs[i+1].base
		}
		if end > l.hw || s.size == 0 && i+1 == len(l.segs) {
			break
		}
		old, err := l.tooOld(s, nowMs)
		if err != nil {
			return 0, err
		}
		tooMany := l.cfg.RetentionBytes >= 0 && excess >= s.size
		before := end <= l.start && i+1 < len(l.segs)
		if !old && !tooMany && !before {
			break
		}
		excess -= s.size
		n++
	}
	return n, nil
}

func (l *Log) tooOld(s *segment, nowMs int64) (bool, error) {
	if l.cfg.RetentionMs < 0 {
		return false, nil
	}
	m, err := l.maxTime(s)
	if err != nil {
		return false, err
	}
	ms := m.timestampMs
	if ms == record.NoTimestamp {
		// Kafka takes the file's time of change, which a FS here has not.
		ms = s.createdMs
	}
	return nowMs-ms > l.cfg.RetentionMs, nil
}
