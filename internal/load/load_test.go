package load_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
	"github.com/kafkaops/kafkaops/internal/load"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// clusters are a real Kafka and the engine. Each test runs on both, and is skipped
// where the former cannot be started.
var (
	kafka = kafkatest.Share(kafkatest.Options{Brokers: 3})
	ours  = kafkatest.Share(kafkatest.Options{Brokers: 3, Engine: engine.New()})
)

func TestMain(m *testing.M) { os.Exit(kafka.Main(both{m})) }

// both ends the second cluster before the first.
type both struct{ m *testing.M }

func (b both) Run() int { return ours.Main(b.m) }

// onBoth runs a test on each.
func onBoth(t *testing.T, test func(*testing.T, *kafkatest.Cluster)) {
	t.Helper()
	t.Run("engine", func(t *testing.T) { test(t, ours.Get(t)) })
	t.Run("kafka", func(t *testing.T) { test(t, kafka.Get(t)) })
}

// soon is how long a state may take to come about on a busy machine.
const soon = time.Minute

func bounded(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	t.Cleanup(cancel)
	return ctx
}

func config(c *kafkatest.Cluster) connect.Config { return connect.Config{Bootstrap: c.Bootstrap()} }

// produce sends n records to a topic and returns what came of them.
func produce(t *testing.T, c *kafkatest.Cluster, o load.Options) (load.Stats, uint64) {
	t.Helper()
	p, err := load.StartProducer(config(c), o)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Sent():
	case <-time.After(soon):
		t.Error("not all was sent")
	}
	return p.Stop(bounded(t)), p.Run()
}

// TestProduceAndRead: with each level of safety and each codec every record arrives
// once, spread over the partitions, and nothing of another producer is counted.
func TestProduceAndRead(t *testing.T) { onBoth(t, testProduceAndRead) }

func testProduceAndRead(t *testing.T, c *kafkatest.Cluster) {
	c.CreateTopic(t, "levels", [][]int32{{1, 2, 3}, {2, 3, 1}, {3, 1, 2}}, nil)
	const records, bytes = 500, 200
	for _, acks := range load.AllAcks() {
		for _, codec := range load.Compressions() {
			s, run := produce(t, c, load.Options{
				Topic: "levels", Partition: load.AnyPartition, Acks: acks, Records: records, RecordBytes: bytes, InFlight: 100,
				Compression: codec, KeepAcknowledged: true,
			})
			if s.Sent != records || s.Acknowledged != records || s.Failed != 0 || s.Bytes != records*bytes || s.FirstError != nil {
				t.Fatalf("acks=%s, %s: got %+v, want all acknowledged", acks, codec, s)
			}
			if s.P50 <= 0 || s.P50 > s.P99 || s.P99 > s.P999 || s.P999 > s.Max {
				t.Errorf("acks=%s, %s: got latencies %s, %s, %s, %s: not in order", acks, codec, s.P50, s.P99, s.P999, s.Max)
			}
			f, err := load.ReadAll(bounded(t), config(c), "levels", run)
			if err != nil {
				t.Fatal(err)
			}
			// With acks=0 they may still be on their way.
			for acks == load.AcksNone && f.Records < records && t.Context().Err() == nil {
				if f, err = load.ReadAll(bounded(t), config(c), "levels", run); err != nil {
					t.Fatal(err)
				}
			}
			if f.Records != records || f.Doubles != 0 || len(s.Missing(f)) > 0 {
				t.Errorf("acks=%s, %s: found %d records, %d of them doubles, missing %v; want %d", acks, codec, f.Records, f.Doubles, s.Missing(f), records)
			}
		}
	}
}

// TestFailures are counted, and told: records that the topic does not take.
func TestFailures(t *testing.T) { onBoth(t, testFailures) }

