package storage

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

func TestAppendAndRead(t *testing.T) {
	t.Parallel()
	disk, d, l := newLog(t, small())
	var want []byte
	for range 100 {
		b := batchOf(t, l.End(), 3, 40)
		want = append(want, b...)
		must(t, l.Append(b, testNowMs))
	}
	if l.Start() != 0 || l.End() != 300 || len(l.segs) < 4 {
		t.Fatalf("[%d, %d) in %d segments", l.Start(), l.End(), len(l.segs))
	}
	if got := readAll(t, l, 1000); !bytes.Equal(got, want) {
		t.Fatal("read is not what was written")
	}
	checkIndexes(t, l)
	must(t, d.Close(7, testNowMs))
	d = open(t, disk, small())
	if got := readAll(t, d.Log(testTP), 1000); !bytes.Equal(got, want) {
		t.Fatal("read after a clean stop is not what was written")
	}
	checkIndexes(t, d.Log(testTP))
	if epoch, clean := d.CleanShutdown(); epoch != 7 || !clean {
		t.Errorf("clean shutdown: %v, epoch %d", clean, epoch)
	}
	must(t, d.Abandon())
	d = open(t, disk, small())
	if got := readAll(t, d.Log(testTP), 1000); !bytes.Equal(got, want) {
		t.Fatal("read after a crash is not what was written")
	}
	if _, clean := d.CleanShutdown(); clean {
		t.Error("a directory that was abandoned counts as closed")
	}
	checkIndexes(t, d.Log(testTP))
}

