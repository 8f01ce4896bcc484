package admin_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/admin"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// ours is the engine, whose answers to these requests are compared with Kafka's where
// it is built.
var ours = kafkatest.Share(kafkatest.Options{Brokers: 3, Engine: engine.New()})

func TestMain(m *testing.M) { os.Exit(ours.Main(m)) }

func open(t *testing.T) (*admin.Client, *kafkatest.Cluster, context.Context) {
	t.Helper()
	c := ours.Get(t)
	client, err := admin.Open(connect.Config{Bootstrap: c.Bootstrap()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return client, c, ctx
}

// TestCreateTopic: it can be used at once, with the settings and at the place asked
// for, and again after it was deleted.
func TestCreateTopic(t *testing.T) {
	client, c, ctx := open(t)
	for range 2 {
		err := client.CreateTopic(ctx, admin.Topic{
			Name: "orders", Partitions: 3, ReplicationFactor: 2, Configs: map[string]string{"max.message.bytes": "200"},
		})
		if err != nil {
			t.Fatal(err)
		}
		for p := range int32(3) {
			if err := c.Produce(ctx, "orders", p, 1, kafkatest.AcksAll, 50); err != nil {
				t.Error(err)
			}
		}
		if err := c.Produce(ctx, "orders", 0, 1, kafkatest.AcksAll, 500); err == nil {
			t.Error("a record was taken that is larger than the topic's setting")
		}
		if err := client.DeleteTopic(ctx, "orders"); err != nil {
			t.Fatal(err)
		}
	}
	err := client.CreateTopic(ctx, admin.Topic{Name: "placed", Partitions: -1, ReplicationFactor: -1, Assignment: [][]inspect.BrokerID{{3, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Partition(ctx, "placed", 0)
	if err != nil || p.Leader != 3 || len(p.Replicas) != 2 {
		t.Errorf("got %+v, %v; want it on 3 and 1", p, err)
	}
}

// TestRefusals name the topic and say what Kafka says.
func TestRefusals(t *testing.T) {
	client, _, ctx := open(t)
	if err := client.CreateTopic(ctx, admin.Topic{Name: "there", Partitions: 1, ReplicationFactor: 1}); err != nil {
		t.Fatal(err)
	}
	for want, err := range map[string]error{
		"create topic there: ":   client.CreateTopic(ctx, admin.Topic{Name: "there", Partitions: 1, ReplicationFactor: 1}),
		"create topic wide: ":    client.CreateTopic(ctx, admin.Topic{Name: "wide", Partitions: 1, ReplicationFactor: 4}),
		"create topic odd: ":     client.CreateTopic(ctx, admin.Topic{Name: "odd", Partitions: 1, ReplicationFactor: 1, Configs: map[string]string{"no.such": "1"}}),
		"delete topic nowhere: ": client.DeleteTopic(ctx, "nowhere"),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) || len(err.Error()) < len(want)+10 {
			t.Errorf("got %v, want %q and why", err, want)
		}
	}
}
