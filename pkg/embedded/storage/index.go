package storage

import (
	"encoding/binary"
	"errors"
	"io/fs"

	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Entries of the two indexes; see the package comment.
const (
	offsetEntryBytes = 8
	timeEntryBytes   = 12
	// tailBytes is how much of an index waits in memory, so that an append does
	// not pay for a write of 8 bytes: a divisor of both entries' sizes.
	tailBytes = 4080
)

// index is a file of entries of one width, sorted by key, of which the newest
// are still in memory. The file is made when there is something to write.
//
// It cannot be trusted: it may be cut, lost or flipped, and nothing in it says
// so. So whoever takes an entry compares it with the batch that it names
// (segment.locate), and builds the index anew where they differ. A search that
// was led astray by a bad entry still ends at an entry that is proved: by offset it
// costs a longer scan, never a wrong answer. An entry of the time index proves its
// own batch's timestamp only; that all batches before are older it says on trust,
// as Kafka takes it.
type index struct {
	fs     vfs.FS
	name   string
	width  int
	file   vfs.File // nil until it is needed, or if there is none
	opened bool     // stored and exists are known
	exists bool
	stored int // entries in the file
	tail   []byte
	// unsynced: the file holds what its last Sync did not.
	unsynced bool
	// made: the file's name may not be durable yet.
	made bool
}

func newIndex(fsys vfs.FS, name string, width int) index {
	return index{fs: fsys, name: name, width: width}
}

// open finds out what is stored. Bytes beyond the last whole entry are ignored:
// the next write goes over them.
func (x *index) open() error {
	if x.opened {
		return nil
	}
	f, err := x.fs.Open(x.name, vfs.ReadWrite)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.opened, x.exists, x.stored = true, false, 0
		return nil
	case err != nil:
		return failed("open", x.name, NoOffset, err)
	}
	size, err := f.Size()
	if err != nil {
		return failed("size of", x.name, NoOffset, errors.Join(err, f.Close()))
	}
	x.file, x.opened, x.exists, x.stored = f, true, true, int(size)/x.width
	return nil
}

// count is how many entries there are; open must have been called.
func (x *index) count() int { return x.stored + len(x.tail)/x.width }

func (x *index) full(maxBytes int32) bool { return x.count() >= int(maxBytes)/x.width }

// entry returns the i-th entry, in buf or in the tail.
func (x *index) entry(i int, buf []byte) ([]byte, error) {
	if i >= x.stored {
		at := (i - x.stored) * x.width
		return x.tail[at : at+x.width], nil
	}
	e := buf[:x.width]
	_, err := x.file.ReadAt(e, int64(i)*int64(x.width))
	return e, failed("read", x.name, NoOffset, err)
}

// last returns the last entry, nil if there is none.
func (x *index) last(buf []byte) ([]byte, error) {
	if err := x.open(); err != nil || x.count() == 0 {
		return nil, err
	}
	return x.entry(x.count()-1, buf)
}

// floor returns the last entry whose key is not above the one sought, nil if
// there is none. above tells of an entry whether its key is. It reads some
// entries one by one and then, when few are left, those at once.
func (x *index) floor(above func(e []byte) bool, buf []byte) ([]byte, error) {
	if err := x.open(); err != nil {
		return nil, err
	}
	if i := lastNotAbove(x.tail, x.width, above); i >= 0 {
		return x.tail[i*x.width : (i+1)*x.width], nil
	}
	lo, hi := 0, x.stored // the answer is below hi, and lo-1 is not above
	for (hi-lo)*x.width > len(buf) {
		mid := (lo + hi) / 2
		e, err := x.entry(mid, buf)
		if err != nil {
			return nil, err
		}
		if above(e) {
			hi = mid
		} else {
			lo = mid
		}
	}
	if lo == hi {
		return nil, nil
	}
	block := buf[:(hi-lo)*x.width]
	if _, err := x.file.ReadAt(block, int64(lo)*int64(x.width)); err != nil {
		return nil, failed("read", x.name, NoOffset, err)
	}
	i := lastNotAbove(block, x.width, above)
	if i < 0 {
		return nil, nil
	}
	return block[i*x.width : (i+1)*x.width], nil
}

