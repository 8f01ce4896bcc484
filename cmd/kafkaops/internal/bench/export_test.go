package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
)

// exportSize is one scripted cluster that the exporter is pointed at.
type exportSize struct {
	partitions, groups, perGroup int
	flags                        string
}

func (s exportSize) String() string {
	return strings.TrimSpace(fmt.Sprintf("%d partitions of RF 3, %d groups of %d %s", s.partitions, s.groups, s.perGroup, s.flags))
}

// BenchmarkExport runs kafkaops export as a process. CPU is of the exporter alone, a
// collection without samples between, so that it is the same on a busy machine;
// what is asked of it stands beside the sizes.
func BenchmarkExport(b *testing.B) {
	kafkaops := binary(b)
	const unhealthy = "--partition-metrics unhealthy --replica-metrics unhealthy"
	for _, size := range []exportSize{
		{600, 50, 60, ""},          // a scrape within 20 ms
		{10_000, 1_000, 10, ""},    // 1.5 s of CPU, a scrape within 100 ms, 300 MiB
		{100_000, 0, 0, unhealthy}, // 10 s, 1.2 GiB
	} {
		b.Run(strconv.Itoa(size.partitions), func(b *testing.B) {
			for b.Loop() {
				f := runExport(b, kafkaops, size)
				b.Logf("%s: %s", size, f)
				b.ReportMetric(f.cpu, "cpu-s/collection")
				b.ReportMetric(f.rssMiB, "MiB")
			}
		})
	}
}

// BenchmarkExportScale compares the cost of one partition, at the largest at most
// 1.3 times that at the smallest.
func BenchmarkExportScale(b *testing.B) {
	kafkaops := binary(b)
	for b.Loop() {
		var smallest, last float64
		for _, partitions := range []int{2_500, 5_000, 10_000, 20_000} {
			f := runExport(b, kafkaops, exportSize{partitions: partitions})
			last = f.cpu / float64(partitions) * 1e6
			if smallest == 0 {
				smallest = last
			}
			b.Logf("%6d partitions: %s, %.0f µs of CPU a partition", partitions, f, last)
		}
		b.ReportMetric(last/smallest, "largest/smallest-per-partition")
	}
}

// exported are the figures of one run.
type exported struct {
	cpu, collection, rssMiB float64 // seconds, seconds
	series, bytes, zipped   int
	plainMs, gzipMs         float64
	// most and median are requests in a collection, to the broker that gets the most
	// and to the one in the middle.
	most, median float64
}

func (f exported) String() string {
	return fmt.Sprintf("%d series, %.1f MB (gzip %.2f MB); a collection: %.2f s of CPU, %.2f s; %.0f requests to a broker, %.0f to one; a scrape: %.0f ms, gzip %.0f ms; peak %.0f MiB",
		f.series, float64(f.bytes)/1e6, float64(f.zipped)/1e6, f.cpu, f.collection, f.median, f.most, f.plainMs, f.gzipMs, f.rssMiB)
}

func exportModel(size exportSize) *fakekafka.Model {
	const brokers, perTopic = 6, 50
	m := fakekafka.NewModel(brokers)
	m.AddTopics("scale", size.partitions/perTopic, perTopic, 3)
	for _, t := range m.Topics {
		for _, p := range t.Partitions {
			p.AppendPerRead = 1 // nothing stands still
		}
	}
	for i := range size.groups {
		g := m.AddGroup(fmt.Sprintf("group-%04d", i), fakekafka.ClassicGroup)
		for n := range size.perGroup {
			at := (i*size.perGroup + n) % size.partitions
			g.Commit(m.Topics[at/perTopic].Name, int32(at%perTopic), 0)
		}
	}
	return m
}

var (
	listeningOn = regexp.MustCompile(`msg="Listening on" address=(\S+)`)
	sample      = regexp.MustCompile(`(?m)^([a-z_]+(?:\{[^}]*})?) (\S+)$`)
)

func runExport(b *testing.B, kafkaops string, size exportSize) exported {
	b.Helper()
	c, err := fakekafka.Listen(exportModel(size))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	const interval = 5 * time.Second
	args := append([]string{
		"export", "-b", c.Bootstrap(), "--web.listen-address", "127.0.0.1:0", "--timeout", "1m",
		"--collect-interval", interval.String(), "--sample-interval", interval.String(), "--max-age", "2m",
	}, strings.Fields(size.flags)...)
	cmd := exec.Command(kafkaops, args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	url := ""
	lines := bufio.NewScanner(stderr)
	for url == "" && lines.Scan() {
		if m := listeningOn.FindStringSubmatch(lines.Text()); m != nil {
			url = "http://" + m[1] + "/metrics"
		}
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	var f exported
	from := exportAfter(b, url, 1)
	c.Reset()
	to := exportAfter(b, url, 4)
	asked := map[int32]float64{}
	for _, r := range c.Requests() {
		asked[r.Broker]++
	}
	n := to[collections] - from[collections]
	f.cpu = (to["process_cpu_seconds_total"] - from["process_cpu_seconds_total"]) / n
	counts := slices.Sorted(maps.Values(asked))
	f.median, f.most = counts[len(counts)/2]/n, counts[len(counts)-1]/n
	f.collection = to["kafkaops_collection_duration_seconds"]
	f.plainMs, f.bytes, f.series = scrapeTimes(b, url, false)
	f.gzipMs, f.zipped, _ = scrapeTimes(b, url, true)
	f.rssMiB = peakMiB(b, cmd.Process.Pid)
	return f
}

const collections = `kafkaops_collections_total{result="complete"}`

// exportAfter waits for the n-th collection, by pages that are as small as they
// can be where only the exporter's own metrics matter.
func exportAfter(b *testing.B, url string, n float64) map[string]float64 {
	b.Helper()
	for limit := time.Now().Add(5 * time.Minute); time.Now().Before(limit); time.Sleep(2 * time.Second) {
		body := get(b, url, false)
		values := map[string]float64{}
		at := max(0, bytes.Index(body, []byte("# HELP kafkaops_up")))
		for _, m := range sample.FindAllSubmatch(body[at:], -1) {
			v, err := strconv.ParseFloat(string(m[2]), 64)
			if err != nil {
				b.Fatal(err)
			}
			values[string(m[1])] = v
		}
		if values[collections] >= n {
			return values
		}
	}
	b.Fatalf("no %v complete collections in time", n)
	return nil
}

func scrapeTimes(b *testing.B, url string, zipped bool) (medianMs float64, size, series int) {
	b.Helper()
	var took []time.Duration
	for range runs {
		began := time.Now()
		body := get(b, url, zipped)
		took = append(took, time.Since(began))
		size = len(body)
		series = bytes.Count(body, []byte("\n")) - bytes.Count(body, []byte("\n#"))
	}
	slices.Sort(took)
	return float64(took[len(took)/2].Microseconds()) / 1000, size, series
}

func get(b *testing.B, url string, zipped bool) []byte {
	b.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "identity")
	if zipped {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

// peakMiB is the largest resident set of a process that still runs.
func peakMiB(b *testing.B, pid int) float64 {
	b.Helper()
	return status(b, pid, "VmHWM:") / 1024
}

// status is a figure of a process's status, in KiB.
func status(b *testing.B, pid int, name string) float64 {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		if kib, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseFloat(strings.Fields(kib)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	return 0
}
