package storage

import (
	"errors"
	"fmt"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// segment is a file of batches and its two indexes. The last one of a log is
// active: it alone grows, and what tells where its next index entry is due is
// kept up for it alone.
type segment struct {
	dir  *Dir
	fs   vfs.FS
	log  string // its directory
	name string
	base Offset
	file vfs.File // nil until it is needed
	size int64    // in bytes

	offsets, times index

	// next is where the last batch ends, base if there is none. Known of the
	// active segment, and of one that was scanned.
	next Offset
	// sinceIndex counts the bytes since the last entry of the offset index.
	sinceIndex int64
	// max is the largest timestamp, and the last offset of the batch that has it.
	max timeEntry
	// maxKnown: max is, since the segment was written, scanned or resumed.
	maxKnown bool
	// lastTimeMs is the last entry's of the time index. Known of the active segment.
	lastTimeMs int64
	// firstMs is the first batch's timestamp, by which segment.ms counts.
	firstMs    int64
	firstKnown bool
	createdMs  int64
	// unsynced: the file holds what its last Sync did not.
	unsynced bool
	// rebuilt: the indexes were made from the batches once already.
	rebuilt bool
}

func (l *Log) newSegment(base Offset, size, nowMs int64) *segment {
	return &segment{
		dir: l.dir, fs: l.fs, log: l.name, name: offsetName(l.name, base, logSuffix), base: base, size: size, next: base,
		offsets:    newIndex(l.fs, offsetName(l.name, base, indexSuffix), offsetEntryBytes),
		times:      newIndex(l.fs, offsetName(l.name, base, timeIndexSuffix), timeEntryBytes),
		max:        timeEntry{timestampMs: record.NoTimestamp, offset: base},
		lastTimeMs: record.NoTimestamp, createdMs: nowMs,
	}
}

func (s *segment) open() error {
	if s.file != nil {
		return nil
	}
	f, err := s.fs.Open(s.name, vfs.ReadWrite)
	if err != nil {
		return failed("open", s.name, s.base, err)
	}
	s.file = f
	return nil
}

func (s *segment) create() error {
	f, err := s.fs.Open(s.name, vfs.CreateNew)
	if err != nil {
		return failed("create", s.name, s.base, err)
	}
	s.file, s.unsynced, s.maxKnown = f, true, true
	return nil
}

// write appends batches, without a thought for the indexes.
func (s *segment) write(p []byte, first Offset) error {
	if err := s.open(); err != nil {
		return err
	}
	s.unsynced = true
	// At the place that is known, not at the file's end: they are the same.
	if _, err := s.file.WriteAt(p, s.size); err != nil {
		return failed("append to", s.name, first, err)
	}
	s.size += int64(len(p))
	return nil
}

// track takes a batch into account that lies at position: LogSegment.append's
// loop. An entry names the batch before which it became due, not the last of
// the interval.
func (s *segment) track(h record.Batch, position, size int64, interval int32) error {
	last := Offset(h.LastOffset())
	if ms := h.MaxTimestampMs(); ms > s.max.timestampMs {
		s.max = timeEntry{timestampMs: ms, offset: last}
	}
	if !s.firstKnown {
		s.firstMs, s.firstKnown = h.MaxTimestampMs(), true
	}
	if s.sinceIndex > int64(interval) {
		var e [offsetEntryBytes]byte
		appendOffsetEntry(e[:0], s.base, offsetEntry{offset: last, position: position})
		if err := s.offsets.add(e[:]); err != nil {
			return err
		}
		if err := s.addTime(); err != nil {
			return err
		}
		s.sinceIndex = 0
	}
	s.sinceIndex += size
	s.next = last + 1
	return nil
}

// addTime adds the largest timestamp so far to the time index, if it is news.
func (s *segment) addTime() error {
	if s.max.timestampMs <= s.lastTimeMs {
		return nil
	}
	var e [timeEntryBytes]byte
	appendTimeEntry(e[:0], s.base, s.max)
	s.lastTimeMs = s.max.timestampMs
	return s.times.add(e[:])
}

// seal completes the indexes of a segment that grows no more, for now or for
// ever: the last entry of the time index is the segment's largest timestamp.
func (s *segment) seal() error {
	if err := s.addTime(); err != nil {
		return err
	}
	if len(s.times.tail) > 0 {
		// It may be empty. Kafka has both, and kafka-dump-log wants the one for the other.
		if err := s.offsets.make(); err != nil {
			return err
		}
	}
	if err := s.offsets.seal(); err != nil {
		return err
	}
	return s.times.seal()
}

// sync makes the segment durable, batches first.
func (s *segment) sync() error {
	if s.unsynced {
		if err := s.open(); err != nil {
			return err
		}
		if err := s.file.Sync(); err != nil {
			return failed("sync", s.name, s.base, err)
		}
		s.unsynced = false
	}
	if err := s.offsets.sync(); err != nil {
		return err
	}
	return s.times.sync()
}

func (s *segment) close() error {
	var err error
	if s.file != nil {
		err = failed("close", s.name, s.base, s.file.Close())
		s.file = nil
	}
	return errors.Join(err, s.offsets.close(), s.times.close())
}

// walk returns a walker from a position in the file on.
func (s *segment) walk(from int64, window []byte, crc bool) (*walker, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	return &walker{file: s.file, name: s.name, pos: from, end: s.size, window: window, checkCRC: crc}, nil
}

// place is where a batch lies in its segment.
type place struct {
	start, size int64 // in bytes
	base, last  Offset
	maxMs       int64
	epoch       Epoch
}

func (w *walker) place() place {
	return place{
		start: w.start, size: w.size, base: Offset(w.header.BaseOffset()), last: Offset(w.header.LastOffset()),
		maxMs: w.header.MaxTimestampMs(), epoch: Epoch(w.header.LeaderEpoch()),
	}
}

// locate finds the first batch that does not end before target; false if all do.
func (s *segment) locate(target Offset, interval int32, buf []byte) (place, bool, error) {
	start, err := s.indexed(target, interval, buf)
	if err != nil {
		return place{}, false, err
	}
	w, err := s.walk(start, buf, false)
	if err != nil {
		return place{}, false, err
	}
	return s.firstFrom(w, func(h record.Batch) bool { return Offset(h.LastOffset()) >= target })
}

// firstFrom returns the first batch that fits.
func (s *segment) firstFrom(w *walker, fits func(h record.Batch) bool) (place, bool, error) {
	for {
		ok, err := w.next()
		switch {
		case err != nil:
			return place{}, false, err
		case w.bad != nil:
			return place{}, false, failed("read", s.name, s.base, w.bad)
		case !ok:
			return place{}, false, nil
		case fits(w.header):
			return w.place(), true, nil
		}
	}
}

// indexed returns a position at or before the batch that holds target: the
// index's, if the batch there is the one that the index says. If it is not, or
// the index is missing, it is made anew.
func (s *segment) indexed(target Offset, interval int32, buf []byte) (int64, error) {
	if err := s.offsets.open(); err != nil {
		return 0, err
	}
	if s.offsets.count() == 0 && s.size > 4*int64(interval) {
		// Missing, or of few and large batches.
		if err := s.rebuildOnce(interval); err != nil {
			return 0, err
		}
	}
	position, ok, err := s.floor(target, buf)
	if err != nil || ok {
		return position, err
	}
	s.distrust(s.offsets.name)
	if err := s.rebuild(interval); err != nil {
		return 0, err
	}
	position, ok, err = s.floor(target, buf)
	if err == nil && !ok {
		err = failed("read", s.offsets.name, target, fmt.Errorf("%w: made anew, it still does not fit the log", ErrCorrupt))
	}
	return position, err
}

// floor is where the index says to begin, and whether the batch there proves it.
func (s *segment) floor(target Offset, buf []byte) (int64, bool, error) {
	e, err := s.offsets.floor(func(e []byte) bool { return parseOffsetEntry(e, s.base).offset > target }, buf)
	if err != nil || e == nil {
		return 0, true, err
	}
	entry := parseOffsetEntry(e, s.base)
	ok, err := s.proves(entry, buf)
	return entry.position, ok, err
}

// proves compares an entry with the batch that it names.
func (s *segment) proves(e offsetEntry, buf []byte) (bool, error) {
	if e.position < 0 || e.position >= s.size {
		return false, nil
	}
	w, err := s.walk(e.position, buf, false)
	if err != nil {
		return false, err
	}
	ok, err := w.next()
	return ok && Offset(w.header.LastOffset()) == e.offset, err
}

// rebuildOnce is rebuild once in a segment's life: one whose batches are larger
// than the interval may never have entries.
func (s *segment) rebuildOnce(interval int32) error {
	if s.rebuilt {
		return nil
	}
	return s.rebuild(interval)
}

// distrust notes that an index has an entry that no batch proves.
func (s *segment) distrust(index string) {
	s.dir.repaired(index, s.base, fmt.Errorf("%w: an entry that no batch proves", ErrCorrupt), "made anew from the log")
}

// rebuild makes the indexes anew from the batches.
func (s *segment) rebuild(interval int32) error {
	w, err := s.rescan(scanBuffer([]*segment{s}), false, interval, nil)
	if err != nil {
		return err
	}
	if w.bad != nil {
		return failed("read", s.name, s.next, w.bad)
	}
	return s.seal()
}

// scanWindow is how much of a segment a scan reads at once.
const scanWindow = 1 << 20

// scanBuffer is a window to scan segments with, no larger than the largest of them.
func scanBuffer(segs []*segment) []byte {
	var n int64
	for _, s := range segs {
		n = max(n, s.size)
	}
	return make([]byte, min(n, scanWindow))
}

// rescan reads a segment from its start, makes the indexes anew and tells each
// batch to visit. It stops before the first thing that is no valid batch, which
// visit too can say, by an error that it returns for a batch, and returns what is
// wrong there; s.next and position w.pos are where. The error is the disk's.
func (s *segment) rescan(window []byte, crc bool, interval int32, visit func(h record.Batch) error) (*walker, error) {
	s.rebuilt = true
	w, err := s.walk(0, window, crc)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.offsets.cut(0), s.times.cut(0)); err != nil {
		return nil, err
	}
	s.next, s.sinceIndex, s.lastTimeMs, s.firstKnown = s.base, 0, record.NoTimestamp, false
	s.max, s.maxKnown = timeEntry{timestampMs: record.NoTimestamp, offset: s.base}, true
	for {
		ok, err := w.next()
		if err != nil {
			return nil, err
		}
		if !ok {
			return w, nil
		}
		if err := s.judge(w.header, visit); err != nil {
			w.bad = fmt.Errorf("%w: byte %d: %w", ErrCorrupt, w.start, err)
			w.pos = w.start
			return w, nil
		}
		if err := s.track(w.header, w.start, w.size, interval); err != nil {
			return nil, err
		}
	}
}

