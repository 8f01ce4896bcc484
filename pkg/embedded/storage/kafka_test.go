package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
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

// mixed appends batches of every codec, in two epochs: some of an idempotent
// producer, 1001, some of transactions of 1002, which are committed or aborted in
// turn; the last one stays open.
func mixed(tb testing.TB, l *Log, n int) {
	tb.Helper()
	seqs := map[int64]int32{}
	for i := range n {
		opts := record.Options{BaseOffset: int64(l.End()), LeaderEpoch: int32(3 + 2*i/n), Codec: record.Codec(i % 5)}
		if id := int64(1000 + i%3); i%3 > 0 {
			opts.Producer = &record.Producer{ID: id, BaseSequence: seqs[id]}
			opts.Transactional = id == 1002
			seqs[id] += 4
		}
		var es []record.Entry
		for k := range 4 {
			es = append(es, record.Entry{
				TimestampMs: testNowMs + int64(i*10+(k*7)%4), Key: fmt.Append(nil, i), Value: bytes.Repeat([]byte{byte(i), byte(k)}, 60),
			})
		}
		must(tb, l.Append(build(tb, opts, es...), testNowMs))
		if opts.Transactional && i%4 == 0 {
			must(tb, l.Append(marker(tb, l.End(), opts.LeaderEpoch, 1002, record.EndTxn{Commit: i%8 == 0, CoordinatorEpoch: int32(i)}), testNowMs))
		}
	}
}

// marker is the batch that ends a producer's transaction.
func marker(tb testing.TB, at Offset, epoch int32, producer int64, e record.EndTxn) record.Batch {
	tb.Helper()
	b, err := record.AppendControl(nil, record.Options{
		BaseOffset: int64(at), LeaderEpoch: epoch, Transactional: true,
		Producer: &record.Producer{ID: producer, BaseSequence: record.NoSequence},
	}, testNowMs, e)
	must(tb, err)
	return b
}

// kafka-dump-log reads all that we write, and has nothing to say against it.
func TestDumpLogReadsOurs(t *testing.T) {
	kafkatest.Need(t)
	root := t.TempDir()
	cfg := DefaultConfig()
	cfg.SegmentBytes, cfg.IndexIntervalBytes = 20_000, 1000
	d := open(t, vfs.NewReal(root), cfg)
	l := create(t, d, cfg)
	mixed(t, l, 300)
	// One segment begins where a follower's log was cut.
	bs := batches(readAll(t, l, 1<<20))
	must(t, l.TruncateTo(Offset(bs[len(bs)-10].BaseOffset()), testNowMs))
	end := l.End()
	mixed(t, l, 30)
	segments := len(l.segs)
	must(t, d.Close(1, testNowMs))

	files := map[string][]string{}
	for _, suffix := range []string{logSuffix, indexSuffix, timeIndexSuffix, snapshotSuffix} {
		found, err := filepath.Glob(filepath.Join(root, testTP.String(), "*"+suffix))
		must(t, err)
		files[suffix] = found
	}
	if segments < 3 || len(files[logSuffix]) != segments || len(files[indexSuffix]) < segments-1 ||
		len(files[timeIndexSuffix]) != segments || len(files[snapshotSuffix]) != segments {
		t.Fatalf("%d segments, files %v", segments, files)
	}
	indexes := strings.Join(append(files[indexSuffix], files[timeIndexSuffix]...), ",")
	cmd := kafkatest.Program(t, kafkatest.DefaultVersion, "testdata/Dump.java",
		"--files", strings.Join(files[logSuffix], ","), "--deep-iteration", "--",
		"--files", indexes, "--verify-index-only", "--",
		"--files", indexes, "--index-sanity-check", "--",
		"--files", indexes, "--",
		"--files", strings.Join(files[snapshotSuffix], ","), "--")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := string(out)
	for _, bad := range []string{"isvalid: false", "ismatch", "Error", "Exception", "corrupt", "not found", "out of order", "may be"} {
		if i := strings.Index(text, bad); i >= 0 {
			t.Errorf("kafka-dump-log complains (%s):\n%s", bad, text[max(0, i-2000):min(len(text), i+2000)])
		}
	}
	// To the tool each file's first offset follows -1, of Kafka's own segments too.
	for line := range strings.Lines(text) {
		if strings.Contains(line, "is followed by") && !strings.Contains(line, " -1 is followed by") {
			t.Errorf("kafka-dump-log: %s", line)
		}
	}
	if n := strings.Count(text, "passed sanity check"); n != len(files[indexSuffix])+len(files[timeIndexSuffix]) {
		t.Errorf("%d of %d indexes passed the sanity check", n, len(files[indexSuffix])+len(files[timeIndexSuffix]))
	}
	last := text[strings.LastIndex(text, "$ "):]
	for _, want := range []string{
		"producerId: 1001", "producerId: 1002", "producerEpoch: 0", "coordinatorEpoch: -1", "coordinatorEpoch: 20",
		"currentTxnFirstOffset: OptionalLong.empty", "currentTxnFirstOffset: OptionalLong[",
	} {
		if !strings.Contains(last, want) {
			t.Errorf("snapshots: no %q in\n%s", want, last)
		}
	}
	if want := fmt.Sprintf("baseOffset: %d ", end); !strings.Contains(text, want) {
		t.Errorf("no batch at %d, where the log was cut", end)
	}
}

