package acceptance

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// outage brings a cluster of three brokers of any version to one and the same
// state, in which broker 3 is stopped:
//
//	plain    3 partitions, compressed: lost a replica, one not led by its preferred
//	strict   under its min ISR
//	gone     without a leader
//	above    min ISR above the number of replicas
//	moving   being reassigned, held up by a throttle
//	paid     an open transaction holds the LSO
//
// and groups stand in plain: idle, without members; classic and, where the
// cluster has the protocol, modern with one.
func outage(t *testing.T, c *kafkatest.Cluster) {
	t.Helper()
	// Kafka deals the internal topics at random.
	compacted := map[string]string{"cleanup.policy": "compact"}
	c.CreateTopic(t, "__consumer_offsets", c.Spread(8, 3), compacted)
	c.CreateTopic(t, "__transaction_state", c.Spread(4, 3), compacted)
	gzip := minISR(2)
	gzip["compression.type"] = "gzip"
	c.CreateTopic(t, "plain", c.Spread(3, 3), gzip)
	c.CreateTopic(t, "strict", [][]int32{{1, 2, 3}}, minISR(3))
	c.CreateTopic(t, "gone", [][]int32{{3}}, minISR(1))
	c.CreateTopic(t, "above", [][]int32{{2}}, minISR(2))
	c.CreateTopic(t, "moving", [][]int32{{1}}, minISR(1))
	c.CreateTopic(t, "paid", [][]int32{{1, 2, 3}}, minISR(2))
	for p := range int32(3) {
		c.ProduceRecords(t, "plain", p, 30, kafkatest.AcksAll, 1000)
	}
	c.ProduceRecords(t, "strict", 0, 10, kafkatest.AcksAll, 100)
	c.ProduceRecords(t, "gone", 0, 10, kafkatest.AcksAll, 100)
	c.ProduceRecords(t, "moving", 0, 30, kafkatest.AcksAll, 100_000)

	c.Stop(t, 3)
	c.AwaitFenced(t, 3)
	for topic, partitions := range map[string]int32{"plain": 3, "strict": 1, "paid": 1, "__consumer_offsets": 8, "__transaction_state": 4} {
		for p := range partitions {
			c.AwaitISR(t, topic, p, 1, 2)
		}
	}
	awaitLeaderless(t, c, "gone")
	c.ProduceRecords(t, "strict", 0, 5, 1, 100) // never committed

	c.AlterConfig(t, "moving", "follower.replication.throttled.replicas", "0:2")
	c.AlterBrokerConfig(t, 2, "follower.replication.throttled.rate", "1")
	c.Reassign(t, "moving", 0, []int32{1, 2})

	u := users{t, c}
	u.commit("idle", "plain", 12)
	u.join("classic", "plain", 20)
	if modern(c) {
		u.join("modern", "plain", 25, kgo.ServerSideBalancer())
	}
	u.openTransaction("paid", 7)
	for p := range int32(3) {
		awaitQuiet(t, c, "plain", p)
	}
	awaitQuiet(t, c, "paid", 0)
}

// modern: the cluster has the consumer protocol (KIP-848), from 4.0 on.
func modern(c *kafkatest.Cluster) bool { return c.Version() >= "4" }

func awaitLeaderless(t *testing.T, c *kafkatest.Cluster, topic string) {
	t.Helper()
	kafkatest.Eventually(t, soon, func() error {
		p, err := c.Partition(t.Context(), topic, 0)
		if err == nil && p.Leader >= 0 {
			err = fmt.Errorf("%s-0 is led by %d", topic, p.Leader)
		}
		return err
	})
}

// users are clients that last as long as the test.
type users struct {
	t *testing.T
	c *kafkatest.Cluster
}

func (u users) client(opts ...kgo.Opt) *kgo.Client {
	u.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(u.c.BrokerAddr(1), u.c.BrokerAddr(2))}, opts...)...)
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(cl.CloseAllowingRebalance)
	return cl
}

func (u users) context() context.Context {
	ctx, cancel := context.WithTimeout(u.t.Context(), soon)
	u.t.Cleanup(cancel)
	return ctx
}

// commit puts an offset for partition 0 in the name of a group without members.
func (u users) commit(group, topic string, at int64) {
	u.t.Helper()
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset = at
	rt := kmsg.NewOffsetCommitRequestTopic()
	rt.Topic = topic
	rt.Partitions = append(rt.Partitions, p)
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group = group
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(u.context(), u.client(kgo.MaxVersions(kversion.V3_9_0()))) // newer ones name topics by id
	if err == nil {
		err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
	}
	if err != nil {
		u.t.Fatalf("commit for %s: %v", group, err)
	}
}

// join is a group of one member that commits an offset for partition 0.
func (u users) join(group, topic string, at int64, opts ...kgo.Opt) {
	u.t.Helper()
	cl := u.client(append(opts, kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit())...)
	if errs := cl.PollFetches(u.context()).Errors(); len(errs) > 0 { // now it has joined
		u.t.Fatalf("join %s: %v", group, errs)
	}
	commit := map[string]map[int32]kgo.EpochOffset{topic: {0: {Epoch: -1, Offset: at}}}
	cl.CommitOffsetsSync(u.context(), commit, func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
		if err == nil {
			err = kerr.ErrorForCode(resp.Topics[0].Partitions[0].ErrorCode)
		}
		if err != nil {
			u.t.Errorf("commit for %s: %v", group, err)
		}
	})
}

// openTransaction writes records that stay uncommitted.
func (u users) openTransaction(topic string, records int) {
	u.t.Helper()
	cl := u.client(kgo.TransactionalID("pay"), kgo.TransactionTimeout(5*time.Minute), kgo.DefaultProduceTopic(topic))
	if err := cl.BeginTransaction(); err != nil {
		u.t.Fatal(err)
	}
	for range records {
		if err := cl.ProduceSync(u.context(), &kgo.Record{Value: bytes.Repeat([]byte("x"), 10)}).FirstErr(); err != nil {
			u.t.Fatal(err)
		}
	}
}