// judge says why a batch cannot stand where it does.
func (s *segment) judge(h record.Batch, visit func(h record.Batch) error) error {
	base, last := Offset(h.BaseOffset()), Offset(h.LastOffset())
	switch {
	case base < s.next:
		return fmt.Errorf("base offset %d, expected %d or more", base, s.next)
	case last < base || last-s.base > maxRelative:
		return fmt.Errorf("offsets %d to %d in a segment from %d", base, last, s.base)
	case visit != nil:
		return visit(h)
	}
	return nil
}

// resume finds out what is kept of an active segment, by its indexes and the
// batches that they do not cover.
func (s *segment) resume(interval int32, buf []byte) error {
	start := int64(0)
	e, err := s.offsets.last(buf)
	if err != nil {
		return err
	}
	if e != nil {
		entry := parseOffsetEntry(e, s.base)
		ok, err := s.proves(entry, buf)
		if err != nil {
			return err
		}
		if !ok {
			s.distrust(s.offsets.name)
			return s.rebuild(interval)
		}
		start = entry.position
	}
	from, ok, err := s.lastTime(interval, buf)
	if err != nil {
		return err
	}
	if !ok {
		s.distrust(s.times.name)
		return s.rebuild(interval)
	}
	s.lastTimeMs, s.sinceIndex = s.max.timestampMs, 0
	return s.walkOn(min(from, start), buf, func(p place) {
		if p.start >= start {
			s.sinceIndex += p.size
		}
		s.next = p.last + 1
	})
}

