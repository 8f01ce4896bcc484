package storage

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// world does random things to a log, and after every step of the disk lets the
// power fail on a clone of it.
type world struct {
	tb   testing.TB
	rng  *rand.Rand
	cfg  Config
	disk *vfs.Mem
	d    *Dir
	l    *Log

	// may are the batches that the log may hold, from its very first on: during an
	// append those that are appended, during a cut those that are cut.
	may []record.Batch
	// promised is what survives whatever happens.
	promised Offset
	// starts are the log's possible starts.
	starts [2]Offset
	epoch  int32
	seqs   map[int64]int32

	op string
	// every: the power fails after each step, not after one in four.
	every bool
	// seen counts the crashes, by the operation and what the disk had just done.
	seen map[string]int
}

// TestCrash: I17, E25, and E24's "fsync before the answer".
func TestCrash(t *testing.T) {
	t.Parallel()
	seeds := uint64(4)
	if os.Getenv("KAFKAOPS_LONG") != "" {
		seeds = 50
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			crashRun(t, seed, 30)
		})
	}
}

func crashRun(t *testing.T, seed uint64, ops int) {
	w := newWorld(t, seed)
	w.begin()
	for range ops {
		w.act()
	}
	if len(w.seen) == 0 {
		t.Fatal("no crash")
	}
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{tb: t, rng: seeded(seed), cfg: small(), seqs: map[int64]int32{}, seen: map[string]int{}}
	w.cfg.SegmentBytes, w.cfg.IndexIntervalBytes = 900, 100
	w.cfg.RetentionBytes = 2500
	w.cfg.Compacted = seed%2 == 1
	w.disk = vfs.NewMem(vfs.MemOptions{})
	w.disk.OnStep(w.step)
	return w
}

func (w *world) begin() {
	w.op = "create"
	w.d = open(w.tb, w.disk, w.cfg)
	w.l = create(w.tb, w.d, w.cfg)
}

// TestCrashAfterEveryStep does each thing that changes a disk, and after every
// step of the disk lets the power fail, and fail again after every step of the
// recovery from it.
func TestCrashAfterEveryStep(t *testing.T) {
	t.Parallel()
	for _, compacted := range []bool{false, true} {
		t.Run(fmt.Sprintf("compacted=%v", compacted), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			w.every, w.cfg.Compacted = true, compacted
			everything(t, w)
		})
	}
}

func everything(t *testing.T, w *world) {
	t.Helper()
	w.begin()
	do := func(name string, ops ...func()) {
		w.op = name
		for _, op := range ops {
			op()
			w.settled()
		}
	}
	fill := func() {
		for n := len(w.l.segs); len(w.l.segs) < n+2; {
			w.append()
		}
	}
	do("append", fill, w.flush, w.append)
	do("checkpoint", w.checkpoint)
	do("truncate", func() { w.truncateTo(w.below(w.l.segs[1].base)) })
	do("append", fill)
	do("delete records", func() { w.deleteTo(w.l.segs[2].base + 1) })
	do("retention", w.retain)
	do("store epoch", w.storeEpoch)
	do("close", w.reopen)
	do("append", w.append)
	do("kill", w.kill)
	do("restart at", func() { w.restart(w.l.End() + 3) })
	do("append", w.append)
	do("close", w.reopen)
	w.op = "delete"
	w.l = nil
	must(t, w.d.Delete(testTP, "0123"))

	for _, want := range []string{
		"create: mkdir orders-0", "create: rename partition.metadata", "create: create .log", "create: syncdir orders-0",
		"append: write .log", "append: rename leader-epoch-checkpoint",
		"append: create .log", "append: create .index", "append: write .index", "append: write .timeindex", "append: rename .snapshot",
		"append: sync .log", "append: sync .index",
		"checkpoint: rename replication-offset-checkpoint", "checkpoint: rename recovery-point-offset-checkpoint",
		"truncate: remove .log", "truncate: truncate .log", "truncate: truncate .index", "truncate: sync .log", "truncate: rename leader-epoch-checkpoint",
		"delete records: rename log-start-offset-checkpoint",
		"retention: remove .log", "retention: remove .index", "retention: remove .snapshot",
		"store epoch: rename leader-epoch-checkpoint",
		"close: sync .log", "close: rename .snapshot", "close: rename .kafka_cleanshutdown", "close: remove .kafka_cleanshutdown",
		"restart at: rename log-start-offset-checkpoint", "restart at: remove .log", "restart at: create .log",
		"recovery: truncate .log", "recovery: sync .log", "recovery: remove .log", "recovery: truncate .index",
		"recovery: rename leader-epoch-checkpoint", "recovery: remove .snapshot", "recovery: rename replication-offset-checkpoint",
		"delete: rename orders-0", "delete: syncdir .",
	} {
		if w.seen[want] == 0 {
			t.Errorf("no crash after %s", want)
		}
	}
	if t.Failed() {
		t.Log(slices.Sorted(maps.Keys(w.seen)))
	}
}

