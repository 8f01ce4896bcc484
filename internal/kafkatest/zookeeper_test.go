package kafkatest_test

import (
	"os"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

// TestZooKeeper goes once through the same on a cluster with ZooKeeper.
func TestZooKeeper(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: starts a second cluster, of Kafka 3.9.1 with ZooKeeper; set KAFKAOPS_LONG=1")
	}
	begun := time.Now()
	c := kafkatest.Start(t, kafkatest.Options{
		Version: "3.9.1", ZooKeeper: true, Brokers: 3,
		Properties: map[string]string{"broker.session.timeout.ms": "3000", "broker.heartbeat.interval.ms": "500"},
	})
	t.Logf("ZooKeeper and 3 brokers up after %s", time.Since(begun).Round(10*time.Millisecond))
	c.CreateTopic(t, "orders", [][]int32{{1, 2, 3}, {2, 3, 1}}, map[string]string{"min.insync.replicas": "2"})
	c.ProduceRecords(t, "orders", 0, 50, kafkatest.AcksAll, 100)
	c.AlterConfig(t, "orders", "retention.ms", "3600000")
	c.AlterBrokerConfig(t, 2, "follower.replication.throttled.rate", "1000000")
	c.AlterBrokerConfig(t, 2, "follower.replication.throttled.rate", "")
	c.Reassign(t, "orders", 1, []int32{2, 1})
	c.AwaitISR(t, "orders", 1, 1, 2)

	c.Pause(t, 2)
	c.AwaitFenced(t, 2)
	c.AwaitISR(t, "orders", 0, 1, 3)
	c.ProduceRecords(t, "orders", 0, 25, 1, 100)
	c.Resume(t, 2)
	c.AwaitISR(t, "orders", 0, 1, 2, 3)

	controller, err := c.Controller(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.Kill(t, controller)
	c.StartNode(t, controller) // as soon as its session has ended
	c.Restart(t, 3)
	c.Heal(t)

	c.Restart(t, kafkatest.FirstController)
	c.CreateTopic(t, "later", c.Spread(3, 3), nil)

	p, err := c.Partition(t.Context(), "orders", 0)
	if err != nil {
		t.Fatal(err)
	}
	if p.Leader != 1 || len(p.ISR) != 3 {
		t.Errorf("after Heal orders-0 has leader %d and ISR %v, want leader 1 and three in the ISR", p.Leader, p.ISR)
	}
}
