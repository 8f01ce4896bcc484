package kafkatest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// AcksAll is acks=all: every member of the ISR has the record.
const AcksAll = -1

// ProduceRecords is Produce within 20 s, and an error fails the test.
func (c *Cluster) ProduceRecords(tb testing.TB, topic string, partition int32, n, acks, size int) {
	tb.Helper()
	ctx, cancel := bound(tb, adminTimeout)
	defer cancel()
	if err := c.Produce(ctx, topic, partition, n, acks, size); err != nil {
		tb.Fatal(err)
	}
}

// Produce writes n records with values of size bytes, uncompressed, to one
// partition, with acks 0, 1 or AcksAll. It retries only what was surely not
// written because the leader moved: nothing is written twice, and
// NOT_ENOUGH_REPLICAS comes back at once. After any other error, the end of
// ctx included, some of the records may have been written or may yet be.
func (c *Cluster) Produce(ctx context.Context, topic string, partition int32, n, acks, size int) error {
	what := fmt.Sprintf("kafkatest: produce %d records to %s-%d with acks=%d", n, topic, partition, acks)
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: topic, Partition: partition, Value: bytes.Repeat([]byte{'x'}, size)}
	}
	var final error // as against one that another try may cure
	err := poll(ctx, func() error {
		if err := c.ledByRunning(ctx, topic, partition); err != nil {
			return err
		}
		cl, err := c.producer(acks)
		if err != nil {
			final = err
			return nil
		}
		defer cl.Close()
		records, err = produceOnce(ctx, cl, records)
		if !slices.ContainsFunc(leaderMoved, func(moved error) bool { return errors.Is(err, moved) }) {
			final = err
			return nil
		}
		return err
	})
	if err = errors.Join(final, err); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// leaderMoved are the errors of a broker that did not append because it does
// not lead, or not any more.
var leaderMoved = []error{
	kerr.NotLeaderForPartition, kerr.LeaderNotAvailable, kerr.FencedLeaderEpoch, kerr.UnknownLeaderEpoch, kerr.UnknownTopicOrPartition,
}

// ledByRunning returns an error while the brokers disagree about a partition's
// leader or it is down: the client would answer that with an error that does
// not tell whether something was written. A paused leader is the test's wish.
func (c *Cluster) ledByRunning(ctx context.Context, topic string, partition int32) error {
	views, err := c.views(ctx, topic, partition)
	if err != nil {
		return err
	}
	leader := views[0].Leader
	if leader < 0 {
		return errors.New("the partition has no leader")
	}
	for _, v := range views {
		if v.Leader != leader {
			return fmt.Errorf("the leader is %d to one broker, %d to another", leader, v.Leader)
		}
	}
	if !c.node(leader).up() {
		return fmt.Errorf("the leader, broker %d, is down", leader)
	}
	return nil
}

// producer returns a client that tries once. Its seeds are the brokers that
// run: one that is paused would hold its first request for long.
func (c *Cluster) producer(acks int) (*kgo.Client, error) {
	level, ok := map[int]kgo.Acks{0: kgo.NoAck(), 1: kgo.LeaderAck(), AcksAll: kgo.AllISRAcks()}[acks]
	if !ok {
		return nil, fmt.Errorf("acks is %d: want 0, 1 or AcksAll", acks)
	}
	var seeds []string
	for _, id := range c.runningBrokers() {
		seeds = append(seeds, c.BrokerAddr(id))
	}
	if len(seeds) == 0 {
		return nil, errors.New("no broker runs")
	}
	return kgo.NewClient(
		kgo.SeedBrokers(seeds...),
		kgo.ClientID("kafkatest"),
		kgo.DialTimeout(askTimeout),
		kgo.RequestTimeoutOverhead(askTimeout),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()),
		kgo.RequiredAcks(level),
		kgo.DisableIdempotentWrite(), // needs a producer id, from any broker, the paused one too
		kgo.RecordRetries(0),
	)
}

// produceOnce returns the records that failed, and the error of the first.
func produceOnce(ctx context.Context, cl *kgo.Client, records []*kgo.Record) ([]*kgo.Record, error) {
	done := make(chan kgo.ProduceResults, 1)
	go func() { done <- cl.ProduceSync(ctx, records...) }() // ends with the client at the latest
	select {
	case results := <-done:
		var left []*kgo.Record
		for _, r := range results {
			if r.Err != nil {
				left = append(left, &kgo.Record{Topic: r.Record.Topic, Partition: r.Record.Partition, Value: r.Record.Value})
			}
		}
		return left, results.FirstErr()
	case <-ctx.Done():
		return records, ctx.Err()
	}
}
