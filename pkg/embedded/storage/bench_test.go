package storage

import (
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// The benchmarks here compare with the plain thing, in turns within one run, so
// that a busy machine weighs on both: percent-of-plain is the plain thing's time
// over ours. Sizes are small; -benchtime=Nx makes them larger.

const chunk = 64 << 10

// batch64K is a batch of about 64 KiB, of records of 1 KiB.
func batch64K(b *testing.B) record.Batch { return batchOf(b, 0, 62, 1024) }

func benchLog(b *testing.B, name string) (*Dir, *Log, vfs.FS) {
	b.Helper()
	fsys := vfs.NewReal(b.TempDir())
	d, err := Open(fsys, options(DefaultConfig()), testNowMs)
	must(b, err)
	b.Cleanup(func() { _ = d.Abandon() })
	l, err := d.Create(TopicPartition{Topic: name}, testID, DefaultConfig(), testNowMs)
	must(b, err)
	return d, l, fsys
}

func appendNext(b *testing.B, l *Log, batch record.Batch) {
	b.Helper()
	batch.SetBaseOffset(int64(l.End()))
	must(b, l.Append(batch, testNowMs))
}

func report(b *testing.B, plain, ours time.Duration) {
	b.Helper()
	b.ReportMetric(100*plain.Seconds()/ours.Seconds(), "percent-of-plain")
	b.ReportMetric(float64(b.N)*chunk/ours.Seconds()/(1<<20), "MiB/s")
}

// BenchmarkAppend: 16 appends of 64 KiB without a sync, and as many plain writes.
func BenchmarkAppend(b *testing.B) {
	_, l, fsys := benchLog(b, "orders")
	plain, err := fsys.Open("plain", vfs.Create)
	must(b, err)
	batch := batch64K(b)
	var tPlain, tOurs time.Duration
	b.ReportAllocs()
	for n := 0; n < b.N; n += 16 {
		t0 := time.Now()
		for range 16 {
			_, err := plain.Append(batch)
			must(b, err)
		}
		t1 := time.Now()
		for range 16 {
			appendNext(b, l, batch)
		}
		tPlain, tOurs = tPlain+t1.Sub(t0), tOurs+time.Since(t1)
	}
	report(b, tPlain, tOurs)
	must(b, plain.Close())
}

// BenchmarkRead: fetches of 64 KiB in sequence from the page cache, and plain preads.
func BenchmarkRead(b *testing.B) {
	_, l, fsys := benchLog(b, "orders")
	batch := batch64K(b)
	for range 512 {
		appendNext(b, l, batch)
	}
	plain, err := fsys.Open(l.active().name, vfs.Read)
	must(b, err)
	buf := make([]byte, 0, 2*chunk)
	var tPlain, tOurs time.Duration
	var o Offset
	var at int64
	b.ReportAllocs()
	// Half a log apart, so that neither reads what the other has just warmed.
	at = 256 * int64(len(batch))
	for n := 0; n < b.N; n += 16 {
		t0 := time.Now()
		for range 16 {
			_, err := plain.ReadAt(buf[:len(batch)], at)
			must(b, err)
			at = (at + int64(len(batch))) % l.SizeBytes()
		}
		t1 := time.Now()
		for range 16 {
			got, err := l.Read(buf[:0], Fetch{From: o, UpTo: l.End(), MaxBytes: len(batch), MinOne: true})
			if err != nil || len(got) != len(batch) {
				b.Fatal(len(got), err)
			}
			o = (o + 62) % l.End()
		}
		tPlain, tOurs = tPlain+t1.Sub(t0), tOurs+time.Since(t1)
	}
	report(b, tPlain, tOurs)
	must(b, plain.Close())
}

// BenchmarkOpenAfterCrash: open with a scan of the whole log, and the same bytes
// read and summed. b.N batches of 64 KiB; 16384x is a GiB.
func BenchmarkOpenAfterCrash(b *testing.B) {
	d, l, fsys := benchLog(b, "orders")
	batch := batch64K(b)
	for range b.N {
		appendNext(b, l, batch)
	}
	// On the disk, as after a reboot, but no checkpoint says so.
	must(b, l.Flush(l.End(), testNowMs))
	name := l.active().name
	must(b, d.Abandon())
	t0 := time.Now()
	checksum(b, fsys, name)
	t1 := time.Now()
	again, err := Open(fsys, options(DefaultConfig()), testNowMs)
	must(b, err)
	t2 := time.Now()
	if again.Logs()[0].End() != Offset(b.N*62) {
		b.Fatal(again.Logs()[0].End())
	}
	report(b, t1.Sub(t0), t2.Sub(t1))
	must(b, again.Abandon())
}

// checksum reads a file by MiB and sums each batch, with nothing around it.
func checksum(b *testing.B, fsys vfs.FS, name string) {
	b.Helper()
	f, err := fsys.Open(name, vfs.Read)
	must(b, err)
	size, err := f.Size()
	must(b, err)
	buf := make([]byte, 1<<20)
	for at := int64(0); at < size; {
		n, _ := f.ReadAt(buf, at)
		s := record.Scan(buf[:n])
		for s.Next() {
			must(b, s.Batch().CheckCRC())
		}
		at += int64(s.End())
	}
	must(b, f.Close())
}

// BenchmarkOpenAfterCleanStop: no segment is read, however large the log.
func BenchmarkOpenAfterCleanStop(b *testing.B) {
	d, l, fsys := benchLog(b, "orders")
	batch := batch64K(b)
	for range 512 {
		appendNext(b, l, batch)
	}
	must(b, d.Close(1, testNowMs))
	for b.Loop() {
		d, err := Open(fsys, options(DefaultConfig()), testNowMs)
		must(b, err)
		b.StopTimer()
		must(b, d.Close(1, testNowMs))
		b.StartTimer()
	}
}
