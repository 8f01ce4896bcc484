package storage

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// TestCleanAsKafka lets Kafka compact a log, and compacts a copy of what it was: the same
// segments, batches, records, and bytes where nothing is compressed anew. Kafka's tool
// reads ours, and Kafka's result opens.
func TestCleanAsKafka(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{Properties: map[string]string{"log.cleaner.backoff.ms": "200"}})
	topic := fmt.Sprintf("compacted-%d", time.Now().UnixNano())
	tp := TopicPartition{Topic: topic}
	const lag = "min.compaction.lag.ms"
	c.CreateTopic(t, topic, [][]int32{{1}}, map[string]string{
		"cleanup.policy": "compact", "internal.segment.bytes": "4000", "index.interval.bytes": "300",
		"min.cleanable.dirty.ratio": "0.01", lag: "100000000", "delete.retention.ms": "100000",
	})
	produceKeyed(t, c, topic)
	before := copyDir(t, c.LogDirs(1)[0])
	c.AlterConfig(t, topic, lag, "0")
	checkpoint := filepath.Join(c.LogDirs(1)[0], cleanerCheckpoint)
	deadline := time.Now().Add(60 * time.Second)
	for {
		b, err := os.ReadFile(checkpoint)
		if err == nil && strings.Contains(string(b), topic) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("Kafka has not compacted in a minute: %q, %v", b, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	after := copyDir(t, c.LogDirs(1)[0])

	cfg := compacted()
	cfg.SegmentBytes, cfg.IndexIntervalBytes, cfg.DeleteRetentionMs = 4000, 300, 100_000
	kafkas, ours := logsOf(t, after, tp), logsOf(t, before, tp)
	nowMs := int64(0)
	for _, name := range sortedNames(kafkas) {
		for _, b := range batches(kafkas[name]) {
			if ms, ok := b.DeleteHorizonMs(); ok {
				nowMs = ms - cfg.DeleteRetentionMs
			}
		}
	}
	if nowMs == 0 || len(kafkas) < 3 || len(ours) <= len(kafkas)-1 {
		t.Fatalf("Kafka set no delete horizon, or few segments: %d, before %d", len(kafkas), len(ours))
	}
	d, l := openKafkas(t, before, tp, cfg)
	l.SetHW(l.End())
	end := l.End()
	cl, err := l.Clean(nowMs)
	must(t, err)
	run(t, cl)
	if text := string(mustRead(t, filepath.Join(after, cleanerCheckpoint))); !strings.Contains(text, fmt.Sprintf("%s 0 %d\n", topic, l.CleanedTo())) {
		t.Errorf("cleaned to %d, Kafka says\n%s", l.CleanedTo(), text)
	}
	must(t, d.Close(1, nowMs))
	ours = logsOf(t, before, tp)
	if got, want := fmt.Sprint(sortedNames(ours)), fmt.Sprint(sortedNames(kafkas)); got != want {
		t.Fatalf("segments %s, Kafka has %s", got, want)
	}
	empty, horizons := 0, 0
	for _, name := range sortedNames(kafkas) {
		got, want := batches(ours[name]), batches(kafkas[name])
		if len(got) != len(want) {
			t.Fatalf("%s: %d batches, Kafka has %d", name, len(got), len(want))
		}
		for i := range got {
			compareBatch(t, got[i], want[i])
			if got[i].Count() == 0 {
				empty++
			}
			if _, ok := got[i].DeleteHorizonMs(); ok {
				horizons++
			}
		}
	}
	if empty == 0 || horizons == 0 {
		t.Errorf("%d empty batches and %d delete horizons: too few for a comparison", empty, horizons)
	}
	// Of a batch that is empty the tool finds no timestamp, which the time index has: what
	// it says of Kafka's own files it may say of ours.
	of := complaints(t, after, tp)
	for _, line := range complaints(t, before, tp) {
		if !slices.Contains(of, line) {
			t.Errorf("kafka-dump-log complains: %s\nof Kafka's: %q", line, of)
		}
	}
	d, l = openKafkas(t, after, tp, DefaultConfig())
	if l.End() != end || !l.cleaned {
		t.Errorf("Kafka's log ends at %d, want %d", l.End(), end)
	}
	if rs := d.Repairs(); len(rs) > 0 {
		t.Error(rs)
	}
	checkOffsets(t, l)
}

func compareBatch(t *testing.T, got, want record.Batch) {
	t.Helper()
	if got.Codec() == record.None && want.Codec() == record.None {
		if !bytes.Equal(got, want) {
			t.Errorf("batch at %d:\n% x\nKafka has\n% x", want.BaseOffset(), got, want)
		}
		return
	}
	// Of the header all but length and CRC, which depend on how well it is compressed.
	const lengthAt, epochAt, crcAt, attributesAt = 8, 12, 17, 21
	for _, r := range [][2]int{{0, lengthAt}, {epochAt, crcAt}, {attributesAt, record.HeaderSize}} {
		if !bytes.Equal(got[r[0]:r[1]], want[r[0]:r[1]]) {
			t.Errorf("header of the batch at %d:\n% x\nKafka has\n% x", want.BaseOffset(), got[:record.HeaderSize], want[:record.HeaderSize])
			return
		}
	}
	g, err := got.Records(nil)
	must(t, err)
	w, err := want.Records(nil)
	must(t, err)
	for w.Next() {
		if !g.Next() || !sameRecord(g.Record(), w.Record()) {
			t.Errorf("record %+v of the batch at %d, Kafka has %+v", g.Record(), want.BaseOffset(), w.Record())
		}
	}
}

func mustRead(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	return b
}

// logsOf are a partition's segments, by their names.
func logsOf(t *testing.T, root string, tp TopicPartition) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, tp.String(), "*"+logSuffix))
	must(t, err)
	all := map[string][]byte{}
	for _, p := range paths {
		all[filepath.Base(p)] = mustRead(t, p)
	}
	return all
}