// A log directory that Kafka wrote, of a broker that was stopped, and of one that
// was killed: read back byte for byte, its state as Kafka has it.
func TestOpenKafkas(t *testing.T) {
	c := kafkatest.Start(t, kafkatest.Options{})
	topic := fmt.Sprintf("storage-%d", time.Now().UnixNano())
	tp := TopicPartition{Topic: topic}
	c.CreateTopic(t, topic, [][]int32{{1}}, map[string]string{"segment.bytes": "1048576", "index.interval.bytes": "1000"})
	produceMixed(t, c, topic)
	produced := transact(t, c, topic)

	// Nothing is written any more, and nothing closed: what a kill would leave.
	killed := copyDir(t, c.LogDirs(1)[0])
	compareWithFiles(t, killed, tp, produced, false)
	c.Stop(t, 1)
	stopped := copyDir(t, c.LogDirs(1)[0])
	reads := compareWithFiles(t, stopped, tp, produced, true)
	for _, call := range reads {
		if strings.HasSuffix(call, logSuffix) {
			t.Errorf("open after a clean stop: %s", call)
		}
	}
	sameFiles(t, c.LogDirs(1)[0], tp)
}

// transact commits a transaction, aborts one and leaves one open, and returns the
// log's end. A transaction begins only when the marker of the one before is there.
func transact(t *testing.T, c *kafkatest.Cluster, topic string) Offset {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...), kgo.TransactionalID(topic), kgo.TransactionTimeout(10*time.Minute),
		kgo.DefaultProduceTopic(topic))
	must(t, err)
	defer cl.Close()
	for _, end := range []kgo.TransactionEndTry{kgo.TryCommit, kgo.TryAbort} {
		must(t, cl.BeginTransaction())
		must(t, cl.ProduceSync(t.Context(), kgo.StringRecord("a"), kgo.StringRecord("b")).FirstErr())
		must(t, cl.EndTransaction(t.Context(), end))
	}
	must(t, cl.BeginTransaction())
	r, err := cl.ProduceSync(t.Context(), kgo.StringRecord("open")).First()
	must(t, err)
	return Offset(r.Offset) + 1
}

// sameFiles scans what Kafka wrote, without its indexes and snapshots, and compares
// those that this makes with Kafka's, byte for byte.
func sameFiles(t *testing.T, kafkas string, tp TopicPartition) {
	t.Helper()
	root := copyDir(t, kafkas)
	derived := func(root string) []string {
		var all []string
		for _, suffix := range []string{indexSuffix, timeIndexSuffix, snapshotSuffix} {
			found, err := filepath.Glob(filepath.Join(root, tp.String(), "*"+suffix))
			must(t, err)
			all = append(all, found...)
		}
		return all
	}
	for _, name := range append(derived(root), filepath.Join(root, cleanShutdownFile), filepath.Join(root, recoveryCheckpoint)) {
		must(t, os.Remove(name))
	}
	text, err := os.ReadFile(filepath.Join(root, metaProperties))
	must(t, err)
	cfg := DefaultConfig()
	cfg.IndexIntervalBytes = 1000
	opts := options(cfg)
	opts.Identity = Identity{ClusterID: properties(string(text), "=")["cluster.id"], NodeID: 1}
	d, err := Open(vfs.NewReal(root), opts, testNowMs)
	must(t, err)
	must(t, d.Close(1, testNowMs))
	want := derived(kafkas)
	if len(want) < 5 {
		t.Fatalf("Kafka left %v", want)
	}
	for _, name := range want {
		b, err := os.ReadFile(name)
		must(t, err)
		got, err := os.ReadFile(filepath.Join(root, tp.String(), filepath.Base(name)))
		snapshot := strings.HasSuffix(name, snapshotSuffix)
		switch {
		case snapshot && errors.Is(err, fs.ErrNotExist):
			// Of the beginning of a segment: a scan of all needs none.
		case err != nil:
			t.Error(err)
		case snapshot && sortSnapshot(b) != sortSnapshot(got):
			t.Errorf("%s: Kafka has\n%s\nnot\n%s", name, sortSnapshot(b), sortSnapshot(got))
		case !snapshot && !bytes.Equal(b, got):
			t.Errorf("%s: Kafka has\n% x\nnot\n% x", name, b, got)
		}
	}
	if _, err := os.Stat(filepath.Join(root, tp.String(), filepath.Base(want[len(want)-1]))); err != nil {
		t.Errorf("no snapshot of the log's end: %v", err)
	}
}

