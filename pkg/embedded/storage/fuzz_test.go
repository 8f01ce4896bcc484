package storage

import (
	"bytes"
	"slices"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

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
		d := open(t, disk, cfg)
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
