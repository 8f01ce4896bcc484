package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
)

// cluster is the package's, for clients: the engine, or with
// KAFKAOPS_TEST_ENGINE=kafka a real Kafka, to see that the tests are right.
var cluster = kafkatest.Share(kafkatest.Options{
	Engine:  engineOrKafka(),
	Brokers: 3,
	Properties: map[string]string{
		"replica.lag.time.max.ms":      "1500",
		"broker.session.timeout.ms":    "3000",
		"broker.heartbeat.interval.ms": "300",
	},
})

func engineOrKafka() kafkatest.Engine {
	if os.Getenv("KAFKAOPS_TEST_ENGINE") == "kafka" {
		return nil
	}
	return engine.New()
}

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

const (
	// soon is how long a state may take to come about on a busy machine.
	soon = 3 * time.Minute
	// grace is what a program that shall end has for it.
	grace = time.Minute
	// pace is the time between two records of a producer.
	pace = 4 * time.Millisecond
)

// at is where a record lies.
type at struct {
	partition int32
	offset    int64
}

// client is one of the clients that people use, as a producer that is idempotent
// and waits for all, and as a member of a group.
type client struct {
	name string
	// produce sends records until stop is closed, each with a value of its own, and
	// says which were acknowledged; offsets below zero are unknown.
	produce func(t *testing.T, c *kafkatest.Cluster, stop <-chan struct{}, topic string) (acked map[string]at, err error)
	// consume tells got of what it reads as a member of the group until stop is
	// closed, and has committed it then.
	consume func(t *testing.T, c *kafkatest.Cluster, stop <-chan struct{}, topic, group string, got func(at, string)) error
}

// TestClients lets each client produce with acks=all and idempotence, and consume
// in a group of two, while leaders are killed, brokers restart one after the other
// and a follower hangs. Nothing that was acknowledged may be lost, and nothing be
// there twice.
func TestClients(t *testing.T) {
	for _, cl := range []client{franz, saramas, java, kcat} {
		t.Run(cl.name, func(t *testing.T) {
			if cl.name == kcat.name {
				needKcat(t)
			}
			throughTrouble(t, cluster.Get(t), cl)
		})
	}
}

func throughTrouble(t *testing.T, c *kafkatest.Cluster, cl client) {
	topic, group := "clients-"+cl.name, "group-"+cl.name
	const partitions = 4
	c.CreateTopic(t, topic, c.Spread(partitions, 3), map[string]string{"min.insync.replicas": "2"})

	var (
		wg                sync.WaitGroup
		produced          = make(chan struct{})
		consumed          = make(chan struct{})
		acked             map[string]at
		failure           error
		failed            = make([]error, 2)
		mu                sync.Mutex
		read              = map[at]string{}
		stopped, released sync.Once
	)
	stopProducer := func() { stopped.Do(func() { close(produced) }) }
	stopConsumers := func() { released.Do(func() { close(consumed) }) }
	defer wg.Wait()
	defer stopConsumers()
	defer stopProducer()
	for i := range failed {
		wg.Go(func() {
			failed[i] = cl.consume(t, c, consumed, topic, group, func(a at, value string) {
				mu.Lock()
				defer mu.Unlock()
				if was, ok := read[a]; ok && was != value {
					t.Errorf("%s-%d@%d was %q and is %q", topic, a.partition, a.offset, was, value)
				}
				read[a] = value
			})
		})
	}
	var producer sync.WaitGroup
	producer.Go(func() { acked, failure = cl.produce(t, c, produced, topic) })
	seen := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(read)
	}
	// progress waits until more records have gone all the way.
	progress := func(when string) {
		t.Helper()
		before := seen()
		kafkatest.Eventually(t, soon, func() error {
			if now := seen(); now < before+100 {
				return fmt.Errorf("%s: %d records read, and %d more", when, before, now-before)
			}
			return nil
		})
	}
	whole := func() {
		t.Helper()
		for p := range int32(partitions) {
			c.AwaitISR(t, topic, p, c.Spread(partitions, 3)[p]...)
		}
	}

	progress("at rest")
	leader := leaderOf(t, c, topic, 0)
	c.Kill(t, leader)
	progress("with the leader killed")
	c.StartNode(t, leader)
	whole()
	for _, id := range c.Brokers() {
		c.Restart(t, id)
		whole()
	}
	progress("after a rolling restart")
	follower := c.Brokers()[leaderOf(t, c, topic, 0)%3]
	c.Pause(t, follower)
	progress("with a follower paused")
	c.Resume(t, follower)
	whole()
	progress("after it went on")

	stopProducer()
	producer.Wait()
	if failure != nil {
		t.Fatalf("produce: %v", failure)
	}
	log := readAll(t, c, topic, partitions)
	checkLog(t, topic, log, acked)
	kafkatest.Eventually(t, soon, func() error {
		mu.Lock()
		defer mu.Unlock()
		for a, value := range log {
			if got, ok := read[a]; !ok || got != value {
				return fmt.Errorf("%s-%d@%d: the log has %q, the group has read %q (%d of %d read)", topic, a.partition, a.offset, value, got, len(read), len(log))
			}
		}
		return nil
	})
	stopConsumers()
	wg.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Errorf("consume: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(read) != len(log) {
		t.Errorf("the group has read %d records of %d", len(read), len(log))
	}
	checkCommits(t, c, topic, group, log)
	t.Logf("%d records acknowledged, %d in the log", len(acked), len(log))
}

