package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// keyed is a compacted log and what was written to it.
type keyed struct {
	tb   testing.TB
	rng  *rand.Rand
	cfg  Config
	disk *vfs.Mem
	d    *Dir
	l    *Log

	nowMs int64
	epoch int32
	// wrote are all records, by offset; aborted those that do not count.
	wrote   []record.Record
	batches []record.Batch
	aborted map[Offset]bool
	markers map[Offset]bool
	seqs    map[int64]int32
	// inTxn are the offsets of producer 3's open transaction.
	inTxn []Offset
}

func compacted() Config {
	c := small()
	c.SegmentBytes, c.IndexIntervalBytes, c.Compacted = 900, 100, true
	c.DeleteRetentionMs = 1000
	return c
}

func newKeyed(tb testing.TB, seed uint64, cfg Config) *keyed {
	k := &keyed{
		tb: tb, rng: seeded(seed), cfg: cfg, nowMs: testNowMs, aborted: map[Offset]bool{}, markers: map[Offset]bool{},
		seqs: map[int64]int32{},
		disk: vfs.NewMem(vfs.MemOptions{}),
	}
	k.d = open(tb, k.disk, cfg)
	k.l = create(tb, k.d, cfg)
	return k
}

// write appends a batch: of no producer, an idempotent one, or one with transactions.
func (k *keyed) write() {
	k.tb.Helper()
	k.nowMs++
	if k.rng.IntN(8) == 0 {
		k.epoch++
	}
	opts := record.Options{BaseOffset: int64(k.l.End()), LeaderEpoch: k.epoch, Codec: record.Codec(k.rng.IntN(2) * k.rng.IntN(5))}
	if k.rng.IntN(8) == 0 {
		opts.LogAppendTimeMs = &k.nowMs
	}
	n := 1 + k.rng.IntN(4)
	id := k.rng.Int64N(4)
	if id > 0 {
		opts.Producer = &record.Producer{ID: id, BaseSequence: k.seqs[id]}
		opts.Transactional = id == 3
		k.seqs[id] += int32(n)
	}
	var es []record.Entry
	for range n {
		e := record.Entry{TimestampMs: k.nowMs - k.rng.Int64N(5), Key: fmt.Appendf(nil, "k%d", k.rng.IntN(12))}
		if k.rng.IntN(4) > 0 {
			e.Value = fmt.Appendf(nil, "v%d-%d", k.nowMs, k.rng.IntN(1<<20))
		}
		if k.rng.IntN(3) == 0 {
			e.Headers = []record.Header{{Key: "h", Value: []byte{1, 2}}}
		}
		es = append(es, e)
	}
	b := build(k.tb, opts, es...)
	k.note(b)
	must(k.tb, k.l.Append(b, k.nowMs))
	if id != 3 {
		return
	}
	for o := Offset(b.BaseOffset()); o < k.l.End(); o++ {
		k.inTxn = append(k.inTxn, o)
	}
	if k.rng.IntN(2) == 0 {
		k.endTxn(k.rng.IntN(2) == 0)
	}
}

func (k *keyed) endTxn(commit bool) {
	if len(k.inTxn) == 0 {
		return
	}
	m := marker(k.tb, k.l.End(), k.epoch, 3, record.EndTxn{Commit: commit, CoordinatorEpoch: 1})
	k.note(m)
	must(k.tb, k.l.Append(m, k.nowMs))
	for _, o := range k.inTxn {
		k.aborted[o] = !commit
	}
	k.inTxn = nil
}

func (k *keyed) note(b record.Batch) {
	k.batches = append(k.batches, b)
	rs, err := b.Records(nil)
	must(k.tb, err)
	for rs.Next() {
		r := rs.Record()
		r.Key, r.Value = bytes.Clone(r.Key), bytes.Clone(r.Value)
		k.wrote = append(k.wrote, r)
		k.markers[Offset(r.Offset)] = b.Control()
	}
}

// fill writes so many batches, the transactions ended, and moves the HW to the end.
func (k *keyed) fill(n int) {
	for range n {
		k.write()
	}
	k.endTxn(true)
	k.l.SetHW(k.l.End())
}

