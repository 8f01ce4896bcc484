package record

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy/xerial"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Deflater compresses records as Kafka's producer does: each codec at its
// default level, snappy in xerial's framing, LZ4 in independent blocks of 64
// KiB. The bytes are not the same as Java's, their meaning is. It is not for
// two goroutines at once; the zero value is ready.
type Deflater struct {
	out  bytes.Buffer
	gzip *gzip.Writer
	lz4  *lz4.Writer
	zstd *zstd.Encoder
}

// Append appends src, compressed, to dst. It returns ErrCodec for a codec that
// does not exist.
func (d *Deflater) Append(dst []byte, c Codec, src []byte) ([]byte, error) {
	d.out.Reset()
	switch c {
	case None:
		return append(dst, src...), nil
	case Gzip:
		return append(dst, d.deflateGzip(src)...), nil
	case Snappy:
		// Encode takes what is in its dst for a frame begun; room lets it write in place.
		frame := xerial.Encode(make([]byte, 0, xerialHeader+len(src)+len(src)/4+64), src)
		return append(dst, frame...), nil
	case LZ4:
		frame, err := d.deflateLZ4(src)
		return append(dst, frame...), err
	case Zstd:
		if d.zstd == nil {
			e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
			if err != nil {
				return dst, err
			}
			d.zstd = e
		}
		return d.zstd.EncodeAll(src, slices.Grow(dst, len(src)/2)), nil
	default:
		return dst, fmt.Errorf("%w: %v", ErrCodec, c)
	}
}

// deflateGzip cannot fail: a bytes.Buffer takes everything.
func (d *Deflater) deflateGzip(src []byte) []byte {
	if d.gzip == nil {
		d.gzip = gzip.NewWriter(&d.out)
	}
	d.gzip.Reset(&d.out)
	_, _ = d.gzip.Write(src)
	_ = d.gzip.Close()
	return d.out.Bytes()
}

func (d *Deflater) deflateLZ4(src []byte) ([]byte, error) {
	if d.lz4 == nil {
		d.lz4 = lz4.NewWriter(&d.out)
		if err := d.lz4.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false)); err != nil {
			return nil, err
		}
	}
	d.lz4.Reset(&d.out)
	if _, err := d.lz4.Write(src); err != nil {
		return nil, err
	}
	if err := d.lz4.Close(); err != nil {
		return nil, err
	}
	return d.out.Bytes(), nil
}