// checkLog holds the log to what the producer was told.
func checkLog(t *testing.T, topic string, log map[at]string, acked map[string]at) {
	t.Helper()
	if len(acked) < 500 {
		t.Errorf("%d records acknowledged are too few to test anything", len(acked))
	}
	where := map[string]at{}
	for a, value := range log {
		if other, ok := where[value]; ok {
			t.Errorf("%s has %q twice: %v and %v", topic, value, other, a)
		}
		where[value] = a
	}
	for value, told := range acked {
		a, ok := where[value]
		switch {
		case !ok:
			t.Errorf("%s has lost %q, acknowledged at %v", topic, value, told)
		case told.offset >= 0 && told != a:
			t.Errorf("%s has %q at %v, acknowledged at %v", topic, value, a, told)
		}
	}
}

// checkCommits holds the group's offsets to the ends of the log.
func checkCommits(t *testing.T, c *kafkatest.Cluster, topic, group string, log map[at]string) {
	t.Helper()
	ends := map[int32]int64{}
	for a := range log {
		ends[a.partition] = max(ends[a.partition], a.offset+1)
	}
	committed := committedOffsets(t, c, topic, group)
	for _, p := range slices.Sorted(maps.Keys(ends)) {
		if committed[p] != ends[p] {
			t.Errorf("%s has committed %d of %s-%d, which ends at %d", group, committed[p], topic, p, ends[p])
		}
	}
}

func leaderOf(t *testing.T, c *kafkatest.Cluster, topic string, partition int32) int32 {
	t.Helper()
	p, err := c.Partition(t.Context(), topic, partition)
	if err != nil {
		t.Fatal(err)
	}
	return p.Leader
}

// readAll reads what is committed, by no group's offsets.
func readAll(t *testing.T, c *kafkatest.Cluster, topic string, partitions int32) map[at]string {
	t.Helper()
	from := map[int32]kgo.Offset{}
	for p := range partitions {
		from[p] = kgo.NewOffset().AtStart()
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ends := endOffsets(t, c, topic, partitions)
	log, next := map[at]string{}, map[int32]int64{}
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	for !reached(next, ends) {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatalf("%v: read up to %v of %v", err, next, ends)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			log[at{r.Partition, r.Offset}] = string(r.Value)
			next[r.Partition] = r.Offset + 1
		})
	}
	return log
}

func reached(next, ends map[int32]int64) bool {
	for p, end := range ends {
		if next[p] < end {
			return false
		}
	}
	return true
}

// parseAt reads "PARTITION OFFSET VALUE".
func parseAt(line string) (a at, value string, err error) {
	if _, err := fmt.Sscan(line, &a.partition, &a.offset); err != nil {
		return a, "", fmt.Errorf("line %q: %w", line, err)
	}
	fields := strings.SplitN(line, " ", 3)
	return a, fields[2], nil
}