// Case E16: a fetch into a batch begins with that batch, whatever its size.
func TestFetchInsideBatch(t *testing.T) {
	t.Parallel()
	_, _, l := newLog(t, small())
	a, b := batchOf(t, 0, 2, 10), batchOf(t, 2, 2, 10)
	must(t, l.Append(append(slices.Clone(a), b...), testNowMs))
	both := append(slices.Clone(a), b...)
	for _, tt := range []struct {
		name string
		f    Fetch
		want []byte
	}{
		{"first", Fetch{From: 0, UpTo: 4, MaxBytes: 1 << 20}, both},
		{"inside the first", Fetch{From: 1, UpTo: 4, MaxBytes: 1 << 20}, both},
		{"inside the second", Fetch{From: 3, UpTo: 4, MaxBytes: 1 << 20}, b},
		{"first batch larger than max, KIP-74", Fetch{From: 1, UpTo: 4, MaxBytes: 3, MinOne: true}, a},
		{"larger than a header", Fetch{From: 1, UpTo: 4, MaxBytes: 70, MinOne: true}, a},
		{"max 0", Fetch{From: 1, UpTo: 4, MinOne: true}, a},
		{"too little without MinOne", Fetch{From: 1, UpTo: 4, MaxBytes: len(a) - 1}, nil},
		{"one and a half", Fetch{From: 0, UpTo: 4, MaxBytes: len(a) + 70}, a},
		{"up to the HW", Fetch{From: 0, UpTo: 2, MaxBytes: 1 << 20}, a},
		{"at the HW", Fetch{From: 2, UpTo: 2, MaxBytes: 1 << 20, MinOne: true}, nil},
		{"above the HW", Fetch{From: 3, UpTo: 2, MaxBytes: 1 << 20, MinOne: true}, nil},
		{"at the end", Fetch{From: 4, UpTo: 9, MaxBytes: 1 << 20, MinOne: true}, nil},
	} {
		l.cursors = [cursors]cursor{}
		for range 2 { // by index, then by cursor
			got, err := l.Read(nil, tt.f)
			if err != nil || !bytes.Equal(got, tt.want) {
				t.Errorf("%s: %d bytes, %v, want %d", tt.name, len(got), err, len(tt.want))
			}
		}
	}
	for _, o := range []Offset{-1, 5} {
		if _, err := l.Read(nil, Fetch{From: o, UpTo: 4, MaxBytes: 1}); !errors.Is(err, ErrOffsetOutOfRange) {
			t.Errorf("at %d: %v", o, err)
		}
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	_, _, l := newLog(t, small())
	fill(t, l, 2)
	good := batchOf(t, 6, 3, 40)
	for _, tt := range []struct {
		name string
		p    []byte
		want error
	}{
		{"below the end", batchOf(t, 5, 3, 40), ErrNotContinued},
		{"half a batch", good[:len(good)-1], ErrNotContinued},
		{"the second below the first", append(slices.Clone(good), batchOf(t, 7, 1, 1)...), ErrNotContinued},
		{"noise", []byte(strings.Repeat("noise", 30)), ErrNotContinued},
		{"larger than a segment", batchOf(t, 6, 1, 5000), ErrTooLarge},
	} {
		if err := l.Append(tt.p, testNowMs); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	must(t, l.Append(good, testNowMs))
	if l.End() != 9 {
		t.Errorf("end %d, want 9: something that was refused was written", l.End())
	}
}

func TestRoll(t *testing.T) {
	t.Parallel()
	at := func(base Offset, ms int64, size int) record.Batch {
		return build(t, record.Options{BaseOffset: int64(base)}, record.Entry{TimestampMs: ms, Value: make([]byte, size)})
	}
	for _, tt := range []struct {
		name    string
		cfg     func(c *Config)
		batches []record.Batch
		bases   []Offset
	}{
		{"by size", func(c *Config) { c.SegmentBytes = 1000 }, []record.Batch{at(0, 1, 400), at(1, 1, 400), at(2, 1, 400)}, []Offset{0, 2}},
		{
			"exactly full", func(c *Config) { c.SegmentBytes = int32(2 * len(at(0, 1, 400))) },
			[]record.Batch{at(0, 1, 400), at(1, 1, 400), at(2, 1, 400)},
			[]Offset{0, 2},
		},
		{"by time of records", func(c *Config) { c.SegmentMs = 100 }, []record.Batch{at(0, 1000, 1), at(1, 1100, 1), at(2, 1101, 1)}, []Offset{0, 2}},
		{
			"by the clock if there are no timestamps", func(c *Config) { c.SegmentMs = -1 },
			[]record.Batch{at(0, -1, 1), at(1, -1, 1)},
			[]Offset{0, 1},
		},
		{"by offsets", func(*Config) {}, []record.Batch{at(0, 1, 1), at(maxRelative, 1, 1), at(maxRelative+1, 1, 1)}, []Offset{0, maxRelative + 1}},
		{"by offsets far away", func(*Config) {}, []record.Batch{at(0, 1, 1), at(1<<40, 1, 1)}, []Offset{0, 1 << 40}},
		{"empty and far away", func(*Config) {}, []record.Batch{at(1<<40, 1, 1)}, []Offset{1 << 40}},
		{
			"by index", func(c *Config) { c.IndexMaxBytes, c.IndexIntervalBytes = 24, 0 },
			[]record.Batch{at(0, 1, 1), at(1, 2, 1), at(2, 3, 1), at(3, 4, 1)},
			[]Offset{0, 2},
		},
	} {
		for _, together := range []bool{false, true} {
			cfg := DefaultConfig()
			tt.cfg(&cfg)
			_, _, l := newLog(t, cfg)
			if together && tt.name == "by index" || together && strings.HasPrefix(tt.name, "by the clock") || together && tt.name == "by time of records" {
				continue // an append goes to one segment as far as these are concerned
			}
			var all []byte
			for _, b := range tt.batches {
				all = append(all, b...)
				if !together {
					must(t, l.Append(b, testNowMs))
				}
			}
			if together {
				must(t, l.Append(all, testNowMs))
			}
			var bases []Offset
			for _, s := range l.segs {
				bases = append(bases, s.base)
			}
			if !slices.Equal(bases, tt.bases) {
				t.Errorf("%s: segments %v, want %v", tt.name, bases, tt.bases)
			}
			if !bytes.Equal(readAllHoles(t, l), all) {
				t.Errorf("%s: read is not what was written", tt.name)
			}
		}
	}
}

// readAllHoles is readAll of a log that may have holes, from offset to offset of
// the batches that come.
func readAllHoles(tb testing.TB, l *Log) []byte { return readAll(tb, l, 1) }

// Metamorphic: how the log is cut into segments, index entries, appends and fetches
// does not change what is read.
func TestSizesDoNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		cfg := DefaultConfig()
		cfg.SegmentBytes = rapid.Int32Range(700, 5000).Draw(rt, "segment")
		cfg.IndexIntervalBytes = rapid.Int32Range(0, 2000).Draw(rt, "interval")
		cfg.IndexMaxBytes = rapid.Int32Range(24, 200).Draw(rt, "index")
		_, d, l := newLog(t, cfg)
		defer func() { _ = d.Abandon() }()
		var all, pending []byte
		next := Offset(0)
		for i := range rapid.IntRange(1, 40).Draw(rt, "batches") {
			n := rapid.IntRange(1, 5).Draw(rt, "records")
			b := batchOf(t, next, n, rapid.IntRange(0, 100).Draw(rt, "size"))
			next = Offset(b.NextOffset())
			all, pending = append(all, b...), append(pending, b...)
			if i%rapid.IntRange(1, 3).Draw(rt, "together") == 0 {
				must(t, l.Append(pending, testNowMs))
				pending = nil
			}
		}
		must(t, l.Append(pending, testNowMs))
		if got := readAll(t, l, rapid.IntRange(0, 3000).Draw(rt, "fetch")); !bytes.Equal(got, all) {
			rt.Fatal("read is not what was written")
		}
		checkIndexes(t, l)
	})
}

