package storage

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// found is what the checkpoints say of a log that is opened.
type found struct {
	start, hw Offset
	// recovery is the recovery point, 0 if it is not known.
	recovery      Offset
	recoveryKnown bool
	// cleaned is the cleaner's checkpoint.
	cleaned      Offset
	cleanedKnown bool
	// clean: the directory was closed, so that recovery is the log's end.
	clean bool
}

// load opens a log that is on the disk (LogLoader). After a clean stop it reads no
// segment. Else it reads, from the recovery point on, every batch with its CRC: the
// log ends before the first one that is not valid, and what lies behind goes.
//
// All it does may be cut short by a crash and done again: it goes from the newest
// to the oldest, and the recovery point stays where it was.
func (l *Log) load(f found, nowMs int64) error {
	l.cleaned, l.cleanedTo = f.cleanedKnown, f.cleaned
	if err := l.list(nowMs); err != nil {
		return err
	}
	if !f.clean {
		// What is seen now must stay: a name that a killed process had not synced.
		if err := l.fs.SyncDir(l.name); err != nil {
			return failed("sync directory", l.name, NoOffset, err)
		}
	}
	epochs, epochsKnown, err := l.readEpochs()
	if err != nil {
		return err
	}
	if len(l.segs) == 0 {
		return l.begin(f.start, epochs, nowMs)
	}
	l.epochs = logstate.NewEpochs(epochs.Entries())
	if !f.clean || !l.closedAt(f) {
		if err := l.recoverAll(f, epochsKnown); err != nil {
			return err
		}
	} else if l.end = f.recovery; !epochsKnown {
		if err := l.learnEpochs(len(l.segs)); err != nil {
			return err
		}
	}
	return l.settle(f, epochs, nowMs)
}

// recoverAll scans what may not be durable, and all where what the checkpoints say
// cannot be.
func (l *Log) recoverAll(f found, epochsKnown bool) error {
	from := l.segmentOf(f.recovery)
	if f.clean {
		// Closed, but the checkpoints do not fit: only the last segment is in doubt.
		from = len(l.segs) - 1
	}
	fits, err := l.recover(from, f, epochsKnown)
	if err != nil {
		return err
	}
	if from > 0 && !f.clean && f.recovery > l.end {
		l.dir.repaired(recoveryCheckpoint, f.recovery, fmt.Errorf("%w: %s ends at offset %d", ErrCorrupt, l.name, l.end), "all of that log is scanned")
		if fits, err = l.recover(0, f, epochsKnown); err != nil {
			return err
		}
	}
	if fits {
		return nil
	}
	l.dir.repaired(l.Path(epochCheckpoint), NoOffset, fmt.Errorf("%w: its epochs are not those of the log's batches", ErrCorrupt),
		"made anew from the log's batches")
	return l.learnEpochs(len(l.segs))
}

// begin makes the first segment of a directory that has none: a crash came before
// it, or in the middle of a restart at another offset.
func (l *Log) begin(start Offset, stored logstate.Epochs, nowMs int64) error {
	l.start, l.hw, l.end, l.flushed = start, start, start, start
	l.producers = &logstate.Producers{}
	if err := l.removeSnapshots(func(Offset) bool { return true }); err != nil {
		return err
	}
	if len(stored.Entries()) > 0 {
		if err := l.writeEpochs(); err != nil {
			return err
		}
	}
	return l.addSegment(start, nowMs)
}

// closedAt reports whether the recovery point can be the log's end: there the last
// snapshot of the producers was left, too.
func (l *Log) closedAt(f found) bool {
	a := l.active()
	if !f.recoveryKnown || f.recovery < a.base || (f.recovery > a.base) != (a.size > 0) {
		return false
	}
	return a.size == 0 || len(l.snapshots) > 0 && l.snapshots[len(l.snapshots)-1] == f.recovery
}

