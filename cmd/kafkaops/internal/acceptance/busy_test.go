package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kgo"
)

// TestBusy looks at partitions while they are written to, and again when all is
// quiet.
//
// A follower of a busy leader truly trails it, so that its lag is 0 cannot be
// asked. What can is that lag says no more than is true: where a producer has at
// most n records on the way with acks=all, no in-sync replica is ever more than n
// behind, and a lag above n would be records that came in while kafkaops looked.
func TestBusy(t *testing.T) {
	c := shared.Get(t)
	const topic = "busy"
	createTopic(t, c, topic, [][]int32{{1, 2, 3}, {2, 3, 4}, {3, 4, 1}, {4, 1, 2}}, minISR(2))
	oneByOne := []*writer{
		{topic: topic, partition: 0, acks: kgo.AllISRAcks(), unacked: 1},
		{topic: topic, partition: 1, acks: kgo.AllISRAcks(), unacked: 1},
	}
	fullSpeed := []*writer{
		{topic: topic, partition: 2, acks: kgo.AllISRAcks(), unacked: 200},
		{topic: topic, partition: 3, acks: kgo.LeaderAck(), unacked: 2000},
	}
	t.Run("one record at a time", func(t *testing.T) {
		stop := start(t, c, oneByOne)
		caughtUp, looks := map[string]int{}, 0
		for end := time.Now().Add(soon); looks < 12 || len(caughtUp) < 6 && time.Now().Before(end); looks++ {
			d := lag(t, c, 0, topic)
			for _, w := range oneByOne {
				item := lagItem(t, d, topic, w.partition)
				w.check(t, item)
				for _, r := range item.Replicas {
					if r.CaughtUp.Or(false) {
						caughtUp[fmt.Sprintf("%d-%d", w.partition, r.Broker)]++
					}
				}
			}
		}
		stop()
		if len(caughtUp) != 6 {
			t.Errorf("of 6 replicas only these were ever seen caught up: %v of %d times", caughtUp, looks)
		}
	})
	t.Run("at full speed", func(t *testing.T) {
		stop, looks, moving := start(t, c, fullSpeed), 0, 0
		const enough = 6 // a starved writer may well pause for as long as a look takes
		for end := time.Now().Add(soon); looks < 12 || moving < enough && time.Now().Before(end); looks++ {
			before, beforeHW := ends(t, c, topic, 3)
			d := lag(t, c, 0, topic)
			after, afterHW := ends(t, c, topic, 3)
			for _, w := range fullSpeed {
				w.check(t, lagItem(t, d, topic, w.partition))
			}
			item := lagItem(t, d, topic, 3)
			if leo := item.LogEndOffset.Or(-1); leo < before || leo > after {
				t.Errorf("LEO %d, but it was %d before and %d after", leo, before, after)
			}
			if hw := item.HighWatermark.Or(-1); hw < beforeHW || hw > afterHW {
				t.Errorf("HW %d, but it was %d before and %d after", hw, beforeHW, afterHW)
			}
			if before != after {
				moving++
			}
		}
		stop()
		if moving < enough {
			t.Errorf("the log end moved during %d of %d looks only: the test does not test", moving, looks)
		}
	})
	t.Run("quiet again", func(t *testing.T) { quietAgain(t, c, topic, append(oneByOne, fullSpeed...)) })
}

// ends are LEO and HW of a partition by its leader.
func ends(t *testing.T, c *kafkatest.Cluster, topic string, partition int32) (leo, hw inspect.Offset) {
	t.Helper()
	p, err := c.Partition(t.Context(), topic, partition)
	if err != nil {
		t.Fatal(err)
	}
	leo = inspect.Offset(mustOffset(t, c, p.Leader, topic, partition, debugging, latest))
	return leo, inspect.Offset(mustOffset(t, c, p.Leader, topic, partition, consumer, latest))
}

// start starts the writers. stop waits until all that they wrote is acknowledged.
func start(t *testing.T, c *kafkatest.Cluster, writers []*writer) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, w := range writers {
		wg.Go(func() { w.err = w.run(ctx, c) })
	}
	kafkatest.Eventually(t, soon, func() error { // the first records wait for leaders and followers to meet
		for _, w := range writers {
			if n := w.acked.Load(); n < 50 {
				return fmt.Errorf("%d records of %s-%d are acknowledged", n, w.topic, w.partition)
			}
		}
		return nil
	})
	return func() {
		t.Helper()
		cancel()
		wg.Wait()
		for _, w := range writers {
			if w.err != nil {
				t.Fatalf("writer of partition %d: %v", w.partition, w.err)
			}
			acked := w.acked.Load()
			t.Logf("%d records to %s-%d", acked, w.topic, w.partition)
			if end := awaitQuiet(t, c, w.topic, w.partition); end != acked {
				t.Errorf("%s-%d ends at %d after %d acknowledged records", w.topic, w.partition, end, acked)
			}
		}
	}
}

// writer writes to one partition, with at most so many records unacknowledged.
type writer struct {
	topic     string
	partition int32
	acks      kgo.Acks
	unacked   int
	acked     atomic.Int64
	err       error
}

func (w *writer) run(ctx context.Context, c *kafkatest.Cluster) error {
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Bootstrap()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.RequiredAcks(w.acks),
		kgo.MaxBufferedRecords(w.unacked), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.ProducerLinger(0),
	}
	if w.acks != kgo.AllISRAcks() {
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return err
	}
	defer cl.Close()
	var mu sync.Mutex
	value := make([]byte, 100)
	for ctx.Err() == nil {
		record := &kgo.Record{Topic: w.topic, Partition: w.partition, Value: value}
		// Not with ctx: what is on its way when the test ends is to be counted.
		cl.Produce(context.WithoutCancel(ctx), record, func(_ *kgo.Record, failed error) {
			mu.Lock()
			defer mu.Unlock()
			if failed == nil {
				w.acked.Add(1)
			}
			err = errors.Join(err, failed)
		})
	}
	if flushed := cl.Flush(context.WithoutCancel(ctx)); flushed != nil {
		return flushed
	}
	mu.Lock()
	defer mu.Unlock()
	return err
}