// settled is called when an operation is done.
func (w *world) settled() {
	w.starts = [2]Offset{w.l.Start(), w.l.Start()}
	if w.l.End() > w.l.Start() {
		checkState(w.tb, w.l, w.may)
	}
}

// after names a step: what was going on, the call, and which kind of file.
func after(op string, s vfs.Step) string {
	kind := path.Base(strings.TrimSuffix(s.Name, ".tmp"))
	if base, _, _ := strings.Cut(kind, "."); len(base) == 20 {
		kind = kind[20:]
	}
	return fmt.Sprintf("%s: %v %s", op, s.Op, kind)
}

// A recovery point from before a cut must not keep what stands there now from
// being scanned.
func TestCrashAfterCutBelowRecoveryPoint(t *testing.T) {
	t.Parallel()
	disk, d, l := newLog(t, small())
	fill(t, l, 100)
	must(t, l.Flush(l.End(), testNowMs))
	must(t, d.Checkpoint())
	must(t, l.TruncateTo(30, testNowMs))
	var want []byte
	for l.End() < 360 {
		b := build(t, record.Options{BaseOffset: int64(l.End()), LeaderEpoch: 1},
			record.Entry{TimestampMs: testNowMs, Value: bytes.Repeat([]byte{byte(l.End())}, 100)})
		must(t, l.Append(b, testNowMs))
	}
	want = readAll(t, l, 1<<20)
	for seed := range uint64(100) {
		after := open(t, disk.CrashClone(seeded(seed)), small())
		l := after.Log(testTP)
		got := readAll(t, l, 1<<20)
		if l.End() < 30 || !bytes.HasPrefix(want, got) {
			t.Fatalf("seed %d: log [%d, %d) is not a prefix of what was written", seed, l.Start(), l.End())
		}
		must(t, after.Abandon())
	}
}

// A process is killed between the making of a name, of a segment or a checkpoint,
// and its sync; the next one sees it, goes on, flushes, and the power fails.
func TestKillBeforeNameIsSynced(t *testing.T) {
	t.Parallel()
	disk, d, l := newLog(t, small())
	fill(t, l, 3)
	must(t, l.Flush(l.End(), testNowMs))
	must(t, d.Checkpoint())
	large := record.Entry{TimestampMs: testNowMs, Value: make([]byte, 3700)} // makes the log roll
	next := build(t, record.Options{BaseOffset: 9}, large)
	var killed []*vfs.Mem
	disk.OnStep(func(vfs.Step) { killed = append(killed, disk.Clone()) })
	must(t, l.Append(next, testNowMs))
	disk.OnStep(nil)
	l.SetHW(9)
	must(t, l.Flush(l.End(), testNowMs))
	must(t, d.Checkpoint())
	disk.OnStep(func(vfs.Step) { killed = append(killed, disk.Clone()) })
	must(t, l.SetStart(8))
	disk.OnStep(nil)
	for i, m := range killed {
		d := open(t, m, small())
		l := d.Log(testTP)
		if l.End() == 9 {
			must(t, l.Append(next, testNowMs))
		}
		must(t, l.Flush(l.End(), testNowMs))
		must(t, d.Checkpoint())
		want := fmt.Sprint(l.Start(), l.End(), l.epochs.Entries())
		must(t, d.Abandon())
		for seed := range uint64(20) {
			l := open(t, m.CrashClone(seeded(seed)), small()).Log(testTP)
			if got := fmt.Sprint(l.Start(), l.End(), l.epochs.Entries()); got != want {
				t.Fatalf("killed at step %d, seed %d: %s, flushed was %s", i, seed, got, want)
			}
		}
	}
}

