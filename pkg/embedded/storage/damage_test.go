package storage

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// stopped is a disk with a log of three segments and two epochs, [0, 60), that was
// closed or whose process was killed.
func stopped(t *testing.T, clean bool) *vfs.Mem {
	t.Helper()
	cfg := small()
	disk, d, l := newLog(t, cfg)
	for i := range 20 {
		if i == 7 || i == 14 {
			must(t, l.roll(nil, testNowMs))
		}
		opts := record.Options{BaseOffset: int64(l.End()), LeaderEpoch: int32(i / 10), Producer: &record.Producer{ID: 9, BaseSequence: int32(3 * i)}}
		e := record.Entry{TimestampMs: testNowMs + int64(i), Value: bytes.Repeat([]byte{byte(i)}, 30)}
		must(t, l.Append(build(t, opts, e, e, e), testNowMs))
	}
	l.SetHW(60)
	must(t, l.SetStart(4))
	if clean {
		must(t, d.Close(3, testNowMs))
		return disk
	}
	must(t, l.Flush(60, testNowMs))
	must(t, d.Checkpoint())
	must(t, d.Abandon())
	return disk
}

func rewrite(t *testing.T, disk *vfs.Mem, name string, change func(b []byte) []byte) {
	t.Helper()
	b, err := vfs.ReadFile(disk, name)
	must(t, err)
	must(t, vfs.WriteFile(disk, name, change(bytes.Clone(b))))
}

// Each byte of a segment is flipped in turn, and the log opened after a crash that
// makes it scan all. What is left is the longest valid prefix; where something is
// gone, what, where and why is told; the next start has nothing to tell.
func TestDamagedSegment(t *testing.T) {
	t.Parallel()
	whole := stopped(t, false)
	must(t, whole.Remove(recoveryCheckpoint))
	name := offsetName("orders-0", 21, logSuffix)
	good, err := vfs.ReadFile(whole, name)
	must(t, err)
	size := len(good) / 7 // of a batch: all seven are alike
	for at := range 2 * size {
		disk := whole.Clone()
		rewrite(t, disk, name, func(b []byte) []byte { b[at] ^= 0x41; return b })
		d := open(t, disk, small())
		l := d.Log(testTP)
		rs := d.Repairs()
		bad := at / size // the place of the batch
		switch in := at % size; {
		case in >= 12 && in < 16:
			// The epoch, not under the CRC: all records are there, and it is told where
			// epochs go back.
			if l.End() != 60 || len(rs) > 1 || len(rs) == 1 && rs[0].File != name {
				t.Fatalf("byte %d: ends at %d, %v", at, l.End(), rs)
			}
		case in < 8 && l.End() > 21+Offset(3*bad):
			// The base offset, not under the CRC either: a hole like one of a compaction,
			// if the batch after it does not show that there can be none.
			if len(rs) == 0 || rs[0].File != name || !errors.Is(rs[0].Err, ErrCorrupt) {
				t.Fatalf("byte %d: ends at %d, %v", at, l.End(), rs)
			}
		default:
			want := 21 + Offset(3*bad)
			if l.End() != want || len(rs) == 0 || rs[0].File != name || rs[0].Offset != want || !errors.Is(rs[0].Err, ErrCorrupt) {
				t.Fatalf("byte %d: ends at %d, want %d: %v", at, l.End(), want, rs)
			}
			checkState(t, l, batches(readWhole(t, l)))
		}
		must(t, d.Abandon())
		again := open(t, disk, small())
		if got := again.Log(testTP).End(); got != l.End() {
			t.Fatalf("byte %d: opened again, it ends at %d", at, got)
		}
		must(t, again.Abandon())
	}
}