// clean is a whole round; it returns where it ended.
func (k *keyed) clean() Offset {
	k.tb.Helper()
	c, err := k.l.Clean(k.nowMs)
	must(k.tb, err)
	if c == nil {
		k.tb.Fatal("nothing to clean")
	}
	run(k.tb, c)
	if rs := k.d.Repairs(); len(rs) > 0 {
		k.tb.Fatal(rs)
	}
	return k.l.cleanedTo
}

func run(tb testing.TB, c *Cleaning) {
	tb.Helper()
	for i := 0; ; i++ {
		done, err := c.Step()
		must(tb, err)
		if done {
			return
		}
		if i > 10_000 {
			tb.Fatal("a cleaning without end")
		}
	}
}

// lasts is the plain thing: a map of key to the offset of the last record, of those
// that count, below a bound.
func (k *keyed) lasts(below Offset) map[string]Offset {
	last := map[string]Offset{}
	for _, r := range k.wrote {
		if o := Offset(r.Offset); o < below && !k.aborted[o] && !k.markers[o] {
			last[string(r.Key)] = o
		}
	}
	return last
}

// checkCleaned compares what is left with what was written: of each key the last record, all from mapped
// on, and tombstones and markers for their time.
func (k *keyed) checkCleaned(l *Log, mapped Offset, tombstonesGone bool) {
	k.tb.Helper()
	left := map[Offset]record.Record{}
	before := int64(-1)
	for _, r := range recordsOf(k.tb, l) {
		if r.Offset <= before {
			k.tb.Fatalf("offset %d after %d", r.Offset, before)
		}
		before = r.Offset
		left[Offset(r.Offset)] = r
	}
	last := k.lasts(mapped)
	for _, w := range k.wrote {
		o := Offset(w.Offset)
		r, there := left[o]
		delete(left, o)
		if there && !sameRecord(r, w) {
			k.tb.Fatalf("at offset %d is %+v, it was %+v", o, r, w)
		}
		want := o >= mapped || !k.aborted[o] && last[string(w.Key)] == o && (w.Value != nil || !tombstonesGone)
		if k.markers[o] {
			continue // TestCleanMarkers
		}
		if there != want {
			k.tb.Fatalf("key %s at offset %d, value %q, aborted %t, last at %d: is there %t, want %t, cleaned to %d",
				w.Key, o, w.Value, k.aborted[o], last[string(w.Key)], there, want, mapped)
		}
	}
	if len(left) > 0 {
		k.tb.Fatalf("records that nobody wrote: %v", left)
	}
}

// recordsOf is scanned, with bytes that stay.
func recordsOf(tb testing.TB, l *Log) (all []record.Record) {
	tb.Helper()
	for _, b := range batches(readAll(tb, l, 1<<20)) {
		rs, err := b.Records(nil)
		must(tb, err)
		for rs.Next() {
			if r := rs.Record(); Offset(r.Offset) >= l.Start() {
				all = append(all, r)
			}
		}
		must(tb, rs.Err())
	}
	return all
}

func sameRecord(a, b record.Record) bool {
	if a.Offset != b.Offset || a.TimestampMs != b.TimestampMs || a.Sequence != b.Sequence || a.Attributes != b.Attributes ||
		!bytes.Equal(a.Key, b.Key) || !bytes.Equal(a.Value, b.Value) || (a.Value == nil) != (b.Value == nil) || a.HeaderCount != b.HeaderCount {
		return false
	}
	headers := func(r record.Record) (all [][]byte) {
		for key, value := range r.Headers() {
			all = append(all, key, value)
		}
		return all
	}
	return slices.EqualFunc(headers(a), headers(b), bytes.Equal)
}

