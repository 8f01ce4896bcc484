package storage

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// beginCopying groups the segments, so that what is left of them is not many
// small ones (Cleaner.groupSegmentsBySize).
func (c *Cleaning) beginCopying() error {
	l := c.log
	var logBytes, offsetBytes, timeBytes int64
	for i, s := range c.segs {
		if s.base >= c.mapped {
			break
		}
		if err := s.offsets.open(); err != nil {
			return err
		}
		if err := s.times.open(); err != nil {
			return err
		}
		offsets, times := int64(s.offsets.count()*offsetEntryBytes), int64(s.times.count()*timeEntryBytes)
		last := len(c.groups) - 1
		if last < 0 || logBytes+s.size > int64(l.cfg.SegmentBytes) || offsetBytes+offsets > int64(l.cfg.IndexMaxBytes) ||
			timeBytes+times > int64(l.cfg.IndexMaxBytes) || s.size > 0 && c.endOf(i)-1-c.groups[last][0].base > maxRelative {
			c.groups = append(c.groups, nil)
			logBytes, offsetBytes, timeBytes, last = 0, 0, 0, last+1
		}
		c.groups[last] = append(c.groups[last], s)
		logBytes, offsetBytes, timeBytes = logBytes+s.size, offsetBytes+offsets, timeBytes+times
	}
	c.phase, c.seg, c.pos, c.txns = cleanCopying, 0, 0, txnScan{aborted: c.aborted}
	return nil
}

// copyGroup goes on with the first group: what is kept of it goes to one segment,
// which takes its place when it is complete.
func (c *Cleaning) copyGroup() error {
	if len(c.groups) == 0 {
		return c.finish()
	}
	group := c.groups[0]
	if c.out == nil {
		if err := c.beginSegment(group); err != nil {
			return err
		}
	}
	if c.advance(group) {
		return c.copyPiece(group[c.seg])
	}
	out := c.out
	if !c.sealed {
		c.sealed = true
		if err := out.seal(); err != nil {
			return err
		}
		return out.sync()
	}
	c.groups, c.seg, c.pos, c.out = c.groups[1:], 0, 0, nil
	return c.log.replace(group, out)
}

// beginSegment makes the file that a group is copied to.
func (c *Cleaning) beginSegment(group []*segment) error {
	l := c.log
	c.tails = map[int64]producerTail{}
	for _, p := range l.producers.Snapshot() {
		tail := producerTail{last: NoOffset, epoch: p.Epoch}
		if bs := p.Batches(); len(bs) > 0 {
			tail.last = bs[len(bs)-1].LastOffset
		}
		c.tails[p.ID] = tail
	}
	out := l.newSegment(group[0].base, 0, group[len(group)-1].createdMs)
	out.rename(cleanedSuffix)
	for _, name := range out.files() {
		if err := removeFile(l.fs, name); err != nil {
			return err
		}
	}
	if err := out.create(); err != nil {
		return err
	}
	c.out, c.unsynced, c.sealed = out, 0, false
	return nil
}

// copyPiece copies what is kept of the next batches (Cleaner.cleanInto).
func (c *Cleaning) copyPiece(s *segment) error {
	l := c.log
	c.text = c.text[:0]
	err := c.eachBatch(s, func(b record.Batch) (bool, error) {
		var err error
		if c.text, _, err = c.filter.Append(c.text, b, c.retention(b)); err != nil {
			return false, &damage{s, err}
		}
		return true, nil
	})
	if err != nil || len(c.text) == 0 {
		return err
	}
	at := c.out.size
	if err := c.out.write(c.text, s.base); err != nil {
		return err
	}
	for scan := record.Scan(c.text); scan.Next(); {
		b := scan.Batch()
		if err := c.out.track(b, at+int64(scan.At()), int64(len(b)), l.cfg.IndexIntervalBytes); err != nil {
			return err
		}
	}
	if c.unsynced += len(c.text); c.unsynced < cleanSyncBytes {
		return nil
	}
	c.unsynced = 0
	return c.out.sync()
}

