package isrlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// busyLog is a log of so many records: partitions whose followers leave and come back, and
// the no-ops in between.
func busyLog(tb testing.TB, records int64, partitions int32) []byte {
	tb.Helper()
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
	for i := range partitions {
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
	const most = 2 << 20
	data := busyLog(t, 100_000, 1000)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, events := replayAll(t, data)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > most {
		t.Errorf("a replay of %d events keeps %d bytes, want at most %d", events, kept, most)
	}
	if events < 49_000 {
		t.Errorf("%d events, want nearly one of two records", events)
	}
	runtime.KeepAlive(r)
}

// BenchmarkIsrState is what a reader keeps while it follows: the state of every
// partition, of 100,000 of RF 3 here, in topics of 50.
func BenchmarkIsrState(b *testing.B) {
	const partitions, perTopic = 100_000, 50
	w := newLog(0)
	var values [][]byte
	for i := range int32(partitions) {
		name := fmt.Sprintf("topic-%06d", i/perTopic)
		records := []kraft.Record{&kraft.Partition{TopicID: topicID(name), PartitionID: i % perTopic, Replicas: []int32{1, 2, 3}, ISR: []int32{1, 2, 3}, Leader: 1}}
		if i%perTopic == 0 {
			records = []kraft.Record{&kraft.Topic{Name: name, TopicID: topicID(name)}, records[0]}
		}
		for _, rec := range records {
			value, err := kraft.Append(nil, rec, kraft.MetadataVersion(30).RecordVersion(rec))
			if err != nil {
				b.Fatal(err)
			}
			values = append(values, value)
		}
		if len(values) > 1000 || i == partitions-1 {
			w.values(0, nil, values)
			values = nil
		}
	}
	for b.Loop() {
		before := heapInUse()
		r, events := replayAll(b, w.bytes)
		after := heapInUse()
		if events != partitions {
			b.Fatalf("%d events", events)
		}
		b.ReportMetric(float64(after-before)/partitions, "B/partition")
		runtime.KeepAlive(r)
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkIsrReplay reads a directory of a million records, half of them no-ops: in about
// 2 s and at most 100 MiB.
func BenchmarkIsrReplay(b *testing.B) {
	dir := b.TempDir()
	write := func() {
		data := busyLog(b, 1_000_000, 10_000)
		if err := os.WriteFile(filepath.Join(dir, logName(0)), data, 0o600); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(data)))
	}
	write()
	runtime.GC() // what was written is not what is measured
	var peak uint64
	for b.Loop() {
		d, err := OpenDir(dir)
		if err != nil {
			b.Fatal(err)
		}
		events := 0
		to := reads(nil)
		to.Event = func(inspect.IsrEvent) { events++ }
		peak = max(peak, heapDuring(func() { err = d.Read(b.Context(), Span{}, to) }))
		if err != nil || events < 500_000 {
			b.Fatalf("%d events, %v", events, err)
		}
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MiB")
}

// heapDuring is the most bytes of heap, garbage included, that were in use meanwhile.
func heapDuring(do func()) (most uint64) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	do()
	close(done)
	wg.Wait()
	return most
}

// BenchmarkIsrSince reads the last hour of a week of 1.2 million records, 86 MB, before
// whose newest snapshot something happened: at most 2 MB and a second. Wide says what is
// read where it lies where nobody looks.
func BenchmarkIsrSince(b *testing.B) {
	behind := func(start int64, pepoch int) *fakeController {
		w := longAgo(b, aWeek)
		f := startController(b, 100, w)
		f.start, f.newest = start, snapshotID{inspect.Offset(w.next - 600), 1} // 5 min
		f.snapshots[f.newest] = snapshotOf(b, fmt.Sprintf("topic t\npartition t/0 replicas=1,2,3 isr=1,3 leader=1 pepoch=%d", pepoch))
		if start > 0 {
			f.snapshots[snapshotID{inspect.Offset(start), 1}] = snapshotOf(b, "topic t\npartition t/0 replicas=1,2,3 isr=1,2,3 leader=1 pepoch=2")
		}
		return f
	}
	for _, bb := range []struct {
		name string
		make func() *fakeController
	}{
		{"unchanged-since-the-start", func() *fakeController { return behind(2000, 3) }},
		{"changed-3h-ago", func() *fakeController { return behind(0, 3) }},
		{"restarted-4d-ago", func() *fakeController { return old(b, aWeek) }},
		{"wide", func() *fakeController {
			w := idleLog(b, aWeek, story1, map[int64]string{600_010: "change t/0 isr=1,3", 600_000: "change t/0 isr=1,2,3", 2400: "change t/0 isr=1,3"})
			f := startController(b, 100, w)
			f.newest = snapshotID{inspect.Offset(w.next - 600), 1}
			f.snapshots[f.newest] = snapshotOf(b, "topic t\npartition t/0 replicas=1,2,3 isr=1,3 leader=1 pepoch=3")
			return f
		}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			f := bb.make()
			since := f.log.now().Add(-time.Hour)
			b.ResetTimer()
			n := 0
			for b.Loop() {
				var events []inspect.IsrEvent
				if err := reader(f).Read(b.Context(), Span{Since: since}, reads(&events)); err != nil || len(events) == 0 {
					b.Fatalf("%d events, %v", len(events), err)
				}
				n++
			}
			b.ReportMetric(float64(f.sent)/float64(n)/1e6, "MB-read")
			b.ReportMetric(float64(f.fetches)/float64(n), "answers")
		})
	}
}
