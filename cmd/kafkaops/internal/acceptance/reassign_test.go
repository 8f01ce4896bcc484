package acceptance

import (
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestReassignment holds a reassignment under way by throttling the broker that
// is being added, and then stops a replica that is neither added nor removed.
func TestReassignment(t *testing.T) {
	c := shared.Get(t)
	const moving, hiding, added = "moving", "hiding", 4
	createTopic(t, c, moving, [][]int32{{1, 2, 3}}, minISR(2))
	createTopic(t, c, hiding, [][]int32{{1, 2}}, minISR(1))
	for _, topic := range []string{moving, hiding} {
		// Far more than a throttled follower gets at once.
		c.ProduceRecords(t, topic, 0, 60, kafkatest.AcksAll, 100_000)
		c.AlterConfig(t, topic, "follower.replication.throttled.replicas", "0:4")
	}
	c.AlterBrokerConfig(t, added, "follower.replication.throttled.rate", "1")
	t.Cleanup(func() { c.AlterBrokerConfig(t, added, "follower.replication.throttled.rate", "") })
	c.Reassign(t, moving, 0, []int32{1, 2, 4})
	c.Reassign(t, hiding, 0, []int32{1, 2, 3, 4})
	c.AwaitISR(t, hiding, 0, 1, 2, 3) // of the two that are added, one arrives

	t.Run("under way", func(t *testing.T) {
		theirs := sameAsTopics(t, c)
		equal(t, "kafka-topics.sh's under-replicated", theirs["under-replicated"], "[]")
		item := describe(t, c, 0, "--exit-code")
		equal(t, "verdict", item.Verdict, inspect.LevelOK)
		equal(t, "reassigning", item.Reassigning, 2)
		d := run[render.PartitionItem](t, c, 0, "describe topics "+moving+" "+hiding)
		p := partitionItem(t, d.Items, moving, 0)
		equal(t, "status", p.Status, "[reassigning]")
		equal(t, "replicas", p.Replicas, "[1 2 4 3]")
		equal(t, "adding", p.AddingReplicas, "[4]")
		equal(t, "removing", p.RemovingReplicas, "[3]")
		p = partitionItem(t, d.Items, hiding, 0)
		equal(t, "status", p.Status, "[reassigning]")
		equal(t, "adding", p.AddingReplicas, "[3 4]")
		equal(t, "removing", p.RemovingReplicas, "[]")
	})
	t.Run("lag of the added replica", func(t *testing.T) {
		before := mustOffset(t, c, added, moving, 0, debugging, latest)
		item := only(t, lag(t, c, 0, moving))
		after := mustOffset(t, c, added, moving, 0, debugging, latest)
		r := replica(t, item, added)
		own := int64(r.LogEndOffset.Or(-1))
		if own < before || own > after {
			t.Errorf("LEO of the added replica %v, but it was %d before and %d after", r.LogEndOffset, before, after)
		}
		equal(t, "its lag", r.Lag, 60-own)
		equal(t, "its state", r.State, inspect.ReplicaOutOfSync)
		if own >= 60 {
			t.Error("the reassignment is not held up: the test does not test")
		}
	})
	t.Run("an original replica is lost", func(t *testing.T) {
		c.Stop(t, 2)
		c.AwaitISR(t, moving, 0, 1, 3)
		c.AwaitISR(t, hiding, 0, 1, 3)
		theirs := sameAsTopics(t, c)
		// By number the replica that is being added stands in for the lost one.
		equal(t, "kafka-topics.sh's under-replicated", theirs["under-replicated"], "[moving-0]")
		equal(t, "--under-replicated", named(t, c, "--under-replicated"), "[hiding-0 moving-0]")
		item := describe(t, c, 3, "--exit-code")
		equal(t, "verdict", item.Verdict, inspect.LevelDegraded)
		p := partitionItem(t, item.Unhealthy, moving, 0)
		equal(t, "status", p.Status, "[at-min-isr under-replicated reassigning]")
		equal(t, "out of sync", p.OutOfSyncReplicas, "[2]")
		equal(t, "status", partitionItem(t, item.Unhealthy, hiding, 0).Status, "[under-replicated reassigning]")

		kafkaops(c, "check health").want(t, 3)
		r := kafkaops(c, "check health --nagios").want(t, 1)
		if !strings.HasPrefix(r.stdout, "KAFKA DEGRADED - ") {
			t.Errorf("not a plugin's warning: %v", r)
		}
	})
}
