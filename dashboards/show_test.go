package dashboards

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var built struct {
	once sync.Once
	path string
	err  error
}

// kafkaopsBinary builds the command once.
func kafkaopsBinary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		out, err := exec.Command("go", "build", "-o", built.path, "../cmd/kafkaops").CombinedOutput()
		if err != nil {
			built.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "kafkaops-dashboards-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	built.path = filepath.Join(dir, "kafkaops")
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// load writes 100 records a second with acks=all until the test ends.
func load(t *testing.T, c *kafkatest.Cluster, topic string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...), kgo.DefaultProduceTopic(topic),
		kgo.RecordPartitioner(kgo.RoundRobinPartitioner()), kgo.RecordDeliveryTimeout(30*time.Second),
		kgo.DisableIdempotentWrite()) // a producer that nothing stops for good
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		value := []byte(strings.Repeat("x", 100))
		for ctx.Err() == nil {
			cl.TryProduce(ctx, &kgo.Record{Value: value}, nil)
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(func() { stop(); ended.Wait(); cl.Close() })
}

// consumer is a member of a group that can be slowed and hung.
type consumer struct {
	stop  context.CancelFunc
	ended sync.WaitGroup
	cl    *kgo.Client
	topic string
}

// consume starts one that reads at most this many records a second.
func consume(t *testing.T, c *kafkatest.Cluster, group, topic string, perSecond int) *consumer {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...), kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic),
		kgo.AutoCommitInterval(500*time.Millisecond), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		// 45, 3 and 10 s by default, and time runs faster here. A group whose coordinator is
		// paused stands still for more than a minute with those, and half a minute with these.
		kgo.SessionTimeout(10*time.Second), kgo.HeartbeatInterval(time.Second), kgo.RequestTimeoutOverhead(3*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &consumer{stop: stop, cl: cl, topic: topic}
	const rounds = 4
	s.ended.Go(func() {
		for ctx.Err() == nil {
			cl.PollRecords(ctx, max(1, perSecond/rounds))
			select {
			case <-time.After(time.Second / rounds):
			case <-ctx.Done():
			}
		}
	})
	t.Cleanup(s.close)
	return s
}

// hang stops reading and stays a member.
func (s *consumer) hang() { s.stop(); s.ended.Wait() }

func (s *consumer) close() { s.hang(); s.cl.Close() }

// deleteRecords deletes all that is committed of a topic led by these brokers.
func deleteRecords(t *testing.T, c *kafkatest.Cluster, topic string, leaders []int32) {
	t.Helper()
	for partition, leader := range leaders {
		p := kmsg.NewDeleteRecordsRequestTopicPartition()
		p.Partition, p.Offset = int32(partition), -1 // up to the high watermark
		tp := kmsg.NewDeleteRecordsRequestTopic()
		tp.Topic, tp.Partitions = topic, append(tp.Partitions, p)
		req := kmsg.NewPtrDeleteRecordsRequest()
		req.Topics, req.TimeoutMillis = append(req.Topics, tp), 10_000
		resp, err := c.Ask(t.Context(), leader, req)
		if err != nil {
			t.Fatal(err)
		}
		if code := resp.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
			t.Fatalf("delete records of %s-%d: error code %d", topic, partition, code)
		}
	}
}

// TestSlowFollower: a follower that fetches once in 7 s and stays in the ISR. Both
// early signs are there, and nothing else; and the page, groups and all, is one that
// promtool has nothing to say to.
func TestSlowFollower(t *testing.T) {
	needProgram(t, "prometheus")
	c := kafkatest.Start(t, kafkatest.Options{Brokers: 2, BrokerProperties: map[int32]map[string]string{
		2: {"replica.fetch.min.bytes": "100000000", "replica.fetch.wait.max.ms": "7000"},
	}})
	c.CreateTopic(t, "load", [][]int32{{1, 2}}, nil)
	w := watch(t, c)
	load(t, c, "load")
	consume(t, c, "readers", "load", 100_000)
	w.fires(time.Minute, "KafkaUncommittedGrowing", "KafkaReplicaLagging")
	w.onlyThese("slow follower", w.began, "KafkaUncommittedGrowing", "KafkaReplicaLagging")
	if n := w.query(`min_over_time(kafka_topic_partition_in_sync_replica{topic="load"}[5m])`); len(n) != 1 || n[0].value != 2 {
		t.Errorf("in-sync replicas, at the least: got %v, want 2", n)
	}
	w.await("a group's lag", time.Minute, func() error {
		if len(w.query(`kafka_consumergroup_lag_seconds{consumergroup="readers"}`)) == 0 {
			return fmt.Errorf("no data")
		}
		return nil
	})
	checkPage(t, w.page)
}