func testFailures(t *testing.T, c *kafkatest.Cluster) {
	c.CreateTopic(t, "strict", [][]int32{{1}}, map[string]string{"max.message.bytes": "500"})
	s, run := produce(t, c, load.Options{
		Topic: "strict", Acks: load.AcksAll, Records: 3, RecordBytes: 1000, NoRetries: true, KeepAcknowledged: true,
	})
	if s.Acknowledged != 0 || s.Failed != 3 || s.FirstError == nil || s.P50 != 0 {
		t.Errorf("got %+v, want three failures and why", s)
	}
	f, err := load.ReadAll(bounded(t), config(c), "strict", run)
	if err != nil || f.Records != 0 || len(s.Missing(f)) != 0 {
		t.Errorf("got %+v, %v, missing %v; want nothing", f, err, s.Missing(f))
	}
}

// TestRate: no more records than are due, and a wait counts from when they were.
func TestRate(t *testing.T) { onBoth(t, testRate) }

func testRate(t *testing.T, c *kafkatest.Cluster) {
	c.CreateTopic(t, "paced", [][]int32{{1, 2, 3}}, nil)
	follower, err := load.StartFollower(config(c), "paced")
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Stop()
	p, err := load.StartProducer(config(c), load.Options{Topic: "paced", Acks: load.AcksAll, Rate: 200})
	if err != nil {
		t.Fatal(err)
	}
	kafkatest.Eventually(t, soon, func() error {
		if n := p.Stats().Acknowledged; n < 100 {
			return fmt.Errorf("no more than %d records yet", n)
		}
		return nil
	})
	p.Reset()
	if s := p.Stats(); s.Acknowledged > 50 {
		t.Errorf("got %+v after a reset, want a count that begins anew", s)
	}
	kafkatest.Eventually(t, soon, func() error {
		if n := follower.Records(); n < 50 {
			return fmt.Errorf("no more than %d records yet", n)
		}
		return nil
	})
	s := p.Stop(bounded(t))
	if most := s.Elapsed.Seconds()*200 + 200; float64(s.Acknowledged) > most || s.Failed > 0 {
		t.Errorf("got %d records in %s, want at most %.0f, and none failed: %v", s.Acknowledged, s.Elapsed, most, s.FirstError)
	}
}

// TestTrace: each step of each level, in the order that the protocol gives them.
func TestTrace(t *testing.T) { onBoth(t, testTrace) }

func testTrace(t *testing.T, c *kafkatest.Cluster) {
	c.CreateTopic(t, "traced", [][]int32{{2, 1, 3}}, nil)
	for _, acks := range load.AllAcks() {
		steps, err := load.Trace(bounded(t), config(c), load.Traced{Topic: "traced", Leader: 2, Replicas: []inspect.BrokerID{2, 1, 3}}, acks)
		if err != nil {
			t.Fatal(err)
		}
		at := map[load.Step]load.Step{}
		for _, s := range steps {
			at[load.Step{What: s.What, Broker: s.Broker}] = s
		}
		if len(steps) != 5 || len(at) != 5 {
			t.Fatalf("acks=%s: got %+v, want three appends, the HW and the acknowledgement", acks, steps)
		}
		// Something was so at the earliest when it was last seen not to be.
		after := func(what string, a, b load.Step) {
			if b.After < a.After-a.Unseen {
				t.Errorf("acks=%s: %s: got %+v before %+v", acks, what, b, a)
			}
		}
		leader := at[load.Step{What: load.StepAppended, Broker: 2}]
		committed := at[load.Step{What: load.StepCommitted, Broker: 2}]
		acked := at[load.Step{What: load.StepAcknowledged}]
		for _, id := range []inspect.BrokerID{1, 3} {
			follower := at[load.Step{What: load.StepAppended, Broker: id}]
			after("a follower has it after the leader", leader, follower)
			after("it is committed after a follower has it", follower, committed)
			if acks == load.AcksAll {
				after("it is acknowledged after a follower has it", follower, acked)
			}
		}
		if acks == load.AcksLeader {
			after("it is acknowledged after the leader has it", leader, acked)
		}
	}
}
