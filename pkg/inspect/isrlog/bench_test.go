package isrlog

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// million is a log of a million records: 10,000 partitions, whose followers leave and
// come back, and the no-ops in between.
func million(tb testing.TB) []byte {
	tb.Helper()
	const records, partitions = 1_000_000, 10_000
	w := newLog(0)
	add := func(recs ...kraft.Record) {
		var values [][]byte
		for _, rec := range recs {
			value, err := kraft.Append(nil, rec, kraft.MetadataVersion(30).RecordVersion(rec))
			if err != nil {
				tb.Fatal(err)
			}
			values = append(values, value)
		}
		w.values(0, nil, values)
	}
	add(&kraft.Topic{Name: "t", TopicID: topicID("t")})
	for i := range int32(partitions) {
		add(&kraft.Partition{TopicID: topicID("t"), PartitionID: i, Replicas: []int32{1, 2, 3}, ISR: []int32{1, 2, 3}, Leader: 1})
	}
	for i := int32(0); w.next < records; i++ {
		w.timeMs += 500
		rec := kraft.NewPartitionChange(topicID("t"), i/2%partitions)
		if rec.ISR = []int32{1, 3}; i%2 == 1 {
			rec.ISR = []int32{1, 2, 3}
		}
		add(rec)
		w.noOp()
	}
	return w.bytes
}

func replayAll(tb testing.TB, data []byte) (*Replay, int) {
	tb.Helper()
	events := 0
	r := NewReplay(inspect.SourceMetadataDir, func(inspect.IsrEvent) { events++ })
	batches := newBatchReader(bytes.NewReader(data))
	for {
		b, err := batches.next()
		if errors.Is(err, io.EOF) {
			r.Flush()
			return r, events
		}
		if err == nil {
			err = b.replay(r, 0)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// TestMemory: what a replay keeps is the partitions, and nothing of what happened.
func TestMemory(t *testing.T) {
	const most = 20 << 20 // 10,000 partitions
	data := million(t)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, events := replayAll(t, data)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > most {
		t.Errorf("a replay of %d events keeps %d bytes, want at most %d", events, kept, most)
	}
	if events < 500_000 {
		t.Errorf("%d events, want half a million", events)
	}
	runtime.KeepAlive(r)
}

func BenchmarkReplayMillion(b *testing.B) {
	data := million(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		replayAll(b, data)
	}
}
