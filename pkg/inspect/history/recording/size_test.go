package recording

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// BenchmarkDayOfLooks tells what a day of looks at 1,000 partitions takes, by ten minutes of
// it: on disk, and to write and to read.
func BenchmarkDayOfLooks(b *testing.B) {
	for _, bb := range []struct {
		name  string
		rate  float64
		every time.Duration
	}{{"idle/2s", 0, 2 * time.Second}, {"busy/2s", 100, 2 * time.Second}, {"busy/1s", 100, time.Second}} {
		b.Run(bb.name, func(b *testing.B) {
			for range b.N {
				name := filepath.Join(b.TempDir(), "r")
				w, err := Open(name, "c")
				if err != nil {
					b.Fatal(err)
				}
				ls := newLookSeries(1000, 1)
				var wrote time.Duration
				for range 10 * time.Minute / bb.every {
					s := ls.next(bb.every, bb.rate)
					begin := time.Now()
					if err := w.AppendLook(s); err != nil {
						b.Fatal(err)
					}
					wrote += time.Since(begin)
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
				info, err := os.Stat(name)
				if err != nil {
					b.Fatal(err)
				}
				r, err := Read(name)
				if err != nil {
					b.Fatal(err)
				}
				begin, n := time.Now(), 0
				if err := r.Looks(time.Time{}, time.Time{}, func(*inspect.Snapshot) error { n++; return nil }); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(144*float64(info.Size())/(1<<20), "MiB/day")
				b.ReportMetric(144*time.Since(begin).Seconds(), "s-read/day")
				b.ReportMetric(float64(wrote.Microseconds())/float64(n), "µs/look")
			}
		})
	}
}
