package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// TestDiagnoseGroups: who waits for a high watermark that stands still is named; and a
// broker that the controller does not hear is known to answer.
func TestDiagnoseGroups(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{Config: map[string]string{
		"min.insync.replicas": "2", "replica.lag.time.max.ms": "60000", "offsets.topic.replication.factor": "1",
	}})
	bootstrap := strings.Split(c.Bootstrap(), ",")
	p, err := load.StartProducer(connect.Config{Bootstrap: bootstrap}, load.Options{Topic: "orders", Acks: load.AcksLeader, Rate: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		p.Stop(ctx)
	})
	client, err := kgo.NewClient(
		kgo.SeedBrokers(bootstrap...), kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"),
		kgo.AutoCommitInterval(100*time.Millisecond), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseAllowingRebalance)
	for read := 0; read < 20; {
		fetches := client.PollFetches(t.Context())
		if err := fetches.Err(); err != nil {
			t.Fatal(err)
		}
		read += fetches.NumRecords()
	}
	c.Link(1, 3).Cut()
	go func() {
		for !client.PollFetches(t.Context()).IsClientClosed() && t.Context().Err() == nil {
		}
	}()
	// As often as it takes for the group to have read what was committed before.
	for begun := time.Now(); ; {
		r := isr(t, place{}, c, "diagnose --for 3s --interval 200ms -o json")
		if strings.Contains(r.stdout, "consumers (group billing) see nothing new of 1 partition") {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
	}
	client.CloseAllowingRebalance() // its coordinator may be the one that is fenced
	c.Link(1, 3).Heal()
	c.Broker(2).Fence()
	awaitISR(t, c, "orders", 2)
	r := isr(t, place{}, c, "diagnose --for 300ms --interval 100ms -o json")
	items := diagnosis(t, r).Items
	if r.code != exitUnhealthy || len(items) == 0 || items[0].ID != "broker-fenced" || items[0].Broker != inspect.Known(inspect.BrokerID(2)) {
		t.Errorf("exit code %d: %+v %s", r.code, items, r.stderr)
	}
}
