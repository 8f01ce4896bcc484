package bench

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
)

// BenchmarkScale runs lag on 5,000, 20,000 and 50,000 partitions of RF 3: at the
// largest at most 3 s and 400 MiB, and the cost of one partition at most 1.3
// times that at the smallest.
func BenchmarkScale(b *testing.B) {
	const brokers, perTopic = 6, 50
	kafkaops := binary(b)
	for b.Loop() {
		var first, last float64
		for _, size := range []int{5_000, 20_000, 50_000} {
			m := fakekafka.NewModel(brokers)
			m.AddTopics("scale", size/perTopic, perTopic, 3)
			c, err := fakekafka.Listen(m)
			if err != nil {
				b.Fatal(err)
			}
			f := measure(b, func() *exec.Cmd { return exec.Command(kafkaops, "lag", "-b", c.Bootstrap()) })[0]
			c.Close()
			last = float64(f.median().Microseconds()) / float64(size)
			if first == 0 {
				first = last
			}
			b.Logf("%6d partitions: %s, %.1f µs a partition", size, &f, last)
			b.ReportMetric(f.median().Seconds(), fmt.Sprintf("s@%d", size))
			b.ReportMetric(f.peakMiB, fmt.Sprintf("MiB@%d", size))
		}
		b.ReportMetric(last/first, "largest/smallest-per-partition")
	}
}
