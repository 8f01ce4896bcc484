package source_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// everything is what all commands together ask for.
const everything = inspect.PartELR | inspect.PartReachable | inspect.PartFenced | inspect.PartLogDirs | inspect.PartOffsets | inspect.PartQuorum

// snapshot takes one pass over the addresses and fails the test where there is
// none.
func snapshot(t *testing.T, bootstrap string, parts inspect.Parts, timeout time.Duration, topics ...string) *inspect.Snapshot {
	t.Helper()
	s, err := pass(t, bootstrap, parts, timeout, topics...)
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	return s
}

func pass(t *testing.T, bootstrap string, parts inspect.Parts, timeout time.Duration, topics ...string) (*inspect.Snapshot, error) {
	t.Helper()
	addrs, err := connect.ParseBootstrap(bootstrap)
	if err != nil {
		t.Fatal(err)
	}
	src := source.New(connect.Config{Bootstrap: addrs}, timeout)
	return src.Snapshot(context.Background(), source.Query{Parts: parts, Topics: topics})
}

const ample = 30 * time.Second

// partition is the only partition with that number of the topic "t".
func partition(t *testing.T, s *inspect.Snapshot, index int32) *inspect.Partition {
	t.Helper()
	for p := range s.Partitions {
		if p.Topic == "t" && p.Index == index {
			return p
		}
	}
	t.Fatalf("no partition t-%d in the snapshot; failures: %+v", index, s.Failures)
	return nil
}

func texts(failures []inspect.Failure) string {
	var b strings.Builder
	for _, f := range failures {
		b.WriteString(f.Address + " " + string(f.Phase) + " " + f.Request + ": " + f.Error + "; " + f.Lost + "; " + f.Hint + "\n")
	}
	return b.String()
}

func TestSnapshotHoldsWhatTheClusterSays(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(4)
	m.Broker(4).Fenced = true
	topic := m.AddTopic("t", 2, 3)
	topic.MinInsyncReplicas = 2
	p := topic.Partitions[0]
	p.Replicas, p.Leader, p.LeaderEpoch = []int32{3, 1, 2}, 1, 7
	p.ISR, p.ELR = []int32{1}, []int32{2}
	p.Adding, p.Removing = []int32{2}, []int32{3}
	p.HW, p.LogStart = 50, 10
	p.SetLEO(1, 91)
	p.SetLEO(2, 50)
	p.SetLEO(3, 40)
	c := fakekafka.Start(t, m)

	s := snapshot(t, c.Bootstrap(), everything, ample)
	if !s.Complete() {
		t.Fatalf("failures: %s", texts(s.Failures))
	}
	if got, want := s.ClusterID, inspect.Known(m.ClusterID); got != want {
		t.Errorf("cluster id = %s, want %s", got, want)
	}
	if len(s.Brokers) != 4 || !s.Broker(4).Fenced.Or(false) || s.Broker(4).Reachable.IsKnown() {
		t.Errorf("brokers = %+v, want 4, the last one fenced and not asked", s.Brokers)
	}
	if b := s.Broker(1); !b.Reachable.Or(false) || len(b.LogDirs.Or(nil)) != 1 || b.RoundTrip.Or(0) <= 0 || b.RoundTrip.Or(0) > ample {
		t.Errorf("broker 1 = %+v, want reachable, one log dir, and how long its fastest answer took", b)
	}
	if took := s.Broker(4).RoundTrip; took.IsKnown() {
		t.Errorf("broker 4, which was not asked, took %v", took)
	}
	part := partition(t, s, 0)
	for what, got := range map[string]bool{
		"replica order":  part.Replicas[0] == 3 && part.Replicas[1] == 1,
		"leader":         part.Leader == 1,
		"epoch":          part.LeaderEpoch == inspect.Known(inspect.Epoch(7)),
		"min ISR":        part.MinInsyncReplicas == inspect.Known(int32(2)),
		"ELR":            len(part.ELR.Or(nil)) == 1 && part.ELR.Or(nil)[0] == 2,
		"last known ELR": part.LastKnownELR.IsKnown() && len(part.LastKnownELR.Or(nil)) == 0,
		"adding":         len(part.Adding.Or(nil)) == 1,
		"removing":       len(part.Removing.Or(nil)) == 1,
		"topic id":       part.TopicID.IsKnown(),
		"log start":      part.Offsets.LogStart == inspect.Known(inspect.Offset(10)),
	} {
		if !got {
			t.Errorf("%s: partition = %+v, offsets %+v", what, part, part.Offsets)
		}
	}
	lag := part.Lag()
	if lag.Uncommitted != inspect.Known(int64(41)) || lag.Replicas[0].Lag != inspect.Known(int64(51)) || lag.Replicas[2].Lag != inspect.Known(int64(41)) {
		t.Errorf("lag = %+v, want 41 uncommitted, replica 3 behind by 51, replica 2 by 41", lag)
	}
}

// TestRequestBudget counts every request of a pass against the number documented,
// at two sizes.
func TestRequestBudget(t *testing.T) {
	t.Parallel()
	for _, topics := range []int{1, 40} {
		m := fakekafka.NewModel(3)
		m.AddTopics("t", topics, 10, 3)
		c := fakekafka.Start(t, m)
		snapshot(t, c.Bootstrap(), inspect.PartOffsets, ample)
		for key, want := range map[kmsg.Key]int{
			kmsg.Metadata: 1, kmsg.ListPartitionReassignments: 1, kmsg.DescribeConfigs: 1, kmsg.ListOffsets: 3 * 6,
			kmsg.DescribeTopicPartitions: 0, kmsg.DescribeCluster: 0, kmsg.DescribeLogDirs: 0,
		} {
			if got := c.Count(key); got != want {
				t.Errorf("%d topics: %d %s requests, want %d", topics, got, key.Name(), want)
			}
		}
	}
}

