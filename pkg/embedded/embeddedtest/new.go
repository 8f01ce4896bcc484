package embeddedtest

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/embedded"
)

// startTimeout bounds a start, which takes milliseconds: a test must not hang.
const startTimeout = 30 * time.Second

// Config is what New sets where Options.Config says nothing: Kafka's defaults are
// meant for machines that fail a few times a year, and a test would wait half a minute
// for a replica to leave the ISR.
func Config() map[string]string {
	return map[string]string{
		"broker.heartbeat.interval.ms":            "200",
		"broker.session.timeout.ms":               "2000", // 9000
		"replica.fetch.backoff.ms":                "100",  // 1000
		"replica.fetch.wait.max.ms":               "100",  // 500
		"replica.lag.time.max.ms":                 "2000", // 30000
		"controller.quorum.retry.backoff.ms":      "20",
		"log.retention.check.interval.ms":         "1000", // 300000
		"unclean.leader.election.interval.ms":     "1000", // 300000
		"leader.imbalance.check.interval.seconds": "5",    // 300
	}
}

// New starts a cluster and closes it when the test ends; the test fails if it does not
// start, or does not close cleanly. o.Config is on top of [Config]. If o.Log is nil the
// nodes' logs are printed when the test has failed.
func New(tb testing.TB, o embedded.Options) *embedded.Cluster {
	tb.Helper()
	config := Config()
	maps.Copy(config, o.Config)
	o.Config = config
	if o.Log == nil {
		var b buffer
		o.Log = slog.New(slog.NewTextHandler(&b, nil))
		// Registered first, so that it runs after Close.
		tb.Cleanup(func() {
			if tb.Failed() {
				tb.Logf("logs of the embedded cluster:\n%s", b.String())
			}
		})
	}
	ctx, cancel := context.WithTimeout(tb.Context(), startTimeout)
	defer cancel()
	c, err := embedded.Start(ctx, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := c.Close(); err != nil {
			tb.Errorf("close the embedded cluster: %v", err)
		}
	})
	return c
}

// buffer is a bytes.Buffer for several goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
