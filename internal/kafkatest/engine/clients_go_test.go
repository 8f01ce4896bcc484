package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

// franz is franz-go; its idempotence, acks=all and cooperative groups are defaults.
var franz = client{
	name: "franz-go",
	produce: func(t *testing.T, c *kafkatest.Cluster, stop <-chan struct{}, topic string) (map[string]at, error) {
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...), kgo.ProducerLinger(0))
		if err != nil {
			return nil, err
		}
		defer cl.Close()
		var (
			mu    sync.Mutex
			first error
			acked = map[string]at{}
		)
		every(pace, stop, func(i int) {
			r := &kgo.Record{Topic: topic, Value: fmt.Appendf(nil, "franz-%d", i)}
			cl.Produce(t.Context(), r, func(r *kgo.Record, err error) {
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					first = errors.Join(first, err)
					return
				}
				acked[string(r.Value)] = at{r.Partition, r.Offset}
			})
		})
		err = cl.Flush(t.Context())
		mu.Lock()
		defer mu.Unlock()
		return acked, errors.Join(err, first)
	},
	consume: func(t *testing.T, c *kafkatest.Cluster, stop <-chan struct{}, topic, group string, got func(at, string)) error {
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...),
			kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
			kgo.HeartbeatInterval(500*time.Millisecond), kgo.SessionTimeout(6*time.Second))
		if err != nil {
			return err
		}
		defer cl.CloseAllowingRebalance()
		for open(stop) {
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			fetches := cl.PollFetches(ctx)
			cancel()
			fetches.EachRecord(func(r *kgo.Record) { got(at{r.Partition, r.Offset}, string(r.Value)) })
			// A commit that a rebalance was faster than is made by who reads these again.
			_ = cl.CommitUncommittedOffsets(t.Context())
			cl.AllowRebalance()
		}
		return nil
	},
}

// saramas is sarama.
var saramas = client{
	name: "sarama",
	produce: func(t *testing.T, c *kafkatest.Cluster, stop <-chan struct{}, topic string) (map[string]at, error) {
		cfg := sarama.NewConfig()
		cfg.Version = sarama.V4_0_0_0
		cfg.Producer.RequiredAcks, cfg.Producer.Idempotent, cfg.Net.MaxOpenRequests = sarama.WaitForAll, true, 1
		cfg.Producer.Return.Successes, cfg.Producer.Return.Errors = true, true
		cfg.Producer.Retry.Max, cfg.Producer.Retry.Backoff = 300, 100*time.Millisecond
		cfg.Net.ReadTimeout, cfg.Net.DialTimeout = 5*time.Second, 2*time.Second
		cfg.Metadata.Retry.Max = 100
		p, err := sarama.NewAsyncProducer(c.Bootstrap(), cfg)
		if err != nil {
			return nil, err
		}
		acked := map[string]at{}
		var first error
		var answers sync.WaitGroup
		answers.Go(func() {
			for m := range p.Successes() {
				value, _ := m.Value.Encode()
				acked[string(value)] = at{m.Partition, m.Offset}
			}
		})
		answers.Go(func() {
			for e := range p.Errors() {
				first = errors.Join(first, e)
			}
		})
		every(pace, stop, func(i int) {
			p.Input() <- &sarama.ProducerMessage{Topic: topic, Value: sarama.StringEncoder(fmt.Sprintf("sarama-%d", i))}
		})
		p.AsyncClose()
		answers.Wait()
		return acked, first
	},
	consume: func(t *testing.T, c *kafkatest.Cluster, stop <-chan struct{}, topic, group string, got func(at, string)) error {
		cfg := sarama.NewConfig()
		cfg.Version = sarama.V4_0_0_0
		cfg.Consumer.Offsets.Initial = sarama.OffsetOldest
		cfg.Consumer.Offsets.AutoCommit.Interval = 200 * time.Millisecond
		cfg.Consumer.Group.Session.Timeout, cfg.Consumer.Group.Heartbeat.Interval = 6*time.Second, 500*time.Millisecond
		cfg.Net.ReadTimeout, cfg.Net.DialTimeout = 8*time.Second, 2*time.Second
		cfg.Metadata.Retry.Max = 100
		g, err := sarama.NewConsumerGroup(c.Bootstrap(), group, cfg)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { <-stop; cancel() }()
		for ctx.Err() == nil {
			if err := g.Consume(ctx, []string{topic}, reader{got}); err != nil { // a broker that is gone: once more
				time.Sleep(100 * time.Millisecond)
			}
		}
		return g.Close()
	},
}

// reader is what sarama calls with claims.
type reader struct{ got func(at, string) }

func (reader) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (reader) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (r reader) ConsumeClaim(s sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case m, ok := <-claim.Messages():
			if !ok {
				return nil
			}
			r.got(at{m.Partition, m.Offset}, string(m.Value))
			s.MarkMessage(m, "")
		case <-s.Context().Done():
			return nil
		}
	}
}

// every calls f each so often until stop is closed.
func every(d time.Duration, stop <-chan struct{}, f func(i int)) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-tick.C:
			f(i)
		}
	}
}

func open(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return false
	default:
		return true
	}
}

// endOffsets are the high watermarks.
func endOffsets(t *testing.T, c *kafkatest.Cluster, topic string, partitions int32) map[int32]int64 {
	t.Helper()
	ends := map[int32]int64{}
	for p := range partitions {
		req := kmsg.NewPtrListOffsetsRequest()
		part := kmsg.NewListOffsetsRequestTopicPartition()
		part.Partition, part.Timestamp = p, -1
		top := kmsg.NewListOffsetsRequestTopic()
		top.Topic, top.Partitions = topic, []kmsg.ListOffsetsRequestTopicPartition{part}
		req.ReplicaID, req.Topics = -1, []kmsg.ListOffsetsRequestTopic{top}
		kafkatest.Eventually(t, soon, func() error {
			where, err := c.Partition(t.Context(), topic, p)
			if err != nil {
				return err
			}
			resp, err := c.Ask(t.Context(), where.Leader, req)
			if err != nil {
				return err
			}
			got := resp.(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
			if got.ErrorCode != 0 {
				return fmt.Errorf("%s-%d: error %d", topic, p, got.ErrorCode)
			}
			ends[p] = got.Offset
			return nil
		})
	}
	return ends
}

// committedOffsets are a group's, -1 for none.
func committedOffsets(t *testing.T, c *kafkatest.Cluster, topic, group string) map[int32]int64 {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = group
	req.Groups = append(req.Groups, g)
	resp, err := req.RequestWith(t.Context(), cl)
	if err != nil {
		t.Fatal(err)
	}
	committed := map[int32]int64{}
	for _, g := range resp.Groups {
		for _, top := range g.Topics {
			if top.Topic != topic {
				continue
			}
			for _, p := range top.Partitions {
				committed[p.Partition] = p.Offset
			}
		}
	}
	return committed
}
