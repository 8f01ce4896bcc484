package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording/recordingtest"
)

// BenchmarkRecordedDay is what a day of 1,000 partitions takes, recorded each 2 s: on disk,
// idle at most 10 MiB and busy 250, and to advise on, at most 10 s and 500 MiB. Followers of
// the busy one fall behind four times an hour each.
func BenchmarkRecordedDay(b *testing.B) {
	kafkaops := binary(b)
	day := recordingtest.Options{Partitions: 1000, Lasts: 24 * time.Hour}
	busy := day
	busy.Rate, busy.StallsPerHour, busy.StallFor = 100, 4, 8*time.Second
	for _, bb := range []struct {
		name string
		recordingtest.Options
		mostMiB int64
	}{{"idle", day, 10}, {"busy", busy, 250}} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				file := filepath.Join(b.TempDir(), "day.rec")
				began := time.Now()
				if err := recordingtest.Write(file, bb.Options); err != nil {
					b.Fatal(err)
				}
				wrote := time.Since(began)
				info, err := os.Stat(file)
				if err != nil {
					b.Fatal(err)
				}
				f := measureRuns(b, 3, func() *exec.Cmd { return exec.Command(kafkaops, "tune", "--from", file, "-o", "json") })[0]
				b.ReportMetric(float64(info.Size())/(1<<20), "MiB")
				b.ReportMetric(f.median().Seconds(), "s-tune")
				b.ReportMetric(f.peakMiB, "MiB-tune")
				b.Logf("%.1f MiB, made in %s; tune: %s", float64(info.Size())/(1<<20), round(wrote), f.String())
				if info.Size() > bb.mostMiB<<20 || f.peakMiB > 500 {
					b.Errorf("too large: at most %d MiB, and 500 to advise on", bb.mostMiB)
				}
			}
		})
	}
}