// lastTime takes the largest timestamp from the time index, and the position of
// the batch that has it; false if no batch proves the entry. Whether the index's
// end is missing it cannot say: a walk from there on can.
func (s *segment) lastTime(interval int32, buf []byte) (int64, bool, error) {
	s.max = timeEntry{timestampMs: record.NoTimestamp, offset: s.base}
	e, err := s.times.last(buf)
	if err != nil || e == nil {
		return 0, true, err
	}
	entry := parseTimeEntry(e, s.base)
	p, ok, err := s.provesTime(entry, interval, buf)
	if err != nil || !ok {
		return 0, false, err
	}
	s.max = entry
	return p.start, true, nil
}

// provesTime compares an entry with the batch that it names.
func (s *segment) provesTime(e timeEntry, interval int32, buf []byte) (place, bool, error) {
	if e.offset < s.base {
		return place{}, false, nil
	}
	p, found, err := s.locate(e.offset, interval, buf)
	return p, found && p.last == e.offset && p.maxMs == e.timestampMs, err
}

// walkOn looks at the batches from a position to the end, for the largest
// timestamp and what else each is good for.
func (s *segment) walkOn(from int64, buf []byte, each func(p place)) error {
	w, err := s.walk(from, buf, false)
	if err != nil {
		return err
	}
	_, _, err = s.firstFrom(w, func(record.Batch) bool {
		p := w.place()
		if p.maxMs > s.max.timestampMs {
			s.max = timeEntry{timestampMs: p.maxMs, offset: p.last}
		}
		each(p)
		return false
	})
	s.maxKnown = err == nil
	return err
}

