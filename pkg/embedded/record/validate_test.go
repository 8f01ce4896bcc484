package record

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testNowMs = 1_750_000_000_000

// The cases that Kafka was asked about, without Kafka.
func TestAssignVerdicts(t *testing.T) {
	t.Parallel()
	v := NewValidator(DefaultInflateLimit)
	for _, tc := range cases() {
		t.Run(tc.name, func(t *testing.T) {
			sent := tc.make(t, testNowMs)
			rules := DefaultRules()
			caseTopics[tc.topic].rules(&rules)
			before := bytes.Clone(sent)
			res, err := v.Assign(sent, rules, Stamp{Offset: 100, LeaderEpoch: 7, NowMs: testNowMs + 1})
			if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
				t.Fatalf("got %v, want %v", err, tc.want)
			}
			if err != nil {
				var be *BatchError
				if !errors.As(err, &be) || be.Reason == "" {
					t.Errorf("got %#v, want a *BatchError with a reason", err)
				}
				if !bytes.Equal(sent, before) {
					t.Error("the batch was refused and changed")
				}
				return
			}
			checkAssigned(t, res, tc, before, rules)
		})
	}
}

// checkAssigned checks what an appended batch must be, however it was sent.
func checkAssigned(t *testing.T, res Result, tc produced, sent []byte, rules Rules) {
	t.Helper()
	b := res.Bytes
	if res.Rebuilt != tc.rebuilt {
		t.Errorf("rebuilt: %v, want %v", res.Rebuilt, tc.rebuilt)
	}
	if err := b.CheckCRC(); err != nil {
		t.Error(err)
	}
	if b.BaseOffset() != 100 || b.LeaderEpoch() != 7 || b.NextOffset() != 100+int64(b.Count()) {
		t.Errorf("offsets %d to %d of %d records, epoch %d", b.BaseOffset(), b.LastOffset(), b.Count(), b.LeaderEpoch())
	}
	if b.LogAppendTime() != rules.LogAppendTime {
		t.Errorf("LogAppendTime: %v, want %v", b.LogAppendTime(), rules.LogAppendTime)
	}
	first, _, err := ParseBatch(sent)
	if err != nil {
		t.Fatal(err)
	}
	appendTime := first.LogAppendTime()
	first[atAttributes+1] &^= attrLogAppendTime // what the producer says of it has no say
	got, want := readAll(t, b), readAll(t, first)
	largest := NoTimestamp
	for i, r := range got {
		largest = max(largest, r.TimestampMs)
		if rules.LogAppendTime {
			want[i].TimestampMs = testNowMs + 1
		}
		want[i].Offset += 100
		if tc.rebuilt {
			want[i].Offset = 100 + int64(i)
		}
	}
	if appendTime && !rules.LogAppendTime {
		largest = first.MaxTimestampMs() // but the header keeps its time, as Kafka's does
	}
	if b.MaxTimestampMs() != largest {
		t.Errorf("max timestamp %d, want %d", b.MaxTimestampMs(), largest)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// Every record at fault is named, with its place in the batch.
func TestRecordErrors(t *testing.T) {
	t.Parallel()
	rules := DefaultRules()
	rules.Compacted = true
	b := build(t, Options{}, Entry{TimestampMs: testNowMs, Key: []byte("k")},
		Entry{TimestampMs: testNowMs}, Entry{TimestampMs: testNowMs + 4_000_000, Key: []byte("k")})
	_, err := NewValidator(DefaultInflateLimit).Assign(b, rules, Stamp{NowMs: testNowMs})
	var be *BatchError
	if !errors.As(err, &be) || !errors.Is(err, ErrTimestamp) {
		t.Fatalf("got %v, want a *BatchError of ErrTimestamp", err)
	}
	want := []RecordError{
		{Index: 1, Reason: "no key, and the topic is compacted"},
		{Index: 2, Reason: "timestamp 1750004000000 is more than 9223372036854775807 ms before or 3600000 ms after now, 1750000000000"},
	}
	if diff := cmp.Diff(want, be.Records); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRecordErrorsAreBounded(t *testing.T) {
	t.Parallel()
	rules := DefaultRules()
	rules.Compacted = true
	b := build(t, Options{}, make([]Entry, 3*maxRecordErrors)...)
	_, err := NewValidator(DefaultInflateLimit).Assign(b, rules, Stamp{NowMs: testNowMs})
	var be *BatchError
	if !errors.As(err, &be) || len(be.Records) != maxRecordErrors || !strings.HasPrefix(be.Reason, "3000 records") {
		t.Errorf("got %d of them, %q", len(be.Records), be.Reason)
	}
}

// The broker's own appends may be control batches, and of any base offset.
func TestAssignInternal(t *testing.T) {
	t.Parallel()
	rules := DefaultRules()
	rules.Internal = true
	rules.KeepCodec, rules.Codec = false, Gzip // control records stay plain
	b, err := AppendControl(nil, Options{BaseOffset: 9, Transactional: true}, testNowMs, EndTxn{Commit: true})
	if err != nil {
		t.Fatal(err)
	}
	res, err := NewValidator(DefaultInflateLimit).Assign(b, rules, Stamp{Offset: 30, LeaderEpoch: 2, NowMs: testNowMs})
	if err != nil {
		t.Fatal(err)
	}
	if res.Rebuilt || res.Bytes.BaseOffset() != 30 || !res.Bytes.Control() || res.Bytes.Codec() != None {
		t.Errorf("got rebuilt %v, base offset %d, control %v, codec %v",
			res.Rebuilt, res.Bytes.BaseOffset(), res.Bytes.Control(), res.Bytes.Codec())
	}
	b[atCount] = 0x80
	if _, err := NewValidator(DefaultInflateLimit).Assign(reseal(b), rules, Stamp{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("negative count: got %v, want ErrInvalid", err)
	}
}

func TestAssignRebuildTooLarge(t *testing.T) {
	t.Parallel()
	rules := DefaultRules()
	rules.KeepCodec, rules.MaxBatchBytes = false, 1000
	b := build(t, Options{Codec: Zstd}, entries(50, testNowMs)...)
	if len(b) > 1000 {
		t.Fatalf("%d bytes compressed: too large before it is rebuilt", len(b))
	}
	if _, err := NewValidator(DefaultInflateLimit).Assign(b, rules, Stamp{NowMs: testNowMs}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	rules.MaxBatchBytes, rules.Codec = 1<<20, 6
	if _, err := NewValidator(DefaultInflateLimit).Assign(b, rules, Stamp{NowMs: testNowMs}); !errors.Is(err, ErrCodec) {
		t.Errorf("to codec 6: got %v, want ErrCodec", err)
	}
}

// A leader's hot path must not allocate, whatever the batch's size.
func TestAssignAllocatesNothing(t *testing.T) {
	b := build(t, Options{}, entries(500, testNowMs)...)
	v := NewValidator(DefaultInflateLimit)
	rules := DefaultRules()
	n := testing.AllocsPerRun(100, func() {
		b.SetBaseOffset(0)
		if _, err := v.Assign(b, rules, Stamp{Offset: 5, NowMs: testNowMs}); err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestCheckReplicated(t *testing.T) {
	t.Parallel()
	var buf []byte
	var ends []int
	for i, epoch := range []int32{1, 1, 3, 3} {
		buf = append(buf, build(t, Options{BaseOffset: 10 + 2*int64(i), LeaderEpoch: epoch}, entries(2, testNowMs-int64(i))...)...)
		ends = append(ends, len(buf))
	}
	none := Replicated{Bytes: buf[:0], First: -1, Last: -1, LeaderEpoch: NoLeaderEpoch, MaxTimestampMs: NoTimestamp}
	for _, tc := range []struct {
		name  string
		buf   []byte
		next  int64
		epoch int32
		want  Replicated
	}{
		{"all", buf, 10, 3, Replicated{buf, 10, 17, 3, testNowMs + 1, 4}},
		{"a hole before", buf, 5, 9, Replicated{buf, 10, 17, 3, testNowMs + 1, 4}},
		{"epoch not known yet", buf, 10, 2, Replicated{buf[:ends[1]], 10, 13, 1, testNowMs + 1, 2}},
		{"cut in a batch", buf[:ends[2]-1], 10, 3, Replicated{buf[:ends[1]], 10, 13, 1, testNowMs + 1, 2}},
		{"cut in a header", buf[:ends[0]+5], 10, 3, Replicated{buf[:ends[0]], 10, 11, 1, testNowMs + 1, 1}},
		{"nothing", buf[:0], 10, 3, none},
		{"less than a batch", buf[:70], 10, 3, none},
		{"all of an epoch not known yet", buf, 10, 0, none},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := CheckReplicated(tc.buf, tc.next, tc.epoch)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckReplicatedRefuses(t *testing.T) {
	t.Parallel()
	first := func() Batch { return build(t, Options{BaseOffset: 10}, entries(2, 5)...) }
	second := func(o int64, alter func(Batch) Batch) []byte {
		return append(first(), alter(build(t, Options{BaseOffset: o}, entries(2, 5)...))...)
	}
	sealed := func(f func(Batch) Batch) func(Batch) Batch { return func(b Batch) Batch { return reseal(f(b)) } }
	for _, tc := range []struct {
		name string
		buf  []byte
		want error
	}{
		{"below the follower's LEO", build(t, Options{BaseOffset: 9}, entries(2, 5)...), ErrInvalid},
		{"offset twice", second(11, same), ErrInvalid},
		{"ends before it starts", second(12, sealed(put32(atLastOffsetDelta, 1<<31))), ErrInvalid},
		{"CRC", second(12, put32(atCRC, 7)), ErrCorrupt},
		{"codec", second(12, sealed(put16(atAttributes, 6))), ErrCodec},
		{"magic 0", second(12, func(b Batch) Batch { b[atMagic] = 0; return b }), ErrInvalid},
		{"noise", append(first(), make([]byte, 100)...), ErrCorrupt},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := CheckReplicated(tc.buf, 10, 3)
			if !errors.Is(err, tc.want) {
				t.Fatalf("got %v, want %v", err, tc.want)
			}
			var be *BatchError
			if at := len(tc.buf) - len(first()); errors.As(err, &be) && tc.name != "below the follower's LEO" && be.At == 0 {
				t.Errorf("the fault is at %d, want the second batch, before %d: %v", be.At, at, err)
			}
		})
	}
}
