package record

import "encoding/binary"

// Scanner walks the batches of a buffer: a Produce's or a Fetch's records, a
// segment. It copies nothing and checks no CRC.
type Scanner struct {
	buf  []byte
	at   int // of batch
	next int
	size int // of batch
	err  error
}

// Scan returns a Scanner that stands before the first batch of buf.
//
//	s := record.Scan(buf)
//	for s.Next() {
//		b := s.Batch()
//	}
//	if s.Err() != nil { ... } // what follows s.End() is no batch
func Scan(buf []byte) Scanner { return Scanner{buf: buf} }

// Next moves to the next batch. It returns false at the end, at a batch that
// the buffer does not hold completely (a Fetch may end in one: see End), and at
// bytes that are no batch (see Err).
func (s *Scanner) Next() bool {
	if s.err != nil {
		return false
	}
	rest := s.buf[s.next:]
	size, err := sizeOf(rest)
	switch {
	case err != nil:
		s.err = movedTo(err, s.next)
		return false
	case size == 0 || size > len(rest):
		return false
	case rest[atMagic] != Magic:
		// Kafka answers this in a Produce with INVALID_RECORD (ProduceRequest.validateRecords).
		s.err = &BatchError{Err: ErrInvalid, At: s.next, Byte: atMagic, Reason: magicReason(rest[atMagic])}
		return false
	case size < HeaderSize:
		s.err = movedTo(tooShort(size), s.next)
		return false
	}
	s.at, s.size = s.next, size
	s.next += size
	return true
}

// Batch is the batch that Next moved to, a part of the buffer.
func (s *Scanner) Batch() Batch { return Batch(s.buf[s.at : s.at+s.size : s.at+s.size]) }

// At is where Batch starts in the buffer.
func (s *Scanner) At() int { return s.at }

// End is where the last whole batch ends. Once Next has returned false, bytes
// after it are a batch's beginning (Err is nil) or no batch.
func (s *Scanner) End() int { return s.next }

// Err is ErrCorrupt or ErrInvalid, as a *BatchError, where Next met bytes that
// are no batch.
func (s *Scanner) Err() error { return s.err }

// ParseBatch returns the first batch of buf and what follows it. Other than
// Scan it takes a batch that is not all there for ErrCorrupt.
func ParseBatch(buf []byte) (b Batch, rest []byte, err error) {
	s := Scan(buf)
	if !s.Next() {
		if s.Err() != nil {
			return nil, buf, s.Err()
		}
		return nil, buf, whole(ErrCorrupt, 0, "%d bytes hold no whole batch", len(buf))
	}
	return s.Batch(), buf[s.End():], nil
}

// SizeOf is the size of the batch that b starts with, of which b need not hold
// more than the first 17 bytes; 0 if b is shorter than that and so does not
// tell. It is for readers that see a log through a small window. It returns
// ErrCorrupt for what is no batch of any magic.
func SizeOf(b []byte) (int, error) { return sizeOf(b) }

// sizeOf has ByteBufferLogInputStream.nextBatchSize's rules.
func sizeOf(b []byte) (int, error) {
	if len(b) < LogOverhead {
		return 0, nil
	}
	length := int32(binary.BigEndian.Uint32(b[atLength:]))
	if length < lowestLength {
		return 0, &BatchError{Err: ErrCorrupt, Byte: atLength, Reason: lengthReason(length)}
	}
	if len(b) <= atMagic {
		return 0, nil
	}
	if magic := b[atMagic]; magic > Magic {
		return 0, &BatchError{Err: ErrCorrupt, Byte: atMagic, Reason: magicReason(magic)}
	}
	return int(length) + LogOverhead, nil
}