// maxTime is the largest timestamp. Of a segment that was not written or read in
// this life it is the time index's last entry, if what follows is not larger.
func (s *segment) maxTime(interval int32, buf []byte) (timeEntry, error) {
	if s.maxKnown || s.size == 0 {
		return s.max, nil
	}
	from, ok, err := s.lastTime(interval, buf)
	if err != nil {
		return timeEntry{}, err
	}
	if !ok {
		s.distrust(s.times.name)
		err = s.rebuild(interval)
	} else {
		err = s.walkOn(from, buf, func(place) {})
	}
	return s.max, err
}

// cutTo removes the batches from position on, which is where target lies, and
// the index entries that named them.
func (s *segment) cutTo(position int64, target Offset, interval int32, buf []byte) error {
	if err := s.open(); err != nil {
		return err
	}
	if err := s.file.Truncate(position); err != nil {
		return failed("truncate", s.name, target, err)
	}
	s.size, s.unsynced = position, true
	if err := s.offsets.cutFrom(func(e []byte) bool { return parseOffsetEntry(e, s.base).position >= position }, buf); err != nil {
		return err
	}
	if err := s.times.cutFrom(func(e []byte) bool { return parseTimeEntry(e, s.base).offset >= target }, buf); err != nil {
		return err
	}
	if position == 0 {
		s.firstKnown = false
	}
	s.next = s.base
	return s.resume(interval, buf)
}

// cutFrom removes the entries that are above.
func (x *index) cutFrom(above func(e []byte) bool, buf []byte) error {
	if err := x.open(); err != nil {
		return err
	}
	lo, hi := 0, x.count()
	for lo < hi {
		mid := (lo + hi) / 2
		e, err := x.entry(mid, buf)
		if err != nil {
			return err
		}
		if above(e) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return x.cut(lo)
}

// first returns the first batch's timestamp, NoTimestamp if there is none.
func (s *segment) first(buf []byte) (int64, error) {
	if s.firstKnown || s.size == 0 {
		if s.size == 0 {
			return record.NoTimestamp, nil
		}
		return s.firstMs, nil
	}
	w, err := s.walk(0, buf, false)
	if err != nil {
		return 0, err
	}
	if ok, err := w.next(); err != nil || !ok {
		return record.NoTimestamp, err
	}
	s.firstMs, s.firstKnown = w.header.MaxTimestampMs(), true
	return s.firstMs, nil
}

// files are the names of a segment's files, the log last: a crash between leaves
// a segment without index, not an index without segment.
func (s *segment) files() []string { return []string{s.offsets.name, s.times.name, s.name} }
