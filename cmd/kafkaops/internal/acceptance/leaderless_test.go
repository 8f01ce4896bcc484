package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestLeaderless brings a partition to where only a replica that is down may lead
// it, and both others, which are up, end at different offsets.
func TestLeaderless(t *testing.T) {
	c := shared.Get(t)
	const topic = "leaderless"
	createTopic(t, c, topic, [][]int32{{4, 1, 2}, {1, 2, 3}, {4, 3, 2}}, minISR(2))
	c.ProduceRecords(t, topic, 0, 3, 1, 100)
	c.ProduceRecords(t, topic, 1, 20, kafkatest.AcksAll, 100)
	awaitQuiet(t, c, topic, 0)
	awaitQuiet(t, c, topic, 1)
	c.Stop(t, 2) // it leaves the ISR, and is of no ELR: min ISR is met
	c.AwaitISR(t, topic, 1, 1, 3)
	c.ProduceRecords(t, topic, 1, 5, kafkatest.AcksAll, 100)
	awaitQuiet(t, c, topic, 1)
	c.Stop(t, 3) // it is the ELR
	c.AwaitISR(t, topic, 1, 1)
	c.ProduceRecords(t, topic, 1, 7, 1, 100)
	c.Kill(t, 1)
	c.AwaitFenced(t, 1)

	t.Run("no replica is up", func(t *testing.T) {
		d := lag(t, c, 0, topic)
		equal(t, "partitions", len(d.Items), 3)
		item := lagItem(t, d, topic, 1)
		equal(t, "leader", item.Leader, unknown)
		for _, r := range item.Replicas {
			equal(t, "state", r.State, inspect.ReplicaOffline)
			equal(t, "LEO", r.LogEndOffset, unknown)
		}
		equal(t, "HW of another partition", lagItem(t, d, topic, 0).HighWatermark, 3)
		equal(t, "HW of another partition", lagItem(t, d, topic, 2).HighWatermark, 0)
		sameAsTopics(t, c)
	})

	c.StartNode(t, 2)
	c.StartNode(t, 1) // after an unclean stop: the controller takes it off the ELR
	kafkatest.Eventually(t, soon, func() error {
		for _, id := range []int32{1, 2} {
			if _, err := rawOffset(t.Context(), c, id, topic, 1, debugging, latest); err != nil {
				return err
			}
		}
		p, err := c.Partition(t.Context(), topic, 1)
		if err == nil && len(p.Offline) != 1 {
			err = fmt.Errorf("the offline replicas are %v", p.Offline)
		}
		return err
	})
	t.Run("each replica's own LEO", func(t *testing.T) {
		item := lagItem(t, lag(t, c, 0, topic), topic, 1)
		equal(t, "leader", item.Leader, unknown)
		equal(t, "status", item.Status, "[offline under-min-isr under-replicated]")
		equal(t, "LEO", item.LogEndOffset, unknown)
		equal(t, "HW", item.HighWatermark, unknown)
		equal(t, "uncommitted", item.Uncommitted, unknown)
		for id, end := range map[inspect.BrokerID]int64{1: 32, 2: 20} {
			r := replica(t, item, id)
			equal(t, "LEO by the broker itself", mustOffset(t, c, int32(id), topic, 1, debugging, latest), end)
			equal(t, "LEO of a replica", r.LogEndOffset, inspect.Offset(end))
			equal(t, "state of a replica", r.State, inspect.ReplicaOutOfSync)
			equal(t, "lag of a replica", r.Lag, unknown)
			equal(t, "caughtUp of a replica", r.CaughtUp, unknown)
		}
		equal(t, "state of replica 3", replica(t, item, 3).State, inspect.ReplicaOffline)
	})
	t.Run("describe", func(t *testing.T) {
		theirs := sameAsTopics(t, c)
		equal(t, "--unavailable", named(t, c, "--unavailable"), theirs["unavailable"])
		equal(t, "kafka-topics.sh's", theirs["unavailable"], "[leaderless-1]")
		item := describe(t, c, 3, "--exit-code")
		equal(t, "verdict", item.Verdict, inspect.LevelUnavailable)
		equal(t, "offline", item.Offline, 1)
		p := partitionItem(t, item.Unhealthy, topic, 1)
		equal(t, "isr", p.ISR, "[]")
		equal(t, "elr", p.ELR, "[3]")
		equal(t, "lastKnownElr", p.LastKnownELR, "[1]")
		sinceOf(t, c, topic, 1, "broker-fenced") // since broker 2 left: the first of three
		kafkaops(c, "lag --exit-code").want(t, 3)
		kafkaops(c, "check health").want(t, 3)
		r := kafkaops(c, "check health --nagios").want(t, 2)
		if !strings.HasPrefix(r.stdout, "KAFKA UNAVAILABLE - ") {
			t.Errorf("not a plugin's critical line: %v", r)
		}
	})
}
