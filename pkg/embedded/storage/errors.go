package storage

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// What a caller branches on.
var (
	// ErrOffsetOutOfRange: OFFSET_OUT_OF_RANGE. The offset is below the log's
	// start or above its end, or above the HW where that is the bound.
	ErrOffsetOutOfRange = errors.New("offset out of range")
	// ErrTooLarge: RECORD_LIST_TOO_LARGE. A batch is larger than a segment may be.
	ErrTooLarge = errors.New("batch larger than a segment")
	// ErrNotContinued: what was to be appended is not whole batches that go on
	// where the log ends. Nothing was written.
	ErrNotContinued = errors.New("does not continue the log")
	// ErrCorrupt: a file holds what nobody wrote there. It comes in an [Error].
	ErrCorrupt = errors.New("corrupt")
	// ErrClosed: the log was closed or deleted.
	ErrClosed = errors.New("log is closed")
	// ErrWrongDir: the directory belongs to another node or cluster.
	ErrWrongDir = errors.New("log directory of another node")
)

// Error says that the disk did not do its part: KAFKA_STORAGE_ERROR, and the log
// directory is to be taken offline. What the disk holds since the last Flush that
// returned nil is not known, so a Log that met one when it wrote refuses to write
// from then on; a new [Open] finds out what is there.
type Error struct {
	// Op is what was done: "append to", "sync", "read".
	Op string
	// File is a name in the FS that the Dir lies in.
	File string
	// Offset is the one that it was done for, NoOffset if for none.
	Offset Offset
	Err    error
}

func (e *Error) Error() string {
	if e.Offset == NoOffset {
		return fmt.Sprintf("%s %s: %v", e.Op, e.File, e.Err)
	}
	return fmt.Sprintf("%s %s at offset %d: %v", e.Op, e.File, e.Offset, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Offset is a place in a log, as everywhere in the engine.
type Offset = logstate.Offset

// Epoch is a leader epoch.
type Epoch = logstate.Epoch

// NoOffset is an unknown offset.
const NoOffset = logstate.NoOffset

// failed wraps an error of the disk; nil stays nil, and what is wrapped already stays as it is.
func failed(op, file string, o Offset, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err // the name is said already
	}
	return &Error{Op: op, File: file, Offset: o, Err: err}
}
