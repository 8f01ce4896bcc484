package record

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestScan(t *testing.T) {
	t.Parallel()
	one := build(t, Options{BaseOffset: 5}, entries(3, testNowMs)...)
	two := build(t, Options{BaseOffset: 8, Codec: Zstd}, entries(2, testNowMs)...)
	both := append(bytes.Clone(one), two...)
	alter := func(f func(Batch) Batch) []byte { return append(bytes.Clone(one), f(Batch(bytes.Clone(two)))...) }
	for _, tc := range []struct {
		name    string
		buf     []byte
		batches int
		end     int
		err     error
		message string
	}{
		{name: "nothing", buf: nil},
		{name: "both", buf: both, batches: 2, end: len(both)},
		{name: "cut in the records", buf: both[:len(both)-1], batches: 1, end: len(one)},
		{name: "cut in the header", buf: both[:len(one)+HeaderSize-1], batches: 1, end: len(one)},
		{name: "cut before the magic", buf: both[:len(one)+atMagic], batches: 1, end: len(one)},
		{name: "cut in the length", buf: both[:len(one)+LogOverhead-1], batches: 1, end: len(one)},
		{
			name: "zeros", buf: append(bytes.Clone(one), make([]byte, 30)...), batches: 1, end: len(one),
			err: ErrCorrupt, message: "byte 8: length is 0, of any batch at least 14",
		},
		{
			name: "magic of the past", buf: alter(func(b Batch) Batch { b[atMagic] = 0; return b }), batches: 1, end: len(one),
			err: ErrInvalid, message: "byte 16: magic is 0, want 2",
		},
		{
			name: "magic negative", buf: alter(func(b Batch) Batch { b[atMagic] = 0xff; return b }), batches: 1, end: len(one),
			err: ErrCorrupt, message: "byte 16: magic is -1, want 2",
		},
		{
			name: "shorter than a header", buf: alter(put32(atLength, 40)), batches: 1, end: len(one),
			err: ErrCorrupt, message: "52 bytes, a header alone has 61",
		},
		{
			name: "negative length", buf: alter(put32(atLength, 1<<31)), batches: 1, end: len(one),
			err: ErrCorrupt, message: "length is -2147483648",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := Scan(tc.buf)
			n := 0
			for s.Next() {
				if n++; s.Batch().CheckCRC() != nil {
					t.Errorf("batch %d at %d is not what was written", n, s.At())
				}
			}
			if n != tc.batches || s.End() != tc.end || !errors.Is(s.Err(), tc.err) {
				t.Errorf("got %d batches to %d, %v; want %d to %d, %v", n, s.End(), s.Err(), tc.batches, tc.end, tc.err)
			}
			if s.Next() {
				t.Error("Next after the end: true")
			}
			var be *BatchError
			if errors.As(s.Err(), &be) && (be.At != tc.end || !strings.Contains(be.Error(), tc.message)) {
				t.Errorf("got %q at %d, want %q at %d", be, be.At, tc.message, tc.end)
			}
		})
	}
}

func TestParseBatch(t *testing.T) {
	t.Parallel()
	b := build(t, Options{BaseOffset: 5}, entries(3, testNowMs)...)
	got, rest, err := ParseBatch(append(bytes.Clone(b), 1, 2))
	if err != nil || !bytes.Equal(got, b) || !bytes.Equal(rest, []byte{1, 2}) {
		t.Errorf("got %d bytes, rest % x, %v", len(got), rest, err)
	}
	if _, _, err := ParseBatch(b[:70]); !errors.Is(err, ErrCorrupt) {
		t.Errorf("cut: got %v, want ErrCorrupt", err)
	}
	if _, _, err := ParseBatch(put32(atLength, 3)(b)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("length 3: got %v, want ErrCorrupt", err)
	}
}

func TestSizeOf(t *testing.T) {
	t.Parallel()
	b := build(t, Options{}, entries(3, testNowMs)...)
	for n, want := range map[int]int{0: 0, 11: 0, 16: 0, 17: len(b), len(b): len(b)} {
		if got, err := SizeOf(b[:n]); got != want || err != nil {
			t.Errorf("of %d bytes: got %d, %v, want %d", n, got, err, want)
		}
	}
}