func sortedNames(m map[string][]byte) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func openKafkas(t *testing.T, root string, tp TopicPartition, cfg Config) (*Dir, *Log) {
	t.Helper()
	opts := options(cfg)
	opts.Identity = Identity{ClusterID: properties(string(mustRead(t, filepath.Join(root, metaProperties))), "=")["cluster.id"], NodeID: 1}
	d, err := Open(vfs.NewReal(root), opts, testNowMs)
	must(t, err)
	t.Cleanup(func() { _ = d.Abandon() })
	l := d.Log(tp)
	if l == nil {
		t.Fatal("no log")
	}
	return d, l
}

// complaints is what kafka-dump-log has against a partition's logs and indexes.
func complaints(t *testing.T, root string, tp TopicPartition) (all []string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(root, tp.String(), "*"+logSuffix))
	must(t, err)
	offsets, err := filepath.Glob(filepath.Join(root, tp.String(), "*"+indexSuffix))
	must(t, err)
	if len(offsets) < 3 {
		t.Fatalf("indexes %v", offsets)
	}
	// The last one's is not written to its end yet where Kafka still has it open.
	slices.Sort(offsets)
	offsets = offsets[:len(offsets)-1]
	indexes := slices.Clone(offsets)
	for _, name := range offsets {
		// The tool wants the one for the other.
		indexes = append(indexes, strings.TrimSuffix(name, indexSuffix)+timeIndexSuffix)
	}
	cmd := kafkatest.Program(t, kafkatest.DefaultVersion, "testdata/Dump.java",
		"--files", strings.Join(logs, ","), "--deep-iteration", "--",
		"--files", strings.Join(indexes, ","), "--verify-index-only", "--",
		"--files", strings.Join(indexes, ","), "--index-sanity-check", "--")
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, text[max(0, len(text)-4000):])
	}
	// A mismatch is told in two lines: the file, and then what is in it.
	bad := regexp.MustCompile(`isvalid: false|ismatch|Index timestamp|Error|Exception|corrupt|not found|out of order|may be`)
	for line := range strings.Lines(strings.ReplaceAll(text, root, "")) {
		if bad.MatchString(line) {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

// produceKeyed writes batches of all codecs with few keys, tombstones among them, some of
// idempotent producers, and transactions.
func produceKeyed(t *testing.T, c *kafkatest.Cluster, topic string) {
	t.Helper()
	meta := kmsg.NewPtrMetadataRequest()
	meta.Topics = []kmsg.MetadataRequestTopic{{Topic: &topic}}
	resp, err := c.Ask(t.Context(), 1, meta)
	must(t, err)
	id := resp.(*kmsg.MetadataResponse).Topics[0].TopicID
	rng := seeded(1)
	seqs := map[int64]int32{}
	produce := func(round int) {
		for i := range 20 {
			opts := record.Options{Codec: record.Codec(rng.IntN(2) * rng.IntN(5))}
			size := 1 + rng.IntN(5)
			pid := int64(7000 + i%5)
			if round == 0 {
				pid += 1000 // heard of no more
			}
			if i%2 > 0 {
				opts.Producer = &record.Producer{ID: pid, BaseSequence: seqs[pid]}
				seqs[pid] += int32(size)
			}
			var es []record.Entry
			for range size {
				e := record.Entry{TimestampMs: time.Now().UnixMilli() - rng.Int64N(9), Key: fmt.Appendf(nil, "key-%d", rng.IntN(40))}
				if rng.IntN(4) > 0 {
					e.Value = fmt.Appendf(nil, "value-%d", rng.Uint64())
				}
				if rng.IntN(4) == 0 {
					e.Headers = []record.Header{{Key: "a", Value: []byte("b")}, {Key: "null"}}
				}
				es = append(es, e)
			}
			req := kmsg.NewPtrProduceRequest()
			req.Acks, req.TimeoutMillis = 1, 5000
			req.Topics = []kmsg.ProduceRequestTopic{{
				Topic: topic, TopicID: id, Partitions: []kmsg.ProduceRequestTopicPartition{{Records: build(t, opts, es...)}},
			}}
			resp, err := c.Ask(t.Context(), 1, req)
			must(t, err)
			if p := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0]; p.ErrorCode != 0 {
				t.Fatalf("produce: error code %d", p.ErrorCode)
			}
		}
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...), kgo.TransactionalID(topic), kgo.DefaultProduceTopic(topic))
	must(t, err)
	defer cl.Close()
	for i := range 8 {
		produce(i)
		must(t, cl.BeginTransaction())
		for k := range 3 {
			r := kgo.KeySliceRecord(fmt.Appendf(nil, "key-%d", (i*7+k)%40), fmt.Appendf(nil, "txn-%d", i))
			must(t, cl.ProduceSync(t.Context(), r).FirstErr())
		}
		must(t, cl.EndTransaction(t.Context(), kgo.TransactionEndTry(i%3 > 0)))
	}
	produce(8)
}
