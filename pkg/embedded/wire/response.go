package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AppendResponse appends resp as a whole frame to dst, size prefix included, in
// the version that resp has set.
//
// A nil slice is encoded as null in a nullable array. Where Kafka sends an empty
// array, set an empty one: clients fall over the null.
func AppendResponse(dst []byte, correlationID int32, resp kmsg.Response) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0) // the size, known at the end
	dst = binary.BigEndian.AppendUint32(dst, uint32(correlationID))
	if resp.IsFlexible() && resp.Key() != int16(kmsg.ApiVersions) {
		dst = append(dst, 0) // no tags
	}
	dst = resp.AppendTo(dst)

	size := len(dst) - start - SizePrefix
	if size > math.MaxInt32 {
		// A wrapped size would make the client read this answer's middle as the
		// next answer's header.
		panic(fmt.Sprintf("response to %s of %d bytes does not fit a frame", kmsg.NameForKey(resp.Key()), size))
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(size))
	return dst
}
