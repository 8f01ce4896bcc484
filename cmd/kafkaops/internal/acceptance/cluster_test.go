package acceptance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// patient is the broker that keeps a silent follower in the ISRs it leads until
// the controller fences that one. The others drop it long before.
const patient = 4

// shared is the cluster of the package. A broker that is silent leaves the ISRs
// of an impatient leader after 2 to 3 s, and is fenced after 12: tests look in
// between, on a machine that may be busy, and Kafka's 9 are few for that. It is also
// how long the controller refuses a broker that comes back sooner, which tries after
// 0.1 s, 0.3 and so on to 6.3, 12.7, and then 25.
var shared = kafkatest.Share(kafkatest.Options{
	Engine:  engine.FromEnv(),
	Brokers: 4,
	Properties: map[string]string{
		"replica.lag.time.max.ms":      "2000",
		"broker.session.timeout.ms":    "12000",
		"broker.heartbeat.interval.ms": "1000",
		"auto.leader.rebalance.enable": "false", // leaders move when a test says so
	},
	BrokerProperties: map[int32]map[string]string{
		patient: {"replica.lag.time.max.ms": "60000"},
	},
})

func TestMain(m *testing.M) { os.Exit(shared.Main(m)) }

// soon is how long a state may take to come about on a busy machine.
const soon = time.Minute

// minISR is a topic configuration.
func minISR(n int) map[string]string {
	return map[string]string{"min.insync.replicas": strconv.Itoa(n)}
}

// createTopic is Cluster.CreateTopic, and deletes the topic when the test ends:
// what one test leaves would be unhealthy in the next one's outage.
func createTopic(t *testing.T, c *kafkatest.Cluster, name string, assignment [][]int32, configs map[string]string) {
	t.Helper()
	c.CreateTopic(t, name, assignment, configs)
	t.Cleanup(func() { deleteTopic(t, c, name) })
}

func deleteTopic(t *testing.T, c *kafkatest.Cluster, name string) {
	t.Helper()
	req := kmsg.NewPtrDeleteTopicsRequest()
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = &name
	req.Topics = append(req.Topics, topic)
	kafkatest.Eventually(t, time.Minute, func() error {
		answer, err := c.AskController(context.Background(), req)
		if err != nil {
			return err
		}
		err = kerr.ErrorForCode(answer.(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode)
		if errors.Is(err, kerr.UnknownTopicOrPartition) { // an earlier try was heard, and its answer was not
			return nil
		}
		return err
	})
}

// alive are the brokers that run and are not paused.
func alive(c *kafkatest.Cluster) []int32 {
	return slices.DeleteFunc(c.Brokers(), func(id int32) bool { return !c.Alive(id) })
}

// servers is a bootstrap list of these brokers, in this order.
func servers(c *kafkatest.Cluster, ids ...int32) string {
	addrs := make([]string, len(ids))
	for i, id := range ids {
		addrs[i] = c.BrokerAddr(id)
	}
	return strings.Join(addrs, ",")
}

// ask is Cluster.Ask with the type of the answer.
func ask[R kmsg.Response](ctx context.Context, c *kafkatest.Cluster, id int32, req kmsg.Request) (resp R, err error) {
	answer, err := c.Ask(ctx, id, req)
	if err != nil {
		return resp, err
	}
	resp, ok := answer.(R)
	if !ok {
		return resp, fmt.Errorf("the answer is a %T", answer)
	}
	return resp, nil
}

// Kafka's special values in ListOffsets.
const (
	consumer  = -1 // replica id: latest is the HW
	debugging = -2 // replica id: latest is the broker's own LEO
	latest    = -1
	earliest  = -2
)

// rawOffset asks one broker about one partition.
func rawOffset(ctx context.Context, c *kafkatest.Cluster, broker int32, topic string, partition, replica int32, timestamp int64) (int64, error) {
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Partition, p.Timestamp = partition, timestamp
	t := kmsg.NewListOffsetsRequestTopic()
	t.Topic = topic
	t.Partitions = append(t.Partitions, p)
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = replica
	req.Topics = append(req.Topics, t)
	resp, err := ask[*kmsg.ListOffsetsResponse](ctx, c, broker, req)
	if err != nil {
		return 0, err
	}
	if len(resp.Topics) == 1 && len(resp.Topics[0].Partitions) == 1 {
		p := resp.Topics[0].Partitions[0]
		if p.ErrorCode != 0 {
			return 0, fmt.Errorf("broker %d on the offsets of %s-%d: %w", broker, topic, partition, kerr.ErrorForCode(p.ErrorCode))
		}
		return p.Offset, nil
	}
	return 0, fmt.Errorf("broker %d says nothing of %s-%d", broker, topic, partition)
}

// mustOffset is rawOffset of a broker that must know.
func mustOffset(t *testing.T, c *kafkatest.Cluster, broker int32, topic string, partition, replica int32, timestamp int64) int64 {
	t.Helper()
	offset, err := rawOffset(t.Context(), c, broker, topic, partition, replica, timestamp)
	if err != nil {
		t.Fatal(err)
	}
	return offset
}

// awaitQuiet waits until every replica of a partition that is alive has all of
// the leader's log, all of it is committed, and returns the offset of its end.
func awaitQuiet(t *testing.T, c *kafkatest.Cluster, topic string, partition int32) int64 {
	t.Helper()
	var end int64
	kafkatest.Eventually(t, soon, func() error {
		p, err := c.Partition(t.Context(), topic, partition)
		if err != nil {
			return err
		}
		if end, err = rawOffset(t.Context(), c, p.Leader, topic, partition, debugging, latest); err != nil {
			return err
		}
		hw, err := rawOffset(t.Context(), c, p.Leader, topic, partition, consumer, latest)
		if err != nil {
			return err
		}
		if hw != end {
			return fmt.Errorf("%s-%d has HW %d and LEO %d", topic, partition, hw, end)
		}
		for _, id := range p.ISR {
			leo, err := rawOffset(t.Context(), c, id, topic, partition, debugging, latest)
			if err != nil {
				return err
			}
			if leo != end {
				return fmt.Errorf("%s-%d ends at %d on broker %d, at %d on its leader", topic, partition, leo, id, end)
			}
		}
		return nil
	})
	return end
}
