package storage

import (
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Append and Read allocate nothing for a batch or a record, whoever wrote it: all
// that grows, an index's end, does so a few times in a segment's life.
func TestAppendAndReadAllocateNothing(t *testing.T) {
	d := open(t, vfs.NewReal(t.TempDir()), DefaultConfig())
	l := create(t, d, DefaultConfig())
	var es []record.Entry
	for range 500 {
		es = append(es, record.Entry{TimestampMs: testNowMs, Value: make([]byte, 20)})
	}
	for name, batch := range map[string]record.Batch{
		"plain":         build(t, record.Options{}, es...),
		"compressed":    build(t, record.Options{Codec: record.LZ4}, es...),
		"idempotent":    build(t, record.Options{Producer: &record.Producer{ID: 1}}, es...),
		"transactional": build(t, record.Options{Producer: &record.Producer{ID: 2}, Transactional: true}, es...),
		"marker":        marker(t, 0, 0, 2, record.EndTxn{}),
	} {
		from := l.End()
		if n := testing.AllocsPerRun(200, func() {
			batch.SetBaseOffset(int64(l.End()))
			must(t, l.Append(batch, testNowMs))
		}); n > 0 {
			t.Errorf("%s: an append allocates %v times", name, n)
		}
		buf := make([]byte, 0, len(batch))
		if n := testing.AllocsPerRun(200, func() {
			got, err := l.Read(buf, Fetch{From: from, UpTo: l.End(), MaxBytes: len(batch), MinOne: true})
			if err != nil || len(got) != len(batch) {
				t.Fatalf("read at %d: %d bytes, %v", from, len(got), err)
			}
			from += Offset(batch.LastOffsetDelta()) + 1
		}); n > 0 {
			t.Errorf("%s: a read allocates %v times", name, n)
		}
	}
}
