package record

import (
	"errors"
	"math"
	"testing"
)

func TestSequences(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ s, n, want int32 }{
		{0, 0, 0}, {5, 3, 8}, {math.MaxInt32, 1, 0}, {math.MaxInt32, 3, 2}, {math.MaxInt32 - 1, 1, math.MaxInt32},
	} {
		if got := AddSequence(tc.s, tc.n); got != tc.want {
			t.Errorf("%d after %d: got %d, want %d", tc.n, tc.s, got, tc.want)
		}
	}
	b := build(t, Options{Producer: &Producer{ID: 1, BaseSequence: math.MaxInt32}}, entries(3, 0)...)
	if got := b.LastSequence(); got != 1 {
		t.Errorf("last sequence: got %d, want 1", got)
	}
	b = build(t, Options{}, entries(3, 0)...)
	if got := b.LastSequence(); got != NoSequence {
		t.Errorf("last sequence without a producer: got %d", got)
	}
}

func TestOffsetOfMaxTimestamp(t *testing.T) {
	t.Parallel()
	appendMs := int64(77)
	stamps := []Entry{{TimestampMs: 5}, {TimestampMs: 9}, {TimestampMs: 7}, {TimestampMs: 9}}
	for _, c := range codecs {
		for _, tc := range []struct {
			name   string
			opts   Options
			alter  func(Batch) Batch
			offset int64
			ok     bool
			err    error
		}{
			// E17 of KAFKA-16310: the first of those that have it.
			{"create time", Options{BaseOffset: 20, Codec: c}, same, 21, true, nil},
			{"log append time", Options{BaseOffset: 20, Codec: c, LogAppendTimeMs: &appendMs}, same, 20, true, nil},
			{"max timestamp of none", Options{BaseOffset: 20, Codec: c}, put64(atMaxTimestamp, 10), 0, false, nil},
			{"one record more", Options{BaseOffset: 20, Codec: c}, func(b Batch) Batch {
				return put64(atMaxTimestamp, 10)(put32(atCount, 5)(b))
			}, 0, false, ErrInvalid},
			{"negative count", Options{BaseOffset: 20, Codec: c}, put32(atCount, 1<<31), 0, false, ErrInvalid},
		} {
			b := tc.alter(build(t, tc.opts, stamps...))
			offset, ok, err := b.OffsetOfMaxTimestamp(nil)
			if offset != tc.offset || ok != tc.ok || !errors.Is(err, tc.err) {
				t.Errorf("%v, %s: got %d, %v, %v; want %d, %v, %v", c, tc.name, offset, ok, err, tc.offset, tc.ok, tc.err)
			}
		}
	}
}

func TestDeleteHorizon(t *testing.T) {
	t.Parallel()
	b := build(t, Options{}, Entry{TimestampMs: 50})
	if _, ok := b.DeleteHorizonMs(); ok {
		t.Error("a delete horizon that nobody set")
	}
	b = put16(atAttributes, attrDeleteHorizon)(b)
	if ms, ok := b.DeleteHorizonMs(); ms != 50 || !ok {
		t.Errorf("got %d, %v, want 50", ms, ok)
	}
}

// The message is what a person gets to see: where, and what.
func TestBatchErrorText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err  BatchError
		want string
	}{
		{BatchError{Err: ErrTooLarge, At: 5, Byte: -1, Reason: "so"}, "batch too large: batch at byte 5: so"},
		{BatchError{Err: ErrCorrupt, At: 5, Byte: 8, Reason: "so"}, "corrupt batch: batch at byte 5, byte 8: so"},
		{BatchError{Err: ErrInvalid, At: 5, Byte: 8, Inflated: true, Reason: "so"}, "invalid record: batch at byte 5, decompressed byte 8: so"},
	} {
		if got := tc.err.Error(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
	// The fault is where it lies: at the second record's length.
	b := raw(2, body(0, 0, 0, 1, 1, 0), []byte{100})(t, testNowMs)
	_, err := NewValidator(DefaultInflateLimit).Assign(b, DefaultRules(), Stamp{NowMs: testNowMs})
	const want = "invalid record: batch at byte 0, byte 68: record 1 of 2: its length is no varint, negative, or beyond the batch"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Bits that nothing means yet go when the attributes are written again, as
// Kafka has it; what is right already is not touched, nor is the CRC.
func TestSetMaxTimestamp(t *testing.T) {
	t.Parallel()
	b := reseal(put16(atAttributes, 0xff80|attrTransactional)(build(t, Options{}, Entry{TimestampMs: 5})))
	b.SetMaxTimestamp(5, false)
	if got := b.Attributes(); got != 0xff80|attrTransactional {
		t.Errorf("unchanged: attributes %04x", got)
	}
	b.SetMaxTimestamp(6, true)
	if got := b.Attributes(); got != attrTransactional|attrLogAppendTime || b.MaxTimestampMs() != 6 || b.CheckCRC() != nil {
		t.Errorf("changed: attributes %04x, max timestamp %d, CRC %v", got, b.MaxTimestampMs(), b.CheckCRC())
	}
}
