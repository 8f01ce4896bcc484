package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/exporter"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// exportHour tells the child of BenchmarkExportHour where the cluster is, for how
// many minutes to run, and whose series to leave out.
const exportHour = "KAFKAOPS_BENCH_EXPORT_HOUR"

// exportHourChild does what the variable says.
func exportHourChild(job string) {
	var addr string
	var minutes int
	var detail exporter.Detail
	if _, err := fmt.Sscan(job, &addr, &minutes, &detail); err != nil {
		panic(err)
	}
	liveFor(addr, time.Duration(minutes)*time.Minute, detail)
}

// BenchmarkExportHour is the memory of an exporter whose histories are full, every
// sample of every partition being another. It is a process of its own that asks
// scripted brokers in this one; its clock stands still but while it sleeps, so that
// an hour takes a few minutes. 100,000 partitions have room for 17 samples, and need
// no hour.
func BenchmarkExportHour(b *testing.B) {
	for _, size := range []struct {
		exportSize
		minutes int
		detail  exporter.Detail
	}{
		{exportSize{partitions: 600, groups: 50, perGroup: 60}, 65, exporter.DetailAll},
		{exportSize{partitions: 10_000, groups: 1_000, perGroup: 10}, 65, exporter.DetailAll}, // 300 MiB
		{exportSize{partitions: 100_000}, 25, exporter.DetailUnhealthy},                       // 1.2 GiB
	} {
		b.Run(strconv.Itoa(size.partitions), func(b *testing.B) {
			c, err := fakekafka.Listen(exportModel(size.exportSize))
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			for b.Loop() {
				child := exec.Command(os.Args[0])
				child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %s", exportHour, c.Addrs()[0], size.minutes, size.detail))
				child.Stderr = os.Stderr
				out, err := child.Output()
				if err != nil {
					b.Fatal(err)
				}
				b.Logf("%s, %d minutes: %s", size, size.minutes, strings.TrimSpace(string(out)))
			}
		})
	}
}

// jumpingClock passes only while somebody sleeps.
type jumpingClock struct {
	at   time.Time
	end  time.Time
	stop context.CancelFunc
}

func (c *jumpingClock) Now() time.Time { return c.at }

func (c *jumpingClock) Sleep(ctx context.Context, d time.Duration) error {
	if c.at = c.at.Add(d); c.at.After(c.end) {
		c.stop()
	}
	return ctx.Err()
}

// dated gives Snapshots the clock's time.
type dated struct {
	*source.Source
	clock *jumpingClock
}

// Snapshot implements exporter.Snapshotter.
func (d dated) Snapshot(ctx context.Context, q source.Query) (*inspect.Snapshot, error) {
	snap, err := d.Source.Snapshot(ctx, q)
	if err != nil {
		return nil, err
	}
	snap.TakenAt = d.clock.at
	return snap, nil
}

// liveFor runs an exporter for so long by its clock, and prints what it takes.
func liveFor(addr string, span time.Duration, detail exporter.Detail) {
	ctx, cancel := context.WithCancel(context.Background())
	now := time.Now()
	clock := &jumpingClock{at: now, end: now.Add(span), stop: cancel}
	pool := &connect.Pool{}
	defer pool.Close()
	src := dated{source.New(connect.Config{Bootstrap: []string{addr}, Pool: pool}, 2*time.Minute), clock}
	e := exporter.New(exporter.Options{
		Collect: src, Sample: src, CollectInterval: time.Minute, SampleInterval: 10 * time.Second, MaxAge: time.Hour,
		Partitions: detail, Replicas: detail, Requests: pool.Requests, Clock: clock,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	handler, err := e.Handler()
	if err != nil {
		panic(err)
	}
	_ = e.Run(ctx) // it ends with the context
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	kib := func(key string) float64 {
		_, value, _ := strings.Cut(string(status), "\n"+key+":")
		var n float64
		_, _ = fmt.Sscan(value, &n)
		return n / 1024
	}
	body := httptest.NewRecorder()
	handler.ServeHTTP(body, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	_, complete, _ := strings.Cut(body.Body.String(), "\n"+collections+" ")
	complete, _, _ = strings.Cut(complete, "\n")
	fmt.Fprintf(os.Stdout, "%s collections; resident %.0f MiB, at most %.0f MiB\n", complete, kib("VmRSS"), kib("VmHWM"))
}