func (w *world) act() {
	type op struct {
		name string
		do   func()
	}
	ops := []op{
		{"append", w.append},
		{"append", w.append},
		{"append", w.append},
		{"append", w.append},
		{"flush", w.flush},
		{"checkpoint", w.checkpoint},
		{"truncate", w.truncate},
		{"delete", w.delete},
		{"store epoch", w.storeEpoch},
		{"reopen", w.reopen},
		{"kill", w.kill},
		{"restart at", w.restartAt},
	}
	o := ops[w.rng.IntN(len(ops))]
	w.op = o.name
	o.do()
	w.settled()
}

func (w *world) append() {
	var p []byte
	next := w.l.End()
	for range 1 + w.rng.IntN(4) {
		if w.rng.IntN(4) == 0 {
			w.epoch++
		}
		opts := record.Options{BaseOffset: int64(next), LeaderEpoch: w.epoch, Codec: record.Codec(w.rng.IntN(2) * w.rng.IntN(4))}
		n := 1 + w.rng.IntN(3)
		if id := w.rng.Int64N(4); id > 0 {
			opts.Producer = &record.Producer{ID: id, BaseSequence: w.seqs[id]}
			opts.Transactional = id == 3
			w.seqs[id] += int32(n)
		}
		var es []record.Entry
		for range n {
			v := make([]byte, w.rng.IntN(120))
			for i := range v {
				v[i] = byte(w.rng.Uint32())
			}
			es = append(es, record.Entry{TimestampMs: testNowMs + w.rng.Int64N(1000), Value: v})
		}
		b := build(w.tb, opts, es...)
		p, w.may = append(p, b...), append(w.may, b)
		next = Offset(b.NextOffset())
		if opts.Transactional && w.rng.IntN(2) == 0 {
			m := marker(w.tb, next, w.epoch, 3, record.EndTxn{Commit: w.rng.IntN(2) == 0, CoordinatorEpoch: w.rng.Int32N(100)})
			p, w.may = append(p, m...), append(w.may, m)
			next = Offset(m.NextOffset())
		}
	}
	must(w.tb, w.l.Append(p, testNowMs))
}

func (w *world) flush() {
	upTo := w.l.End()
	must(w.tb, w.l.Flush(upTo, testNowMs))
	w.promised = w.l.Flushed()
	if w.promised < upTo {
		w.tb.Fatalf("flushed to %d, asked for %d", w.promised, upTo)
	}
}

func (w *world) checkpoint() {
	w.l.SetHW(w.l.End() - Offset(w.rng.IntN(4)))
	must(w.tb, w.d.Checkpoint())
}

func (w *world) truncate() {
	// Between batches: through one, the epochs are not those of a scan.
	if to := w.below(w.l.End() - Offset(w.rng.IntN(12))); to >= w.l.Start() {
		w.truncateTo(to)
	}
}

func (w *world) truncateTo(to Offset) {
	w.promised = min(w.promised, to)
	must(w.tb, w.l.TruncateTo(to, testNowMs))
	w.may = slices.DeleteFunc(w.may, func(b record.Batch) bool { return Offset(b.LastOffset()) >= to })
	w.storeEnd()
}

// storeEnd makes the model's epoch not smaller than the log's.
func (w *world) storeEnd() { w.epoch++ }

