package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// AppendResponse appends resp as a whole frame to dst, size prefix included, in
// the version that resp has set.
//
// A nil slice is encoded as null in a nullable array. Where Kafka sends an empty
// array, set an empty one: clients fall over the null.
func AppendResponse(dst []byte, correlationID int32, resp kmsg.Response) []byte {
	start := len(dst)
	if r, ok := resp.(*kmsg.FetchResponse); ok {
		dst = slices.Grow(dst, recordBytes(r)) // once, and not by doubling
	}
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

// aroundRecords is more than what comes with a partition's records.
const aroundRecords = 256

func recordBytes(resp *kmsg.FetchResponse) int {
	n := aroundRecords
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			n += aroundRecords + len(resp.Topics[i].Partitions[j].RecordBatches)
		}
	}
	return n
}
