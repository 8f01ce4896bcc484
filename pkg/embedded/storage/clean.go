package storage

import (
	"errors"
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// Bounds of a cleaning.
const (
	// cleanPiece is how many bytes a step reads, or writes, at once: a batch that is
	// larger is read as a whole.
	cleanPiece = 1 << 20
	// cleanMapBytes is what the keys may take: half of log.cleaner.dedupe.buffer.size is
	// Kafka's share of a thread for 24 bytes of a key's hash. Here are the keys themselves.
	cleanMapBytes = 128 << 20
	// cleanSyncBytes is how much is synced at once.
	cleanSyncBytes = 8 << 20
	// cleanEntryBytes is what a key costs besides its bytes.
	cleanEntryBytes = 48
)

// Cleaning compacts a log: of each key it keeps the last record (LogCleaner,
// Cleaner). Records that were superseded go, tombstones once delete.retention.ms
// is over since they were first cleaned, and aborted records. Offsets do not change.
//
// It goes in steps that are short, between which the log is appended to and read as
// ever: it works on segments that nobody changes, and puts what it has made in their
// place in one step. What shortens the log meanwhile ends it.
//
//	txns -> mapping       who was aborted: headers of all batches
//	mapping -> cleaning   keys of what is dirty, and their last offsets
//	cleaning -> cleaning  a group of segments is copied to one, and takes their place
//	cleaning -> over      all groups are; the checkpoint says so
//	any -> over           cut short (Log.endCleaning), or an error
type Cleaning struct {
	log   *Log
	nowMs int64
	phase cleanPhase
	from  Offset
	// upTo bounds the round: the first offset that may not be cleaned.
	upTo Offset
	// segs are those below upTo, and all others are read for markers only.
	segs []*segment

	// seg and pos are where the phase has come to.
	seg int
	pos int64
	buf []byte

	aborted []abortedTxn
	txns    txnScan

	last      map[string]Offset
	lastBytes int
	// mapped is behind the last offset that last knows about.
	mapped Offset

	groups [][]*segment
	filter record.Filter
	out    *segment
	// unsynced counts the bytes of out that no sync has seen; a sync of all of them at
	// the end would take long. sealed: it is complete.
	unsynced int
	sealed   bool
	// tails are the last offsets of producers that are alive: their batches stay, if
	// only as headers, as their sequences go on from there.
	tails map[int64]producerTail
	text  []byte
}

type cleanPhase uint8

const (
	cleanTxns cleanPhase = iota
	cleanMapping
	cleanCopying
	cleanOver
)

// producerTail is LastRecord.
type producerTail struct {
	last  Offset // NoOffset: only a marker is known
	epoch int16
}

// Clean begins to compact the log; nil if there is nothing to clean. There is one
// Cleaning of a log at a time. Call Step until it is done.
func (l *Log) Clean(nowMs int64) (*Cleaning, error) {
	d, err := l.Dirt(nowMs)
	if err != nil || d.DirtyBytes == 0 {
		return nil, err
	}
	if err := l.endCleaning(); err != nil {
		return nil, err
	}
	c := &Cleaning{log: l, nowMs: nowMs, from: d.From, upTo: d.UpTo, last: map[string]Offset{}, mapped: d.From}
	for _, s := range l.segs {
		if s.base < d.UpTo {
			c.segs = append(c.segs, s)
		}
	}
	l.cleaning = c
	if !l.cleaned {
		// From now on the log may have holes between segments, which an opening must
		// not take for lost data.
		l.cleaned, l.cleanedTo = true, d.From
		if err := l.dir.writeCleaned(); err != nil {
			l.cleaning = nil
			return nil, l.fail(err)
		}
	}
	return c, nil
}

// Step does the next piece, and returns true when it was the last. An [Error] of
// the disk ends it, and the log, as ever; a batch that is damaged only ends the
// cleaning, which [Dir.Repairs] tells.
func (c *Cleaning) Step() (done bool, err error) {
	l := c.log
	if l.cleaning != c || l.failed != nil {
		return true, nil //nolint:nilerr // who made the log fail was told
	}
	switch {
	case !l.cfg.Compacted:
	case c.phase == cleanTxns:
		err = c.findTxns()
	case c.phase == cleanMapping:
		err = c.mapKeys()
	case c.phase == cleanCopying:
		err = c.copyGroup()
	}
	var bad *damage
	switch {
	case !l.cfg.Compacted: // not any more
		err = l.endCleaning()
	case errors.As(err, &bad):
		l.damaged(bad.segment, bad.why)
		err = l.endCleaning()
	case err == nil && c.phase == cleanOver:
		l.cleaning = nil
	case err == nil:
		return false, nil
	}
	return true, l.fail(err)
}

// damage is a batch that cannot be read or believed.
type damage struct {
	segment *segment
	why     error
}

func (d *damage) Error() string { return fmt.Sprintf("clean %s: %v", d.segment.name, d.why) }

// advance moves to the next segment, if this one's end is reached, and reports
// whether there is one.
func (c *Cleaning) advance(segs []*segment) bool {
	for c.seg < len(segs) && c.pos >= segs[c.seg].size {
		c.seg, c.pos = c.seg+1, 0
	}
	return c.seg < len(segs)
}

// read reads the next whole batches of a segment.
func (c *Cleaning) read(s *segment) (record.Scanner, error) {
	if err := s.open(); err != nil {
		return record.Scanner{}, err
	}
	if c.buf == nil {
		c.buf = make([]byte, cleanPiece)
	}
	n := min(s.size-c.pos, cleanPiece)
	b := c.buf[:n]
	if err := s.readAt(b, c.pos, s.base); err != nil {
		return record.Scanner{}, err
	}
	size, err := record.SizeOf(b)
	switch {
	case err == nil && (size == 0 || int64(size) > s.size-c.pos):
		err = fmt.Errorf("byte %d: a batch of %d bytes, %d are there", c.pos, size, s.size-c.pos)
		fallthrough
	case err != nil:
		return record.Scanner{}, &damage{s, err}
	case size > len(b):
		b = make([]byte, size)
		if err := s.readAt(b, c.pos, s.base); err != nil {
			return record.Scanner{}, err
		}
	}
	return record.Scan(b), nil
}

// eachBatch tells do of the next batches, until it returns false, and moves on.
func (c *Cleaning) eachBatch(s *segment, do func(b record.Batch) (bool, error)) error {
	scan, err := c.read(s)
	if err != nil {
		return err
	}
	done := 0
	for scan.Next() {
		b := scan.Batch()
		if err := b.CheckCRC(); err != nil {
			return &damage{s, fmt.Errorf("batch at offset %d: %w", b.BaseOffset(), err)}
		}
		on, err := do(b)
		if err != nil {
			return err
		}
		done = scan.End()
		if !on {
			break
		}
	}
	if scan.Err() != nil {
		return &damage{s, scan.Err()}
	}
	c.pos += int64(done)
	return nil
}

// mapKeys learns where each key was last written in what is dirty
// (Cleaner.buildOffsetMap).
func (c *Cleaning) mapKeys() error {
	if !c.advance(c.segs) {
		c.mapped = max(c.mapped, c.upTo)
		return c.beginCopying()
	}
	s := c.segs[c.seg]
	if end := c.endOf(c.seg); end <= c.from {
		c.pos = s.size
		return nil
	}
	full := false
	err := c.eachBatch(s, func(b record.Batch) (bool, error) {
		if Offset(b.LastOffset()) < c.from {
			return true, nil
		}
		gone := c.txns.gone(b)
		if !b.Control() && !gone {
			var err error
			if full, err = c.mapBatch(b); err != nil {
				return false, &damage{s, err}
			}
			if full {
				return false, nil
			}
		}
		c.mapped = Offset(b.NextOffset())
		return true, nil
	})
	if err == nil && full {
		return c.beginCopying()
	}
	if err == nil && c.pos >= s.size {
		// Of what compaction left at the end of a segment.
		c.mapped = max(c.mapped, c.endOf(c.seg))
	}
	return err
}

// endOf is where a segment of segs ends, at the latest.
func (c *Cleaning) endOf(i int) Offset {
	if i+1 < len(c.segs) {
		return c.segs[i+1].base
	}
	return c.upTo
}

// mapBatch takes a batch's keys; full means that they were too many.
func (c *Cleaning) mapBatch(b record.Batch) (full bool, err error) {
	rs, err := b.Records(c.log.dir.inflate())
	if err != nil {
		return false, err
	}
	for rs.Next() {
		r := rs.Record()
		if r.Key == nil || Offset(r.Offset) < c.from {
			continue
		}
		if _, there := c.last[string(r.Key)]; !there {
			if c.lastBytes += len(r.Key) + cleanEntryBytes; c.lastBytes > c.log.cfg.cleanMapBytes() {
				return true, nil
			}
		}
		c.last[string(r.Key)] = Offset(r.Offset)
	}
	return false, rs.Err()
}

// keeps is Cleaner.shouldRetainRecord.
func (c *Cleaning) keeps(b record.Batch, r *record.Record) bool {
	if Offset(r.Offset) >= c.mapped {
		return true
	}
	if r.Key == nil {
		return false // of a time when the topic was not compacted
	}
	if last, there := c.last[string(r.Key)]; there && Offset(r.Offset) < last {
		return false
	}
	horizon, set := b.DeleteHorizonMs()
	return r.Value != nil || !set || c.nowMs < horizon
}