// below is the end of the last batch that ends at to or before.
func (w *world) below(to Offset) Offset {
	end := Offset(0)
	for _, b := range w.may {
		if Offset(b.NextOffset()) <= to {
			end = Offset(b.NextOffset())
		}
	}
	return end
}

func (w *world) delete() {
	w.deleteTo(min(w.l.Start()+Offset(w.rng.IntN(10)), w.l.End()))
	w.retain()
}

func (w *world) deleteTo(to Offset) {
	w.l.SetHW(w.l.End())
	w.starts[1] = to
	must(w.tb, w.l.SetStart(to))
	w.starts[0] = to
}

func (w *world) retain() {
	w.starts[1] = w.l.End()
	_, err := w.l.ApplyRetention(testNowMs)
	must(w.tb, err)
}

func (w *world) storeEpoch() {
	w.epoch++
	must(w.tb, w.l.StoreEpoch(logstate.EpochStart{Epoch: Epoch(w.epoch), Start: w.l.End()}))
	// It is not in the log, so the comparison with it must wait for the next batch.
	w.append()
}

func (w *world) reopen() {
	must(w.tb, w.d.Close(1, testNowMs))
	w.promised = w.l.End()
	w.open()
	if rs := w.d.Repairs(); len(rs) > 0 {
		w.tb.Fatalf("after a clean stop: %v", rs)
	}
	if w.l.End() < w.promised {
		w.tb.Fatalf("after a clean stop the log ends at %d, not %d", w.l.End(), w.promised)
	}
}

func (w *world) kill() {
	end := w.below(w.l.End())
	must(w.tb, w.d.Abandon())
	w.open()
	if w.l.End() != end && w.l.End() != w.l.Start() {
		w.tb.Fatalf("after a kill the log ends at %d, not %d", w.l.End(), end)
	}
}

func (w *world) open() {
	w.d = open(w.tb, w.disk, w.cfg)
	w.l = w.d.Log(testTP)
}

func (w *world) restartAt() {
	if w.rng.IntN(3) > 0 {
		return
	}
	w.restart(w.l.End() + Offset(w.rng.IntN(5)))
}

func (w *world) restart(to Offset) {
	w.promised, w.starts[1] = 0, to
	must(w.tb, w.l.TruncateFullyAndStartAt(to, testNowMs))
	w.may, w.promised = nil, to
	w.storeEnd()
}

// step is called after each step of the disk.
func (w *world) step(s vfs.Step) {
	if w.every || w.rng.IntN(4) == 0 {
		w.seen[after(w.op, s)]++
		w.crash()
	}
}

func (w *world) crash() {
	rng := seeded(w.rng.Uint64())
	if rng.IntN(3) == 0 {
		w.killAndCrash(rng)
	}
	clone := w.disk.CrashClone(rng)
	// The power fails again while it recovers.
	var again []*vfs.Mem
	clone.OnStep(func(s vfs.Step) {
		if w.every || rng.IntN(4) == 0 {
			w.seen[after("recovery", s)]++
			again = append(again, clone.CrashClone(rng))
		}
	})
	d, err := Open(clone, options(w.cfg), testNowMs)
	if err != nil {
		w.tb.Fatalf("crash during %s: %v", w.op, err)
	}
	want := w.check(d)
	must(w.tb, d.Abandon())
	for _, m := range again {
		d, err := Open(m, options(w.cfg), testNowMs)
		if err != nil {
			w.tb.Fatalf("second crash, after one during %s: %v", w.op, err)
		}
		if got := w.check(d); !bytes.Equal(got, want) {
			w.tb.Fatalf("second crash, after one during %s: %d bytes, %d without it", w.op, len(got), len(want))
		}
		must(w.tb, d.Abandon())
	}
}

