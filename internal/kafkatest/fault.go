package kafkatest

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// healTimeout bounds the way back to a whole cluster: a start, an unfencing,
// a few fetches.
const healTimeout = 90 * time.Second

// Stop shuts a node down in order (SIGTERM) and waits for its end. A broker
// hands its leaderships over first and leaves the ISRs.
func (c *Cluster) Stop(tb testing.TB, id int32) {
	tb.Helper()
	if err := c.stop(c.node(id)); err != nil {
		tb.Fatal(err)
	}
}

func (c *Cluster) stop(n *node) error {
	c.disturb()
	return n.process.Stop()
}

// Kill ends a node at once (SIGKILL) and waits for its end.
func (c *Cluster) Kill(tb testing.TB, id int32) {
	tb.Helper()
	c.disturb()
	if err := c.node(id).process.Kill(); err != nil {
		tb.Fatal(err)
	}
}

// Pause freezes a node (SIGSTOP): connections stay open and nothing answers.
func (c *Cluster) Pause(tb testing.TB, id int32) {
	tb.Helper()
	c.disturb()
	if err := c.node(id).process.Pause(); err != nil {
		tb.Fatal(err)
	}
}

// Resume lets a paused node go on. It does not wait for the cluster to take it
// back; see AwaitRegistered and AwaitISR.
func (c *Cluster) Resume(tb testing.TB, id int32) {
	tb.Helper()
	if err := c.node(id).process.Resume(); err != nil {
		tb.Fatal(err)
	}
}

// StartNode starts a node that is down, on the same ports and data, and waits
// until the cluster has it back (though not yet in its ISRs).
func (c *Cluster) StartNode(tb testing.TB, id int32) {
	tb.Helper()
	ctx, cancel := bound(tb, c.opts.StartTimeout)
	defer cancel()
	if err := c.start(ctx, c.node(id)); err != nil {
		tb.Fatal(c.explain(err))
	}
	if err := c.awaitRegistered(ctx); err != nil {
		tb.Fatal(c.explain(err))
	}
}

// Restart is Stop, then StartNode.
func (c *Cluster) Restart(tb testing.TB, id int32) {
	tb.Helper()
	c.Stop(tb, id)
	c.StartNode(tb, id)
}

// Alive reports whether a node runs and is not paused.
func (c *Cluster) Alive(id int32) bool { return c.node(id).alive() }

// Heal makes the cluster whole: every node running, every broker unfenced,
// every ISR full, every partition led by its preferred replica. Topics, their
// records and configurations stay.
func (c *Cluster) Heal(tb testing.TB) {
	tb.Helper()
	ctx, cancel := bound(tb, healTimeout)
	defer cancel()
	if err := c.heal(ctx); err != nil {
		tb.Fatalf("kafkatest: heal: %v", err)
	}
}

func (c *Cluster) heal(ctx context.Context) error {
	for _, n := range c.nodes {
		if err := n.process.Resume(); err != nil {
			return err
		}
	}
	if err := c.startAll(ctx); err != nil {
		return err
	}
	if err := poll(ctx, func() error { return c.wholeISRs(ctx) }); err != nil {
		return err
	}
	if err := c.electPreferred(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = false
	return nil
}

// disturb notes that a test broke something.
func (c *Cluster) disturb() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = true
}

// whole reports whether nothing has been broken since the last Heal, and
// nothing died by itself.
func (c *Cluster) whole() bool {
	for _, n := range c.nodes {
		if !n.alive() {
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.broken
}

// awaitController waits until the controllers that run have a leader, and
// brokers can reach it. A controller that came back takes a moment.
func (c *Cluster) awaitController(ctx context.Context) error {
	if c.opts.ZooKeeper {
		return c.awaitElected(ctx)
	}
	return poll(ctx, func() error {
		for _, n := range c.nodes {
			if n.role != isController || !n.alive() {
				continue
			}
			conn, err := net.DialTimeout("tcp", n.addr(controller), time.Second)
			if err != nil {
				return fmt.Errorf("controller %d: %w", n.id, err)
			}
			conn.Close()
		}
		req := kmsg.NewPtrDescribeQuorumRequest()
		topic := kmsg.NewDescribeQuorumRequestTopic()
		topic.Topic = "__cluster_metadata"
		topic.Partitions = append(topic.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
		req.Topics = append(req.Topics, topic)
		resp, err := askAny[*kmsg.DescribeQuorumResponse](ctx, c, req)
		if err != nil {
			return err
		}
		return kafkaError("describe quorum", resp.ErrorCode, resp.ErrorMessage)
	})
}