// TestCleanIsAMapOfLastValues: I19. A log that is compacted, and compacted again, has what a
// map of key to last value has, at the offsets where it was written, and its state is
// that of all that was ever written.
func TestCleanIsAMapOfLastValues(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			k := newKeyed(t, seed, compacted())
			for round := range 3 {
				k.fill(40)
				end, state := k.l.End(), fmt.Sprint(k.l.epochs.Entries(), k.l.producers.Snapshot())
				segments, size := len(k.l.segs), k.l.SizeBytes()
				mapped := k.clean()
				if mapped != k.l.active().base || k.l.End() != end || k.l.Start() != 0 {
					t.Fatalf("cleaned to %d of [%d, %d), the active segment begins at %d", mapped, k.l.Start(), k.l.End(), k.l.active().base)
				}
				// Segments are put together by what they were, so not in the first round.
				if round > 0 && len(k.l.segs) >= segments || k.l.SizeBytes() >= size {
					t.Fatalf("%d segments of %d bytes, before %d of %d", len(k.l.segs), k.l.SizeBytes(), segments, size)
				}
				k.checkCleaned(k.l, mapped, false)
				checkOffsets(t, k.l)
				again, err := k.l.Clean(k.nowMs)
				if again != nil || err != nil {
					t.Fatalf("clean what is clean: %v, %v", again, err)
				}
				// Opened again, without and with a scan, it is the same.
				left := readAll(t, k.l, 1<<20)
				for _, clean := range []bool{false, true} {
					if clean {
						must(t, k.d.Close(1, k.nowMs))
					} else {
						must(t, k.d.Abandon())
					}
					// A broker opens its logs before it knows their configs.
					cfg := k.cfg
					cfg.Compacted = false
					k.d = open(t, k.disk, cfg)
					k.l = k.d.Log(testTP)
					k.l.Configure(k.cfg)
					if got := readAll(t, k.l, 1<<20); !bytes.Equal(got, left) || k.l.End() != end {
						t.Fatalf("round %d, clean stop %t: %d bytes to %d, before %d to %d", round, clean, len(got), k.l.End(), len(left), end)
					}
					if rs := k.d.Repairs(); len(rs) > 0 {
						t.Fatal(rs)
					}
				}
				k.l.SetHW(end)
				// Kafka's snapshots keep one batch of a producer, so only the last one is compared.
				if got := fmt.Sprint(k.l.epochs.Entries()); !bytes.HasPrefix([]byte(state), []byte(got)) {
					t.Fatalf("epochs %s, before %s", got, state)
				}
				k.checkProducers()
			}
			// Tombstones go once their time is over.
			k.nowMs += k.cfg.DeleteRetentionMs + 1
			k.fill(20)
			k.clean()
			k.nowMs += k.cfg.DeleteRetentionMs + 1
			k.fill(20)
			before := k.l.cleanedTo
			k.clean()
			for _, r := range recordsOf(t, k.l) {
				if Offset(r.Offset) < before && r.Value == nil && r.Key != nil {
					t.Fatalf("the tombstone of %s at offset %d is still there", r.Key, r.Offset)
				}
			}
			last := k.lasts(k.l.End())
			for _, r := range recordsOf(t, k.l) {
				if last[string(r.Key)] == Offset(r.Offset) {
					delete(last, string(r.Key))
				}
			}
			for key, o := range last {
				if k.value(o) != nil {
					t.Fatalf("the last value of %s, at offset %d, is gone", key, o)
				}
			}
		})
	}
}

func (k *keyed) value(o Offset) []byte {
	i := slices.IndexFunc(k.wrote, func(r record.Record) bool { return Offset(r.Offset) == o })
	return k.wrote[i].Value
}

// checkProducers: each producer goes on where it was, whatever records of it are left.
func (k *keyed) checkProducers() {
	k.tb.Helper()
	// Who has the log alone, as a follower with an empty disk, knows it too.
	var seen logstate.Producers
	for _, b := range batches(readAll(k.tb, k.l, 1<<20)) {
		seen.Apply(StateOf(b))
	}
	for _, ps := range [][]logstate.Producer{k.l.producers.Snapshot(), seen.Snapshot()} {
		if len(ps) != len(k.seqs) {
			k.tb.Fatalf("%d producers, want %d", len(ps), len(k.seqs))
		}
		for _, p := range ps {
			if want := k.seqs[p.ID] - 1; p.LastSequence() != want {
				k.tb.Fatalf("producer %d: last sequence %d, want %d", p.ID, p.LastSequence(), want)
			}
		}
	}
}