// sortSnapshot is a snapshot's count and entries, by producer: Kafka's are in the
// order of a HashMap.
func sortSnapshot(b []byte) string {
	var entries []string
	for e := range slices.Chunk(b[snapshotHeadBytes:], snapshotEntryBytes) {
		entries = append(entries, fmt.Sprintf("%x", e))
	}
	slices.Sort(entries)
	return fmt.Sprintf("%x %s", b[snapshotCRCFrom:snapshotHeadBytes], strings.Join(entries, "\n"))
}

// produceMixed sends 1.5 MiB in batches of every codec, idempotent ones too, and
// keeps what is acknowledged in step with what was sent.
func produceMixed(t *testing.T, c *kafkatest.Cluster, topic string) {
	t.Helper()
	meta := kmsg.NewPtrMetadataRequest()
	meta.Topics = []kmsg.MetadataRequestTopic{{Topic: &topic}}
	resp, err := c.Ask(t.Context(), 1, meta)
	must(t, err)
	id := resp.(*kmsg.MetadataResponse).Topics[0].TopicID
	n := Offset(0)
	seqs := map[int64]int32{}
	for i := range 100 {
		opts := record.Options{Codec: record.Codec(i % 5)}
		if pid := int64(7000 + i%3); i%3 > 0 {
			opts.Producer = &record.Producer{ID: pid, BaseSequence: seqs[pid]}
			seqs[pid] += 3
		}
		var es []record.Entry
		for k := range 3 {
			v := make([]byte, 8000)
			rng := seeded(uint64(3*i + k))
			for j := range v {
				v[j] = byte(rng.Uint32())
			}
			es = append(es, record.Entry{TimestampMs: time.Now().UnixMilli() - int64(k), Key: fmt.Append(nil, k), Value: v})
		}
		req := kmsg.NewPtrProduceRequest()
		req.Acks, req.TimeoutMillis = 1, 5000
		req.Topics = []kmsg.ProduceRequestTopic{{
			Topic: topic, TopicID: id,
			Partitions: []kmsg.ProduceRequestTopicPartition{{Records: build(t, opts, es...)}},
		}}
		resp, err := c.Ask(t.Context(), 1, req)
		must(t, err)
		if p := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.BaseOffset != int64(n) {
			t.Fatalf("produce: error code %d, offset %d", p.ErrorCode, p.BaseOffset)
		}
		n += 3
	}
}

func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(to, os.DirFS(from)))
	return to
}

// compareWithFiles opens a copy of a broker's directory and compares what it says
// with what the files say. It returns what was read of the disk to open it.
func compareWithFiles(t *testing.T, root string, tp TopicPartition, end Offset, clean bool) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, tp.String(), "*"+logSuffix))
	must(t, err)
	var want []byte
	for _, p := range paths {
		b, err := os.ReadFile(p)
		must(t, err)
		want = append(want, b...)
	}
	if len(paths) < 2 || len(want) < 1<<20 {
		t.Fatalf("%d bytes in %d segments", len(want), len(paths))
	}
	text, err := os.ReadFile(filepath.Join(root, metaProperties))
	must(t, err)
	props := properties(string(text), "=")
	counting := &countingFS{FS: vfs.NewReal(root)}
	cfg := DefaultConfig()
	cfg.IndexIntervalBytes = 1000
	opts := options(cfg)
	opts.Identity = Identity{ClusterID: props["cluster.id"], NodeID: 1}
	d, err := Open(counting, opts, testNowMs)
	must(t, err)
	defer func() { _ = d.Abandon() }()
	reads := counting.reads
	epoch, wasClean := d.CleanShutdown()
	if wasClean != clean || clean && epoch < 0 {
		t.Errorf("clean: %v, broker epoch %d", wasClean, epoch)
	}
	if d.Identity().DirectoryID != props["directory.id"] {
		t.Errorf("directory id %q", d.Identity().DirectoryID)
	}
	l := d.Log(tp)
	if l == nil || l.Start() != 0 || l.End() != end || l.TopicID() == "" || len(l.segs) != len(paths) {
		t.Fatalf("log: %+v", l)
	}
	if clean && l.HW() != end {
		t.Errorf("HW %d, want %d", l.HW(), end)
	}
	if got := readAll(t, l, 1<<20); !bytes.Equal(got, want) {
		t.Errorf("%d bytes, not those of the files, %d", len(got), len(want))
	}
	checkIndexes(t, l)
	checkState(t, l, batches(want))
	if clean {
		if got, err := readSnapshot(counting, path.Join(tp.String(), fmt.Sprintf("%020d.snapshot", end))); err != nil || len(got) != 3 {
			t.Errorf("Kafka's snapshot: %v, %v", got, err)
		}
	}
	return reads
}

// countingFS notes what is read.
type countingFS struct {
	vfs.FS

	reads []string
}

func (c *countingFS) Open(name string, mode vfs.Mode) (vfs.File, error) {
	f, err := c.FS.Open(name, mode)
	if err != nil {
		return nil, err
	}
	return &countingFile{File: f, fs: c, name: name}, nil
}

type countingFile struct {
	vfs.File

	fs   *countingFS
	name string
}

func (f *countingFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.reads = append(f.fs.reads, "read "+f.name)
	return f.File.ReadAt(p, off)
}