// list finds the segments and snapshots, and removes what is part of none.
func (l *Log) list(nowMs int64) error {
	infos, err := l.fs.ReadDir(l.name)
	if err != nil {
		return failed("list", l.name, NoOffset, err)
	}
	if infos, err = l.finishSwaps(infos, nowMs); err != nil {
		return err
	}
	logs := map[Offset]bool{}
	for _, in := range infos {
		if base, ok := parseOffsetName(in.Name, logSuffix); ok {
			logs[base] = true
			l.segs = append(l.segs, l.newSegment(base, in.Size, nowMs))
		} else if o, ok := parseOffsetName(in.Name, snapshotSuffix); ok {
			l.snapshots = append(l.snapshots, o)
		}
	}
	// Names of 20 digits sort as their offsets do.
	for _, in := range infos {
		name := path.Join(l.name, in.Name)
		if l.orphan(in.Name, logs) {
			if err := removeFile(l.fs, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// orphan reports whether a file is a rest: of a deletion, of a compaction that did
// not come to its end, or an index without log.
func (l *Log) orphan(name string, logs map[Offset]bool) bool {
	if unfinished(name) || strings.HasSuffix(name, ".deleted") || strings.HasSuffix(name, ".tmp") {
		return true
	}
	for _, suffix := range []string{indexSuffix, timeIndexSuffix} {
		if base, ok := parseOffsetName(name, suffix); ok && !logs[base] {
			return true
		}
	}
	return false
}

// recover scans the segments from place i on and leaves the longest valid prefix. It
// returns whether the epochs known before are those of the batches, which ascend.
func (l *Log) recover(i int, f found, epochsKnown bool) (fits bool, err error) {
	if !epochsKnown {
		if err := l.learnEpochs(i); err != nil {
			return false, err
		}
	}
	if err := l.recoverProducers(i); err != nil {
		return false, err
	}
	see := epochScan{log: l, start: f.start, fits: true}
	window := scanBuffer(l.segs[i:])
	for first := i; i < len(l.segs); i++ {
		s := l.segs[i]
		if i > first && (s.base < l.end || s.base > l.end && !l.holes()) {
			// The end of the segment before is lost, or a removal was cut short.
			why := fmt.Errorf("%w: the segment before ends at offset %d", ErrCorrupt, l.end)
			if err := l.keep(i, 0, f.recovery, why); err != nil {
				return false, err
			}
			return see.fits, l.removeFrom(i)
		}
		see.file = s.name
		w, err := s.rescan(window, true, l.cfg.IndexIntervalBytes, see.visit)
		if err != nil {
			return false, err
		}
		// Who wrote it may have been killed before it was synced.
		s.unsynced = true
		l.end = s.next
		if w.pos < s.size {
			return see.fits, l.drop(i, w.pos, f.recovery, w.bad)
		}
		if i+1 < len(l.segs) {
			if err := s.seal(); err != nil {
				return false, err
			}
		}
	}
	return see.fits, nil
}

// bytesFrom is the size of the segments from place i on.
func (l *Log) bytesFrom(i int) int64 {
	var n int64
	for _, s := range l.segs[i:] {
		n += s.size
	}
	return n
}

// epochScan is what a scan makes of each batch: it goes on with epochs and
// producers, and compares the epochs that were known.
type epochScan struct {
	log   *Log
	file  string
	start Offset // of the log
	last  Epoch
	// fits: no batch is of another epoch than the one that is known for its offset.
	fits bool
	// told: an epoch that goes back was reported. One flipped bit makes all that
	// follow go back.
	told bool
}

func (c *epochScan) visit(h record.Batch) error {
	l := c.log
	e, last := Epoch(h.LeaderEpoch()), Offset(h.LastOffset())
	switch known := l.epochs.At(last); {
	case e > l.epochs.LatestEpoch():
		// A checkpoint may be older than the log (LogSegment.recover).
		l.epochs.Assign(e, Offset(h.BaseOffset()))
	case e < 0:
		// Of a leader without epochs.
	case e < c.last:
		// The CRC does not cover it, and no checkpoint is better for it.
		if !c.told {
			l.dir.repaired(c.file, Offset(h.BaseOffset()), fmt.Errorf("%w: leader epoch %d after %d", ErrCorrupt, e, c.last),
				"kept, and the lower epoch ignored")
		}
		c.told = true
	case known != e && last >= c.start:
		c.fits = false
	}
	c.last = max(c.last, e)
	l.producers.Apply(StateOf(h))
	return nil
}

// drop ends the log before a position of segment i.
func (l *Log) drop(i int, position int64, recovery Offset, why error) error {
	if err := l.keep(i, position, recovery, why); err != nil {
		return err
	}
	// Later segments first, so that a crash between leaves no gap.
	if err := l.removeFrom(i + 1); err != nil {
		return err
	}
	s := l.segs[i]
	if err := s.file.Truncate(position); err != nil {
		return failed("truncate", s.name, s.next, err)
	}
	s.size = position
	return s.sync()
}

// recoverProducers makes the producer state as of the beginning of segment i.
func (l *Log) recoverProducers(i int) error {
	base := l.segs[i].base
	from, err := l.loadProducers(base)
	if err != nil {
		return err
	}
	return l.replayProducers(from, base)
}

// learnEpochs makes the epochs of the first n segments from their batches.
func (l *Log) learnEpochs(n int) error {
	l.epochs = logstate.Epochs{}
	window := scanBuffer(l.segs[:n])
	for _, s := range l.segs[:n] {
		w, err := s.walk(0, window, false)
		if err != nil {
			return err
		}
		if _, _, err := s.firstFrom(w, func(h record.Batch) bool {
			if e := Epoch(h.LeaderEpoch()); e > l.epochs.LatestEpoch() {
				l.epochs.Assign(e, Offset(h.BaseOffset()))
			}
			return false
		}); err != nil {
			return err
		}
	}
	return nil
}

// settle makes the log's bounds agree with each other and with the checkpoints.
func (l *Log) settle(f found, stored logstate.Epochs, nowMs int64) error {
	if l.end < f.start {
		// Nothing of it may be read any more (LogLoader.load).
		if n := l.bytesFrom(0); n > 0 {
			l.dir.repaired(l.name, l.end, fmt.Errorf("%w: %s says that it starts at offset %d", ErrCorrupt, startCheckpoint, f.start),
				"emptied, %d bytes dropped", n)
		}
		if err := l.dropAll(f.start, nowMs); err != nil {
			return err
		}
	}
	if err := l.dropBefore(f.start); err != nil {
		return err
	}
	l.start = max(f.start, l.segs[0].base)
	l.hw = min(max(f.hw, l.start), l.end)
	l.flushed = min(max(f.recovery, l.segs[0].base), l.end)
	l.unsyncedSinceMs = nowMs
	l.epochs.TruncateFromEnd(l.end)
	l.epochs.TruncateFromStart(l.start)
	if !slices.Equal(stored.Entries(), l.epochs.Entries()) {
		if err := l.writeEpochs(); err != nil {
			return err
		}
	}
	end := l.end
	if err := l.removeSnapshots(func(o Offset) bool { return o > end }); err != nil {
		return err
	}
	if l.producers == nil {
		// Closed: the last snapshot is the state, unless it is lost.
		return l.reloadProducers()
	}
	return nil
}

// dropAll empties the log, to restart at start.
func (l *Log) dropAll(start Offset, nowMs int64) error {
	if err := l.removeFrom(0); err != nil {
		return err
	}
	l.end, l.epochs, l.producers = start, logstate.Epochs{}, &logstate.Producers{}
	return l.addSegment(start, nowMs)
}

// dropBefore removes segments that end before start: a deletion that a crash cut
// short.
func (l *Log) dropBefore(start Offset) error {
	n := 0
	for n+1 < len(l.segs) && l.segs[n+1].base <= start {
		n++
	}
	if n == 0 {
		return nil
	}
	gone := l.segs[:n:n]
	l.segs = l.segs[n:]
	return l.removeSegments(gone...)
}

// seal completes and flushes the log, for a clean stop, and leaves a snapshot of
// its producers.
func (l *Log) seal(nowMs int64) error {
	if l.failed != nil {
		return l.failed
	}
	if err := l.endCleaning(); err != nil {
		return err
	}
	if s := l.active(); l.flushed == l.end && s.next == s.base && s.size > 0 {
		// Closed before, and not touched since.
		return nil
	}
	if err := l.active().seal(); err != nil {
		return err
	}
	// The indexes have grown, perhaps, where the log has not.
	l.flushed = min(l.flushed, l.active().base)
	if err := l.flush(l.end, nowMs); err != nil {
		return err
	}
	l.flushed = l.end
	if slices.Contains(l.snapshots, l.end) || l.active().size == 0 && len(l.producers.Snapshot()) == 0 {
		return nil // there is one, or nothing to tell (ProducerStateManager.takeSnapshot)
	}
	return l.writeSnapshot(l.end)
}

// ready makes the active segment fit to be appended to or sealed: after a clean
// stop nothing of it was read.
func (l *Log) ready() error {
	s := l.active()
	if s.next != s.base || s.size == 0 {
		return nil
	}
	return s.resume(l.cfg.IndexIntervalBytes, l.dir.buf())
}

// abandon closes the files as they are.
func (l *Log) abandon() error {
	var errs []error
	if c := l.cleaning; c != nil && c.out != nil {
		errs = append(errs, c.out.close())
	}
	l.cleaning = nil
	for _, s := range l.segs {
		errs = append(errs, s.close())
	}
	l.segs, l.failed = nil, fmt.Errorf("%s: %w", l.name, ErrClosed)
	return errors.Join(errs...)
}
