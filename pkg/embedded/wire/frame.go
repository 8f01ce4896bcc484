package wire

import "encoding/binary"

const (
	// SizePrefix is the width of the size that begins every frame.
	SizePrefix = 4

	// MinRequestSize is the smallest header: key, version, correlation id and a
	// null client id.
	MinRequestSize = 2 + 2 + 4 + 2

	// MaxRequestSize is the default of socket.request.max.bytes. Without it, four
	// bytes from anyone make a server allocate 2 GiB.
	MaxRequestSize = 104857600
)

// FrameSize reads a request's size prefix. Its error is a [*SizeError].
//
// The size is still only a claim: read towards it, do not allocate it at once.
func FrameSize(prefix [SizePrefix]byte) (int, error) {
	size := int32(binary.BigEndian.Uint32(prefix[:]))
	if size < MinRequestSize || size > MaxRequestSize {
		return 0, &SizeError{Size: size}
	}
	return int(size), nil
}
