package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

func deflate(tb testing.TB, c Codec, src []byte) []byte {
	tb.Helper()
	out, err := new(Deflater).Append(nil, c, src)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestCodecNames(t *testing.T) {
	t.Parallel()
	var got []string
	for c := range Codec(6) {
		got = append(got, c.String())
	}
	if want := "none gzip snappy lz4 zstd codec 5"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// Up to the limit and not a byte beyond, whatever the buffer was used for before.
func TestInflateLimit(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	for _, c := range codecs[1:] {
		in := NewInflater(limit)
		for _, n := range []int{0, 1, limit - 1, limit, limit + 1, 10 * limit, 7} {
			src := bytes.Repeat([]byte("kafka"), n/5+1)[:n]
			got, err := in.Inflate(c, deflate(t, c, src))
			if n > limit {
				if !errors.Is(err, ErrTooLarge) {
					t.Errorf("%v of %d bytes: got %v, want ErrTooLarge", c, n, err)
				}
				continue
			}
			if err != nil || !bytes.Equal(got, src) {
				t.Errorf("%v of %d bytes: got %d, %v", c, n, len(got), err)
			}
			if cap(in.buf) > limit+zstdSlack {
				t.Errorf("%v of %d bytes: a buffer of %d", c, n, cap(in.buf))
			}
		}
	}
}

// A batch beyond the limit is refused as MESSAGE_TOO_LARGE.
func TestAssignInflateLimit(t *testing.T) {
	t.Parallel()
	for _, c := range codecs[1:] {
		b := build(t, Options{Codec: c}, entries(100, testNowMs)...)
		_, err := NewValidator(1000).Assign(b, DefaultRules(), Stamp{NowMs: testNowMs})
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%v: got %v, want ErrTooLarge", c, err)
		}
	}
}

func TestInflateRefuses(t *testing.T) {
	t.Parallel()
	src := bytes.Repeat([]byte("kafka"), 1000)
	xerial := deflate(t, Snappy, src)
	// What repeats at the same distance with changes between is what S2 writes
	// shorter than snappy can.
	varied := bytes.Repeat([]byte("a topic, a partition, an offset, a leader epoch; "), 100)
	for i := range varied {
		if i%61 == 0 {
			varied[i] = byte(i)
		}
	}
	chunk := func(size uint32, block ...byte) []byte {
		return append(binary.BigEndian.AppendUint32(slices.Clone(xerial[:xerialHeader]), size), block...)
	}

	for _, tc := range []struct {
		name string
		c    Codec
		src  []byte
		want error
	}{
		{"a codec that is none", 5, src, ErrCodec},
		{"gzip: no header", Gzip, src, ErrInvalid},
		{"gzip: cut", Gzip, deflate(t, Gzip, src)[:20], ErrInvalid},
		{"gzip: nothing", Gzip, nil, ErrInvalid},
		{"lz4: no frame", LZ4, src, ErrInvalid},
		{"lz4: nothing", LZ4, nil, ErrInvalid},
		{"lz4: blocks that refer to each other", LZ4, linkedLZ4(t, src), ErrInvalid},
		{"lz4: cut", LZ4, deflate(t, LZ4, src)[:20], ErrInvalid},
		{"zstd: no frame", Zstd, src, ErrInvalid},
		{"zstd: cut", Zstd, deflate(t, Zstd, src)[:20], ErrInvalid},
		{"zstd: a window beyond the limit", Zstd, []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0xa0, 1, 0, 0}, ErrTooLarge},
		{"snappy: no block", Snappy, bytes.Repeat([]byte{0xff}, 20), ErrInvalid},
		{"snappy: nothing", Snappy, nil, ErrInvalid},
		{"snappy: half a header", Snappy, xerial[:12], ErrInvalid},
		{"snappy: half a length", Snappy, xerial[:18], ErrInvalid},
		{"snappy: negative length", Snappy, chunk(1<<31, 0), ErrInvalid},
		{"snappy: length beyond the end", Snappy, chunk(5, 0), ErrInvalid},
		{"snappy: promises more than it can hold", Snappy, chunk(5, 0xff, 0xff, 0xff, 0x7f, 0), ErrInvalid},
		{"snappy: S2's extensions", Snappy, s2.EncodeBest(nil, varied), ErrInvalid},
		{"snappy: a block of less than it says", Snappy, chunk(3, 2, 0, 'a'), ErrInvalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := NewInflater(1<<20).Inflate(tc.c, tc.src); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

// linkedLZ4 is a frame that a reader of linked blocks reads, as Kafka's is not:
// its flag cleared, and the header's checksum found by trying.
func linkedLZ4(t *testing.T, src []byte) []byte {
	t.Helper()
	const checksum = 6 // its place, after magic, flags and block size
	frame := deflate(t, LZ4, src)
	frame[4] &^= lz4IndependentBlock
	for c := range 256 {
		frame[checksum] = byte(c)
		if got, err := io.ReadAll(lz4.NewReader(bytes.NewReader(frame))); err == nil && bytes.Equal(got, src) {
			return frame
		}
	}
	t.Fatal("no checksum fits")
	return nil
}

// Other clients than Java's write snappy without a frame, and some several
// frames of zstd.
func TestInflateOthers(t *testing.T) {
	t.Parallel()
	src := bytes.Repeat([]byte("kafka"), 20_000)
	in := NewInflater(1 << 20)
	if got, err := in.Inflate(Snappy, snappy.Encode(nil, src)); err != nil || !bytes.Equal(got, src) {
		t.Errorf("bare snappy: %d bytes, %v", len(got), err)
	}
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	frames := e.EncodeAll(src[50_000:], e.EncodeAll(src[:50_000], nil))
	if got, err := in.Inflate(Zstd, frames); err != nil || !bytes.Equal(got, src) {
		t.Errorf("two frames of zstd: %d bytes, %v", len(got), err)
	}
	if got, err := in.Inflate(None, src); err != nil || !bytes.Equal(got, src) {
		t.Errorf("none: %d bytes, %v", len(got), err)
	}
}
