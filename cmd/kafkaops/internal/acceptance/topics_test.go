package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestMinISRAboveRF: Kafka uses the number of replicas as the minimum then,
// though kafka-topics.sh calls the partition under it.
func TestMinISRAboveRF(t *testing.T) {
	c := shared.Get(t)
	createTopic(t, c, "above", [][]int32{{2}}, minISR(2))
	createTopic(t, c, "plain", [][]int32{{1, 2, 3}}, minISR(2))
	c.ProduceRecords(t, "above", 0, 10, kafkatest.AcksAll, 100)
	equal(t, "HW after acks=all", awaitQuiet(t, c, "above", 0), 10)

	theirs := sameAsTopics(t, c)
	equal(t, "kafka-topics.sh's under-min-isr", theirs["under-min-isr"], "[above-0]")
	equal(t, "--kafka-semantics", named(t, c, "--kafka-semantics --under-min-isr"), theirs["under-min-isr"])
	equal(t, "--under-min-isr", named(t, c, "--under-min-isr"), "[]")
	p := only(t, run[render.PartitionItem](t, c, 0, "describe topics above --exit-code"))
	equal(t, "status", p.Status, "[ok]")
	equal(t, "min", p.MinInsyncReplicas, 2)
	equal(t, "effective min", p.EffectiveMinInsyncReplicas, 1)
	equal(t, "findings", p.Findings, "[single-replica no-headroom min-isr-exceeds-rf]")

	item := describe(t, c, 0, "--exit-code")
	equal(t, "verdict", item.Verdict, inspect.LevelOK)
	for i, id := range []inspect.FindingID{inspect.FindingMinISRExceedsRF, inspect.FindingSingleReplica} {
		equal(t, "finding", item.Findings[i].ID, id)
		equal(t, "its topics", item.Findings[i].Topics, "[above]")
	}
}

// TestMistyped: to look for a topic must not create it, on brokers that create
// topics when asked about them.
func TestMistyped(t *testing.T) {
	c := shared.Get(t)
	createTopic(t, c, "orders", c.Spread(2, 3), minISR(2))
	t.Run("the trap is set", func(t *testing.T) {
		const name = "created-by-asking"
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(name)
		req := kmsg.NewPtrMetadataRequest()
		req.AllowAutoTopicCreation = true
		req.Topics = append(req.Topics, topic)
		if _, err := c.Ask(t.Context(), 1, req); err != nil {
			t.Fatal(err)
		}
		kafkatest.Eventually(t, soon, func() error {
			if list := topicList(t, c); !strings.Contains(list, name) {
				return fmt.Errorf("the topics are %q", list)
			}
			return nil
		})
		deleteTopic(t, c, name)
	})
	for _, words := range []string{
		"lag oders", "lag oders -o json", "lag orders oders", "describe topics oders", "describe topics oders -o json",
		"describe topics oders ord*", "lag --topic oders", "lag oder?",
	} {
		r := kafkaops(c, words).want(t, 1)
		if !strings.Contains(r.stderr, "oder") {
			t.Errorf("stderr does not name it: %v", r)
		}
	}
	if r := kafkaops(c, "lag orders oders"); !strings.Contains(r.stdout, "orders-1") {
		t.Errorf("what there is is not shown: %v", r)
	}
	for _, words := range []string{"describe", "describe topics", "describe brokers", "lag --samples 2 --interval 100ms", "check health --max-lag 10"} {
		kafkaops(c, words).want(t, 0)
	}
	kafkatest.Eventually(t, soon, func() error { // deleting takes a moment
		if list := topicList(t, c); list != "orders\n" {
			return fmt.Errorf("the topics are %q", list)
		}
		return nil
	})
}

func topicList(t *testing.T, c *kafkatest.Cluster) string {
	t.Helper()
	list, err := tool(t.Context(), c, kafkatest.TopicCommand, "--list")
	if err != nil {
		t.Fatal(err)
	}
	return list
}
