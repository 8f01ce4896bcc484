package wire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestFrameSize(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		prefix [SizePrefix]byte
		want   int
		bad    int32
	}{
		{name: "smallest", prefix: [4]byte{0, 0, 0, 10}, want: 10},
		{name: "largest", prefix: [4]byte{0x06, 0x40, 0, 0}, want: MaxRequestSize},
		{name: "empty", prefix: [4]byte{}, bad: 0},
		{name: "no room for a header", prefix: [4]byte{0, 0, 0, 9}, bad: 9},
		{name: "one too many", prefix: [4]byte{0x06, 0x40, 0, 1}, bad: MaxRequestSize + 1},
		{name: "two GiB", prefix: [4]byte{0x7f, 0xff, 0xff, 0xff}, bad: 0x7fffffff},
		{name: "negative", prefix: [4]byte{0xff, 0xff, 0xff, 0xff}, bad: -1},
		{name: "HTTP", prefix: [4]byte{'H', 'T', 'T', 'P'}, bad: 0x48545450},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := FrameSize(tt.prefix)
			if tt.want > 0 {
				if err != nil || got != tt.want {
					t.Errorf("got %d, %v, want %d", got, err, tt.want)
				}
				return
			}
			var sizeErr *SizeError
			if !errors.As(err, &sizeErr) || sizeErr.Size != tt.bad {
				t.Errorf("got error %v, want a SizeError of %d", err, tt.bad)
			}
		})
	}
}

func TestParseRequestBytes(t *testing.T) {
	t.Parallel()
	// Written out by hand, so that it holds even where kmsg's formatter errs.
	frame := []byte{
		0, 2, // ListOffsets
		0, 6, // version 6, flexible
		0, 0, 1, 0, // correlation id 256
		0, 3, 'o', 'p', 's', // client id, not compact
		1, 9, 2, 'h', 'i', // one tag, 9, of two bytes
		0xff, 0xff, 0xff, 0xfe, // replica id −2
		0,           // read uncommitted
		2,           // one topic
		3, 't', '1', // its name
		2,          // one partition
		0, 0, 0, 7, // its number
		0xff, 0xff, 0xff, 0xff, // no leader epoch
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, // LATEST
		0, 0, 0, // tags of partition, topic, request
	}
	got, err := ParseRequest(frame)
	if err != nil {
		t.Fatal(err)
	}
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Partition, part.CurrentLeaderEpoch, part.Timestamp = 7, -1, -1
	body := kmsg.NewPtrListOffsetsRequest()
	body.Version, body.ReplicaID = 6, -2
	body.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: "t1", Partitions: []kmsg.ListOffsetsRequestTopicPartition{part}}}
	want := Request{
		Header: Header{Key: 2, Version: 6, CorrelationID: 256, ClientID: new("ops")},
		Body:   body,
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(kmsg.Tags{})); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestParseRequestEveryVersion sends what kmsg's own formatter writes, for every
// key and version, through ParseRequest and back.
func TestParseRequestEveryVersion(t *testing.T) {
	t.Parallel()
	named, unnamed := kmsg.NewRequestFormatter(kmsg.FormatterClientID("c")), kmsg.NewRequestFormatter()
	for key := int16(0); key <= kmsg.MaxKey; key++ {
		body := kmsg.RequestForKey(key)
		if body == nil {
			continue
		}
		for version := int16(0); version <= body.MaxVersion(); version++ {
			if headerWithoutClientID(key, version) {
				continue
			}
			body.SetVersion(version)
			for _, format := range []*kmsg.RequestFormatter{named, unnamed} {
				frame := format.AppendRequest(nil, body, 77)
				got, err := ParseRequest(frame[SizePrefix:])
				if err != nil {
					t.Errorf("%s v%d: %v", kmsg.NameForKey(key), version, err)
					continue
				}
				if got.CorrelationID != 77 || (got.ClientID != nil) != (format == named) {
					t.Errorf("%s v%d: got header %+v", kmsg.NameForKey(key), version, got.Header)
				}
				if again := format.AppendRequest(nil, got.Body, 77); !bytes.Equal(frame, again) {
					t.Errorf("%s v%d: wrote % x, got back % x", kmsg.NameForKey(key), version, frame, again)
				}
			}
		}
	}
}

func TestParseRequestErrors(t *testing.T) {
	t.Parallel()
	header := func(key, version int16, rest ...byte) []byte {
		h := []byte{byte(uint16(key) >> 8), byte(key), byte(uint16(version) >> 8), byte(version), 0, 0, 0, 5, 0xff, 0xff}
		return append(h, rest...)
	}
	tests := []struct {
		name  string
		frame []byte
		want  string
		// header says that the header comes with the error.
		header bool
	}{
		{name: "empty", want: "request header truncated"},
		{name: "half a header", frame: []byte{0, 3, 0, 1, 0}, want: "request header truncated"},
		{name: "client id longer than the frame", frame: []byte{0, 3, 0, 1, 0, 0, 0, 5, 0x7f, 0xff, 'x'}, want: "request header truncated"},
		{name: "client id one byte short", frame: []byte{0, 3, 0, 1, 0, 0, 0, 5, 0, 2, 'x'}, want: "request header truncated"},
		{name: "client id of length −2", frame: []byte{0, 3, 0, 1, 0, 0, 0, 5, 0xff, 0xfe}, want: "request header truncated"},
		{name: "no tags where flexible", frame: header(3, 12), want: "request header truncated"},
		{name: "four billion tags", frame: header(3, 12, 0xff, 0xff, 0xff, 0xff, 0x0f), want: "request header truncated"},
		{name: "tag beyond the frame", frame: header(3, 12, 1, 0, 200, 1), want: "request header truncated"},
		{name: "varint beyond 32 bits", frame: header(3, 12, 0x80, 0x80, 0x80, 0x80, 0x10, 0), want: "request header truncated"},
		{name: "unknown key", frame: header(999, 0), want: "unknown API key 999", header: true},
		{name: "negative key", frame: header(-1, 0), want: "unknown API key -1", header: true},
		{name: "version to come", frame: header(18, 99), want: "unknown version 99 of ApiVersions", header: true},
		{name: "negative version", frame: header(3, -1), want: "unknown version -1 of Metadata", header: true},
		{name: "header without client id", frame: header(7, 0), want: "unknown version 0 of ControlledShutdown", header: true},
		{name: "body cut", frame: header(2, 1, 0xff, 0xff), want: "parse ListOffsets v1: response did not contain enough data to be valid", header: true},
		{name: "array of two billion", frame: header(3, 1, 0x7f, 0xff, 0xff, 0xff), want: "parse Metadata v1: response did not contain enough data to be valid", header: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseRequest(tt.frame)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got error %v, want %s", err, tt.want)
			}
			if got.Body != nil {
				t.Errorf("got body %+v with an error", got.Body)
			}
			if (got.CorrelationID == 5) != tt.header {
				t.Errorf("got header %+v, want one: %t", got.Header, tt.header)
			}
		})
	}
}
