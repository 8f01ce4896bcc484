package record

import "fmt"

// Codec is how a batch's records are compressed, by its number in attributes.
type Codec int8

// The codecs of Kafka.
const (
	None Codec = iota
	Gzip
	Snappy
	LZ4
	Zstd
)

// valid reports whether c is one of the codecs.
func (c Codec) valid() bool { return c >= None && c <= Zstd }

// String is the codec's name as compression.type has it.
func (c Codec) String() string {
	switch c {
	case None:
		return "none"
	case Gzip:
		return "gzip"
	case Snappy:
		return "snappy"
	case LZ4:
		return "lz4"
	case Zstd:
		return "zstd"
	default:
		return fmt.Sprintf("codec %d", int8(c))
	}
}
