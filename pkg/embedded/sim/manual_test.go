package sim

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// byHand is a quiet world whose brokers are active, with a topic t of one partition
// on all of them.
func byHand(t *testing.T) *World {
	t.Helper()
	plan := QuietPlan()
	var lines []string
	w := New(Options{Plan: &plan, Seed: 1, Trace: func(line string) { lines = append(lines, line) }})
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(strings.Join(lines[max(0, len(lines)-40):], "\n"))
		}
	})
	if !w.RunUntil(func() bool { return w.Active() == 3 }, 20_000) {
		t.Fatalf("%d brokers are active: %v", w.Active(), w.Err())
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, 5000
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = "t", -1, -1
	minISR := "2"
	topic.Configs = append(topic.Configs, kmsg.CreateTopicsRequestTopicConfig{Name: "min.insync.replicas", Value: &minISR})
	topic.ReplicaAssignment = append(topic.ReplicaAssignment, kmsg.CreateTopicsRequestTopicReplicaAssignment{Replicas: []int32{1, 2, 3}})
	req.Topics = append(req.Topics, topic)
	call := w.Send(1, req)
	if !w.RunUntil(call.Done, 5000) || call.Response() == nil {
		t.Fatalf("no topic: %v", w.Err())
	}
	leads := func() bool {
		s, _, ok := w.Replica(1, "t", 0)
		return ok && s.Role == replica.Leader
	}
	if !w.RunUntil(leads, 5000) {
		t.Fatalf("broker 1 does not lead: %v", w.Err())
	}
	return w
}

func produceOne(t *testing.T, w *World, to End, value string, acks int16) *Call {
	t.Helper()
	b := record.NewBuilder(record.Options{})
	if err := b.Add(record.Entry{TimestampMs: epochMs, Value: []byte(value)}); err != nil {
		t.Fatal(err)
	}
	records, err := b.AppendTo(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, acks, 5000
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: "t", Partitions: []kmsg.ProduceRequestTopicPartition{{Records: records}}}}
	return w.Send(to, req)
}

func acknowledged(c *Call) bool {
	resp, ok := c.Response().(*kmsg.ProduceResponse)
	return ok && resp.Topics[0].Partitions[0].ErrorCode == 0
}

// TestByHand drives a failover by hand.
func TestByHand(t *testing.T) {
	t.Parallel()
	w := byHand(t)
	first := produceOne(t, w, 1, "a", -1)
	if !w.RunUntil(first.Done, 5000) || !acknowledged(first) {
		t.Fatalf("not acknowledged: %v, %v", first.Response(), w.Err())
	}
	w.Kill(1)
	leads := func() bool { p := w.Partition("t", 0); return p.Leader == 2 }
	if !w.RunUntil(leads, 30_000) {
		t.Fatalf("no failover: %+v, %v", w.Partition("t", 0), w.Err())
	}
	w.RunFor(1000)
	second := produceOne(t, w, 2, "b", -1)
	if !w.RunUntil(second.Done, 5000) || !acknowledged(second) {
		t.Fatalf("not acknowledged: %v, %v", second.Response(), w.Err())
	}
	w.Start(1)
	back := func() bool { return len(w.Partition("t", 0).ISR) == 3 }
	if !w.RunUntil(back, 60_000) {
		t.Fatalf("broker 1 does not come back: %+v, %v", w.Partition("t", 0), w.Err())
	}
	one, err1 := w.LogBytes(1, "t", 0)
	two, err2 := w.LogBytes(2, "t", 0)
	if err1 != nil || err2 != nil || len(one) == 0 || string(one) != string(two) {
		t.Errorf("the logs are %x, %v and %x, %v", one, err1, two, err2)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// TestCutByHand: what a cut keeps back arrives when it is healed, and a request whose
// way back is cut is carried out unheard.
func TestCutByHand(t *testing.T) {
	t.Parallel()
	w := byHand(t)
	first := produceOne(t, w, 1, "a", -1) // makes the connection
	w.RunUntil(first.Done, 5000)

	w.Part(2, 1, 3, Controller)
	w.Part(3, 1, 2, Controller)
	call := produceOne(t, w, 1, "b", 1)
	w.RunUntil(call.Done, 5000)
	if s, _, _ := w.Replica(1, "t", 0); s.HW != 1 || s.LEO != 2 {
		t.Errorf("without followers: HW %d, LEO %d, want 1 and 2", s.HW, s.LEO)
	}
	w.Join(2, 1, 3, Controller)
	w.Join(3, 1, 2, Controller)
	caught := func() bool { s, _, _ := w.Replica(2, "t", 0); return s.HW == 2 }
	if !w.RunUntil(caught, 60_000) {
		t.Errorf("broker 2 does not catch up: %v", w.Err())
	}

	w.Cut(1, Clients)
	lost := w.SendOn(1, 1, kmsg.NewPtrMetadataRequest())
	if w.RunUntil(lost.Done, 59_000) {
		t.Errorf("an answer over a cut: %v", lost.Response())
	}
	if !w.RunUntil(lost.Done, 2000) || lost.Response() != nil {
		t.Errorf("after a minute: done %t, %v", lost.Done(), lost.Response())
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}
