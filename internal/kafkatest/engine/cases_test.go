package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

// TestCompressed is case E12: kcat compresses only where the broker offers Produce
// from version 0 on, although it sends version 7.
func TestCompressed(t *testing.T) {
	needKcat(t)
	c := cluster.Get(t)
	c.CreateTopic(t, "compressed", c.Spread(4, 3), nil)
	for partition, codec := range []string{"gzip", "snappy", "lz4", "zstd"} {
		cmd := kcatAlone(t, "-P", "-b", c.BootstrapServer(), "-t", "compressed", "-p", fmt.Sprint(partition), "-z", codec)
		cmd.Stdin = strings.NewReader(strings.Repeat("a", 20_000))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("kcat -z %s: %v\n%s", codec, err, out)
		}
		batch := fetchOne(t, c, "compressed", int32(partition), 0)
		// Of the v2 header (KIP-98): the attributes at 21, whose low three bits are the codec.
		if got, want := int(batch[22]&7), partition+1; got != want {
			t.Errorf("%s: a batch of %d bytes with codec %d, want %d", codec, len(batch), got, want)
		}
		if len(batch) > 2000 {
			t.Errorf("%s: 20,000 times the same letter take %d bytes", codec, len(batch))
		}
	}
}

// fetchOne is what a Fetch answers from an offset on, asked of the leader.
func fetchOne(t *testing.T, c *kafkatest.Cluster, topic string, partition int32, from int64) []byte {
	t.Helper()
	p, err := c.Partition(t.Context(), topic, partition)
	if err != nil {
		t.Fatal(err)
	}
	part := kmsg.NewFetchRequestTopicPartition()
	part.Partition, part.FetchOffset, part.PartitionMaxBytes, part.CurrentLeaderEpoch = partition, from, 1<<20, -1
	top := kmsg.NewFetchRequestTopic()
	top.Topic, top.TopicID, top.Partitions = topic, topicID(t, c, topic), []kmsg.FetchRequestTopicPartition{part}
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.ReplicaID = 5000, 1, 1<<20, -1
	req.Topics = []kmsg.FetchRequestTopic{top}
	resp, err := c.Ask(t.Context(), p.Leader, req)
	if err != nil {
		t.Fatal(err)
	}
	got := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
	if got.ErrorCode != 0 || len(got.RecordBatches) == 0 {
		t.Fatalf("fetch %s-%d: error %d, %d bytes", topic, partition, got.ErrorCode, len(got.RecordBatches))
	}
	return got.RecordBatches
}

func topicID(t *testing.T, c *kafkatest.Cluster, topic string) [16]byte {
	t.Helper()
	req := kmsg.NewPtrMetadataRequest()
	top := kmsg.NewMetadataRequestTopic()
	top.Topic = &topic
	req.Topics = []kmsg.MetadataRequestTopic{top}
	resp, err := c.Ask(t.Context(), 1, req)
	if err != nil {
		t.Fatal(err)
	}
	return resp.(*kmsg.MetadataResponse).Topics[0].TopicID
}

// TestInsideABatch is case E16: whoever asks for an offset within a batch gets that
// batch, and leaves out what is before it.
func TestInsideABatch(t *testing.T) {
	needKcat(t)
	c := cluster.Get(t)
	c.CreateTopic(t, "inside", c.Spread(1, 3), nil)
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...), kgo.DefaultProduceTopic("inside"))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	for _, batch := range [][]string{{"a0", "a1"}, {"b2", "b3"}} {
		var records []*kgo.Record
		for _, value := range batch {
			records = append(records, kgo.StringRecord(value))
		}
		if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[int64][]string{0: {"a0", "a1", "b2", "b3"}, 1: {"a1", "b2", "b3"}, 2: {"b2", "b3"}, 3: {"b3"}} {
		if diff := cmp.Diff(want, readFrom(t, c, "inside", from, len(want))); diff != "" {
			t.Errorf("franz-go from %d: -want +got:\n%s", from, diff)
		}
		out, err := kcatAlone(t, "-C", "-b", c.BootstrapServer(), "-t", "inside", "-p", "0",
			"-o", fmt.Sprint(from), "-e", "-q", "-f", "%s\n").Output()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, strings.Fields(string(out))); diff != "" {
			t.Errorf("kcat from %d: -want +got:\n%s", from, diff)
		}
	}
}

// readFrom reads n values of partition 0.
func readFrom(t *testing.T, c *kafkatest.Cluster, topic string, from int64, n int) (values []string) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().At(from)}}))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	for len(values) < n {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatalf("%s from %d: %v after %q", topic, from, err, values)
		}
		fetches.EachRecord(func(r *kgo.Record) { values = append(values, string(r.Value)) })
	}
	return values
}

// TestRecreated is case E22: a broker that slept while a topic was deleted and made
// anew has an old log by that name. It is set aside, and nothing of it is served.
func TestRecreated(t *testing.T) {
	c := cluster.Get(t)
	tool := func(args ...string) {
		t.Helper()
		_, stderr, exit, err := c.Tool(t.Context(), kafkatest.TopicCommand, append([]string{"--bootstrap-server", c.BootstrapServer()}, args...)...)
		if err != nil || exit != 0 {
			t.Fatalf("kafka-topics.sh %q: exit %d, %v\n%s", args, exit, err, stderr)
		}
	}
	const topic, all = "recreated", "1:2:3"
	tool("--create", "--topic", topic, "--replica-assignment", all)
	c.AwaitISR(t, topic, 0, 1, 2, 3)
	c.ProduceRecords(t, topic, 0, 50, kafkatest.AcksAll, 100)
	c.Kill(t, 3)
	c.AwaitFenced(t, 3)
	tool("--delete", "--topic", topic)
	tool("--create", "--topic", topic, "--replica-assignment", all)
	c.ProduceRecords(t, topic, 0, 7, kafkatest.AcksAll, 100)
	c.StartNode(t, 3)
	c.AwaitISR(t, topic, 0, 1, 2, 3)
	// Its own log end offset, asked with replica id -2.
	req := kmsg.NewPtrListOffsetsRequest()
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Timestamp = -1
	top := kmsg.NewListOffsetsRequestTopic()
	top.Topic, top.Partitions = topic, []kmsg.ListOffsetsRequestTopicPartition{part}
	req.ReplicaID, req.Topics = -2, []kmsg.ListOffsetsRequestTopic{top}
	resp, err := c.Ask(t.Context(), 3, req)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]; got.Offset != 7 || got.ErrorCode != 0 {
		t.Errorf("broker 3 ends at %d (error %d), want 7: 50 are of the topic that was deleted", got.Offset, got.ErrorCode)
	}
}
