package storage

import (
	"bytes"
	"errors"
	"maps"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// recoveryBase is what opening a log may allocate however small it is: windows of
// a scan, pages of the disk in memory.
const recoveryBase = 16 << 20

// within runs f and fails where it allocates more than a few times what it is given.
func within(t *testing.T, base, given int, f func()) {
	t.Helper()
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before := sample[0].Value.Uint64()
	f()
	metrics.Read(sample)
	if got, limit := sample[0].Value.Uint64()-before, uint64(base)+256*uint64(given); got > limit {
		t.Errorf("%d bytes allocated %d, want at most %d", given, got, limit)
	}
}

// FuzzRecovery: any bytes in a segment and its indexes. What is left is the longest
// prefix of valid batches, found here without a window and without an index; the log
// can be read and appended to; a second recovery finds the same.
func FuzzRecovery(f *testing.F) {
	good := append(append([]byte{}, batchOf(f, 0, 3, 20)...), batchOf(f, 3, 2, 300)...)
	f.Add(good, []byte{}, []byte{}, true)
	f.Add(good[:len(good)-5], []byte("01234567"), []byte("012345678901"), false)
	f.Add(append(slices.Clone(good), make([]byte, 100)...), make([]byte, 16), make([]byte, 24), false)
	f.Add(append(slices.Clone(good), good...), []byte{0, 0, 0, 4, 0, 0, 0, 141}, []byte{}, true)
	flipped := slices.Clone(good)
	flipped[len(flipped)-1]++
	f.Add(flipped, []byte{0, 0, 0, 4, 0, 0, 0, 141}, []byte{}, false)
	f.Fuzz(func(t *testing.T, log, index, timeIndex []byte, clean bool) {
		cfg := small()
		cfg.IndexIntervalBytes = 50
		disk := vfs.NewMem(vfs.MemOptions{})
		must(t, disk.MkdirAll("orders-0"))
		must(t, vfs.WriteFile(disk, offsetName("orders-0", 0, logSuffix), log))
		must(t, vfs.WriteFile(disk, offsetName("orders-0", 0, indexSuffix), index))
		must(t, vfs.WriteFile(disk, offsetName("orders-0", 0, timeIndexSuffix), timeIndex))
		if clean {
			must(t, writeCleanShutdown(disk, 1))
		}
		want := validPrefix(log)
		var d *Dir
		within(t, recoveryBase, len(log)+len(index)+len(timeIndex), func() { d = open(t, disk, cfg) })
		l := d.Log(testTP)
		if got := readWhole(t, l); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %d are valid", len(got), len(want))
		}
		if err := l.Append(batchOf(t, l.End(), 1, 10), testNowMs); err != nil && l.End() < 1<<62 {
			t.Fatal(err)
		}
		after := readWhole(t, l)
		must(t, d.Abandon())
		if got := readWhole(t, open(t, disk, cfg).Log(testTP)); !bytes.Equal(got, after) {
			t.Fatalf("opened again: %d bytes, then %d", len(after), len(got))
		}
	})
}

// validPrefix is what a segment from offset 0 on holds.
func validPrefix(log []byte) []byte {
	next, end := int64(0), 0
	s := record.Scan(log)
	for s.Next() {
		b := s.Batch()
		if b.CheckCRC() != nil || b.BaseOffset() < next || b.LastOffset() < b.BaseOffset() || b.LastOffset() > maxRelative {
			break
		}
		next, end = b.NextOffset(), s.End()
	}
	return log[:end]
}

// readWhole reads a log that may have holes.
func readWhole(tb testing.TB, l *Log) []byte {
	tb.Helper()
	if l.Start() == l.End() {
		return nil
	}
	return readAll(tb, l, 100)
}

