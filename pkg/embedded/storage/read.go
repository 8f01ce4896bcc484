package storage

import (
	"fmt"
	"slices"
	"sort"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// cursors is how many places the log remembers at which a read ended, so that
// readers in sequence, followers and a few consumers, need no index.
const cursors = 8

// cursor says that the first batch that does not end before offset begins at
// position of the segment base.
type cursor struct {
	offset   Offset
	base     Offset
	position int64
	set      bool
}

// Fetch says what to read.
type Fetch struct {
	From Offset
	// UpTo bounds what is read: HW or LSO for a consumer, End for a follower.
	// Batches that reach beyond are left out.
	UpTo Offset
	// MaxBytes bounds it too, but for the first batch if MinOne is set: it comes
	// whole however large it is, so that a reader always gets on (KIP-74).
	MaxBytes int
	MinOne   bool
	// Room, if set, returns that many bytes to read into, where dst is nil. Their
	// content does not matter.
	Room func(n int) []byte
}

// Read appends whole batches to dst: first the one that holds From, or the first
// after it. It reads one segment at a time, so there may be more than it returns
// even if MaxBytes is not reached; nothing means that there is nothing below UpTo,
// or that MaxBytes is too little.
//
// ErrOffsetOutOfRange if From is not in [Start, End].
func (l *Log) Read(dst []byte, f Fetch) ([]byte, error) {
	upTo := min(f.UpTo, l.end)
	switch {
	case l.segs == nil:
		return dst, l.failed
	case f.From < l.start || f.From > l.end:
		return dst, fmt.Errorf("read %s at offset %d of [%d, %d]: %w", l.name, f.From, l.start, l.end, ErrOffsetOutOfRange)
	case f.From >= upTo, f.MaxBytes <= 0 && !f.MinOne:
		return dst, nil
	}
	for i := l.segmentOf(f.From); i < len(l.segs) && l.segs[i].base < upTo; i++ {
		at, found, err := l.position(l.segs[i], f.From)
		if err != nil {
			return dst, err
		}
		if found {
			return l.readSegment(dst, l.segs[i], at, upTo, f)
		}
	}
	return dst, nil
}

// segmentOf is the place of the segment that holds o, or where o would be.
func (l *Log) segmentOf(o Offset) int {
	i := sort.Search(len(l.segs), func(i int) bool { return l.segs[i].base > o })
	return max(i-1, 0)
}

// position is where to read in a segment; false if it has nothing from o on.
func (l *Log) position(s *segment, o Offset) (int64, bool, error) {
	for _, c := range l.cursors {
		if c.set && c.offset == o && c.base == s.base && c.position < s.size {
			return c.position, true, nil
		}
	}
	if o <= s.base {
		return 0, s.size > 0, nil
	}
	p, found, err := s.locate(o, l.cfg.IndexIntervalBytes, l.dir.buf())
	return p.start, found, err
}

// readSegment reads from position at on.
func (l *Log) readSegment(dst []byte, s *segment, at int64, upTo Offset, f Fetch) ([]byte, error) {
	if err := s.open(); err != nil {
		return dst, err
	}
	n := int(min(int64(max(f.MaxBytes, 0)), s.size-at))
	first := 0 // size of the first batch, where that matters
	if f.MinOne {
		head := l.dir.buf()[:min(record.HeaderSize, s.size-at)]
		if n >= record.HeaderSize {
			// The common case: the header is part of what is read.
			head = nil
		} else if err := s.readAt(head, at, f.From); err != nil {
			return dst, err
		}
		var err error
		if head != nil {
			if first, err = s.sizeOf(head, at); err != nil {
				return dst, err
			}
		}
	}
	n = max(n, first)
	if dst == nil && f.Room != nil {
		dst = f.Room(n)[:0]
	}
	had := len(dst)
	dst = slices.Grow(dst, n)[:had+n]
	if err := s.readAt(dst[had:], at, f.From); err != nil {
		return dst[:had], err
	}
	if f.MinOne && first == 0 {
		size, err := s.sizeOf(dst[had:], at)
		if err != nil {
			return dst[:had], err
		}
		if size > n {
			if had == 0 && f.Room != nil {
				// Too small, and Grow would make a room that is not theirs.
				larger := f.Room(size)
				copy(larger, dst)
				dst = larger[:n]
			}
			dst = slices.Grow(dst, size-n)[:had+size]
			if err := s.readAt(dst[had+n:], at+int64(n), f.From); err != nil {
				return dst[:had], err
			}
		}
	}
	return l.trim(dst, had, s, at, upTo)
}

// sizeOf is the size of the batch at a position whose first bytes are b.
func (s *segment) sizeOf(b []byte, at int64) (int, error) {
	size, err := record.SizeOf(b)
	if err == nil && (size == 0 || int64(size) > s.size-at) {
		err = fmt.Errorf("a batch of %d bytes, %d are there", size, s.size-at)
	}
	if err != nil {
		return 0, failed("read", s.name, s.base, fmt.Errorf("%w: byte %d: %w", ErrCorrupt, at, err))
	}
	return size, nil
}

func (s *segment) readAt(b []byte, at int64, o Offset) error {
	if n, err := s.file.ReadAt(b, at); n < len(b) {
		return failed("read", s.name, o, err)
	}
	return nil
}

// trim cuts dst after the last whole batch that ends within upTo, and remembers
// where the next read begins.
func (l *Log) trim(dst []byte, had int, s *segment, at int64, upTo Offset) ([]byte, error) {
	end, next := had, NoOffset
	sc := record.Scan(dst[had:])
	for sc.Next() {
		b := sc.Batch()
		if Offset(b.LastOffset()) >= upTo {
			break
		}
		end, next = had+sc.End(), Offset(b.NextOffset())
	}
	if sc.Err() != nil && end == had {
		return dst[:had], failed("read", s.name, s.base, fmt.Errorf("%w: byte %d: %w", ErrCorrupt, at, sc.Err()))
	}
	if next != NoOffset {
		l.cursors[l.nextCur] = cursor{offset: next, base: s.base, position: at + int64(end-had), set: true}
		l.nextCur = (l.nextCur + 1) % cursors
	}
	return dst[:end], nil
}
