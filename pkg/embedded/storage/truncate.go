package storage

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// TruncateTo makes the log end at to, as a follower does whose log parts from the
// leader's there (LocalLog.truncateTo). A batch that lies across goes as a whole;
// the next append is at to all the same. Leader epochs that begin at to or later
// go, also if the log was no longer than that (KAFKA-10706). Before the first
// segment it is [Log.TruncateFullyAndStartAt].
//
// It returns when it is durable: nothing of what was cut can come back behind
// what is appended next.
func (l *Log) TruncateTo(to Offset, nowMs int64) error {
	switch {
	case l.failed != nil:
		return l.failed
	case to < l.segs[0].base:
		return l.TruncateFullyAndStartAt(to, nowMs)
	}
	return l.fail(l.truncateTo(to))
}

func (l *Log) truncateTo(to Offset) error {
	if to < l.end {
		if err := l.lowerCleaned(to); err != nil {
			return err
		}
		if err := l.lowerRecoveryPoint(to); err != nil {
			return err
		}
		if err := l.removeFrom(l.segmentOf(to) + 1); err != nil {
			return err
		}
		if err := l.cutActive(to); err != nil {
			return err
		}
	}
	changed := l.epochs.TruncateFromEnd(to)
	if to >= l.end {
		if changed {
			return l.writeEpochs()
		}
		return nil
	}
	l.end = to
	l.hw = min(l.hw, to)
	l.flushed = min(l.flushed, to)
	if to < l.start {
		l.start = to
		if err := l.dir.writeStarts(); err != nil {
			return err
		}
	}
	if changed {
		if err := l.writeEpochs(); err != nil {
			return err
		}
	}
	return l.reloadProducers()
}

// removeFrom removes the segments from place i on, the newest first.
func (l *Log) removeFrom(i int) error {
	gone := slices.Clone(l.segs[i:])
	slices.Reverse(gone)
	l.segs = l.segs[:i]
	return l.removeSegments(gone...)
}

// cutActive cuts the active segment before the batch that holds to.
func (l *Log) cutActive(to Offset) error {
	s := l.active()
	l.cursors = [cursors]cursor{}
	p, found, err := s.locate(to, l.cfg.IndexIntervalBytes, l.dir.buf())
	if err != nil {
		return err
	}
	at := s.size
	if found {
		at = p.start
	}
	if err := s.cutTo(at, to, l.cfg.IndexIntervalBytes, l.dir.buf()); err != nil {
		return err
	}
	return s.sync()
}

// lowerRecoveryPoint makes sure that after a crash what lies from to on is
// scanned: it is about to be cut, and other records will stand there.
func (l *Log) lowerRecoveryPoint(to Offset) error {
	l.flushed = min(l.flushed, to)
	if l.persisted <= to {
		return nil
	}
	return l.dir.CheckpointRecoveryPoints()
}

// lowerCleaned makes sure that what will stand from to on counts as dirty, and ends a
// cleaning under way (LogCleaner.abortAndPauseCleaning, maybeTruncateCheckpoint).
func (l *Log) lowerCleaned(to Offset) error {
	if err := l.endCleaning(); err != nil {
		return err
	}
	if l.cleanedTo <= to {
		return nil
	}
	l.cleanedTo = to
	return l.dir.writeCleaned()
}

// TruncateFullyAndStartAt drops all and restarts at to: for a follower whose
// leader has nothing of what it has (LocalLog.truncateFullyAndStartAt).
func (l *Log) TruncateFullyAndStartAt(to Offset, nowMs int64) error {
	if l.failed != nil {
		return l.failed
	}
	return l.fail(l.truncateFully(to, nowMs))
}

func (l *Log) truncateFully(to Offset, nowMs int64) error {
	if err := l.lowerCleaned(0); err != nil {
		return err
	}
	if err := l.lowerRecoveryPoint(0); err != nil {
		return err
	}
	// First the new start: a crash before the end leaves a log that lies below it
	// and is dropped, or, if to is within the log, one that begins there.
	l.start = to
	if err := l.dir.writeStarts(); err != nil {
		return err
	}
	if err := l.removeFrom(0); err != nil {
		return err
	}
	l.end, l.hw, l.flushed = to, to, to
	if err := l.removeSnapshots(func(Offset) bool { return true }); err != nil {
		return err
	}
	l.epochs = logstate.Epochs{}
	l.producers = &logstate.Producers{}
	if err := l.writeEpochs(); err != nil {
		return err
	}
	return l.addSegment(to, nowMs)
}

// reloadProducers makes the producer state anew: the newest snapshot that can be
// read, and what the log has after it. Snapshots beyond the log's end go first.
func (l *Log) reloadProducers() error {
	end := l.end
	if err := l.removeSnapshots(func(o Offset) bool { return o > end }); err != nil {
		return err
	}
	from, err := l.loadProducers(l.end)
	if err != nil {
		return err
	}
	return l.replayProducers(from, l.end)
}

// loadProducers takes the state from the newest readable snapshot that is not
// beyond o, and says from which offset on the log is to be replayed.
func (l *Log) loadProducers(o Offset) (Offset, error) {
	for i := len(l.snapshots) - 1; i >= 0; i-- {
		at := l.snapshots[i]
		if at > o {
			continue
		}
		ps, err := readSnapshot(l.fs, offsetName(l.name, at, snapshotSuffix))
		if errors.Is(err, ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
			// It says what the log says too.
			var e *Error
			if errors.As(err, &e) && errors.Is(err, ErrCorrupt) {
				l.dir.repaired(e.File, at, e.Err, "passed over: an older one and the log's batches say the same")
			}
			continue
		}
		if err != nil {
			return 0, err
		}
		state := logstate.NewProducers(ps)
		l.producers = &state
		return at, nil
	}
	l.producers = &logstate.Producers{}
	return l.segs[0].base, nil
}

// replayProducers applies the batches of [from, to).
func (l *Log) replayProducers(from, to Offset) error {
	if from >= to {
		return nil
	}
	segs := l.segs[l.segmentOf(from):]
	window := scanBuffer(segs)
	for _, s := range segs {
		if s.base >= to {
			return nil
		}
		w, err := s.walk(0, window, false)
		if err != nil {
			return err
		}
		_, _, err = s.firstFrom(w, func(h record.Batch) bool {
			if base := Offset(h.BaseOffset()); base >= from && base < to {
				l.producers.Apply(StateOf(h))
			}
			return Offset(h.BaseOffset()) >= to
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// removeFile removes a file; nil if it is not there.
func removeFile(fsys vfs.FS, name string) error {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failed("remove", name, NoOffset, err)
	}
	return nil
}