// Case E17: the offset of the first record with the largest timestamp.
func TestMaxTimestamp(t *testing.T) {
	t.Parallel()
	entries := func(ms ...int64) (es []record.Entry) {
		for _, m := range ms {
			es = append(es, record.Entry{TimestampMs: m})
		}
		return es
	}
	appended := int64(9)
	for _, tt := range []struct {
		name string
		opts record.Options
		want TimestampOffset
	}{
		{"lz4", record.Options{Codec: record.LZ4}, TimestampOffset{TimestampMs: 9, Offset: 1}},
		{"plain", record.Options{}, TimestampOffset{TimestampMs: 9, Offset: 1}},
		{"LogAppendTime", record.Options{LogAppendTimeMs: &appended}, TimestampOffset{TimestampMs: 9, Offset: 0}},
	} {
		disk, d, l := newLog(t, DefaultConfig())
		if _, ok, err := l.MaxTimestamp(nil); ok || err != nil {
			t.Errorf("%s: an empty log has one: %v", tt.name, err)
		}
		must(t, l.Append(build(t, tt.opts, entries(5, 9, 7)...), testNowMs))
		tt.opts.BaseOffset = 3
		must(t, l.Append(build(t, tt.opts, entries(9, 1)...), testNowMs))
		ask := func(when string, l *Log) {
			if got, ok, err := l.MaxTimestamp(nil); err != nil || !ok || got != tt.want {
				t.Errorf("%s %s: %v, %v, %v, want %v", tt.name, when, got, ok, err, tt.want)
			}
		}
		ask("at once", l)
		must(t, d.Close(1, testNowMs))
		d = open(t, disk, DefaultConfig())
		ask("after a clean stop", d.Log(testTP))
		must(t, d.Abandon())
		must(t, disk.Remove("orders-0/00000000000000000000.timeindex"))
		d = open(t, disk, DefaultConfig())
		ask("after a crash", d.Log(testTP))
	}
}

func TestDiskFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		rule vfs.Rule
		do   func(l *Log) error
		want string
	}{
		{
			"append on a full disk",
			vfs.Rule{Name: "*.log", Ops: vfs.OpWrite, Err: vfs.ErrNoSpace, Short: true},
			func(l *Log) error { return l.Append(batchOf(t, 30, 3, 40), testNowMs) },
			"append to orders-0/00000000000000000000.log at offset 30: no space left on device",
		},
		{
			"sync",
			vfs.Rule{Name: "*.log", Ops: vfs.OpSync, Err: vfs.ErrIO, LoseUnsynced: true, Times: 1},
			func(l *Log) error { return l.Flush(30, testNowMs) },
			"sync orders-0/00000000000000000000.log at offset 0: input/output error",
		},
		{
			"read",
			vfs.Rule{Name: "*.log", Ops: vfs.OpRead, Err: vfs.ErrIO},
			func(l *Log) error {
				_, err := l.Read(nil, Fetch{From: 0, UpTo: 30, MaxBytes: 1000})
				return err
			},
			"read orders-0/00000000000000000000.log at offset 0: input/output error",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			disk := vfs.NewMem(vfs.MemOptions{})
			faults := vfs.NewFaults(disk, seeded(1), vfs.RealTime{})
			d := open(t, faults, DefaultConfig())
			l := create(t, d, DefaultConfig())
			fill(t, l, 10)
			faults.Add(tt.rule)
			err := tt.do(l)
			var e *Error
			if !errors.As(err, &e) || err.Error() != tt.want {
				t.Fatalf("%v\nwant %s", err, tt.want)
			}
			if tt.rule.Ops == vfs.OpRead {
				return
			}
			// What the disk holds is not known any more: nothing more is written.
			faults.Clear()
			if got := l.Append(batchOf(t, l.End(), 3, 40), testNowMs); !errors.As(got, &e) {
				t.Errorf("append after it: %v", got)
			}
			if got := d.Close(1, testNowMs); got == nil {
				t.Error("close after it: no error")
			}
			if _, err := disk.Stat(cleanShutdownFile); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it counts as closed: %v", err)
			}
		})
	}
}

// An EIO while recovering is not a corrupt batch: nothing is cut.
func TestRecoveryCannotRead(t *testing.T) {
	t.Parallel()
	disk, d, l := newLog(t, small())
	fill(t, l, 50)
	want := readAll(t, l, 1000)
	must(t, d.Abandon())
	faults := vfs.NewFaults(disk, seeded(1), vfs.RealTime{})
	faults.Add(vfs.Rule{Name: "*.log", Ops: vfs.OpRead, Err: vfs.ErrIO, Skip: 2})
	if _, err := Open(faults, options(small()), testNowMs); !errors.Is(err, vfs.ErrIO) {
		t.Fatal(err)
	}
	if got := readAll(t, open(t, disk, small()).Log(testTP), 1000); !bytes.Equal(got, want) {
		t.Error("records were cut because the disk could not read them")
	}
}
