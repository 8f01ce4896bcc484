package acceptance

import (
	"os"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestKafka39: what an old cluster cannot tell is unknown and no failure.
func TestKafka39(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: starts a second cluster, of Kafka 3.9.1; set KAFKAOPS_LONG=1")
	}
	c := kafkatest.Start(t, kafkatest.Options{
		Version: "3.9.1", Brokers: 3,
		Properties: map[string]string{"broker.session.timeout.ms": "6000", "broker.heartbeat.interval.ms": "1000"},
	})
	c.CreateTopic(t, "old", c.Spread(3, 3), minISR(2))
	c.ProduceRecords(t, "old", 0, 30, kafkatest.AcksAll, 100)
	awaitQuiet(t, c, "old", 0)

	equal(t, "verdict", describe(t, c, 0, "--exit-code").Verdict, inspect.LevelOK)
	for _, p := range run[render.PartitionItem](t, c, 0, "describe topics").Items {
		equal(t, "elr", p.ELR, unknown)
		equal(t, "lastKnownElr", p.LastKnownELR, unknown)
		equal(t, "status", p.Status, "[ok]")
		equal(t, "min", p.MinInsyncReplicas, 2)
	}
	brokers := run[render.BrokerItem](t, c, 0, "describe brokers")
	equal(t, "brokers", len(brokers.Items), 3)
	for _, b := range brokers.Items {
		equal(t, "fenced", b.Fenced, unknown)
		equal(t, "version", b.VersionRange, "3.9")
		equal(t, "log directories", len(b.LogDirs.Or(nil)), 1)
	}
	item := lagItem(t, lag(t, c, 0, "--exit-code"), "old", 0)
	equal(t, "LEO", item.LogEndOffset, 30)
	for _, r := range item.Replicas {
		equal(t, "lagMax", r.LagMax, 0)
	}
	kafkaops(c, "check health").want(t, 0)
	kafkaops(c, "check access").want(t, 0)

	c.Kill(t, 3)
	c.AwaitFenced(t, 3)
	c.AwaitISR(t, "old", 0, 1, 2)
	d := run[render.PartitionItem](t, c, 0, "describe topics")
	equal(t, "status", partitionItem(t, d.Items, "old", 0).Status, "[at-min-isr under-replicated]")
	equal(t, "verdict", describe(t, c, 3, "--exit-code").Verdict, inspect.LevelDegraded)
	item = lagItem(t, lag(t, c, 0, ""), "old", 0)
	equal(t, "state of replica 3", replica(t, item, 3).State, inspect.ReplicaOffline)
}
