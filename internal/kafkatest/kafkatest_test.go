package kafkatest_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

var cluster = kafkatest.Share(kafkatest.Options{
	Brokers: 3,
	Properties: map[string]string{
		"broker.session.timeout.ms":    "3000",
		"broker.heartbeat.interval.ms": "500",
	},
})

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

// TestCluster goes once through what other packages' tests rely on.
func TestCluster(t *testing.T) {
	begun := time.Now()
	c := cluster.Get(t)
	t.Logf("3 brokers up after %s", time.Since(begun).Round(10*time.Millisecond))
	c.CreateTopic(t, "orders", [][]int32{{1, 2, 3}, {2, 3, 1}}, map[string]string{"min.insync.replicas": "2"})
	c.ProduceRecords(t, "orders", 0, 50, kafkatest.AcksAll, 100)
	c.AlterBrokerConfig(t, 2, "follower.replication.throttled.rate", "1000000") // of one that is not asked first
	c.AlterBrokerConfig(t, 2, "follower.replication.throttled.rate", "")

	c.Pause(t, 2)
	if c.Alive(2) {
		t.Error("Alive(2) = true while it is paused")
	}
	c.AwaitFenced(t, 2)
	c.AwaitISR(t, "orders", 0, 1, 3)
	c.ProduceRecords(t, "orders", 0, 25, 1, 100)
	c.Resume(t, 2)
	c.AwaitISR(t, "orders", 0, 1, 2, 3)

	c.Kill(t, 1)
	c.AwaitISR(t, "orders", 0, 2, 3)
	c.StartNode(t, 1)
	c.Restart(t, 3)
	c.Heal(t)

	p, err := c.Partition(t.Context(), "orders", 1)
	if err != nil {
		t.Fatal(err)
	}
	if p.Leader != 2 || len(p.ISR) != 3 {
		t.Errorf("after Heal orders-1 has leader %d and ISR %v, want leader 2 and three in the ISR", p.Leader, p.ISR)
	}

	stdout, stderr, exit, err := c.Tool(t.Context(), kafkatest.TopicCommand,
		"--bootstrap-server", c.BootstrapServer(), "--describe", "--topic", "orders")
	if err != nil || exit != 0 || stderr != "" {
		t.Fatalf("TopicCommand: exit %d, %v, standard error %q", exit, err, stderr)
	}
	for _, want := range []string{"PartitionCount: 2", "ReplicationFactor: 3", "Leader: 1\tReplicas: 1,2,3"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("TopicCommand does not say %q:\n%s", want, stdout)
		}
	}
	stdout, _, _, err = c.Tool(t.Context(), kafkatest.GetOffsetShell,
		"--bootstrap-server", c.BootstrapServer(), "--topic", "orders")
	if want := "orders:0:75\norders:1:0\n"; err != nil || stdout != want {
		t.Errorf("GetOffsetShell says %q (%v), want %q", stdout, err, want)
	}
}