// killAndCrash: the process is killed in the middle of an operation, another one
// goes on and flushes, and then the power fails: what the first one had written and
// not synced must not be taken for durable.
func (w *world) killAndCrash(rng *rand.Rand) {
	disk := w.disk.Clone()
	d, err := Open(disk, options(w.cfg), testNowMs)
	if err != nil {
		w.tb.Fatalf("kill during %s: %v", w.op, err)
	}
	l := d.Log(testTP)
	if l == nil {
		must(w.tb, d.Abandon())
		return
	}
	w.check(d)
	must(w.tb, l.Append(build(w.tb, record.Options{BaseOffset: int64(l.End()), LeaderEpoch: w.epoch + 1}, record.Entry{}), testNowMs))
	must(w.tb, l.Flush(l.End(), testNowMs))
	must(w.tb, d.CheckpointRecoveryPoints())
	want, end, epochs := readAll(w.tb, l, 1<<20), l.End(), fmt.Sprint(l.epochs.Entries())
	must(w.tb, d.Abandon())
	d, err = Open(disk.CrashClone(rng), options(w.cfg), testNowMs)
	if err != nil {
		w.tb.Fatalf("kill during %s, then a crash: %v", w.op, err)
	}
	l = d.Log(testTP)
	if l == nil {
		w.tb.Fatalf("kill during %s, then a crash: the log is gone", w.op)
	}
	if got := fmt.Sprint(l.epochs.Entries()); l.End() != end || got != epochs || !bytes.Equal(readAll(w.tb, l, 1<<20), want) {
		w.tb.Fatalf("kill during %s, then a crash: log [%d, %d) with epochs %s, flushed was up to %d with %s",
			w.op, l.Start(), l.End(), got, end, epochs)
	}
	must(w.tb, d.Abandon())
}

// check looks at a recovered directory and returns the log's bytes.
func (w *world) check(d *Dir) []byte {
	l := d.Log(testTP)
	if l == nil {
		if w.l != nil {
			w.tb.Fatalf("crash during %s: the log is gone", w.op)
		}
		return nil
	}
	w.checkRepairs(d)
	if l.End() < w.promised {
		w.tb.Fatalf("crash during %s: log [%d, %d), promised up to %d", w.op, l.Start(), l.End(), w.promised)
	}
	if l.Start() < w.starts[0] && w.op != "restart at" || l.Start() > w.starts[1] {
		w.tb.Fatalf("crash during %s: starts at %d, want %v", w.op, l.Start(), w.starts)
	}
	if l.HW() < l.Start() || l.HW() > l.End() || l.Flushed() > l.End() {
		w.tb.Fatalf("crash during %s: log [%d, %d), HW %d, flushed %d", w.op, l.Start(), l.End(), l.HW(), l.Flushed())
	}
	all := readAll(w.tb, l, 1<<20)
	w.compare(l, all)
	checkIndexes(w.tb, l)
	// Where the end of the log was lost and its start was to be beyond, it is new.
	if l.End() > l.Start() {
		checkState(w.tb, l, w.may)
	}
	return all
}

// checkRepairs: a crash leaves a torn tail, and never a file that says what is not so.
func (w *world) checkRepairs(d *Dir) {
	for _, r := range d.Repairs() {
		if !strings.HasSuffix(r.File, logSuffix) && r.File != testTP.String() || strings.Contains(r.Done, corruptSuffix) {
			w.tb.Fatalf("crash during %s: %v", w.op, r)
		}
	}
}

// compare: the log's batches are those that may be there, without a gap.
func (w *world) compare(l *Log, all []byte) {
	got := batches(all)
	i := slices.IndexFunc(w.may, func(b record.Batch) bool { return Offset(b.LastOffset()) >= l.Start() })
	for k, b := range got {
		if err := b.CheckCRC(); err != nil {
			w.tb.Fatalf("crash during %s: %v", w.op, err)
		}
		if i < 0 || i+k >= len(w.may) || !bytes.Equal(b, w.may[i+k]) {
			w.tb.Fatalf("crash during %s: batch %d at %d is not what was written", w.op, k, b.BaseOffset())
		}
	}
}