// TestCleanMarkers: a transaction's marker stays as long as records of it, and then as
// long as a tombstone would.
func TestCleanMarkers(t *testing.T) {
	t.Parallel()
	k := newKeyed(t, 1, compacted())
	entry := func(key string) record.Entry {
		return record.Entry{TimestampMs: testNowMs, Key: []byte(key), Value: make([]byte, 50)}
	}
	data := func(id int64, keys ...string) {
		opts := record.Options{BaseOffset: int64(k.l.End())}
		if id > 0 {
			opts.Producer, opts.Transactional = &record.Producer{ID: id, BaseSequence: k.seqs[id]}, true
			k.seqs[id] += int32(len(keys))
		}
		var es []record.Entry
		for _, key := range keys {
			es = append(es, entry(key))
		}
		must(t, k.l.Append(build(t, opts, es...), k.nowMs))
	}
	end := func(id int64, commit bool) {
		must(t, k.l.Append(marker(t, k.l.End(), 0, id, record.EndTxn{Commit: commit}), k.nowMs))
	}
	dirty := func() { // so that the next round has something to do
		for n := len(k.l.segs); len(k.l.segs) < n+2; {
			data(0, "x", "y")
		}
		k.l.SetHW(k.l.End())
	}
	offsets := func() string {
		var all []int64
		for _, r := range recordsOf(t, k.l) {
			if r.Offset < 9 {
				all = append(all, r.Offset)
			}
		}
		return fmt.Sprint(all)
	}
	data(5, "a", "b") // 0, 1
	end(5, true)      // 2
	data(6, "c", "d") // 3, 4
	end(6, false)     // 5
	data(5, "b")      // 6
	end(5, true)      // 7
	data(6, "e")      // 8, so that the producer's last batch is another one
	end(6, true)
	dirty()
	k.clean()
	if got, want := offsets(), "[0 2 5 6 7 8]"; got != want {
		t.Fatalf("first round: %s are there, want %s: the aborted records go, and b's first", got, want)
	}
	data(5, "a")
	end(5, true)
	dirty()
	k.clean() // a's first goes, and what is left of that transaction is its marker
	if got, want := offsets(), "[2 5 6 7 8]"; got != want {
		t.Fatalf("second round: %s are there, want %s", got, want)
	}
	k.nowMs += k.cfg.DeleteRetentionMs
	dirty()
	k.clean() // finds 2's transaction empty; 5's time is over
	if got, want := offsets(), "[2 6 7 8]"; got != want {
		t.Fatalf("third round: %s are there, want %s", got, want)
	}
	k.nowMs += k.cfg.DeleteRetentionMs
	dirty()
	k.clean()
	if got, want := offsets(), "[6 7 8]"; got != want {
		t.Fatalf("fourth round: %s are there, want %s", got, want)
	}
}

// TestCleanBesideAppends: between the steps of a cleaning the log is appended to, read,
// cut, shortened and closed, and is what it would be without.
func TestCleanBesideAppends(t *testing.T) {
	t.Parallel()
	ended := 0
	for seed := range uint64(40) {
		k := newKeyed(t, 100+seed, compacted())
		k.fill(40)
		c, err := k.l.Clean(k.nowMs)
		must(t, err)
		started := Offset(0)
		for step := 0; ; step++ {
			done, err := c.Step()
			must(t, err)
			if done {
				break
			}
			switch k.rng.IntN(20) {
			case 0, 1, 2, 3, 4, 5:
				k.write()
			case 6:
				if k.l.SetHW(k.l.End()); k.rng.IntN(2) == 0 {
					started = Offset(k.rng.IntN(20))
					must(t, k.l.SetStart(started))
					started = k.l.Start()
				}
			case 7:
				k.truncate()
			case 8:
				must(t, k.l.Flush(k.l.End(), k.nowMs))
			case 9:
				must(t, k.d.Checkpoint())
			case 10:
				_, err := k.l.ApplyRetention(k.nowMs)
				must(t, err)
			case 11:
				must(t, k.d.Close(1, k.nowMs))
				k.checkNames()
				k.d = open(t, k.disk, k.cfg)
				k.l = k.d.Log(testTP)
			}
			readAll(t, k.l, 500)
		}
		if k.l.cleanedTo == 0 {
			ended++
		}
		k.checkLasts(k.l, started)
		k.checkNames()
	}
	if ended == 0 || ended == 40 {
		t.Fatalf("%d of 40 cleanings were cut short", ended)
	}
}

