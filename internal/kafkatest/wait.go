package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// pollInterval is how often a condition is tried again.
const pollInterval = 50 * time.Millisecond

// Eventually tries f until it returns nil, and fails the test with f's last
// error when that takes longer than within.
func Eventually(tb testing.TB, within time.Duration, f func() error) {
	tb.Helper()
	ctx, cancel := bound(tb, within)
	defer cancel()
	begun := time.Now()
	if err := poll(ctx, f); err != nil {
		tb.Fatalf("kafkatest: still not so after %s: %v", time.Since(begun).Round(100*time.Millisecond), err)
	}
}

// errDead ends a poll: what it waits for cannot come.
var errDead = errors.New("ended by itself")

// poll tries f until it returns nil, and returns its last error when ctx ends.
// f runs at least once.
func poll(ctx context.Context, f func() error) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := f()
		if err == nil || errors.Is(err, errDead) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// AwaitRegistered waits until every broker that runs is registered and
// unfenced, in the eyes of every broker that runs.
func (c *Cluster) AwaitRegistered(tb testing.TB) {
	tb.Helper()
	ctx, cancel := bound(tb, healTimeout)
	defer cancel()
	if err := c.awaitRegistered(ctx); err != nil {
		tb.Fatalf("kafkatest: %v", err)
	}
}

func (c *Cluster) awaitRegistered(ctx context.Context) error {
	err := poll(ctx, func() error {
		running := c.runningBrokers()
		for _, n := range c.nodes {
			if n.died() {
				return fmt.Errorf("node %d %w", n.id, errDead)
			}
		}
		if c.opts.ZooKeeper {
			if err := c.learnID(); err != nil {
				return err
			}
		}
		for _, id := range running {
			unfenced, err := c.unfenced(ctx, id)
			if err != nil {
				return err
			}
			for _, want := range running {
				if !slices.Contains(unfenced, want) {
					return fmt.Errorf("broker %d is not registered and unfenced, says broker %d", want, id)
				}
			}
		}
		return nil
	})
	if err != nil || len(c.runningBrokers()) == 0 {
		return err
	}
	return c.awaitController(ctx)
}

// AwaitFenced waits until every broker that runs sees broker id as fenced or
// gone. For a broker that is paused or killed that takes
// broker.session.timeout.ms.
func (c *Cluster) AwaitFenced(tb testing.TB, id int32) {
	tb.Helper()
	Eventually(tb, healTimeout, func() error {
		for _, teller := range c.runningBrokers() {
			unfenced, err := c.unfenced(tb.Context(), teller)
			if err != nil {
				return err
			}
			if slices.Contains(unfenced, id) {
				return fmt.Errorf("broker %d is not fenced, says broker %d", id, teller)
			}
		}
		return nil
	})
}

// unfenced returns the brokers that broker id sees as unfenced.
func (c *Cluster) unfenced(ctx context.Context, id int32) ([]int32, error) {
	req := kmsg.NewPtrDescribeClusterRequest()
	req.IncludeFencedBrokers = true // from version 2; before, only unfenced ones are listed
	resp, err := ask[*kmsg.DescribeClusterResponse](ctx, c, id, req)
	if err != nil {
		return nil, err
	}
	if err := kafkaError("describe cluster", resp.ErrorCode, resp.ErrorMessage); err != nil {
		return nil, err
	}
	if resp.ClusterID != c.ClusterID() { // another Kafka listens where ours should
		return nil, fmt.Errorf("cluster %s answers at %s: %w", resp.ClusterID, c.BrokerAddr(id), errPortTaken)
	}
	var ids []int32
	for _, b := range resp.Brokers {
		if !b.IsFenced {
			ids = append(ids, b.NodeID)
		}
	}
	return ids, nil
}

func (c *Cluster) runningBrokers() []int32 {
	return slices.DeleteFunc(c.Brokers(), func(id int32) bool { return !c.Alive(id) })
}
