package wire

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestAppendResponse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		key     kmsg.Key
		version int16
		// header is what stands between the size and the body.
		header []byte
	}{
		{name: "not flexible", key: kmsg.ListOffsets, version: 5, header: []byte{0, 0, 0, 9}},
		{name: "flexible", key: kmsg.ListOffsets, version: 6, header: []byte{0, 0, 0, 9, 0}},
		{name: "ApiVersions, not flexible", key: kmsg.ApiVersions, version: 2, header: []byte{0, 0, 0, 9}},
		{name: "ApiVersions, flexible", key: kmsg.ApiVersions, version: 4, header: []byte{0, 0, 0, 9}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resp := kmsg.ResponseForKey(int16(tt.key))
			resp.SetVersion(tt.version)
			before := []byte("what the buffer held")
			got := AppendResponse(before, 9, resp)
			if !bytes.HasPrefix(got, before) {
				t.Fatalf("got %q, want it appended to %q", got, before)
			}
			frame := got[len(before):]
			if size := binary.BigEndian.Uint32(frame); int(size) != len(frame)-SizePrefix {
				t.Errorf("got size %d, want %d", size, len(frame)-SizePrefix)
			}
			want := slices.Concat(tt.header, resp.AppendTo(nil))
			if !bytes.Equal(frame[SizePrefix:], want) {
				t.Errorf("got % x, want % x", frame[SizePrefix:], want)
			}
		})
	}
}
