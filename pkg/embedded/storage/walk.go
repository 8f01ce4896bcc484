package storage

import (
	"fmt"
	"hash/crc32"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// walker goes from batch to batch of a segment through a window of fixed size,
// so that what a batch says of its length costs no memory. It reads headers;
// with CRCs, all.
type walker struct {
	file vfs.File
	name string
	// pos is where the next batch starts; end bounds what is read, in bytes.
	pos, end int64
	checkCRC bool

	window []byte
	at     int64 // of the window in the file
	filled int

	// header is of the batch at start: only its first HeaderSize bytes are there for
	// sure, and of a control batch all that fits the window.
	header record.Batch
	start  int64
	size   int64
	// bad says why no batch is at pos, with ErrCorrupt; nil at the end of the file.
	bad error
}

// next moves to the next batch. It returns false, nil at the end and where there
// is no valid batch (see bad); an error only if the disk could not be read: bytes
// that cannot be read are not corrupt, and nothing may be cut because of them.
func (w *walker) next() (bool, error) {
	if w.pos >= w.end || w.bad != nil {
		return false, nil //nolint:nilerr // what is no batch is told by bad; an error is the disk's
	}
	b, err := w.bytes(w.pos, record.HeaderSize)
	if err != nil {
		return false, err
	}
	size, err := record.SizeOf(b)
	switch {
	case err != nil:
		w.bad = fmt.Errorf("%w: byte %d: %w", ErrCorrupt, w.pos, err)
		return false, nil
	case len(b) < record.HeaderSize || int64(size) > w.end-w.pos:
		w.bad = fmt.Errorf("%w: byte %d: the batch ends beyond byte %d", ErrCorrupt, w.pos, w.end)
		return false, nil
	case size < record.HeaderSize || b[magicAt] != record.Magic:
		w.bad = fmt.Errorf("%w: byte %d: not a batch of magic 2", ErrCorrupt, w.pos)
		return false, nil
	}
	// Of a control batch the record counts too; a marker's is some 20 bytes.
	want := int64(record.HeaderSize)
	if record.Batch(b).Control() {
		want = min(int64(size), int64(len(w.window)))
	}
	if w.checkCRC {
		// It may move the window, and b with it.
		if err := w.crc(int64(size)); err != nil || w.bad != nil {
			return false, err
		}
	}
	if b, err = w.bytes(w.pos, want); err != nil {
		return false, err
	}
	w.header, w.start, w.size = record.Batch(b), w.pos, int64(size)
	w.pos += w.size
	return true, nil
}

// Where a batch has its magic, and what its CRC covers.
const (
	magicAt    = 16
	crcCovered = 21
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// crc checks the batch at pos, piece by piece.
func (w *walker) crc(size int64) error {
	// Whole if it fits, so that its header needs no second reading.
	b, err := w.bytes(w.pos, min(size, int64(len(w.window))))
	if err != nil {
		return err
	}
	want := record.Batch(b).CRC()
	var got uint32
	for from := w.pos + crcCovered; from < w.pos+size; {
		piece, err := w.bytes(from, 1)
		if err != nil {
			return err
		}
		piece = piece[:min(int64(len(piece)), w.pos+size-from)]
		got = crc32.Update(got, castagnoli, piece)
		from += int64(len(piece))
	}
	if got != want {
		w.bad = fmt.Errorf("%w: byte %d: CRC is %d, the batch says %d", ErrCorrupt, w.pos, got, want)
	}
	return nil
}

// bytes returns what the window has from an offset in the file on: n bytes at
// least, unless the walk's end comes first.
func (w *walker) bytes(from int64, n int64) ([]byte, error) {
	n = min(n, w.end-from)
	if from < w.at || from+n > w.at+int64(w.filled) {
		w.at = from
		w.filled = int(min(int64(len(w.window)), w.end-from))
		if got, err := w.file.ReadAt(w.window[:w.filled], from); got < w.filled {
			w.filled = 0
			return nil, failed("read", w.name, NoOffset, err)
		}
	}
	return w.window[from-w.at : w.filled], nil
}
