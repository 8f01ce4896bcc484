package acceptance

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/exporter"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// exporting runs an exporter of the cluster until the test ends or it is stopped, and
// returns what scrapes it.
func exporting(t *testing.T, c *kafkatest.Cluster) (scrape func() string, stop func()) {
	t.Helper()
	pool := &connect.Pool{}
	addrs, err := connect.ParseBootstrap(servers(c, alive(c)...))
	if err != nil {
		t.Fatal(err)
	}
	conf := connect.Config{Bootstrap: addrs, Pool: pool}
	return running(t, pool, exporter.Options{
		Collect: source.New(conf, 10*time.Second), Sample: source.New(conf, 3*time.Second),
		CollectInterval: time.Second, SampleInterval: 200 * time.Millisecond, MaxAge: soon,
		Requests: pool.Requests,
	})
}

// running runs an exporter, which says nothing, as exporting does. The pool ends with it.
func running(t *testing.T, pool *connect.Pool, o exporter.Options) (scrape func() string, stop func()) {
	t.Helper()
	o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	e := exporter.New(o)
	h, err := e.Handler()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		_ = e.Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-ran
		pool.Close()
	})
	t.Cleanup(stop)
	return func() string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w.Body.String()
	}, stop
}

// awaitLines scrapes until all lines are there, and returns the page.
func awaitLines(t *testing.T, scrape func() string, what string, lines ...string) string {
	t.Helper()
	limit := time.Now().Add(2 * soon)
	for {
		body := scrape()
		missing := ""
		for _, line := range lines {
			if !strings.Contains(body, "\n"+line+"\n") {
				missing += line + "\n"
			}
		}
		if missing == "" {
			return body
		}
		if time.Now().After(limit) {
			t.Fatalf("%s: still missing\n%sin\n%s", what, missing, mentioning(body, `topic="`, "kafka_broker", "kafka_cluster", "kafkaops_"))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// exportOnce is the page of one exporter that has collected all that there is.
func exportOnce(t *testing.T, c *kafkatest.Cluster, what string, lines ...string) string {
	t.Helper()
	scrape, stop := exporting(t, c)
	defer stop()
	return awaitLines(t, scrape, what, append(lines, "kafkaops_up 1", `kafkaops_collections_total{result="partial"} 0`)...)
}

// TestExportOfAPausedBroker: a real Kafka's broker freezes, leaves the ISR, and comes
// back: what is exported meanwhile, and what is counted after.
func TestExportOfAPausedBroker(t *testing.T) {
	c := shared.Get(t)
	createTopic(t, c, "exported", [][]int32{{1, 2, 3}}, minISR(2))
	scrape, _ := exporting(t, c)
	await := func(what string, lines ...string) {
		t.Helper()
		awaitLines(t, scrape, what, lines...)
	}
	const of = `{topic="exported",partition="0"}`
	await("well", "kafkaops_up 1", `kafka_broker_up{broker="3"} 1`, "kafka_topic_partition_in_sync_replica"+of+" 3",
		"kafka_topic_partition_isr_shrinks_total"+of+" 0", "kafka_topic_partition_isr_headroom"+of+" 1",
		"kafka_cluster_active_controllers 1", "kafka_cluster_unclean_elections_total 0",
		`kafka_topic_partition_replica_lag_records{topic="exported",partition="0",broker="3"} 0`)
	c.Pause(t, 3)
	await("silent", `kafka_broker_up{broker="3"} 0`)
	// Then it leaves the ISR, and is fenced: nobody asks it any more.
	await("out", `kafka_broker_fenced{broker="3"} 1`, "kafka_topic_partition_in_sync_replica"+of+" 2",
		"kafka_topic_partition_under_replicated_partition"+of+" 1", "kafka_topic_partition_at_min_isr"+of+" 1",
		"kafka_topic_partition_isr_shrinks_total"+of+" 1",
		`kafka_topic_partition_replica_in_sync{topic="exported",partition="0",broker="3"} 0`)
	if body := scrape(); strings.Contains(body, `kafka_topic_partition_replica_log_end_offset{topic="exported",partition="0",broker="3"}`) {
		t.Error("a silent broker's LEO is there")
	}
	c.Resume(t, 3)
	await("resumed", `kafka_broker_up{broker="3"} 1`, "kafka_topic_partition_in_sync_replica"+of+" 3",
		"kafka_topic_partition_isr_expands_total"+of+" 1", "kafka_topic_partition_under_replicated_partition"+of+" 0",
		"kafka_cluster_unclean_elections_total 0")
}

// mentioning are the lines that hold one of the words.
func mentioning(text string, words ...string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		for _, w := range words {
			if strings.Contains(line, w) && !strings.HasPrefix(line, "#") {
				fmt.Fprint(&out, line)
				break
			}
		}
	}
	return out.String()
}
