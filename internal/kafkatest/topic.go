package kafkatest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// adminTimeout bounds one change to the cluster and its spread to all brokers, on
// a machine that may be busy.
const adminTimeout = time.Minute

// CreateTopic creates a topic with the given replicas for each partition, and
// waits until every broker that runs knows its leaders and they know it themselves.
func (c *Cluster) CreateTopic(tb testing.TB, name string, assignment [][]int32, configs map[string]string) {
	tb.Helper()
	ctx, cancel := bound(tb, adminTimeout)
	defer cancel()
	if err := c.createTopic(ctx, name, assignment, configs); err != nil {
		tb.Fatalf("kafkatest: %v", err)
	}
}

// Spread returns an assignment for CreateTopic: partitions × replicas dealt
// round the brokers, the first replica of partition p on broker 1 + p mod N.
func (c *Cluster) Spread(partitions, replicas int) [][]int32 {
	brokers := c.Brokers()
	assignment := make([][]int32, partitions)
	for p := range assignment {
		for r := range replicas {
			assignment[p] = append(assignment[p], brokers[(p+r)%len(brokers)])
		}
	}
	return assignment
}

func (c *Cluster) createTopic(ctx context.Context, name string, assignment [][]int32, configs map[string]string) error {
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, -1, -1
	for p, replicas := range assignment {
		a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
		a.Partition, a.Replicas = int32(p), replicas
		topic.ReplicaAssignment = append(topic.ReplicaAssignment, a)
	}
	for key, value := range sorted(configs) {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = key, &value
		topic.Configs = append(topic.Configs, config)
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Topics = append(req.Topics, topic)
	resp, err := askController[*kmsg.CreateTopicsResponse](ctx, c, req)
	if err != nil {
		return fmt.Errorf("create topic %s: %w", name, err)
	}
	for _, t := range resp.Topics {
		if err := kafkaError("create topic "+name, t.ErrorCode, t.ErrorMessage); err != nil {
			return err
		}
	}
	return poll(ctx, func() error {
		var partitions []Partition
		for _, id := range c.runningBrokers() {
			var err error
			if partitions, err = c.partitions(ctx, id, name); err != nil {
				return err
			}
			leaderless := func(p Partition) bool { return p.Leader < 0 }
			if len(partitions) != len(assignment) || slices.ContainsFunc(partitions, leaderless) {
				return fmt.Errorf("create topic %s: broker %d does not know all %d leaders", name, id, len(assignment))
			}
		}
		return c.lead(ctx, name, partitions)
	})
}

// lead returns an error unless each partition's leader serves it. A broker tells in
// its metadata that it leads before it does, and refuses what it is asked meanwhile:
// NOT_LEADER_OR_FOLLOWER.
func (c *Cluster) lead(ctx context.Context, topic string, partitions []Partition) error {
	byLeader := map[int32][]kmsg.ListOffsetsRequestTopicPartition{}
	for _, p := range partitions {
		asked := kmsg.NewListOffsetsRequestTopicPartition()
		asked.Partition, asked.Timestamp = p.Partition, -1 // the latest
		byLeader[p.Leader] = append(byLeader[p.Leader], asked)
	}
	for id, asked := range byLeader {
		req := kmsg.NewPtrListOffsetsRequest()
		req.ReplicaID = -1
		req.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: topic, Partitions: asked}}
		resp, err := ask[*kmsg.ListOffsetsResponse](ctx, c, id, req)
		if err != nil {
			return err
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if err := kafkaError(fmt.Sprintf("%s-%d at its leader, broker %d", topic, p.Partition, id), p.ErrorCode, nil); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// A Partition is what a broker's metadata says about one.
type Partition struct {
	Topic       string
	Partition   int32
	Leader      int32 // -1: none
	LeaderEpoch int32
	Replicas    []int32 // in the order of the assignment
	ISR         []int32
	Offline     []int32
}

// Partition returns a partition's state as the brokers that run know it: of
// several views the one with the highest leader epoch, because a broker that
// was frozen still sees the past.
func (c *Cluster) Partition(ctx context.Context, topic string, partition int32) (Partition, error) {
	views, err := c.views(ctx, topic, partition)
	if len(views) == 0 {
		return Partition{}, fmt.Errorf("kafkatest: %w", err)
	}
	return slices.MaxFunc(views, func(a, b Partition) int { return int(a.LeaderEpoch - b.LeaderEpoch) }), nil
}

// AwaitISR waits until a partition's ISR is exactly isr, in any order, in the
// eyes of every broker that runs.
func (c *Cluster) AwaitISR(tb testing.TB, topic string, partition int32, isr ...int32) {
	tb.Helper()
	want := slices.Sorted(slices.Values(isr))
	Eventually(tb, healTimeout, func() error {
		views, err := c.views(tb.Context(), topic, partition)
		if err != nil {
			return err
		}
		for _, p := range views {
			if got := slices.Sorted(slices.Values(p.ISR)); !slices.Equal(got, want) {
				return fmt.Errorf("the ISR of %s-%d is %v, want %v", topic, partition, got, want)
			}
		}
		return nil
	})
}

// views returns what each broker that runs knows about a partition, and the
// last error of those that did not tell.
func (c *Cluster) views(ctx context.Context, topic string, partition int32) (views []Partition, err error) {
	for _, id := range c.runningBrokers() {
		all, failed := c.partitions(ctx, id, topic)
		i := slices.IndexFunc(all, func(p Partition) bool { return p.Partition == partition })
		switch {
		case failed != nil:
			err = failed
		case i < 0:
			err = fmt.Errorf("%s has %d partitions, says broker %d; none is %d", topic, len(all), id, partition)
		default:
			views = append(views, all[i])
		}
	}
	if len(views) == 0 && err == nil {
		err = fmt.Errorf("%s-%d: no broker runs", topic, partition)
	}
	return views, err
}
