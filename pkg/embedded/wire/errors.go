package wire

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// ErrTruncated says that a frame ends inside its header.
var ErrTruncated = errors.New("request header truncated")

// SizeError is a size prefix that no request can have.
type SizeError struct {
	// Size is what the prefix said; negative where its first bit is set.
	Size int32
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("frame of %d bytes: a request has %d to %d", e.Size, MinRequestSize, MaxRequestSize)
}

// KeyError is a request of a kind that Kafka does not have.
type KeyError struct {
	Key int16
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("unknown API key %d", e.Key)
}

// VersionError is a request in a version whose layout is not known. The header
// that comes with it is complete, so that ApiVersions can be answered in its
// first version, as KIP-511 wants.
type VersionError struct {
	Key     int16
	Version int16
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("unknown version %d of %s", e.Version, kmsg.NameForKey(e.Key))
}

// BodyError is a request whose body is not what its key and version say.
type BodyError struct {
	Key     int16
	Version int16
	Err     error
}

func (e *BodyError) Error() string {
	return fmt.Sprintf("parse %s v%d: %v", kmsg.NameForKey(e.Key), e.Version, e.Err)
}

func (e *BodyError) Unwrap() error { return e.Err }
