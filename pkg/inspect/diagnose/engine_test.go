package diagnose_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/diagnose"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
)

// The engine, with something done to it, and looked at as kafkaops does.

// ward is a cluster that is looked at.
type ward struct {
	t *testing.T
	*embedded.Cluster
	client    *kgo.Client
	producers []*load.Producer
}

func newWard(t *testing.T, o embedded.Options) *ward {
	t.Helper()
	w := &ward{t: t, Cluster: embeddedtest.New(t, o)}
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(w.Bootstrap(), ",")...))
	if err != nil {
		t.Fatal(err)
	}
	w.client = client
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for _, p := range w.producers {
			p.Stop(ctx)
		}
		client.Close()
	})
	return w
}

// topic creates one with min.insync.replicas 2 and replicas as given for each partition.
func (w *ward) topic(name string, assignment ...[]int32) {
	w.t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = 10_000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1
	for i, replicas := range assignment {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(i), replicas
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, a)
	}
	minISR := "2"
	config := kmsg.NewCreateTopicsRequestTopicConfig()
	config.Name, config.Value = "min.insync.replicas", &minISR
	topic.Configs = append(topic.Configs, config)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(w.t.Context(), w.client)
	if err != nil || resp.Topics[0].ErrorCode != 0 {
		w.t.Fatalf("create %s: %v, %+v", name, err, resp)
	}
	w.await("all brokers know the topic", func() bool {
		for _, b := range w.Brokers() {
			s, err := source.New(connect.Config{Bootstrap: []string{b.Address()}}, 3*time.Second).Snapshot(w.t.Context(), source.Query{Topics: []string{name}})
			if err != nil || len(s.Topics) == 0 || len(s.Topics[0].Partitions) != len(assignment) {
				return false
			}
		}
		return true
	})
}

// all is a topic's assignment to three brokers, each of which leads as many.
func all(partitions int) (out [][]int32) {
	orders := [][]int32{{1, 2, 3}, {2, 3, 1}, {3, 1, 2}, {1, 3, 2}, {2, 1, 3}, {3, 2, 1}}
	for i := range partitions {
		out = append(out, orders[i%len(orders)])
	}
	return out
}

func (w *ward) await(what string, is func() bool) {
	w.t.Helper()
	await(w.t, what, is)
}

// write begins to write to a topic, acks=1, so many records a second.
func (w *ward) write(topic string, rate float64) {
	w.t.Helper()
	p, err := load.StartProducer(connect.Config{Bootstrap: strings.Split(w.Bootstrap(), ",")}, load.Options{
		Topic: topic, Partition: load.AnyPartition, Acks: load.AcksLeader, Rate: rate,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.producers = append(w.producers, p)
	w.await("records are acknowledged", func() bool { return p.Stats().Acknowledged > 10 })
}

const (
	interval = 300 * time.Millisecond
	timeout  = 1500 * time.Millisecond
)

// observed is the cluster as it is looked at.
func (w *ward) observed() *observer {
	return &observer{
		t: w.t, bootstrap: strings.Split(w.Bootstrap(), ","), controllers: []string{w.ControllerAddress()},
		interval: interval, timeout: timeout,
	}
}

// snapshot is one of all that there is, nil where that failed.
func (w *ward) snapshot(parts inspect.Parts) *inspect.Snapshot { return w.observed().snapshot(parts) }

// look looks so many times, and diagnoses.
func (w *ward) look(n int) (*diagnose.Case, diagnose.Report) { return w.observed().look(n) }