// retention is the filter of Cleaner.cleanInto.
func (c *Cleaning) retention(b record.Batch) record.Retention {
	gone := c.txns.gone(b)
	drop := gone
	if b.Control() {
		// A marker outlives the records of its transaction for as long as a tombstone
		// would, for those who have read some of them.
		horizon, set := b.DeleteHorizonMs()
		drop = gone && set && horizon <= c.nowMs
	}
	return record.Retention{
		Keep: func(r *record.Record) bool {
			switch {
			case drop:
				return false
			case b.Control():
				return true
			}
			return c.keeps(b, r)
		},
		// The last batch of the round says where it ended.
		KeepEmpty: c.tail(b) || Offset(b.NextOffset()) == c.upTo,
		HorizonMs: c.nowMs + c.log.cfg.DeleteRetentionMs, Marker: gone && b.Control(),
	}
}

// tail reports whether a batch is the last of a producer that is alive.
func (c *Cleaning) tail(b record.Batch) bool {
	tail, alive := c.tails[b.ProducerID()]
	switch {
	case !alive || b.ProducerID() == record.NoProducerID:
		return false
	case tail.last != NoOffset:
		return Offset(b.LastOffset()) == tail.last
	}
	return b.Control() && b.ProducerEpoch() == tail.epoch
}

// finish is when all groups are in their places.
func (c *Cleaning) finish() error {
	l := c.log
	c.phase = cleanOver
	l.cleanedTo = c.mapped
	return l.dir.writeCleaned()
}

// endCleaning ends a cleaning that has not come to its end: what it worked on is
// about to change, or to be closed. What it has put in place stays.
func (l *Log) endCleaning() error {
	c := l.cleaning
	l.cleaning = nil
	if c == nil || c.out == nil {
		return nil
	}
	if err := c.out.close(); err != nil {
		return err
	}
	for _, name := range c.out.files() {
		if err := removeFile(l.fs, name); err != nil {
			return err
		}
	}
	return nil
}

// replace puts a segment that was made of others in their place
// (LocalLog.replaceSegments). From the moment when its name ends with .swap, durably,
// an opening finishes what is left to do here.
func (l *Log) replace(olds []*segment, out *segment) error {
	if err := out.close(); err != nil {
		return err
	}
	if err := l.renameSegment(out, swapSuffix); err != nil {
		return err
	}
	at := l.place(olds[0])
	if err := l.removeSegments(olds...); err != nil {
		return err
	}
	if err := l.renameSegment(out, ""); err != nil {
		return err
	}
	out.unsynced, out.offsets.made, out.times.made = false, false, false
	l.segs = slices.Replace(l.segs, at, at+len(olds), out)
	return l.removeSnapshots(func(o Offset) bool {
		return slices.ContainsFunc(olds[1:], func(s *segment) bool { return s.base == o })
	})
}

// place is where a segment is in the log.
func (l *Log) place(s *segment) int { return slices.Index(l.segs, s) }

// rename gives a segment's files, which are closed or not made yet, their names.
func (s *segment) rename(suffix string) {
	s.name = offsetName(s.log, s.base, logSuffix+suffix)
	s.offsets.name = offsetName(s.log, s.base, indexSuffix+suffix)
	s.times.name = offsetName(s.log, s.base, timeIndexSuffix+suffix)
}

// renameSegment renames a segment's files, the log last, durably.
func (l *Log) renameSegment(s *segment, suffix string) error {
	from := s.files()
	exists := []bool{s.offsets.exists, s.times.exists, true}
	s.rename(suffix)
	for i, to := range s.files() {
		if !exists[i] {
			continue
		}
		if err := l.fs.Rename(from[i], to); err != nil {
			return failed("rename to "+to, from[i], s.base, err)
		}
	}
	return failed("sync directory", l.name, s.base, l.fs.SyncDir(l.name))
}