// TestAsksOnlyWhatIsAskedFor: no offsets for describe, one broker alone for a
// topic that lives on one.
func TestAsksOnlyWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	m.AddTopic("t", 1, 1).Partitions[0].Replicas = []int32{2}
	m.Topic("t").Partitions[0].Leader = 2
	m.Topic("t").Partitions[0].ISR = []int32{2}
	m.AddTopic("other", 3, 3)
	c := fakekafka.Start(t, m)
	snapshot(t, c.Bootstrap(), inspect.PartELR|inspect.PartReachable, ample)
	if n := c.Count(kmsg.ListOffsets); n != 0 {
		t.Errorf("describe sent %d ListOffsets, want none", n)
	}
	c.Reset()
	snapshot(t, c.Addr(1), inspect.PartOffsets, ample, "t")
	for _, r := range c.Requests() {
		if r.Broker == 3 {
			t.Errorf("broker 3 hosts nothing of the topic and was asked %s", r.Key.Name())
		}
	}
}

// TestSafe looks at every request that any part sends.
func TestSafe(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	m.AddTopic("t", 3, 3)
	c := fakekafka.Start(t, m)
	snapshot(t, c.Bootstrap(), everything, ample)
	snapshot(t, c.Bootstrap(), inspect.PartOffsets, ample, "t", "no-such-topic")
	snapshot(t, c.Bootstrap(), everything, ample, "t", "no-such-topic")
	reads := map[kmsg.Key]bool{
		kmsg.ApiVersions: true, kmsg.Metadata: true, kmsg.DescribeTopicPartitions: true, kmsg.DescribeCluster: true,
		kmsg.ListPartitionReassignments: true, kmsg.DescribeConfigs: true, kmsg.DescribeLogDirs: true, kmsg.ListOffsets: true,
		kmsg.DescribeQuorum: true,
	}
	for _, r := range c.Requests() {
		if !reads[r.Key] || r.Err != nil {
			t.Errorf("request %s (%v) is not one of those that only read", r.Key.Name(), r.Err)
		}
		if r.ClientID != connect.ClientID {
			t.Errorf("%s has client id %q, want %q", r.Key.Name(), r.ClientID, connect.ClientID)
		}
		switch body := r.Body.(type) {
		case *kmsg.MetadataRequest:
			if body.AllowAutoTopicCreation {
				t.Error("Metadata may create topics")
			}
		case *kmsg.ListOffsetsRequest:
			if body.ReplicaID != -1 && body.ReplicaID != -2 {
				t.Errorf("ListOffsets with replica id %d", body.ReplicaID)
			}
		}
	}
	if created := c.Created(); len(created) > 0 {
		t.Errorf("asking created %v", created)
	}
}

func TestUnknownTopicIsAFailure(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(1)
	m.AddTopic("t", 1, 1)
	c := fakekafka.Start(t, m)
	for _, parts := range []inspect.Parts{inspect.PartELR, inspect.PartOffsets} {
		s := snapshot(t, c.Bootstrap(), parts, ample, "t", "tt")
		if s.Complete() || !strings.Contains(texts(s.Failures), "no such topic") || s.Failures[0].Topic != "tt" {
			t.Errorf("failures = %s, want: no such topic tt", texts(s.Failures))
		}
		partition(t, s, 0)
	}
}

// TestPages reads more partitions than one DescribeTopicPartitions answer holds.
func TestPages(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	m.AddTopic("t", 4500, 3)
	m.AddTopic("u", 3, 3)
	c := fakekafka.Start(t, m)
	s := snapshot(t, c.Bootstrap(), inspect.PartELR, ample)
	n, next := 0, int32(0)
	for p := range s.Partitions {
		n++
		if p.Topic == "t" {
			if p.Index != next {
				t.Fatalf("partition t-%d after %d", p.Index, next-1)
			}
			next++
		}
	}
	if n != 4503 || len(s.Topics) != 2 || c.Count(kmsg.DescribeTopicPartitions) != 3 {
		t.Errorf("%d partitions of %d topics in %d pages, want 4503 of 2 in 3", n, len(s.Topics), c.Count(kmsg.DescribeTopicPartitions))
	}
}

// TestOldBroker plays Kafka 3.7: no DescribeTopicPartitions, DescribeCluster
// without fenced brokers, no features for ELR.
func TestOldBroker(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	m.APIs = fakekafka.APIs(kmsg.DescribeTopicPartitions)
	m.APIs[kmsg.DescribeCluster] = fakekafka.VersionRange{Max: 1}
	m.APIs[kmsg.ApiVersions] = fakekafka.VersionRange{Max: 3}
	m.AddTopic("t", 1, 3)
	c := fakekafka.Start(t, m)
	s := snapshot(t, c.Bootstrap(), everything, ample)
	p := partition(t, s, 0)
	if !s.Complete() || p.ELR.IsKnown() || s.Brokers[0].Fenced.IsKnown() || !p.Offsets.HW.IsKnown() {
		t.Errorf("want all but ELR and fenced; failures %s, partition %+v", texts(s.Failures), p)
	}
}

// TestELRSwitchedOff: the API is there, the controller keeps no ELR.
func TestELRSwitchedOff(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(1)
	m.Features = fakekafka.Features()
	m.Features["eligible.leader.replicas.version"] = 0
	m.AddTopic("t", 1, 1)
	s := snapshot(t, fakekafka.Start(t, m).Bootstrap(), inspect.PartELR, ample)
	if p := partition(t, s, 0); p.ELR.IsKnown() || !s.Complete() {
		t.Errorf("ELR = %s, want unknown and no failure: %s", p.ELR, texts(s.Failures))
	}
}
