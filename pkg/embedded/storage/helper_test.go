package storage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

const (
	testNowMs = int64(1_700_000_000_000)
	testID    = "AAAAAAAAAAAAAAAAAAAAAQ"
)

var (
	testTP   = TopicPartition{Topic: "orders", Partition: 0}
	identity = Identity{ClusterID: "AAAAAAAAAAAAAAAAAAAAAA", NodeID: 1, DirectoryID: "AAAAAAAAAAAAAAAAAAAAAg"}
)

// small has several index entries in a segment and several segments in a test.
func small() Config {
	c := DefaultConfig()
	c.SegmentBytes, c.IndexIntervalBytes = 4000, 300
	return c
}

func options(cfg Config) Options {
	return Options{Identity: identity, Config: func(string) Config { return cfg }}
}

func open(tb testing.TB, fsys vfs.FS, cfg Config) *Dir {
	tb.Helper()
	d, err := Open(fsys, options(cfg), testNowMs)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.Abandon() })
	return d
}

func create(tb testing.TB, d *Dir, cfg Config) *Log {
	tb.Helper()
	l, err := d.Create(testTP, testID, cfg, testNowMs)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

// newLog is a log on an empty disk in memory.
func newLog(tb testing.TB, cfg Config) (*vfs.Mem, *Dir, *Log) {
	tb.Helper()
	disk := vfs.NewMem(vfs.MemOptions{})
	d := open(tb, disk, cfg)
	return disk, d, create(tb, d, cfg)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func build(tb testing.TB, opts record.Options, es ...record.Entry) record.Batch {
	tb.Helper()
	b := record.NewBuilder(opts)
	for _, e := range es {
		must(tb, b.Add(e))
	}
	out, err := b.AppendTo(nil, &record.Deflater{})
	must(tb, err)
	return out
}

// batchOf is a batch of n records of size bytes each, random but the same for the
// same base, whose timestamps are about their offsets.
func batchOf(tb testing.TB, base Offset, n, size int) record.Batch {
	tb.Helper()
	rng := rand.New(rand.NewPCG(uint64(base), 1))
	var es []record.Entry
	for i := range n {
		v := make([]byte, size)
		for j := range v {
			v[j] = byte(rng.Uint32())
		}
		es = append(es, record.Entry{TimestampMs: testNowMs + int64(base) + int64(i) + rng.Int64N(9) - 4, Value: v})
	}
	return build(tb, record.Options{BaseOffset: int64(base)}, es...)
}

// fill appends n batches of 3 records.
func fill(tb testing.TB, l *Log, n int) {
	tb.Helper()
	for range n {
		must(tb, l.Append(batchOf(tb, l.End(), 3, 40), testNowMs))
	}
}

// readAll reads [start, end) by fetches of so many bytes.
func readAll(tb testing.TB, l *Log, maxBytes int) []byte {
	tb.Helper()
	var all []byte
	for o := l.Start(); o < l.End(); {
		n := len(all)
		var err error
		all, err = l.Read(all, Fetch{From: o, UpTo: l.End(), MaxBytes: maxBytes, MinOne: true})
		must(tb, err)
		if len(all) == n {
			tb.Fatalf("read at %d of [%d, %d): nothing", o, l.Start(), l.End())
		}
		for s := record.Scan(all[n:]); s.Next(); {
			o = Offset(s.Batch().NextOffset())
		}
	}
	return all
}

func batches(buf []byte) []record.Batch {
	var bs []record.Batch
	for s := record.Scan(buf); s.Next(); {
		bs = append(bs, s.Batch())
	}
	return bs
}

// scanned is what a log's batches tell without any index: all records.
func scanned(tb testing.TB, l *Log) []record.Record {
	tb.Helper()
	var rs []record.Record
	in := record.NewInflater(record.DefaultInflateLimit)
	for _, b := range batches(readAll(tb, l, 1<<20)) {
		it, err := b.Records(in)
		must(tb, err)
		for it.Next() {
			if r := it.Record(); Offset(r.Offset) >= l.Start() {
				rs = append(rs, r)
			}
		}
		must(tb, it.Err())
	}
	return rs
}

// checkIndexes compares every look-up with a scan (I14, I17, I18).
func checkIndexes(tb testing.TB, l *Log) {
	tb.Helper()
	checkOffsets(tb, l)
	checkTimes(tb, l)
}

// checkOffsets compares what is found by an offset.
func checkOffsets(tb testing.TB, l *Log) {
	tb.Helper()
	bs := batches(readAll(tb, l, 1<<20))
	for _, b := range bs {
		for o := max(Offset(b.BaseOffset()), l.Start()); o < Offset(b.NextOffset()); o++ {
			l.cursors = [cursors]cursor{}
			got, err := l.Read(nil, Fetch{From: o, UpTo: l.End(), MinOne: true})
			must(tb, err)
			if !bytes.Equal(got, b) {
				tb.Fatalf("read at %d: %d bytes, want the batch of offset %d", o, len(got), b.BaseOffset())
			}
		}
	}
}

// checkTimes compares what is found by a timestamp.
func checkTimes(tb testing.TB, l *Log) {
	tb.Helper()
	in := record.NewInflater(record.DefaultInflateLimit)
	rs := scanned(tb, l)
	largest := record.Record{TimestampMs: -1}
	for _, r := range rs {
		if r.TimestampMs > largest.TimestampMs {
			largest = r
		}
	}
	got, ok, err := l.MaxTimestamp(in)
	must(tb, err)
	// Of records before the start that are still there it may be, as in Kafka.
	if l.Start() == l.segs[0].base && (ok != (largest.TimestampMs >= 0) ||
		ok && (got.Offset != Offset(largest.Offset) || got.TimestampMs != largest.TimestampMs)) {
		tb.Fatalf("max timestamp: %v, %v, want %d at %d", got, ok, largest.TimestampMs, largest.Offset)
	}
	for i := 0; i < len(rs); i += max(1, len(rs)/25) {
		for _, ms := range []int64{rs[i].TimestampMs - 1, rs[i].TimestampMs, rs[i].TimestampMs + 1} {
			checkTimestamp(tb, l, in, rs, ms)
		}
	}
}

func checkTimestamp(tb testing.TB, l *Log, in *record.Inflater, rs []record.Record, ms int64) {
	tb.Helper()
	got, ok, err := l.OffsetForTimestamp(ms, in)
	must(tb, err)
	for _, r := range rs {
		if r.TimestampMs >= ms {
			if !ok || got.Offset != Offset(r.Offset) || got.TimestampMs != r.TimestampMs {
				tb.Fatalf("offset for %d: %v %v, want %d at %d", ms, got, ok, r.TimestampMs, r.Offset)
			}
			return
		}
	}
	if ok {
		tb.Fatalf("offset for %d: %v, want none", ms, got)
	}
}

// checkState compares epochs and producers with those that follow from the
// batches from the log's very beginning on, of which the log may have deleted
// some. Of a producer that came from a snapshot older batches may be forgotten.
func checkState(tb testing.TB, l *Log, history []record.Batch) {
	tb.Helper()
	var epochs logstate.Epochs
	var producers logstate.Producers
	for _, b := range history {
		if Offset(b.BaseOffset()) >= l.End() {
			break
		}
		epochs.Assign(Epoch(b.LeaderEpoch()), Offset(b.BaseOffset()))
		producers.Apply(StateOf(b))
	}
	epochs.TruncateFromStart(l.Start())
	epochs.TruncateFromEnd(l.End())
	if got, want := fmt.Sprint(l.epochs.Entries()), fmt.Sprint(epochs.Entries()); got != want {
		tb.Fatalf("epochs %s, the log [%d, %d) has %s", got, l.Start(), l.End(), want)
	}
	got, want := l.producers.Snapshot(), producers.Snapshot()
	if len(got) != len(want) {
		tb.Fatalf("%d producers, the log has %d", len(got), len(want))
	}
	for i := range got {
		g, w := &got[i], &want[i]
		gb, wb := g.Batches(), w.Batches()
		if g.ID != w.ID || g.Epoch != w.Epoch || g.TxnStart != w.TxnStart || g.CoordinatorEpoch != w.CoordinatorEpoch || g.LastTimestampMs != w.LastTimestampMs ||
			len(gb) > len(wb) || len(wb) > 0 && len(gb) == 0 {
			tb.Fatalf("producer %+v, the log has %+v", *g, *w)
		}
		wb = wb[len(wb)-len(gb):]
		if len(gb) > 0 {
			// In a snapshot a marker's timestamp stands for that of the batch before it.
			gb[0].TimestampMs = wb[0].TimestampMs
		}
		if diff := cmp.Diff(wb, gb); diff != "" {
			tb.Fatalf("producer %d: -log +state\n%s", g.ID, diff)
		}
	}
}