// checkNames: nothing is left that only a cleaning has.
func (k *keyed) checkNames() {
	k.tb.Helper()
	infos, err := k.disk.ReadDir(testTP.String())
	must(k.tb, err)
	for _, in := range infos {
		if unfinished(in.Name) {
			k.tb.Fatalf("%s is left", in.Name)
		}
	}
}

// TestCutIsDirty: what is written where a follower was cut counts as dirty, though there was
// something clean once.
func TestCutIsDirty(t *testing.T) {
	t.Parallel()
	k := newKeyed(t, 6, compacted())
	k.fill(40)
	to := k.clean()
	before := k.l.segs[1].base
	must(t, k.l.TruncateTo(before, k.nowMs))
	must(t, k.d.Abandon())
	k.l = open(t, k.disk, k.cfg).Log(testTP)
	if k.l.CleanedTo() != before {
		t.Errorf("clean up to %d after a cut at %d, before up to %d", k.l.CleanedTo(), before, to)
	}
}

// truncate cuts the log, between batches, not in a transaction.
func (k *keyed) truncate() {
	if len(k.inTxn) > 0 {
		return
	}
	at := len(k.batches) - k.rng.IntN(35)
	for at > 0 && at < len(k.batches) && (k.batches[at].Control() || k.batches[at-1].Transactional() && !k.batches[at-1].Control()) {
		at++
	}
	if at >= len(k.batches) {
		return
	}
	to := k.batches[at].BaseOffset()
	if Offset(to) < k.l.Start() {
		return
	}
	for _, b := range k.batches[at:] {
		if p := b.ProducerID(); p >= 0 && !b.Control() {
			k.seqs[p] -= b.LastOffsetDelta() + 1
		}
	}
	k.batches = k.batches[:at]
	k.wrote = slices.DeleteFunc(k.wrote, func(r record.Record) bool { return r.Offset >= to })
	for o := Offset(to); o < k.l.End(); o++ {
		delete(k.aborted, o)
	}
	must(k.tb, k.l.TruncateTo(Offset(to), k.nowMs))
	k.epoch++
}

// checkLasts: the last record of each key is there, and none that was not written.
func (k *keyed) checkLasts(l *Log, from Offset) {
	k.tb.Helper()
	last := k.lasts(l.End())
	wrote := map[Offset]record.Record{}
	for _, w := range k.wrote {
		wrote[Offset(w.Offset)] = w
	}
	for _, r := range recordsOf(k.tb, l) {
		if w, ok := wrote[Offset(r.Offset)]; !ok || !sameRecord(r, w) {
			k.tb.Fatalf("at offset %d is %+v, it was %+v", r.Offset, r, w)
		}
		if last[string(r.Key)] == Offset(r.Offset) {
			delete(last, string(r.Key))
		}
	}
	for key, o := range last {
		if o >= from && o >= l.Start() {
			k.tb.Fatalf("the last record of %s, at offset %d of [%d, %d), is gone", key, o, l.Start(), l.End())
		}
	}
}