// TestShow takes one cluster through its incidents: each alert fires in its own,
// and none in a rolling restart.
func TestShow(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: a quarter of an hour of incidents; set KAFKAOPS_LONG=1")
	}
	needProgram(t, "prometheus")
	show := t
	c := kafkatest.Start(t, kafkatest.Options{Brokers: 3, Controllers: 3, Properties: map[string]string{
		"replica.lag.time.max.ms":                 "8000",
		"broker.session.timeout.ms":               "12000", // a paused broker is still in the ISR for a while
		"broker.heartbeat.interval.ms":            "1000",
		"leader.imbalance.check.interval.seconds": "30", // 300 s by default, and time runs faster here
	}})
	minISR := map[string]string{"min.insync.replicas": "2"}
	c.CreateTopic(t, "load", [][]int32{{1, 2, 3}, {2, 1, 3}}, minISR)
	c.CreateTopic(t, "other", [][]int32{{3, 1, 2}, {3, 2, 1}}, minISR)
	c.CreateTopic(t, "single", [][]int32{{3}}, nil)
	c.CreateTopic(t, "tight", [][]int32{{1, 2}}, minISR) // built without headroom
	c.CreateTopic(t, "unclean", [][]int32{{2, 3}}, map[string]string{"unclean.leader.election.enable": "true"})
	load(t, c, "load")
	consume(t, c, "readers", "load", 100_000)
	w := watch(t, c)
	whole := func() {
		t.Helper()
		c.Heal(t)
		w.await("whole", time.Minute, func() error {
			if len(w.query(`sum(kafka_broker_out_of_sync_replicas) == 0 and sum(kafka_broker_up) == 3`)) == 0 {
				return fmt.Errorf("not whole: %v", w.query("kafka_broker_out_of_sync_replicas"))
			}
			return nil
		})
	}
	whole()
	time.Sleep(15 * time.Second)
	w.onlyThese("healthy", w.began)

	phase := func(name string, f func(t *testing.T, began time.Time)) {
		w.calm("KafkaUncleanElection") // which is told for an hour, that is 6 minutes here
		w.await("shrinks of the phase before are over", 2*time.Minute, func() error {
			if n := w.query(`kafkaops:broker_isr_shrinks:increase5m > 0`); len(n) > 0 {
				return fmt.Errorf("%v", n)
			}
			return nil
		})
		began := time.Now()
		t.Run(name, func(inner *testing.T) {
			w.t = inner
			defer func() { w.t = t }()
			t.Logf("--- %s, %s", name, w.since())
			f(inner, began)
		})
		whole()
	}

	phase("rolling restart", func(t *testing.T, began time.Time) {
		for _, id := range []int32{1, 2, 3, 100, 101, 102} {
			c.Restart(t, id)
			t.Logf("node %d is back, %s", id, w.since())
			w.await("in sync", time.Minute, func() error {
				if len(w.query(`kafka_cluster_under_replicated_partitions == 0`)) == 0 {
					return fmt.Errorf("under-replicated")
				}
				return nil
			})
		}
		time.Sleep(5 * time.Second)
		if w.first("kafka_cluster_under_replicated_partitions > 0", began).IsZero() {
			t.Error("the exporter saw nothing of the restarts")
		}
		w.onlyThese("rolling restart", began)
	})

	phase("follower paused, leader killed, unclean election", func(t *testing.T, began time.Time) {
		c.Pause(t, 3)
		w.fires(time.Minute, "KafkaUncommittedGrowing")
		w.await("out of the ISR", time.Minute, func() error {
			if len(w.query(`kafka_topic_partition_in_sync_replica{topic="load",partition="0"} == 2`)) == 0 {
				return fmt.Errorf("in the ISR")
			}
			return nil
		})
		early := w.first(`ALERTS{alertname="KafkaUncommittedGrowing",alertstate="firing"}`, began)
		left := w.first(`kafka_topic_partition_in_sync_replica{topic="load"} == 2`, began)
		t.Logf("paused at 0; LEO − HW growing fired at %s, the replica left the ISR at %s", early.Sub(began), left.Sub(began))
		if !early.Before(left) {
			t.Error("LEO − HW growing did not fire before the replica left the ISR")
		}
		w.fires(2*time.Minute, "KafkaUnderReplicated", "KafkaAtMinISR", "KafkaOfflinePartitions", "KafkaBrokerDown", "KafkaPreferredLeadersLost")
		w.onlyThese("follower paused", began, "KafkaUncommittedGrowing", "KafkaUnderReplicated", "KafkaAtMinISR",
			"KafkaOfflinePartitions", "KafkaBrokerDown", "KafkaPreferredLeadersLost")
		c.Kill(t, 2)
		w.fires(time.Minute, "KafkaUnderMinISR")
		// Broker 3 has not what broker 2 has, and is all that is left of one topic.
		c.Resume(t, 3)
		w.fires(time.Minute, "KafkaUncleanElection")
	})

	phase("groups and controllers", func(t *testing.T, began time.Time) {
		slow := consume(t, c, "slow", "load", 20)
		hung := consume(t, c, "hung", "load", 100_000)
		w.await("commits", time.Minute, func() error {
			if len(w.query(`count(count by (consumergroup) (kafka_consumergroup_current_offset{consumergroup=~"slow|hung"})) == 2`)) == 0 {
				return fmt.Errorf("no commits")
			}
			return nil
		})
		c.Kill(t, 100)
		hung.hang()
		w.fires(3*time.Minute, "KafkaConsumerGroupStalled")
		deleteRecords(t, c, "load", []int32{1, 2})
		slow.close()
		slower := consume(t, c, "slow", "load", 20)
		w.fires(3*time.Minute, "KafkaConsumerGroupOffsetOutOfRange", "KafkaConsumerGroupFallingBehind", "KafkaQuorumAtLastMajority")
		w.onlyThese("groups and a controller", began, "KafkaUncleanElection", "KafkaConsumerGroupStalled", "KafkaConsumerGroupOffsetOutOfRange",
			"KafkaConsumerGroupFallingBehind", "KafkaQuorumAtLastMajority")
		hung.close()
		slower.close()
		lost := time.Now()
		c.Kill(t, 101)
		w.fires(time.Minute, "KafkaNoActiveController")
		t.Logf("active controllers told: %v", w.query("kafka_cluster_active_controllers"))
		// The groups that have nobody any more go on being stalled.
		w.onlyThese("no quorum", lost, "KafkaUncleanElection", "KafkaConsumerGroupStalled", "KafkaConsumerGroupOffsetOutOfRange",
			"KafkaConsumerGroupFallingBehind", "KafkaQuorumAtLastMajority", "KafkaNoActiveController", "KafkaopsCollectionFailing")
		c.StartNode(t, 100)
		c.StartNode(t, 101)
		for _, group := range []string{"slow", "hung"} { // until the end of the show, not of the phase
			consume(show, c, group, "load", 100_000)
		}
		w.calm("KafkaUncleanElection")
	})

	phase("flapping", func(t *testing.T, began time.Time) {
		for len(w.query(`ALERTS{alertname="KafkaISRFlapping",alertstate="firing"}`)) == 0 ||
			len(w.query(`ALERTS{alertname="KafkaISRShrinking",alertstate="firing"}`)) == 0 {
			if time.Since(began) > 6*time.Minute {
				t.Fatalf("not firing after 6 minutes: %v", w.states())
			}
			c.Pause(t, 3)
			c.AwaitISR(t, "load", 0, 1, 2)
			c.Resume(t, 3)
			c.AwaitISR(t, "load", 0, 1, 2, 3)
			t.Logf("out and back, %s", w.since())
			time.Sleep(2 * time.Second)
		}
		// For most of the time a broker did not answer: collections were not complete.
		w.onlyThese("flapping", began, "KafkaISRFlapping", "KafkaISRShrinking", "KafkaUncommittedGrowing", "KafkaUncleanElection", "KafkaopsCollectionFailing")
	})

	w.calm("KafkaUncleanElection")
	began := time.Now()
	for _, id := range []int32{1, 2, 3} {
		c.Kill(t, id)
	}
	w.fires(time.Minute, "KafkaClusterUnreachable")
	w.fires(3*time.Minute, "KafkaopsCollectionFailing")
	w.exporter.stop()
	w.fires(time.Minute, "KafkaopsExporterAbsent")
	w.onlyThese("dead", began, "KafkaClusterUnreachable", "KafkaopsCollectionFailing", "KafkaopsExporterAbsent",
		"KafkaUncommittedGrowing", "KafkaUncleanElection")
	w.recorded()
}

// recorded checks that every recording rule has had data.
func (w *watcher) recorded() {
	w.t.Helper()
	for _, r := range allRules(w.t) {
		if r.Record != "" && len(w.query(fmt.Sprintf("last_over_time(%s[1h])", r.Record))) == 0 {
			w.t.Errorf("%s has had no data", r.Record)
		}
	}
}