// check holds an item against what the writer makes certain.
func (w *writer) check(t *testing.T, item *render.LagItem) {
	t.Helper()
	end := int64(item.HighWatermark.Or(0)) + item.UncommittedMax.Or(0)
	for _, r := range item.Replicas { // of a leader that stays
		if int64(r.LogEndOffset.Or(0)) > end {
			t.Errorf("replica %d of partition %d ends at %v, after its leader, which ends at %d", r.Broker, w.partition, r.LogEndOffset, end)
		}
	}
	if w.acks != kgo.AllISRAcks() {
		return
	}
	if n := item.Uncommitted.Or(0); n > int64(w.unacked) {
		t.Errorf("%d records uncommitted in partition %d, but its writer has at most %d unacknowledged", n, w.partition, w.unacked)
	}
	for _, r := range item.Replicas {
		if n := r.Lag.Or(0); r.InSync && n > int64(w.unacked) {
			t.Errorf("replica %d of partition %d lags by %d, but its writer has at most %d unacknowledged", r.Broker, w.partition, n, w.unacked)
		}
	}
}

// quietAgain: with no writer everything is exact, and what Kafka's own tools say.
func quietAgain(t *testing.T, c *kafkatest.Cluster, topic string, writers []*writer) {
	for _, w := range writers { // a starved machine may have dropped a replica
		p, err := c.Partition(t.Context(), topic, w.partition)
		if err != nil {
			t.Fatal(err)
		}
		c.AwaitISR(t, topic, w.partition, p.Replicas...)
	}
	d := lag(t, c, 0, topic+" --exit-code")
	var shell strings.Builder
	for _, w := range writers {
		item, end := lagItem(t, d, topic, w.partition), inspect.Known(inspect.Offset(w.acked.Load()))
		equal(t, "HW", item.HighWatermark, end)
		equal(t, "LEO", item.LogEndOffset, end)
		equal(t, "LSO", item.LastStableOffset, end)
		equal(t, "uncommittedMax", item.UncommittedMax, 0)
		for _, r := range item.Replicas {
			equal(t, fmt.Sprintf("lagMax of replica %d", r.Broker), r.LagMax, 0)
			equal(t, fmt.Sprintf("caughtUp of replica %d", r.Broker), r.CaughtUp, true)
		}
		fmt.Fprintf(&shell, "%s:%d:%d\n", topic, w.partition, item.HighWatermark.Or(-1))
	}
	theirs, err := tool(t.Context(), c, kafkatest.GetOffsetShell, "--topic", topic)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "HWs by kafka-get-offsets.sh", theirs, shell.String())

	item := describe(t, c, 0, "--exit-code")
	equal(t, "verdict", item.Verdict, inspect.LevelOK)
	equal(t, "brokers answering", item.BrokersAnswering, 4)
	equal(t, "lines of kafka-topics.sh", len(sameAsTopics(t, c)[""]), item.Partitions)
	sameAsLogDirs(t, c)
	kafkaops(c, "check health").want(t, 0)
	nagios := kafkaops(c, "check health --nagios --max-lag 0").want(t, 0)
	if !strings.HasPrefix(nagios.stdout, "KAFKA OK - ") || !strings.Contains(nagios.stdout, " maxLag=0;") {
		t.Errorf("not a plugin's line of good health: %v", nagios)
	}
}

// sameAsLogDirs compares describe brokers with kafka-log-dirs.sh.
func sameAsLogDirs(t *testing.T, c *kafkatest.Cluster) {
	t.Helper()
	stdout, err := tool(t.Context(), c, kafkatest.LogDirsCommand, "--describe")
	if err != nil {
		t.Fatal(err)
	}
	var theirs struct {
		Brokers []struct {
			Broker  inspect.BrokerID
			LogDirs []struct {
				LogDir     string
				Partitions []struct{ Size int64 }
			}
		}
	}
	_, doc, _ := strings.Cut(stdout, "{")
	if err := json.Unmarshal([]byte("{"+doc), &theirs); err != nil {
		t.Fatalf("kafka-log-dirs.sh: %v\n%s", err, stdout)
	}
	ours := run[render.BrokerItem](t, c, 0, "describe brokers")
	equal(t, "brokers with log directories", len(theirs.Brokers), len(ours.Items))
	for _, b := range theirs.Brokers {
		item := brokerItem(t, ours, b.Broker)
		dirs := item.LogDirs.Or(nil)
		if len(b.LogDirs) != 1 || len(dirs) != 1 {
			t.Fatalf("broker %d has %d log directories, kafka-log-dirs.sh tells %d, want 1", b.Broker, len(dirs), len(b.LogDirs))
		}
		var bytes int64
		for _, p := range b.LogDirs[0].Partitions {
			bytes += p.Size
		}
		equal(t, "log directory", dirs[0].Path, b.LogDirs[0].LogDir)
		equal(t, "bytes of its replicas", dirs[0].ReplicasBytes, bytes)
		equal(t, "its replicas", item.Replicas, len(b.LogDirs[0].Partitions))
		equal(t, "its uncommitted records", item.Uncommitted, 0)
		if !strings.HasPrefix(item.VersionRange.Or(""), "4.") {
			t.Errorf("broker %d: version %v, and it runs %s", b.Broker, item.VersionRange, c.Version())
		}
	}
}
