package wire

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// What a frame may make the parser allocate. A body's structs are larger than
// their bytes (an empty topic is 3 bytes and some 80 in memory), never without
// bound: one array length must not allocate what the frame does not hold.
const (
	allocPerByte = 200
	allocBase    = 64 << 10
)

func FuzzParseRequest(f *testing.F) {
	format := kmsg.NewRequestFormatter(kmsg.FormatterClientID("kafkaops"))
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		if body := kmsg.RequestForKey(key); body != nil {
			body.SetVersion(body.MaxVersion())
			f.Add(format.AppendRequest(nil, body, 1)[SizePrefix:])
		}
	}
	metadata := kmsg.NewPtrMetadataRequest()
	metadata.Topics = []kmsg.MetadataRequestTopic{{Topic: new("t1")}}
	f.Add(format.AppendRequest(nil, metadata, 1)[SizePrefix:])
	f.Add([]byte{0, 3, 0, 1, 0, 0, 0, 5, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff})

	f.Fuzz(func(t *testing.T, frame []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		req, err := ParseRequest(frame)
		runtime.ReadMemStats(&after)
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(allocBase+allocPerByte*len(frame)); got > limit {
			t.Errorf("a frame of %d bytes allocated %d, want at most %d", len(frame), got, limit)
		}
		if err != nil {
			return
		}

		// Written again and read again it must come to the same bytes. The first
		// writing may differ from frame: tags out of order, bytes beyond the body.
		out := kmsg.NewRequestFormatter()
		if req.ClientID != nil {
			out = kmsg.NewRequestFormatter(kmsg.FormatterClientID(*req.ClientID))
		}
		first := out.AppendRequest(nil, req.Body, req.CorrelationID)
		again, err := ParseRequest(first[SizePrefix:])
		if err != nil {
			t.Fatalf("parse what was written: %v", err)
		}
		if second := out.AppendRequest(nil, again.Body, again.CorrelationID); !bytes.Equal(first, second) {
			t.Errorf("wrote % x, then % x", first, second)
		}
	})
}
