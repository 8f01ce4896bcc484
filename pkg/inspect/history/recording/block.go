package recording

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
)

// marker begins a block. Whoever takes the file for text breaks it.
var marker = []byte{0x89, 'K', 'O', 'P', 'S', '\r', '\n', 0x1a}

const (
	headerSize = 40
	// maxPayload bounds a block, and with it what a reader needs of memory.
	maxPayload = 1 << 20
	// fullPayload is when a writer begins another one.
	fullPayload = 64 << 10
)

// kind says what a payload is.
type kind uint16

const (
	kindHead  kind = 1
	kindIsr   kind = 2
	kindLooks kind = 3
)

// flagMore: the commit goes on in the next block.
const flagMore uint16 = 1

// block is one, with its payload.
type block struct {
	kind        kind
	flags       uint16
	first, last int64 // ms
	payload     []byte
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendTo appends the block's bytes.
func (b *block) appendTo(out []byte) []byte {
	at := len(out)
	out = append(out, marker...)
	out = binary.BigEndian.AppendUint16(out, uint16(b.kind))
	out = binary.BigEndian.AppendUint16(out, b.flags)
	out = binary.BigEndian.AppendUint32(out, uint32(len(b.payload)))
	out = binary.BigEndian.AppendUint64(out, uint64(b.first))
	out = binary.BigEndian.AppendUint64(out, uint64(b.last))
	out = binary.BigEndian.AppendUint32(out, crc32.Checksum(b.payload, castagnoli))
	out = binary.BigEndian.AppendUint32(out, crc32.Checksum(out[at:], castagnoli))
	return append(out, b.payload...)
}

// scanner finds the blocks of a file, one after the other. It holds one at a time.
type scanner struct {
	in *bufio.Reader
	// at is where in the file the next byte lies; size is that of the block that was
	// returned last, which is still in the buffer.
	at   int64
	size int
	// bad is the number of bytes before the block that was returned, or before the
	// end, which belong to none.
	bad int64
}

// newScanner scans so many bytes of a file: what is appended meanwhile is for the next.
func newScanner(in io.Reader, size int64) *scanner {
	return &scanner{in: bufio.NewReaderSize(io.LimitReader(in, size), int(min(size, maxPayload))+headerSize)}
}

// next returns the next whole block, which is good until the one after, or io.EOF.
// s.at is where it ends, once returned.
func (s *scanner) next() (b block, err error) {
	s.drop(s.size)
	s.size, s.bad = 0, 0
	for {
		b, ok, err := s.peek()
		switch {
		case err != nil:
			return b, err
		case ok:
			return b, nil
		}
		n, err := s.distance()
		if err != nil {
			return b, err
		}
		s.drop(n)
		s.bad += int64(n)
	}
}

// start and end are where the last returned block lies.
func (s *scanner) start() int64 { return s.at }
func (s *scanner) end() int64   { return s.at + int64(s.size) }

// drop passes over bytes that are in the buffer.
func (s *scanner) drop(n int) {
	n, _ = s.in.Discard(n) // they were peeked at
	s.at += int64(n)
}

// peek looks whether a block begins here.
func (s *scanner) peek() (b block, ok bool, err error) {
	head, err := s.in.Peek(headerSize)
	if len(head) == 0 {
		return b, false, err
	}
	if err != nil && err != io.EOF {
		return b, false, err
	}
	if len(head) < headerSize || !bytes.Equal(head[:len(marker)], marker) ||
		crc32.Checksum(head[:36], castagnoli) != binary.BigEndian.Uint32(head[36:]) {
		return b, false, nil
	}
	length := binary.BigEndian.Uint32(head[12:])
	if length > maxPayload {
		return b, false, nil
	}
	whole, err := s.in.Peek(headerSize + int(length))
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) { // which is more than the file has
		return b, false, err
	}
	if len(whole) < headerSize+int(length) {
		return b, false, nil
	}
	payload := whole[headerSize:]
	if crc32.Checksum(payload, castagnoli) != binary.BigEndian.Uint32(whole[32:]) {
		return b, false, nil
	}
	s.size = len(whole)
	return block{
		kind: kind(binary.BigEndian.Uint16(whole[8:])), flags: binary.BigEndian.Uint16(whole[10:]),
		first: int64(binary.BigEndian.Uint64(whole[16:])), last: int64(binary.BigEndian.Uint64(whole[24:])),
		payload: payload,
	}, true, nil
}

// distance is how far it is to where a marker might begin, or to the end of what is in
// the buffer.
func (s *scanner) distance() (int, error) {
	window, err := s.in.Peek(s.in.Size())
	if err != nil && err != io.EOF {
		return 0, err
	}
	if i := bytes.Index(window[1:], marker); i >= 0 {
		return 1 + i, nil
	}
	if err == io.EOF {
		return len(window), nil
	}
	return len(window) - len(marker), nil // the last bytes may begin one
}
