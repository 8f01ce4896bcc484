package bench

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

var cluster = kafkatest.Share(kafkatest.Options{Brokers: 3, HeapMB: 512})

func TestMain(m *testing.M) {
	if job := os.Getenv(exportHour); job != "" {
		exportHourChild(job)
		return
	}
	if dir := os.Getenv(engineProfiles); dir != "" {
		profiledChild(dir)
		return
	}
	os.Exit(cluster.Main(m))
}

// BenchmarkReal compares kafkaops with Kafka's TopicCommand --describe on 2,000
// partitions of RF 3: describe topics is to take at most a quarter of its time,
// lag at most half of it, either at most 60 MiB.
func BenchmarkReal(b *testing.B) {
	const topics, partitions = 100, 20
	c := cluster.Get(b)
	for i := range topics {
		c.CreateTopic(b, fmt.Sprintf("bench-%03d", i), c.Spread(partitions, 3), nil)
	}
	for i := range 20 {
		c.ProduceRecords(b, fmt.Sprintf("bench-%03d", i), 0, 100, kafkatest.AcksAll, 100)
	}
	kafkaops := binary(b)
	run := func(args ...string) func() *exec.Cmd {
		return func() *exec.Cmd {
			return exec.Command(kafkaops, append(args, "-b", c.BootstrapServer())...)
		}
	}
	for b.Loop() {
		f := measure(b, topicCommand(b, c), run("describe", "topics"), run("lag"), run("describe"))
		reference := f[0].median()
		for i, name := range []string{"TopicCommand", "describe topics", "lag", "describe"} {
			b.Logf("%-16s %s: %.2f of TopicCommand", name, &f[i], float64(f[i].median())/float64(reference))
			unit := strings.ReplaceAll(name, " ", "-")
			b.ReportMetric(float64(f[i].median().Milliseconds()), unit+"-ms")
			b.ReportMetric(f[i].peakMiB, unit+"-MiB")
		}
		b.ReportMetric(float64(f[1].median())/float64(reference), "describe-topics/TopicCommand")
		b.ReportMetric(float64(f[2].median())/float64(reference), "lag/TopicCommand")
	}
}

// topicCommand is Kafka's tool as its users start it, with flags for a quick
// start, but without the class data archive that the tests give it beside.
func topicCommand(b *testing.B, c *kafkatest.Cluster) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := c.ToolCommand(b.Context(), kafkatest.TopicCommand, "--bootstrap-server", c.BootstrapServer(), "--describe")
		cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool {
			return strings.HasPrefix(arg, "-XX:SharedArchiveFile=") || arg == "-Xlog:disable"
		})
		return cmd
	}
}
