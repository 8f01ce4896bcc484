package storage

import (
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Log is a partition's log. It is for one goroutine, the one of its [Dir].
//
// Invariant: first segment's base <= Start <= HW <= End, and Flushed <= End.
type Log struct {
	dir     *Dir
	fs      vfs.FS
	tp      TopicPartition
	topicID string
	name    string // of its directory
	cfg     Config

	segs []*segment // by base; the last is active, and there is always one

	start, hw, end Offset
	// flushed is the recovery point: everything before it is durable.
	flushed Offset
	// persisted is the recovery point as the checkpoint on the disk has it.
	persisted Offset
	// unsyncedSinceMs is when the first append was that is not flushed.
	unsyncedSinceMs int64

	epochs    logstate.Epochs
	producers *logstate.Producers
	snapshots []Offset // of producers, ascending

	cursors [cursors]cursor
	nextCur int

	// cleaned: the log was compacted once, so that it may have holes; then cleanedTo is
	// where the next cleaning begins. uncleanable: none is possible in this life.
	cleaned     bool
	cleanedTo   Offset
	uncleanable bool
	cleaning    *Cleaning

	failed error
}

// TopicPartition is whose log it is.
func (l *Log) TopicPartition() TopicPartition { return l.tp }

// TopicID is the topic's id as partition.metadata has it, base64; empty if
// there is none.
func (l *Log) TopicID() string { return l.topicID }

// Start is the log start offset.
func (l *Log) Start() Offset { return l.start }

// End is the log end offset.
func (l *Log) End() Offset { return l.end }

// HW is the high watermark: as checkpointed when the log was opened, then as
// SetHW was told.
func (l *Log) HW() Offset { return l.hw }

// Flushed is the recovery point: everything before it is durable.
func (l *Log) Flushed() Offset { return l.flushed }

// CleanedTo is up to where the log was compacted, 0 if it never was.
func (l *Log) CleanedTo() Offset { return l.cleanedTo }

// Epochs is a copy of the leader epochs.
func (l *Log) Epochs() logstate.Epochs { return logstate.NewEpochs(l.epochs.Entries()) }

// Producers is a copy of what is known of producers.
func (l *Log) Producers() logstate.Producers { return logstate.NewProducers(l.producers.Snapshot()) }

// SizeBytes is the size of all segments.
func (l *Log) SizeBytes() int64 {
	var n int64
	for _, s := range l.segs {
		n += s.size
	}
	return n
}

// Configure changes the settings, for what comes.
func (l *Log) Configure(cfg Config) { l.cfg = cfg }

// holes: compaction leaves some, also between segments.
func (l *Log) holes() bool { return l.cfg.Compacted || l.cleaned }

// SetHW tells where the HW is, for the checkpoint and as the bound of deletion.
// It is clamped to [Start, End].
func (l *Log) SetHW(hw Offset) { l.hw = min(max(hw, l.start), l.end) }

// ExpireProducers forgets producers whose newest batch is older than beforeMs.
func (l *Log) ExpireProducers(beforeMs int64) { l.producers.Forget(beforeMs) }

func (l *Log) active() *segment { return l.segs[len(l.segs)-1] }

// fail makes the log refuse to write from now on.
func (l *Log) fail(err error) error {
	if err != nil && l.failed == nil {
		l.failed = err
	}
	return err
}

// Append writes whole batches whose offsets are assigned and go on from End, in
// one write if no segment ends within. It judges neither CRC nor records, which
// record.Validator or record.CheckReplicated did. Nothing is allocated for a
// record or a batch. When it returns, readers see the batches; whether they are
// durable is for [Log.Flush].
//
// ErrNotContinued and ErrTooLarge say that nothing was written, an [Error] that
// it is not known what was.
func (l *Log) Append(p []byte, nowMs int64) error {
	if l.failed != nil {
		return l.failed
	}
	if err := l.admit(p); err != nil {
		return err
	}
	if err := l.ready(); err != nil {
		return l.fail(err)
	}
	if err := l.storeEpochs(p); err != nil {
		return l.fail(err)
	}
	return l.fail(l.append(p, nowMs))
}

// admit looks at all batches before the first byte is written.
func (l *Log) admit(p []byte) error {
	next := l.end
	s := record.Scan(p)
	for s.Next() {
		b := s.Batch()
		base, last := Offset(b.BaseOffset()), Offset(b.LastOffset())
		switch {
		case base < next || last < base || last-base > maxRelative:
			return fmt.Errorf("append to %s at offset %d: batch of offsets %d to %d: %w", l.name, next, base, last, ErrNotContinued)
		case len(b) > int(l.cfg.SegmentBytes):
			return fmt.Errorf("append to %s at offset %d: %d bytes, segment.bytes is %d: %w",
				l.name, base, len(b), l.cfg.SegmentBytes, ErrTooLarge)
		}
		next = last + 1
	}
	if s.Err() != nil || s.End() != len(p) {
		return fmt.Errorf("append to %s at offset %d: byte %d of %d is no batch: %w", l.name, l.end, s.End(), len(p), ErrNotContinued)
	}
	return nil
}

// storeEpochs puts new leader epochs into the checkpoint. They are there before
// the batches are (UnifiedLog.append), so that no batch's epoch is unknown.
func (l *Log) storeEpochs(p []byte) error {
	changed := false
	for s := record.Scan(p); s.Next(); {
		b := s.Batch()
		changed = l.epochs.Assign(Epoch(b.LeaderEpoch()), Offset(b.BaseOffset())) || changed
	}
	if !changed {
		return nil
	}
	return l.writeEpochs()
}

// StoreEpoch writes the start of a leader's epoch, durably.
func (l *Log) StoreEpoch(e logstate.EpochStart) error {
	if l.failed != nil {
		return l.failed
	}
	if !l.epochs.Assign(e.Epoch, e.Start) {
		return nil
	}
	return l.fail(l.writeEpochs())
}

func (l *Log) append(p []byte, nowMs int64) error {
	from := 0 // of what is not written yet
	s := record.Scan(p)
	for s.Next() {
		b := s.Batch()
		roll, err := l.rollDue(int64(s.At()-from), b, nowMs)
		if err != nil {
			return err
		}
		if !roll {
			continue
		}
		if err := l.put(p[from:s.At()], nowMs); err != nil {
			return err
		}
		from = s.At()
		if err := l.roll(b, nowMs); err != nil {
			return err
		}
	}
	return l.put(p[from:], nowMs)
}

// put writes batches that the active segment has room for.
func (l *Log) put(p []byte, nowMs int64) error {
	if len(p) == 0 {
		return nil
	}
	seg := l.active()
	at := seg.size
	if err := seg.write(p, l.end); err != nil {
		return err
	}
	if l.flushed == l.end {
		l.unsyncedSinceMs = nowMs
	}
	s := record.Scan(p)
	for s.Next() {
		b := s.Batch()
		if err := seg.track(b, at+int64(s.At()), int64(len(b)), l.cfg.IndexIntervalBytes); err != nil {
			return err
		}
		l.producers.Apply(StateOf(b))
		l.end = seg.next
	}
	return nil
}

// StateOf is what a batch says to logstate. A control batch whose marker is gone,
// by compaction, speaks of no producer (ProducerAppendInfo.append).
func StateOf(b record.Batch) logstate.Batch {
	s := logstate.Batch{
		BaseOffset: Offset(b.BaseOffset()), LastOffset: Offset(b.LastOffset()), LeaderEpoch: Epoch(b.LeaderEpoch()),
		ProducerID: b.ProducerID(), ProducerEpoch: b.ProducerEpoch(), BaseSequence: b.BaseSequence(),
		MaxTimestampMs: b.MaxTimestampMs(), Transactional: b.Transactional(), Control: b.Control(),
	}
	if s.Control {
		marker, ok := b.EndTxn()
		if s.CoordinatorEpoch = marker.CoordinatorEpoch; !ok {
			s.ProducerID = logstate.NoProducerID
		}
	}
	return s
}

// rollDue is LogSegment.shouldRoll for a batch that comes after pending bytes.
func (l *Log) rollDue(pending int64, b record.Batch, nowMs int64) (bool, error) {
	seg := l.active()
	if Offset(b.LastOffset())-seg.base > maxRelative {
		return true, nil
	}
	if seg.size+pending == 0 {
		return false, nil
	}
	if seg.size+pending+int64(len(b)) > int64(l.cfg.SegmentBytes) {
		return true, nil
	}
	if err := seg.offsets.open(); err != nil {
		return false, err
	}
	if err := seg.times.open(); err != nil {
		return false, err
	}
	// An entry may come of each pending batch, and one when the segment is sealed.
	if seg.offsets.full(l.cfg.IndexMaxBytes-offsetEntryBytes) || seg.times.full(l.cfg.IndexMaxBytes-timeEntryBytes) {
		return true, nil
	}
	if seg.size == 0 {
		return false, nil
	}
	first, err := seg.first(l.dir.buf())
	if err != nil {
		return false, err
	}
	waited := nowMs - seg.createdMs
	if first >= 0 {
		waited = b.MaxTimestampMs() - first
	}
	return waited > l.cfg.SegmentMs, nil
}

// roll seals the active segment and begins another, for b or, if it is nil, for
// what may come.
//
// The new name is durable before anything is written under it. So of unsynced
// segments a crash takes the last ones only, and a gap between two segments means
// that the end of the first one is lost.
func (l *Log) roll(b record.Batch, nowMs int64) error {
	if err := l.ready(); err != nil {
		return err
	}
	old := l.active()
	// Where the last batch ends, which a cut through a batch leaves before the
	// LEO: a gap between segments would look like lost data.
	base := old.next
	if b != nil && Offset(b.LastOffset())-base > maxRelative {
		base = Offset(b.BaseOffset())
	}
	if old.size == 0 {
		if err := l.removeSegments(old); err != nil {
			return err
		}
		l.segs = l.segs[:len(l.segs)-1]
	} else if err := old.seal(); err != nil {
		return err
	}
	if l.holes() {
		// Gaps are allowed there, so none may come of a crash.
		if err := old.sync(); err != nil {
			return err
		}
	}
	if err := l.writeSnapshot(base); err != nil {
		return err
	}
	return l.addSegment(base, nowMs)
}

func (l *Log) addSegment(base Offset, nowMs int64) error {
	if err := l.makeSegment(base, nowMs); err != nil {
		return err
	}
	return failed("sync directory", l.name, base, l.fs.SyncDir(l.name))
}

// makeSegment is addSegment for who syncs the directory anyway.
func (l *Log) makeSegment(base Offset, nowMs int64) error {
	seg := l.newSegment(base, 0, nowMs)
	if err := seg.create(); err != nil {
		return err
	}
	l.segs = append(l.segs, seg)
	return nil
}

// removeSegments removes segments' files, in that order, each before the next:
// what a crash leaves of them has no gap.
func (l *Log) removeSegments(segs ...*segment) error {
	l.cursors = [cursors]cursor{}
	for _, s := range segs {
		if err := s.close(); err != nil {
			return err
		}
		for _, name := range s.files() {
			if err := removeFile(l.fs, name); err != nil {
				return err
			}
		}
		if err := l.fs.SyncDir(l.name); err != nil {
			return failed("sync directory", l.name, s.base, err)
		}
	}
	return nil
}