// Each file that is text is made to say what cannot be, after a clean stop and after
// a crash. No record is lost, and what was found and done is told.
func TestDamagedCheckpoints(t *testing.T) {
	t.Parallel()
	const epochs = "orders-0/" + epochCheckpoint
	for _, tt := range []struct {
		name, file, text string
		// clean and crash are what Repairs tells, "" for nothing.
		clean, crash string
		wantStart    Offset
		wantHW       Offset
	}{
		{"no checkpoint", recoveryCheckpoint, "x", "lost, so every log is scanned", "lost, so every log is scanned", 4, 60},
		{"version 1", recoveryCheckpoint, "1\n1\norders 0 60\n", "not a checkpoint of version 0", "not a checkpoint of version 0", 4, 60},
		{"too few lines", recoveryCheckpoint, "0\n2\norders 0 60\n", "1 lines follow", "1 lines follow", 4, 60},
		{"negative offset", recoveryCheckpoint, "0\n1\norders 0 -60\n", `line 3 is "orders 0 -60"`, `line 3 is "orders 0 -60"`, 4, 60},
		{"offset of 20 digits", recoveryCheckpoint, "0\n1\norders 0 99999999999999999999\n", "line 3", "line 3", 4, 60},
		{"recovery point within the last segment", recoveryCheckpoint, "0\n1\norders 0 50\n", "", "", 4, 60},
		{"recovery point beyond the end", recoveryCheckpoint, "0\n1\norders 0 6000\n", "", "at offset 6000: corrupt: orders-0 ends at offset 60: all of that log is scanned", 4, 60},
		{"no start", startCheckpoint, "0\n1\norders 0\n", "starts where its first segment does", "starts where its first segment does", 0, 60},
		{"HW beyond the end", hwCheckpoint, "0\n1\norders 0 6000\n", "", "", 4, 60},
		{"no HW", hwCheckpoint, "0\n1\norders zero 7\n", "every HW is the log's start", "every HW is the log's start", 4, 4},
		{"epochs that fall", epochs, "0\n2\n5 4\n1 30\n", `line 4 is "1 30", after epoch 5 from offset 4`, `line 4 is "1 30", after epoch 5 from offset 4`, 4, 60},
		{"one epoch twice", epochs, "0\n2\n0 4\n0 30\n", "made anew from the log's batches", "made anew from the log's batches", 4, 60},
		{"starts that fall", epochs, "0\n2\n0 30\n1 4\n", "made anew from the log's batches", "made anew from the log's batches", 4, 60},
		{"negative epoch", epochs, "0\n1\n-7 4\n", "line 3", "line 3", 4, 60},
		{"epoch of 11 digits", epochs, "0\n1\n10000000000 4\n", "line 3", "line 3", 4, 60},
		{"epoch beyond the end", epochs, "0\n3\n0 4\n1 30\n9 6000\n", "", "", 4, 60},
		{"mark of the clean stop", cleanShutdownFile, "{", "of a broker epoch that is not known", "", 4, 60},
	} {
		for _, clean := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/clean=%v", tt.name, clean), func(t *testing.T) {
				t.Parallel()
				disk := stopped(t, clean)
				if tt.file == cleanShutdownFile && !clean {
					return
				}
				want := tt.crash
				if clean {
					want = tt.clean
				}
				rewrite(t, disk, tt.file, func([]byte) []byte { return []byte(tt.text) })
				checkOpened(t, disk, tt.file, want, tt.wantStart, tt.wantHW)
			})
		}
	}
}

// checkOpened opens a disk that stopped made and compares what is there.
func checkOpened(t *testing.T, disk *vfs.Mem, file, told string, start, hw Offset) {
	t.Helper()
	d := open(t, disk, small())
	l := d.Log(testTP)
	if l.Start() != start || l.End() != 60 || l.HW() != hw {
		t.Errorf("[%d, %d), HW %d, want [%d, 60), %d", l.Start(), l.End(), l.HW(), start, hw)
	}
	checkIndexes(t, l)
	if start > 0 {
		// Of a start that is lost the epochs still tell.
		checkState(t, l, batches(readAll(t, l, 1<<20)))
	}
	rs := d.Repairs()
	switch {
	case told == "" && len(rs) > 0, told != "" && len(rs) != 1:
		t.Errorf("told %v", rs)
	case told != "" && (rs[0].File != file || !errors.Is(rs[0].Err, ErrCorrupt) || !strings.Contains(rs[0].String(), told)):
		t.Errorf("told %v, want %s of %s", rs[0], told, file)
	}
	must(t, d.Close(1, testNowMs))
	d = open(t, disk, small())
	if rs := d.Repairs(); len(rs) > 0 {
		t.Errorf("the next start tells %v", rs)
	}
}

// An epoch that the log's batches do not have is found where they are scanned.
func TestEpochThatNoBatchHas(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"wrong epoch": "0\n2\n0 4\n7 30\n", "wrong start": "0\n2\n0 4\n1 45\n"} {
		disk := stopped(t, false)
		must(t, disk.Remove(recoveryCheckpoint))
		rewrite(t, disk, "orders-0/"+epochCheckpoint, func([]byte) []byte { return []byte(text) })
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkOpened(t, disk, "orders-0/"+epochCheckpoint, "not those of the log's batches", 4, 60)
		})
	}
}

