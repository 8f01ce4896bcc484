package storage

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// The benchmarks here compare with the plain thing, in turns within one run, so
// that a busy machine weighs on both: percent-of-plain is the plain thing's median
// time over ours. One iteration is a whole measurement: make bench BENCH=Storage.

// gib is how many batches of 64 KiB are a GiB.
const gib = 1 << 30 / (64 << 10)

// batch64K is a batch of about 64 KiB, of 62 records of 1 KiB.
func batch64K(b *testing.B) record.Batch { return batchOf(b, 0, 62, 1024) }

func benchLog(b *testing.B) (*Dir, *Log, vfs.FS) {
	b.Helper()
	fsys := vfs.NewReal(b.TempDir())
	d, err := Open(fsys, options(DefaultConfig()), testNowMs)
	must(b, err)
	b.Cleanup(func() { _ = d.Abandon() })
	return d, create(b, d, DefaultConfig()), fsys
}

func appendNext(b *testing.B, l *Log, batch record.Batch) {
	b.Helper()
	batch.SetBaseOffset(int64(l.End()))
	must(b, l.Append(batch, testNowMs))
}

// inTurns does the plain thing and ours so many times, and reports the ratio of the
// medians. It returns our one.
func inTurns(b *testing.B, rounds int, plain, ours func()) time.Duration {
	b.Helper()
	var tPlain, tOurs []time.Duration
	for range rounds {
		t0 := time.Now()
		plain()
		t1 := time.Now()
		ours()
		tPlain, tOurs = append(tPlain, t1.Sub(t0)), append(tOurs, time.Since(t1))
	}
	slices.Sort(tPlain)
	slices.Sort(tOurs)
	p, o := tPlain[rounds/2], tOurs[rounds/2]
	b.ReportMetric(100*p.Seconds()/o.Seconds(), "percent-of-plain")
	return o
}

func reportSpeed(b *testing.B, bytes int, d time.Duration) {
	b.Helper()
	b.ReportMetric(float64(bytes)/d.Seconds()/(1<<20), "MiB/s")
}

// BenchmarkStorageAppend: 64 KiB batches without a sync, and as many plain writes,
// 64 MiB of each.
func BenchmarkStorageAppend(b *testing.B) {
	for b.Loop() {
		d, l, fsys := benchLog(b)
		plain, err := fsys.Open("plain", vfs.Create)
		must(b, err)
		batch := batch64K(b)
		at := int64(0)
		d4 := inTurns(b, 256, func() {
			for range 4 {
				_, err := plain.WriteAt(batch, at)
				must(b, err)
				at += int64(len(batch))
			}
		}, func() {
			for range 4 {
				appendNext(b, l, batch)
			}
		})
		reportSpeed(b, 4*len(batch), d4)
		must(b, plain.Close())
		must(b, d.Abandon())
	}
}

// BenchmarkStorageRead: fetches of 64 KiB in sequence from the page cache, and plain
// preads, 64 MiB of each.
func BenchmarkStorageRead(b *testing.B) {
	d, l, fsys := benchLog(b)
	batch := batch64K(b)
	for range 1024 {
		appendNext(b, l, batch)
	}
	plain, err := fsys.Open(l.active().name, vfs.Read)
	must(b, err)
	buf := make([]byte, 0, 2*len(batch))
	for b.Loop() {
		var o Offset
		// Half a log apart, so that neither reads what the other has just warmed.
		at := 512 * int64(len(batch))
		d4 := inTurns(b, 256, func() {
			for range 4 {
				_, err := plain.ReadAt(buf[:len(batch)], at)
				must(b, err)
				at = (at + int64(len(batch))) % l.SizeBytes()
			}
		}, func() {
			for range 4 {
				got, err := l.Read(buf[:0], Fetch{From: o, UpTo: l.End(), MaxBytes: len(batch), MinOne: true})
				if err != nil || len(got) != len(batch) {
					b.Fatal(len(got), err)
				}
				o = (o + 62) % l.End()
			}
		})
		reportSpeed(b, 4*len(batch), d4)
	}
	must(b, plain.Close())
	must(b, d.Abandon())
}

// BenchmarkStorageOpenAfterCrash: a log of 1 GiB is opened with a scan of all of it,
// and the same bytes are read and summed.
func BenchmarkStorageOpenAfterCrash(b *testing.B) {
	d, l, fsys := benchLog(b)
	batch := batch64K(b)
	for range gib {
		appendNext(b, l, batch)
	}
	// On the disk, as after a reboot, but no checkpoint says so.
	must(b, l.Flush(l.End(), testNowMs))
	names := segmentNames(l)
	must(b, d.Abandon())
	for b.Loop() {
		took := inTurns(b, 15, func() {
			for _, name := range names {
				checksum(b, fsys, name)
			}
		}, func() {
			d, err := Open(fsys, options(DefaultConfig()), testNowMs)
			must(b, err)
			if end := d.Logs()[0].End(); end != gib*62 {
				b.Fatal(end)
			}
			must(b, d.Abandon())
		})
		reportSpeed(b, gib*len(batch), took)
	}
}

func segmentNames(l *Log) []string {
	var names []string
	for _, s := range l.segs {
		names = append(names, s.name)
	}
	return names
}

// checksum reads a file by MiB and takes the CRC-32C of all.
func checksum(b *testing.B, fsys vfs.FS, name string) {
	b.Helper()
	f, err := fsys.Open(name, vfs.Read)
	must(b, err)
	size, err := f.Size()
	must(b, err)
	buf := make([]byte, 1<<20)
	var sum uint32
	for at := int64(0); at < size; {
		n, _ := f.ReadAt(buf, at)
		sum = crc32.Update(sum, castagnoli, buf[:n])
		at += int64(n)
	}
	if sum == 0 {
		b.Fatal("a file of zeros")
	}
	must(b, f.Close())
}

// BenchmarkStorageOpenAfterCleanStop: of a log of 1 GiB no segment is read, so it
// takes as long as one of 1 MiB, which is the plain thing here.
func BenchmarkStorageOpenAfterCleanStop(b *testing.B) {
	roots := map[int]vfs.FS{}
	for _, chunks := range []int{16, gib} {
		d, l, fsys := benchLog(b)
		batch := batch64K(b)
		for range chunks {
			appendNext(b, l, batch)
		}
		must(b, d.Close(1, testNowMs))
		roots[chunks] = fsys
	}
	openOnce := func(chunks int) {
		fsys := &countingFS{FS: roots[chunks]}
		d, err := Open(fsys, options(DefaultConfig()), testNowMs)
		must(b, err)
		if got := d.Logs()[0].End(); got != Offset(chunks*62) {
			b.Fatal(got)
		}
		for _, call := range fsys.reads {
			if strings.HasSuffix(call, logSuffix) || strings.HasSuffix(call, indexSuffix) {
				b.Fatal(fmt.Sprint("after a clean stop: ", call))
			}
		}
		must(b, d.Close(1, testNowMs))
	}
	for b.Loop() {
		inTurns(b, 9, func() { openOnce(16) }, func() { openOnce(gib) })
	}
}