// TestCleanCrash: E25's compaction swap. The power fails after each step of the disk in a
// cleaning, and after each step of the recovery from that: the last record of each key is
// there, and the log goes on as if nothing had been.
func TestCleanCrash(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{1, 2, 4} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			k := newKeyed(t, seed, compacted())
			k.fill(26)
			if seed < 4 { // else it is the log's first compaction
				k.clean()
			}
			k.fill(18)
			must(t, k.l.Flush(k.l.End(), k.nowMs))
			if seed%2 == 1 { // else all is scanned
				must(t, k.d.Checkpoint())
			}
			end := k.l.End()
			state := fmt.Sprint(k.l.epochs.Entries())
			var crashed []*vfs.Mem
			seen := map[string]bool{}
			k.disk.OnStep(func(s vfs.Step) {
				seen[after("clean", s)] = true
				draws := 1
				if strings.Contains(after("clean", s), ": re") { // names: which survive is drawn each time
					draws = 4
				}
				for range draws {
					crashed = append(crashed, k.disk.CrashClone(k.rng))
				}
				if k.rng.IntN(3) == 0 {
					crashed = append(crashed, k.disk.Clone()) // killed
				}
			})
			k.clean()
			k.disk.OnStep(nil)
			for _, want := range []string{
				"clean: create .log.cleaned", "clean: sync .log.cleaned", "clean: rename .log.cleaned", "clean: rename .log.swap",
				"clean: remove .log", "clean: remove .snapshot", "clean: rename cleaner-offset-checkpoint",
			} {
				// In a first round segments are not put together yet.
				if !seen[want] && (seed < 4 || want != "clean: remove .snapshot") {
					t.Errorf("no crash after %s in %v", want, seen)
				}
			}
			check := func(disk *vfs.Mem, on bool) {
				cfg := k.cfg
				cfg.Compacted = false
				d, err := Open(disk, options(cfg), k.nowMs)
				must(t, err)
				l := d.Log(testTP)
				if l.End() != end || fmt.Sprint(l.epochs.Entries()) != state {
					t.Fatalf("log [%d, %d), epochs %v; it ended at %d with %s", l.Start(), l.End(), l.epochs.Entries(), end, state)
				}
				if rs := d.Repairs(); len(rs) > 0 {
					t.Fatal(rs)
				}
				k.checkLasts(l, 0)
				checkOffsets(t, l)
				before := k.l
				k.l = l
				k.checkProducers()
				k.l = before
				names, err := disk.ReadDir(testTP.String())
				must(t, err)
				for _, in := range names {
					if unfinished(in.Name) {
						t.Fatalf("%s is left", in.Name)
					}
				}
				l.Configure(k.cfg)
				l.SetHW(l.End())
				c, err := l.Clean(k.nowMs)
				must(t, err)
				if c != nil && on {
					run(t, c)
					k.checkLasts(l, 0)
				}
				must(t, d.Abandon())
			}
			for _, disk := range crashed {
				var again []*vfs.Mem
				disk.OnStep(func(s vfs.Step) {
					if k.rng.IntN(8) == 0 {
						again = append(again, disk.CrashClone(k.rng))
					}
				})
				check(disk, k.rng.IntN(4) == 0)
				for _, m := range again[:min(len(again), 2)] {
					check(m, false)
				}
			}
		})
	}
}

