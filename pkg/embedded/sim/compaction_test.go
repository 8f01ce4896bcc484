package sim

import (
	"errors"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// keyedBatch is a batch of records of key and value, at their offsets.
func keyedBatch(t *testing.T, base, last int64, at map[int64]string) record.Batch {
	t.Helper()
	b := record.NewBuilder(record.Options{BaseOffset: base})
	for o := base; o <= last; o++ {
		kv, ok := at[o]
		if !ok {
			continue
		}
		e := record.Entry{TimestampMs: epochMs, Key: []byte(kv[:1]), Value: []byte(kv[1:])}
		if len(kv) == 1 {
			e.Value = nil
		}
		if err := b.AddAt(o, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.ExtendTo(last); err != nil {
		t.Fatal(err)
	}
	out, err := b.AppendTo(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compactedPart is a partition with three batches, all committed: keys a, b, a; then b, a
// tombstone; then c, which is the first of the third.
func compactedPart(t *testing.T, w *World) (*part, []record.Batch) {
	t.Helper()
	w.plan.Keys = 3
	x := &part{topic: "t", recs: map[batchKey][]rec{}, lastOf: map[hash]Offset{}, hw: 7}
	wrote := []record.Batch{
		keyedBatch(t, 0, 2, map[int64]string{0: "a1", 1: "b1", 2: "a2"}),
		keyedBatch(t, 3, 4, map[int64]string{3: "b", 4: "a3"}),
		keyedBatch(t, 5, 6, map[int64]string{5: "c1", 6: "a4"}),
	}
	for _, rb := range wrote {
		b := batch{base: Offset(rb.BaseOffset()), last: Offset(rb.LastOffset()), crc: rb.CRC(), seq: rb.BaseSequence(), pid: rb.ProducerID(), pepoch: rb.ProducerEpoch()}
		rs, err := recordsIn(rb)
		if err != nil {
			t.Fatal(err)
		}
		x.recs[batchKey{b.epoch, b.base}] = rs
		for _, r := range rs {
			x.lastOf[r.key] = r.offset
		}
		x.committed = append(x.committed, b)
	}
	return x, wrote
}

// TestLeft: compaction may leave of a batch what is the last of its key, and what is not;
// never less, never another.
func TestLeft(t *testing.T) {
	t.Parallel()
	w := byHand(t)
	x, _ := compactedPart(t, w)
	for _, tt := range []struct {
		name  string
		i     int
		left  map[int64]string
		brief bool
		void  bool
		ok    bool
	}{
		{"all", 0, map[int64]string{0: "a1", 1: "b1", 2: "a2"}, false, false, true},
		{"some", 0, map[int64]string{1: "b1"}, false, false, true},
		{"none", 0, nil, false, false, true},
		{"another value", 0, map[int64]string{1: "b2"}, false, false, false},
		{"another key", 0, map[int64]string{1: "c1"}, false, false, false},
		{"the tombstone goes too soon", 1, nil, false, false, false},
		{"the tombstone goes in time", 1, nil, true, false, true},
		{"the last of its key goes", 2, map[int64]string{6: "a4"}, false, false, false},
		{"it goes where nothing is promised", 2, map[int64]string{6: "a4"}, false, true, true},
		{"one of another batch", 2, map[int64]string{5: "c2", 6: "a4"}, false, true, false},
	} {
		b := x.committed[tt.i]
		w.plan.BriefTombstones, x.void = tt.brief, tt.void
		why := w.left(x, keyedBatch(t, int64(b.base), int64(b.last), tt.left), &b)
		if (why == "") != tt.ok {
			t.Errorf("%s: %q", tt.name, why)
		}
	}
	w.plan.BriefTombstones, x.void = false, false
	if b := x.committed[0]; w.left(x, keyedBatch(t, 0, 1, nil), &b) == "" {
		t.Error("a batch that is shorter is taken for what is left")
	}
	if w.plan.Keys = 0; w.left(x, keyedBatch(t, 0, 2, nil), &x.committed[0]) == "" {
		t.Error("a batch is compacted where nothing is")
	}
}

// TestHoles: what is read may leave out batches of which nothing has to stay.
func TestHoles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, to Offset
		brief    bool
		ok       bool
	}{
		{0, 3, false, true},
		{1, 3, false, true}, // from within a batch
		{0, 2, false, false},
		{0, 5, false, false}, // the tombstone is the last of b
		{0, 5, true, true},
		{3, 7, true, false}, // c
		{7, 9, true, false}, // nothing is committed there
	} {
		w := byHand(t)
		x, _ := compactedPart(t, w)
		w.plan.BriefTombstones = tt.brief
		if got := w.hole(x, tt.from, tt.to); got != tt.ok {
			t.Errorf("a hole from %d to %d: %t, want %t", tt.from, tt.to, got, tt.ok)
		}
		s := &shadow{p: w.broker(1), part: x, end: tt.from, log: w.broker(1).shadowOf(w.partNow("t", 0)).log}
		w.fillHole(s, tt.to)
		broken := ""
		if v, ok := errors.AsType[*ViolationError](w.Err()); ok {
			broken = v.Rule
		}
		if filled := broken == "" && s.end == tt.to; filled != tt.ok {
			t.Errorf("a hole from %d to %d is filled to %d, rule %q, want %t", tt.from, tt.to, s.end, broken, tt.ok)
		}
	}
}

// TestGhosts: where everything is compacted away a replica may have what was never
// committed, of an earlier epoch; it may lack nothing that has to stay, and have nothing
// else.
func TestGhosts(t *testing.T) {
	t.Parallel()
	ghost := func(base, last Offset, epoch int32) batch { return batch{base: base, last: last, epoch: epoch, crc: 1} }
	for _, tt := range []struct {
		name string
		mine func(c []batch) []batch
		to   Offset
		want bool
	}{
		{"all", func(c []batch) []batch { return c }, 7, true},
		{"a ghost in the gap", func(c []batch) []batch { return []batch{ghost(0, 1, 0), c[1], c[2]} }, 7, true},
		{"two, and the gap is not filled", func(c []batch) []batch { return []batch{ghost(0, 0, 0), ghost(1, 1, 0), c[1], c[2]} }, 7, true},
		{"a gap alone", func(c []batch) []batch { return c[1:] }, 7, true},
		{"a ghost up to the end", func([]batch) []batch { return []batch{ghost(0, 2, 0)} }, 3, true},
		{"and beyond what is compared", func([]batch) []batch { return []batch{ghost(0, 2, 0), ghost(3, 4, 2)} }, 3, true},
		{"another one of the same epoch", func(c []batch) []batch { return []batch{ghost(0, 1, 1), c[1], c[2]} }, 7, false},
		{"the same, at the end", func([]batch) []batch { return []batch{ghost(0, 2, 1)} }, 3, false},
		{"what has to stay is not there", func(c []batch) []batch { return []batch{c[0], ghost(3, 4, 0), c[2]} }, 7, false},
		{"beyond what is committed", func(c []batch) []batch { return c }, 8, false},
	} {
		w := byHand(t)
		x, _ := compactedPart(t, w)
		for i := range x.committed {
			old := batchKey{x.committed[i].epoch, x.committed[i].base}
			x.committed[i].epoch = 1
			x.recs[batchKey{1, x.committed[i].base}] = x.recs[old]
		}
		s := &shadow{p: w.broker(1), part: x, batches: tt.mine(x.committed)}
		if got := w.onlyGhosts(s, tt.to, 1); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
		if w.plan.Keys = 0; w.onlyGhosts(s, tt.to, 1) {
			t.Errorf("%s: a ghost where nothing is compacted", tt.name)
		}
	}
}