// lastNotAbove is the place of the last entry that is not above, -1 if all are.
func lastNotAbove(block []byte, width int, above func(e []byte) bool) int {
	lo, hi := 0, len(block)/width
	for lo < hi {
		mid := (lo + hi) / 2
		if above(block[mid*width : (mid+1)*width]) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo - 1
}

// add appends an entry, in memory.
func (x *index) add(e []byte) error {
	x.tail = append(x.tail, e...)
	if len(x.tail) < tailBytes {
		return nil
	}
	return x.write()
}

// write puts the tail into the file.
func (x *index) write() error {
	if len(x.tail) == 0 {
		return nil
	}
	if err := x.open(); err != nil {
		return err
	}
	if err := x.make(); err != nil {
		return err
	}
	if _, err := x.file.WriteAt(x.tail, int64(x.stored)*int64(x.width)); err != nil {
		return failed("write", x.name, NoOffset, err)
	}
	x.stored += len(x.tail) / x.width
	x.tail = x.tail[:0]
	x.unsynced = true
	return nil
}

// make makes the file if there is none.
func (x *index) make() error {
	if err := x.open(); err != nil || x.file != nil {
		return err
	}
	f, err := x.fs.Open(x.name, vfs.Create)
	if err != nil {
		return failed("create", x.name, NoOffset, err)
	}
	x.file, x.exists, x.made = f, true, true
	return nil
}

// seal writes all and cuts what lies behind: a half entry, or zeros that Kafka
// had preallocated.
func (x *index) seal() error {
	err := x.write()
	x.tail = nil
	if err != nil || x.file == nil {
		return err
	}
	size, err := x.file.Size()
	if err != nil {
		return failed("size of", x.name, NoOffset, err)
	}
	if want := int64(x.stored) * int64(x.width); size > want {
		if err := x.file.Truncate(want); err != nil {
			return failed("truncate", x.name, NoOffset, err)
		}
		x.unsynced = true
	}
	return nil
}

// sync makes all durable but, if it is new, the file's name.
func (x *index) sync() error {
	if err := x.write(); err != nil {
		return err
	}
	if !x.unsynced {
		return nil
	}
	if err := x.file.Sync(); err != nil {
		return failed("sync", x.name, NoOffset, err)
	}
	x.unsynced = false
	return nil
}

// cut keeps the first n entries.
func (x *index) cut(n int) error {
	if err := x.open(); err != nil {
		return err
	}
	if n >= x.stored {
		x.tail = x.tail[:min(len(x.tail), (n-x.stored)*x.width)]
		return nil
	}
	x.tail = x.tail[:0]
	x.stored = n
	x.unsynced = true
	return failed("truncate", x.name, NoOffset, x.file.Truncate(int64(n)*int64(x.width)))
}

func (x *index) close() error {
	if x.file == nil {
		return nil
	}
	err := x.file.Close()
	x.file, x.opened = nil, false
	x.tail = nil
	return failed("close", x.name, NoOffset, err)
}

// offsetEntry is what the offset index says: the batch at position ends with
// offset.
type offsetEntry struct {
	offset   Offset
	position int64
}

func appendOffsetEntry(b []byte, base Offset, e offsetEntry) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(e.offset-base))
	return binary.BigEndian.AppendUint32(b, uint32(e.position))
}

func parseOffsetEntry(b []byte, base Offset) offsetEntry {
	return offsetEntry{
		offset:   base + Offset(int32(binary.BigEndian.Uint32(b))),
		position: int64(int32(binary.BigEndian.Uint32(b[4:]))),
	}
}

// timeEntry is what the time index says: up to the batch that ends with offset,
// the largest timestamp of the segment is that batch's.
type timeEntry struct {
	timestampMs int64
	offset      Offset
}

func appendTimeEntry(b []byte, base Offset, e timeEntry) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(e.timestampMs))
	return binary.BigEndian.AppendUint32(b, uint32(e.offset-base))
}

func parseTimeEntry(b []byte, base Offset) timeEntry {
	return timeEntry{
		timestampMs: int64(binary.BigEndian.Uint64(b)),
		offset:      base + Offset(int32(binary.BigEndian.Uint32(b[8:]))),
	}
}
