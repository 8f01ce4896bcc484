package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// DefaultInflateLimit is what one batch may decompress to, in bytes: sixty times
// the default of max.message.bytes. Kafka has no such bound, since it never
// holds a whole batch decompressed; honest batches are far below.
const DefaultInflateLimit = 64 << 20

// minInflate is the first size of the buffer, in bytes: a batch of the Java
// producer's default batch.size.
const minInflate = 16 << 10

// Inflater decompresses the records of batches into one buffer, which it uses
// again. It is not for two goroutines at once.
type Inflater struct {
	limit int
	buf   []byte
	src   bytes.Reader
	// Built when first needed: most partitions see one codec.
	gzip *gzip.Reader
	lz4  *lz4.Reader
	zstd *zstd.Decoder
}

// NewInflater returns an Inflater that refuses what decompresses to more than
// limit bytes. Its buffer grows to what was the largest so far, and what the
// codecs' own buffers need is bounded by limit too, but for lz4, whose blocks
// may take 4 MiB.
func NewInflater(limit int) *Inflater { return &Inflater{limit: limit} }

// Inflate returns src decompressed, until the next call; src itself if c is
// None. Errors are ErrCodec for a codec that does not exist, ErrTooLarge beyond
// the limit, and ErrInvalid where src is not what c writes.
func (in *Inflater) Inflate(c Codec, src []byte) ([]byte, error) {
	var out []byte
	var err error
	switch c {
	case None:
		return src, nil
	case Gzip:
		out, err = in.inflateGzip(src)
	case Snappy:
		out, err = in.inflateSnappy(src)
	case LZ4:
		out, err = in.inflateLZ4(src)
	case Zstd:
		out, err = in.inflateZstd(src)
	default:
		return nil, fmt.Errorf("%w: %v", ErrCodec, c)
	}
	switch {
	case errors.Is(err, ErrTooLarge):
		return nil, fmt.Errorf("%w: %v decompresses to more than %d bytes", ErrTooLarge, c, in.limit)
	case err != nil:
		return nil, fmt.Errorf("%w: %v: %w", ErrInvalid, c, err)
	}
	return out, nil
}

// sentinel is the one of Inflate's errors that err is.
func sentinel(err error) error {
	for _, s := range []error{ErrCodec, ErrTooLarge} {
		if errors.Is(err, s) {
			return s
		}
	}
	return ErrInvalid
}

func (in *Inflater) inflateGzip(src []byte) ([]byte, error) {
	in.src.Reset(src)
	if in.gzip == nil {
		in.gzip = new(gzip.Reader)
	}
	if err := in.gzip.Reset(&in.src); err != nil {
		return nil, err
	}
	return in.readAll(in.gzip)
}

// What an LZ4 frame of Kafka starts with: the magic number, little-endian, and
// flags. Its readers need blocks that do not refer to each other
// (Lz4BlockInputStream.readHeader), so others must not get into a log.
const (
	lz4Magic            = 0x184d2204
	lz4IndependentBlock = 0x20
)

var errLZ4Frame = errors.New("not a frame of independent blocks")

func (in *Inflater) inflateLZ4(src []byte) ([]byte, error) {
	if len(src) < 5 || binary.LittleEndian.Uint32(src) != lz4Magic || src[4]&lz4IndependentBlock == 0 {
		return nil, errLZ4Frame
	}
	in.src.Reset(src)
	if in.lz4 == nil {
		in.lz4 = lz4.NewReader(&in.src)
	}
	in.lz4.Reset(&in.src)
	return in.readAll(in.lz4)
}

// readAll reads r into the buffer, which doubles up to the limit.
func (in *Inflater) readAll(r io.Reader) ([]byte, error) {
	in.buf = in.buf[:0]
	for {
		if len(in.buf) == cap(in.buf) && !in.grow(max(minInflate, 2*cap(in.buf))) {
			// Full to the limit: fine if nothing more comes.
			switch n, err := io.ReadFull(r, make([]byte, 1)); {
			case n > 0:
				return nil, ErrTooLarge
			case err == io.EOF:
				return in.buf, nil
			default:
				return nil, err
			}
		}
		n, err := r.Read(in.buf[len(in.buf):cap(in.buf)])
		in.buf = in.buf[:len(in.buf)+n]
		if err == io.EOF {
			return in.buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// grow makes the buffer hold n bytes, or limit if that is less; it reports
// whether it became larger.
func (in *Inflater) grow(n int) bool {
	n = min(n, in.limit)
	if n <= cap(in.buf) {
		return false
	}
	in.buf = append(make([]byte, 0, n), in.buf...)
	return true
}

func (in *Inflater) inflateZstd(src []byte) ([]byte, error) {
	if in.zstd == nil {
		// One goroutine, the caller's. The window of a frame is memory too.
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(uint64(in.limit)))
		if err != nil {
			return nil, err
		}
		in.zstd = d
	}
	out, err := in.zstd.DecodeAll(src, in.buf[:0])
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = ErrTooLarge
	}
	if cap(out) > cap(in.buf) && cap(out) <= in.limit+zstdSlack {
		in.buf = out[:0] // keep it, unless it grew beyond the bound
	}
	return out, err
}

// zstdSlack is what the decoder allocates beyond a frame's content size.
const zstdSlack = 4 << 10

// The Java library that Kafka uses (xerial's) frames snappy: a magic, two
// versions, then chunks of a length (4 bytes, big-endian) and a block each.
// Other clients write one bare block. Kafka reads both.
var xerialMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const (
	xerialHeader = 16
	// snappyRatio is more than a block can expand: its densest element makes 64
	// bytes of 3. A block that promises more is not worth the memory.
	snappyRatio = 22
)

var errSnappyFrame = errors.New("a chunk's length is beyond the end, or promises what it cannot hold")

func (in *Inflater) inflateSnappy(src []byte) ([]byte, error) {
	in.buf = in.buf[:0]
	if !bytes.HasPrefix(src, xerialMagic) {
		return in.buf, in.snappyBlock(src)
	}
	if len(src) < xerialHeader {
		return nil, errSnappyFrame
	}
	for src = src[xerialHeader:]; len(src) > 0; {
		if len(src) < 4 {
			return nil, errSnappyFrame
		}
		size := int(int32(binary.BigEndian.Uint32(src)))
		if src = src[4:]; size < 0 || size > len(src) {
			return nil, errSnappyFrame
		}
		if err := in.snappyBlock(src[:size]); err != nil {
			return nil, err
		}
		src = src[size:]
	}
	return in.buf, nil
}

// snappyBlock appends one block, decompressed, to the buffer. What it says to
// decompress to is checked before memory is spent on it.
func (in *Inflater) snappyBlock(block []byte) error {
	size, err := snappy.DecodedLen(block)
	if err != nil {
		return err
	}
	if size > snappyRatio*len(block) {
		return errSnappyFrame
	}
	start := len(in.buf)
	if need := start + size; need > cap(in.buf) {
		if need > in.limit {
			return ErrTooLarge
		}
		in.grow(max(need, 2*cap(in.buf), minInflate))
	}
	out := in.buf[start : start+size : start+size]
	// Strict: not the extensions of S2, which Java does not read.
	if _, err := snappy.DecodeStrict(out, block); err != nil {
		return err
	}
	in.buf = in.buf[:start+size]
	return nil
}