// TestDirt is LogCleanerManager's table: what may be cleaned, and what has to be.
func TestDirt(t *testing.T) {
	t.Parallel()
	k := newKeyed(t, 1, compacted())
	k.fill(60)
	segs := k.l.segs
	n := len(segs)
	if n < 6 {
		t.Fatalf("%d segments", n)
	}
	dirt := func() Dirt {
		t.Helper()
		d, err := k.l.Dirt(k.nowMs)
		must(t, err)
		return d
	}
	want := func(what string, from, upTo Offset) {
		t.Helper()
		if d := dirt(); d.From != from || d.UpTo != upTo {
			t.Errorf("%s: dirt is [%d, %d), want [%d, %d)", what, d.From, d.UpTo, from, upTo)
		}
	}
	want("all but the active segment", 0, segs[n-1].base)
	k.l.SetHW(segs[3].base + 1)
	want("no segment beyond the HW", 0, segs[3].base)
	k.l.SetHW(k.l.End())
	k.l.cfg.MinCompactionLagMs = k.nowMs - segs[2].max.timestampMs + 1
	want("none that is young, nor what follows", 0, segs[2].base)
	k.l.cfg.MinCompactionLagMs = 0
	must(t, k.l.SetStart(5))
	want("nothing before the start", 5, segs[n-1].base)
	k.l.cleanedTo = k.l.End() + 1
	want("a checkpoint that cannot be", 5, segs[n-1].base)
	k.l.cleanedTo = segs[2].base
	want("what is clean", segs[2].base, segs[n-1].base)
	d := dirt()
	if d.CleanBytes != segs[0].size+segs[1].size || d.CleanBytes+d.DirtyBytes != k.l.SizeBytes()-segs[n-1].size {
		t.Errorf("%d bytes are clean and %d dirty of %d", d.CleanBytes, d.DirtyBytes, k.l.SizeBytes())
	}
	if r := d.Ratio(); !d.Due(r-0.01) || d.Due(r) || d.Overdue {
		t.Errorf("due at its own ratio, %v, or not below: %+v", r, d)
	}
	k.l.cfg.MaxCompactionLagMs = 1
	if d := dirt(); !d.Overdue || !d.Due(1) {
		t.Errorf("not overdue after max.compaction.lag.ms: %+v", d)
	}
	k.l.cfg.MaxCompactionLagMs = k.nowMs
	if d := dirt(); d.Overdue {
		t.Errorf("overdue before: %+v", d)
	}
	// A transaction that is open holds the cleaner up.
	opts := record.Options{BaseOffset: int64(k.l.End()), Producer: &record.Producer{ID: 9}, Transactional: true}
	must(t, k.l.Append(build(t, opts, record.Entry{Key: []byte("k")}), k.nowMs))
	first := k.l.End() - 1
	k.fill(30)
	if d := dirt(); d.UpTo > first {
		t.Errorf("cleans to %d, a transaction is open from %d on", d.UpTo, first)
	}
}

// TestCleanEndsWithThePolicy: a topic that is not compacted any more is left alone.
func TestCleanEndsWithThePolicy(t *testing.T) {
	t.Parallel()
	k := newKeyed(t, 4, compacted())
	k.fill(40)
	before := readAll(t, k.l, 1<<20)
	c, err := k.l.Clean(k.nowMs)
	must(t, err)
	for c.out == nil {
		if done, err := c.Step(); done || err != nil {
			t.Fatal(done, err)
		}
	}
	cfg := k.cfg
	cfg.Compacted = false
	k.l.Configure(cfg)
	if done, err := c.Step(); !done || err != nil {
		t.Fatal(done, err)
	}
	if got := readAll(t, k.l, 1<<20); !bytes.Equal(got, before) {
		t.Error("it was compacted")
	}
}

// TestCleanWithFewKeys: where the keys do not fit into memory a round covers less, and
// the next one goes on.
func TestCleanWithFewKeys(t *testing.T) {
	t.Parallel()
	cfg := compacted()
	cfg.CleanMapBytes = 6 * (cleanEntryBytes + 3)
	k := newKeyed(t, 5, cfg)
	k.fill(60)
	rounds := 0
	for before := Offset(-1); ; rounds++ {
		c, err := k.l.Clean(k.nowMs)
		must(t, err)
		if c == nil {
			break
		}
		run(t, c)
		if k.l.cleanedTo <= before {
			t.Fatalf("a round came to %d, the one before to %d", k.l.cleanedTo, before)
		}
		before = k.l.cleanedTo
		k.checkLasts(k.l, 0)
	}
	if rounds < 3 {
		t.Fatalf("%d rounds", rounds)
	}
}

