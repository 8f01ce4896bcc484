package diagnose_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// A real Kafka, with something done to it. What is done is undone after each incident, so
// that one cluster is enough for all.

// kafkaWard is such a cluster, in one incident.
type kafkaWard struct {
	t *testing.T
	*kafkatest.Cluster
	links *relays
	// began is when the incident did.
	began time.Time
}

// Between two looks at a real Kafka there is more time than replica.fetch.wait.max.ms.
const (
	kafkaInterval = 600 * time.Millisecond
	kafkaTimeout  = 2 * time.Second
	replication   = "REPLICATION"
	// sessionMs is after how long the controller fences a broker that it does not hear.
	sessionMs = "9000"
)

// startKafka starts three controllers and three brokers, which replicate through relays.
func startKafka(t *testing.T) *kafkaWard {
	t.Helper()
	links := newRelays(t)
	o := kafkatest.Options{
		Brokers: 3, Controllers: 3, LogDirs: 2,
		Listeners: map[string]string{replication: "PLAINTEXT"},
		Advertise: func(id int32, _, addr string) string { return links.before(int(id), addr) },
		Properties: map[string]string{
			"auto.leader.rebalance.enable": "false", "broker.session.timeout.ms": sessionMs, "broker.heartbeat.interval.ms": "1000",
			"transaction.state.log.min.isr": "2",
			// So that a transaction can be begun of which its coordinator does not know.
			"transaction.partition.verification.enable": "false",
		},
		BrokerProperties: map[int32]map[string]string{},
	}
	for id := range int32(3) {
		o.BrokerProperties[id+1] = map[string]string{"inter.broker.listener.name": replication}
	}
	w := &kafkaWard{t: t, Cluster: kafkatest.Start(t, o), links: links}
	w.AlterBrokerConfig(t, -1, "min.insync.replicas", "2")
	w.CreateTopic(t, "orders", all(12), nil)
	return w
}

// in is the cluster in an incident. When that ends it is made whole.
func (w *kafkaWard) in(t *testing.T) *kafkaWard {
	t.Helper()
	inc := *w
	inc.t, inc.began = t, time.Now()
	t.Cleanup(func() {
		w.links.heal()
		w.Heal(t)
	})
	return &inc
}

func (w *kafkaWard) observed() *observer {
	o := &observer{
		t: w.t, bootstrap: w.Bootstrap(), interval: kafkaInterval, timeout: kafkaTimeout, since: w.began,
		atLast: inspect.PartTransactions | inspect.PartFencedReachable, settings: true,
	}
	for i := range int32(3) {
		o.controllers = append(o.controllers, w.ListenerAddr(kafkatest.FirstController+i, kafkatest.ControllerListener))
	}
	return o
}

// write writes so many records a second to a topic until the incident ends.
func (w *kafkaWard) write(topic string, rate float64) {
	w.t.Helper()
	p, err := load.StartProducer(connect.Config{Bootstrap: w.Bootstrap()}, load.Options{
		Topic: topic, Partition: load.AnyPartition, Acks: load.AcksLeader, Rate: rate,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		p.Stop(ctx)
	})
	await(w.t, "records are acknowledged", func() bool { return p.Stats().Acknowledged > 10 })
}

// topic creates one, and deletes it when the incident ends and all brokers are there again.
func (w *kafkaWard) topic(name string, assignment [][]int32, configs map[string]string) {
	w.t.Helper()
	w.CreateTopic(w.t, name, assignment, configs)
	w.t.Cleanup(func() {
		w.links.heal()
		w.Heal(w.t)
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.TimeoutMillis = 10_000
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = &name
		req.Topics, req.TopicNames = append(req.Topics, topic), []string{name}
		if _, err := w.Ask(context.Background(), 1, req); err != nil {
			w.t.Error(err)
		}
	})
}

// others are the brokers but one.
func others(id int) (a, b int) { return id%3 + 1, (id+1)%3 + 1 }

func (w *kafkaWard) pause(id int) string {
	w.Pause(w.t, int32(id))
	return either(id)
}

func (w *kafkaWard) kill(id int) string {
	w.Kill(w.t, int32(id))
	return either(id)
}

// down kills a broker and waits until it is fenced.
func (w *kafkaWard) down(id int) string {
	w.Kill(w.t, int32(id))
	w.AwaitFenced(w.t, int32(id))
	return cause("broker-down", id)
}

// either is a broker that the cluster may have done without, or not yet.
func either(id int) string { return cause("broker-silent", id) + "|" + cause("broker-down", id) }

// stutter lets a broker run for a moment now and then.
func (w *kafkaWard) stutter(id int32, stands, runs time.Duration) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			w.Pause(w.t, id)
			time.Sleep(stands)
			w.Resume(w.t, id)
			time.Sleep(runs)
		}
	}()
	w.t.Cleanup(func() { stop(); <-done })
}

// flap has a broker fenced and let in again.
func (w *kafkaWard) flap(id int32) {
	w.Pause(w.t, id)
	w.AwaitFenced(w.t, id)
	w.Resume(w.t, id)
	w.AwaitRegistered(w.t)
	w.observed().awaitCaughtUp()
}