// What nothing else tells is never guessed: the error names the file, and the disk is
// as it was.
func TestDamagedIdentity(t *testing.T) {
	t.Parallel()
	for file, text := range map[string]string{metaProperties: "version=1\n", "orders-0/" + partitionMeta: "version: 0\n"} {
		for _, text := range []string{text, "", "\x00\x00\x00"} {
			disk := stopped(t, true)
			rewrite(t, disk, file, func([]byte) []byte { return []byte(text) })
			_, err := Open(disk, options(small()), testNowMs)
			var e *Error
			if !errors.As(err, &e) || e.File != file || !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s with %q: %v", file, text, err)
			}
		}
	}
}

// A segment that is damaged where no scan came by: a read says where, and all other
// segments are read.
func TestReadOfDamagedSegment(t *testing.T) {
	t.Parallel()
	name := offsetName("orders-0", 21, logSuffix)
	whole := stopped(t, true)
	b, err := vfs.ReadFile(whole, name)
	must(t, err)
	for at := range len(b) / 7 {
		disk := whole.Clone()
		rewrite(t, disk, name, func(b []byte) []byte { b[at] ^= 0x81; return b })
		d := open(t, disk, small())
		l := d.Log(testTP)
		for _, from := range []Offset{4, 21, 22, 42, 59} {
			got, err := l.Read(nil, Fetch{From: from, UpTo: l.End(), MaxBytes: 1 << 20, MinOne: true})
			var e *Error
			switch hurt := from == 21 || from == 22; {
			case err != nil && (!hurt || !errors.As(err, &e) || e.File != name):
				t.Fatalf("byte %d, read at %d: %v", at, from, err)
			case err == nil && !hurt && len(got) == 0:
				t.Fatalf("byte %d, read at %d: nothing", at, from)
			}
		}
		must(t, d.Abandon())
	}
}

// What was durable and comes behind a batch that is not valid any more is no torn
// write: it is cut off, since a log has no holes, and kept.
func TestDamageBelowRecoveryPoint(t *testing.T) {
	t.Parallel()
	const first, second = "orders-0/00000000000000000024.log.corrupt", "orders-0/00000000000000000042.log.corrupt"
	for recovery, wantKept := range map[Offset][]string{21: nil, 24: nil, 33: {first, second}} {
		disk := stopped(t, false)
		name := offsetName("orders-0", 21, logSuffix)
		all, err := vfs.ReadFile(disk, name)
		must(t, err)
		rest, err := vfs.ReadFile(disk, offsetName("orders-0", 42, logSuffix))
		must(t, err)
		size := len(all) / 7
		all[size+70] ^= 1
		rewrite(t, disk, name, func([]byte) []byte { return all })
		rewrite(t, disk, recoveryCheckpoint, func([]byte) []byte { return fmt.Appendf(nil, "0\n1\norders 0 %d\n", recovery) })
		var again []*vfs.Mem
		disk.OnStep(func(vfs.Step) { again = append(again, disk.CrashClone(seeded(1))) })
		d := open(t, disk, small())
		disk.OnStep(nil)
		if l := d.Log(testTP); l.End() != 24 {
			t.Errorf("recovery point %d: ends at %d", recovery, l.End())
		}
		rs := d.Repairs()
		// A point that the log does not reach makes it be scanned, which is told too.
		if len(rs) == 0 || len(rs) > 1 && recovery <= 24 || rs[0].File != name || rs[0].Offset != 24 || strings.Contains(rs[0].Done, first) != (wantKept != nil) {
			t.Errorf("recovery point %d: told %v", recovery, rs)
		}
		for i, m := range append(again, disk) {
			if m != disk {
				must(t, open(t, m, small()).Close(1, testNowMs))
			}
			infos, err := m.ReadDir("orders-0")
			must(t, err)
			var kept []string
			for _, in := range infos {
				if strings.HasSuffix(in.Name, corruptSuffix) {
					kept = append(kept, "orders-0/"+in.Name)
				}
			}
			if fmt.Sprint(kept) != fmt.Sprint(wantKept) {
				t.Fatalf("recovery point %d: kept %v, want %v, crash at step %d", recovery, kept, wantKept, i)
			}
			for i, want := range [][]byte{all[size:], rest} {
				if i < len(kept) {
					got, err := vfs.ReadFile(m, kept[i])
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("%s: %d bytes, %v, want %d", kept[i], len(got), err, len(want))
					}
				}
			}
		}
	}
}