// TestCleanDamaged: a batch that is damaged is not written anew with a CRC that fits; the
// log stays as it is, and says why.
func TestCleanDamaged(t *testing.T) {
	t.Parallel()
	k := newKeyed(t, 3, compacted())
	k.fill(40)
	must(t, k.l.Flush(k.l.End(), k.nowMs))
	s := k.l.segs[1]
	w, err := s.walk(0, make([]byte, 1000), false)
	must(t, err)
	// In a record of a batch that is not compressed: only the CRC can tell.
	p, ok, err := s.firstFrom(w, func(h record.Batch) bool { return h.Codec() == record.None && !h.Control() })
	if must(t, err); !ok {
		t.Fatal("no such batch")
	}
	var at [1]byte
	_, err = s.file.ReadAt(at[:], p.start+record.HeaderSize+6)
	must(t, err)
	at[0] ^= 1
	_, err = s.file.WriteAt(at[:], p.start+record.HeaderSize+6)
	must(t, err)
	before := readAll(t, k.l, 1<<20)
	c, err := k.l.Clean(k.nowMs)
	must(t, err)
	run(t, c)
	rs := k.d.Repairs()
	if len(rs) != 1 || rs[0].File != s.name || !errors.Is(rs[0].Err, ErrCorrupt) {
		t.Errorf("repairs %v", rs)
	}
	if got := readAll(t, k.l, 1<<20); !bytes.Equal(got, before) {
		t.Error("the log has changed")
	}
	if c, err := k.l.Clean(k.nowMs); c != nil || err != nil {
		t.Errorf("cleaned again: %v %v", c, err)
	}
	must(t, k.l.Append(build(t, record.Options{BaseOffset: int64(k.l.End()), LeaderEpoch: k.epoch}, record.Entry{Key: []byte("k")}), k.nowMs))
}

// TestDiskFailsInClean: whatever fails, the cleaning says so, and nothing is lost.
func TestDiskFailsInClean(t *testing.T) {
	t.Parallel()
	failures := 0
	for at := range 60 {
		k := newKeyed(t, 7, compacted())
		k.fill(25)
		must(t, k.d.Close(1, k.nowMs))
		disk := vfs.NewFaults(k.disk, seeded(1), vfs.RealTime{})
		d := open(t, disk, k.cfg)
		l := d.Log(testTP)
		l.SetHW(l.End())
		n := 0
		k.disk.OnStep(func(vfs.Step) {
			if n++; n == at+1 {
				disk.Add(vfs.Rule{Err: errDisk})
			}
		})
		c, err := l.Clean(k.nowMs)
		for done := false; err == nil && c != nil && !done; {
			done, err = c.Step()
		}
		k.disk.OnStep(nil)
		if err != nil {
			failures++
			if !errors.Is(err, errDisk) || errors.Is(err, fs.ErrNotExist) {
				t.Fatalf("step %d: %v", at, err)
			}
		}
		_ = d.Abandon()
		disk.Clear()
		after := open(t, k.disk, k.cfg)
		k.checkLasts(after.Log(testTP), 0)
	}
	if failures < 20 {
		t.Fatalf("%d failures", failures)
	}
}

var errDisk = errors.New("the disk fails")

// TestOpensKafkasSwap: Kafka was killed between two renames of a compaction; what its .swap
// stands for is gone or not.
func TestOpensKafkasSwap(t *testing.T) {
	t.Parallel()
	k := newKeyed(t, 2, compacted())
	k.fill(30)
	must(t, k.d.Close(1, k.nowMs))
	uncleaned := k.disk.Clone()
	k.d = open(t, k.disk, k.cfg)
	k.l = k.d.Log(testTP)
	k.l.SetHW(k.l.End())
	k.clean()
	want := readAll(t, k.l, 1<<20)
	name := path.Base(k.l.segs[0].name)
	first := vfsRead(t, k.disk, k.l.Path(name))
	must(t, k.d.Abandon())
	must(t, vfs.WriteFile(uncleaned, k.l.Path(name+swapSuffix), first))
	must(t, vfs.WriteFile(uncleaned, k.l.Path("00000000000000000777"+indexSuffix+swapSuffix), []byte("rest")))
	must(t, uncleaned.Remove(cleanShutdownFile))
	l := open(t, uncleaned, k.cfg).Log(testTP)
	k.checkLasts(l, 0)
	got := readAll(t, l, 1<<20)
	if !bytes.HasPrefix(got, first) || !bytes.HasPrefix(want, first) {
		t.Error("what was compacted is not there")
	}
	if l.End() != k.l.End() && k.l.End() != 0 {
		t.Errorf("ends at %d", l.End())
	}
}

func vfsRead(t *testing.T, disk *vfs.Mem, name string) []byte {
	t.Helper()
	b, err := vfs.ReadFile(disk, name)
	must(t, err)
	return b
}