// throttle limits a topic's replication to a byte a second.
func (w *kafkaWard) throttle(topic string) {
	set := func(rate, replicas string) {
		for _, side := range []string{"leader", "follower"} {
			for _, id := range w.Brokers() {
				w.AlterBrokerConfig(w.t, id, side+".replication.throttled.rate", rate)
			}
			w.AlterConfig(w.t, topic, side+".replication.throttled.replicas", replicas)
		}
	}
	set("1", "*")
	w.t.Cleanup(func() { set("", "") })
}

// hang leaves a batch of a transaction in a partition of which no coordinator knows, as a
// producer did whose batch came after its transaction was ended (KAFKA-12671).
func (w *kafkaWard) hang(topic string, partition int32, ago time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	// An older client: from Kafka 4.0 on a Produce adds its partitions to the transaction.
	client, err := kgo.NewClient(kgo.SeedBrokers(w.Bootstrap()...), kgo.MaxVersions(kversion.V3_7_0()))
	if err != nil {
		w.t.Fatal(err)
	}
	defer client.Close()
	id := topic
	var producer *kmsg.InitProducerIDResponse
	await(w.t, "the coordinator gives a producer id", func() bool {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.TransactionalID, req.TransactionTimeoutMillis = &id, 60_000
		producer, err = req.RequestWith(ctx, client)
		return err == nil && producer.ErrorCode == 0
	})
	b := record.NewBuilder(record.Options{Transactional: true, Producer: &record.Producer{ID: producer.ProducerID, Epoch: producer.ProducerEpoch}})
	if err := b.Add(record.Entry{TimestampMs: time.Now().Add(-ago).UnixMilli(), Value: []byte("never decided")}); err != nil {
		w.t.Fatal(err)
	}
	batch, err := b.AppendTo(nil, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	at, err := w.Partition(ctx, topic, partition)
	if err != nil {
		w.t.Fatal(err)
	}
	req := kmsg.NewPtrProduceRequest()
	req.TransactionID, req.Acks, req.TimeoutMillis = &id, -1, 10_000
	t, p := kmsg.NewProduceRequestTopic(), kmsg.NewProduceRequestTopicPartition()
	p.Partition, p.Records = partition, batch
	t.Topic, t.Partitions = topic, append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	resp, err := client.Broker(int(at.Leader)).Request(ctx, req)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := kerr.ErrorForCode(resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode); err != nil {
		w.t.Fatal(err)
	}
}

// loseDir takes a broker's second log directory away, which the broker notices when it next
// writes a checkpoint.
func (w *kafkaWard) loseDir(id int32) {
	w.t.Helper()
	dir := w.LogDirs(id)[1]
	if err := os.Rename(dir, dir+".gone"); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		w.Stop(w.t, id)
		if err := os.Rename(dir+".gone", dir); err != nil {
			w.t.Error(err)
		}
		w.StartNode(w.t, id)
	})
	await(w.t, "the directory is offline", func() bool {
		s := w.observed().snapshot(inspect.PartLogDirs)
		return s != nil && s.Broker(inspect.BrokerID(id)) != nil && slices.ContainsFunc(s.Broker(inspect.BrokerID(id)).LogDirs.Or(nil), func(d inspect.LogDir) bool { return d.Error != "" })
	})
}

// read has a group read a topic.
func (w *kafkaWard) read(group, topic string) {
	w.t.Helper()
	client, err := kgo.NewClient(
		kgo.SeedBrokers(w.Bootstrap()...), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.AutoCommitInterval(300*time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtEnd()),
	)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			client.PollFetches(ctx)
		}
	}()
	w.t.Cleanup(func() { cancel(); <-done; client.CloseAllowingRebalance() })
	await(w.t, "the group has committed", func() bool {
		s := w.observed().snapshot(inspect.PartGroups | inspect.PartOffsets)
		if s == nil {
			return false
		}
		g := s.Group(group)
		return g != nil && len(g.Commits.Or(nil)) > 0
	})
}

// loseVoter ends controllers, and waits until their silence is a loss.
func (w *kafkaWard) loseVoter(rng *rand.Rand) string {
	w.Kill(w.t, kafkatest.FirstController+int32(rng.IntN(3)))
	time.Sleep(inspect.QuorumPatience + 4*time.Second)
	return "quorum-at-risk"
}

// run does something to the cluster and looks.
func (w *kafkaWard) run(in *kafkaIncident, seed uint64) (got, want []string) {
	w.t.Helper()
	rng := rand.New(rand.NewPCG(seed, 0x6b61666b61))
	if in.rate > 0 {
		w.write("orders", in.rate)
	}
	want = in.do(w, rng)
	if len(want) > 0 {
		time.Sleep(3 * time.Second) // an incident is looked at after it has begun
	}
	n := in.looks
	if n == 0 {
		n = 10
	}
	c, r := w.observed().look(n)
	w.t.Logf("%s", show(r))
	for _, l := range c.Links() {
		w.t.Logf("%+v", l)
	}
	for _, f := range c.Last().Failures {
		w.t.Logf("%s", fmt.Sprintf("%+v", f))
	}
	return ranked(r), want
}