// FuzzIndex: any bytes as the indexes of a good segment, which was closed. Every
// look-up by offset is what a scan says, and the log goes on from there. A look-up by
// time finds no record that is too old: one before it, or any, a damaged time index
// can hide.
func FuzzIndex(f *testing.F) {
	cfg := small()
	cfg.SegmentBytes, cfg.IndexIntervalBytes = 1<<20, 100
	closed := vfs.NewMem(vfs.MemOptions{})
	d, err := Open(closed, options(cfg), testNowMs)
	must(f, err)
	l := create(f, d, cfg)
	fill(f, l, 10)
	must(f, d.Close(1, testNowMs))
	names := []string{offsetName("orders-0", 0, indexSuffix), offsetName("orders-0", 0, timeIndexSuffix)}
	var good [2][]byte
	for i, name := range names {
		good[i], err = vfs.ReadFile(closed, name)
		must(f, err)
	}
	f.Add(good[0], good[1])
	f.Add(good[1], good[0])
	f.Add([]byte{}, good[1][:len(good[1])-5])
	f.Add(bytes.Repeat([]byte{0xff}, 40), bytes.Repeat([]byte{0x7f}, 40))
	f.Fuzz(func(t *testing.T, index, timeIndex []byte) {
		disk := closed.Clone()
		for i, b := range [][]byte{index, timeIndex} {
			must(t, disk.Remove(names[i]))
			must(t, vfs.WriteFile(disk, names[i], b))
		}
		within(t, recoveryBase, len(index)+len(timeIndex), func() {
			d := open(t, disk, cfg)
			l := d.Log(testTP)
			checkOffsets(t, l)
			newEnough(t, l)
			fill(t, l, 2)
			checkOffsets(t, l)
			newEnough(t, l)
			must(t, d.Abandon())
		})
	})
}

func newEnough(t *testing.T, l *Log) {
	t.Helper()
	in := record.NewInflater(record.DefaultInflateLimit)
	for _, r := range scanned(t, l) {
		got, ok, err := l.OffsetForTimestamp(r.TimestampMs, in)
		if err != nil || ok && got.TimestampMs < r.TimestampMs {
			t.Fatalf("offset for %d: %+v, %v, %v", r.TimestampMs, got, ok, err)
		}
	}
	if _, ok, err := l.MaxTimestamp(in); err != nil || !ok {
		t.Fatalf("max timestamp: %v, %v", ok, err)
	}
}

// FuzzCheckpoints: any bytes as a checkpoint, an epoch checkpoint or a producer
// snapshot. What is taken is written again as it was understood.
func FuzzCheckpoints(f *testing.F) {
	var ps logstate.Producers
	ps.Apply(logstate.Batch{ProducerID: 7, ProducerEpoch: 2, LastOffset: 3, BaseSequence: 5, Transactional: true})
	f.Add(formatSnapshot(ps.Snapshot()))
	f.Add([]byte("0\n2\norders 0 5\norders 1 7\n"))
	f.Add([]byte("0\n2\n0 0\n3 17\n"))
	f.Add([]byte("0\n-1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		disk := vfs.NewMem(vfs.MemOptions{})
		must(t, vfs.WriteFile(disk, hwCheckpoint, b))
		must(t, disk.MkdirAll("orders-0"))
		must(t, vfs.WriteFile(disk, "orders-0/"+epochCheckpoint, b))
		within(t, 1<<20, len(b), func() {
			d := &Dir{fs: disk, written: map[string][]byte{}}
			offsets, err := d.readCheckpoint(hwCheckpoint, "")
			must(t, err)
			must(t, vfs.WriteFile(disk, hwCheckpoint, formatOffsets(offsets)))
			again, err := d.readCheckpoint(hwCheckpoint, "")
			must(t, err)
			if !maps.Equal(again, offsets) {
				t.Errorf("%v, then %v", offsets, again)
			}
			l := &Log{dir: d, fs: disk, name: "orders-0"}
			epochs, known, err := l.readEpochs()
			must(t, err)
			l.epochs = epochs
			must(t, l.writeEpochs())
			if got, _, err := l.readEpochs(); known && (err != nil || !slices.Equal(got.Entries(), epochs.Entries())) {
				t.Errorf("%v, then %v, %v", epochs.Entries(), got.Entries(), err)
			}
			ps, err := parseSnapshot(b)
			switch {
			case err != nil && !errors.Is(err, ErrCorrupt):
				t.Error(err)
			case err == nil && len(ps) > 0 && len(formatSnapshot(ps)) != len(b):
				t.Errorf("%d producers of %d bytes", len(ps), len(b))
			}
		})
	})
}
