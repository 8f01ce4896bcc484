package node

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

// TestRateIsKafkas counts the same bytes at the same times with Kafka's own class, and
// with pauses from none to longer than all windows.
func TestRateIsKafkas(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	ours := newByteRate(11, 1000)
	var script strings.Builder
	var want []float64
	for now := int64(1_000_000); len(want) < 3000; {
		now += []int64{0, 3, 250, 999, 1000, 1001, 4000, 10_999, 11_000, 11_001, 30_000}[min(rng.IntN(11), rng.IntN(11))]
		if rng.IntN(3) == 0 {
			fmt.Fprintf(&script, "rate %d\n", now)
			want = append(want, ours.perSecond(now))
			continue
		}
		bytes := rng.Int64N(1_000_000)
		fmt.Fprintf(&script, "count %d %d\n", now, bytes)
		ours.count(now, bytes)
	}
	cmd := kafkatest.Program(t, kafkatest.DefaultVersion, "testdata/Rate.java", "11", "1000")
	cmd.Stdin = strings.NewReader(script.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := strings.Fields(string(out))
	if len(theirs) != len(want) {
		t.Fatalf("%d rates from Kafka, want %d", len(theirs), len(want))
	}
	for i, text := range theirs {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(rate-want[i]) > 1e-6*max(1, rate) {
			t.Fatalf("rate %d is %f here and %f in Kafka", i, want[i], rate)
		}
	}
}
