package record

import (
	"errors"
	"fmt"
)

// What is wrong with bytes, by the error code that Kafka answers it with. Every
// error of this package about bytes it was given is one of them.
var (
	// ErrCorrupt: CORRUPT_MESSAGE. The framing or the CRC is wrong; what was sent
	// is not what arrived.
	ErrCorrupt = errors.New("corrupt batch")
	// ErrInvalid: INVALID_RECORD. The bytes arrived as they were sent, and break
	// a rule.
	ErrInvalid = errors.New("invalid record")
	// ErrCodec: UNSUPPORTED_COMPRESSION_TYPE.
	ErrCodec = errors.New("unsupported compression type")
	// ErrTimestamp: INVALID_TIMESTAMP.
	ErrTimestamp = errors.New("invalid timestamp")
	// ErrTooLarge: MESSAGE_TOO_LARGE.
	ErrTooLarge = errors.New("batch too large")
)

// BatchError says what is wrong in which batch. It wraps one of the sentinels.
type BatchError struct {
	// Err is the sentinel.
	Err error
	// At is where the batch starts in the buffer that was given, in bytes.
	At int
	// Byte is where in the batch the fault is, in bytes from its start; in a
	// compressed batch, from the start of its records, decompressed
	// (Inflated). -1: the batch as a whole.
	Byte     int
	Inflated bool
	Reason   string
	// Records are the records at fault, for Produce's record_errors, where the
	// batch was read to its end; the first maxRecordErrors of them.
	Records []RecordError
}

// RecordError is one record that a leader refuses.
type RecordError struct {
	// Index is the record's place in its batch, from 0.
	Index  int
	Reason string
}

// maxRecordErrors bounds an answer: a batch of a MiB may hold 150,000 records.
const maxRecordErrors = 1000

func (e *BatchError) Error() string {
	where := fmt.Sprintf("batch at byte %d", e.At)
	switch {
	case e.Inflated && e.Byte >= 0:
		where = fmt.Sprintf("%s, decompressed byte %d", where, e.Byte)
	case e.Byte >= 0:
		where = fmt.Sprintf("%s, byte %d", where, e.Byte)
	}
	return fmt.Sprintf("%v: %s: %s", e.Err, where, e.Reason)
}

func (e *BatchError) Unwrap() error { return e.Err }

// whole is an error about the batch that starts at byte at.
func whole(err error, at int, format string, args ...any) *BatchError {
	return &BatchError{Err: err, At: at, Byte: -1, Reason: fmt.Sprintf(format, args...)}
}

// movedTo returns err with its batch at byte at; the batch's own methods do not
// know where it lies.
func movedTo(err error, at int) error {
	var be *BatchError
	if at == 0 || !errors.As(err, &be) {
		return err
	}
	moved := *be
	moved.At += at
	return &moved
}

func lengthReason(length int32) string {
	return fmt.Sprintf("length is %d, of any batch at least %d", length, lowestLength)
}

func magicReason(magic byte) string {
	return fmt.Sprintf("magic is %d, want %d", int8(magic), Magic)
}

func tooShort(size int) *BatchError {
	return &BatchError{
		Err: ErrCorrupt, Byte: atLength,
		Reason: fmt.Sprintf("%d bytes, a header alone has %d", size, HeaderSize),
	}
}
