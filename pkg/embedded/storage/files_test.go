package storage

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// What a log directory holds after a clean stop, file by file.
func TestFilesOfADirectory(t *testing.T) {
	t.Parallel()
	cfg := small()
	cfg.SegmentBytes = 1 << 20
	disk, d, l := newLog(t, cfg)
	fill(t, l, 20)
	must(t, l.StoreEpoch(logstate.EpochStart{Epoch: 4, Start: 60}))
	must(t, l.Append(build(t, record.Options{BaseOffset: 60, LeaderEpoch: 4}, record.Entry{TimestampMs: testNowMs}), testNowMs))
	l.SetHW(50)
	must(t, l.SetStart(4))
	must(t, d.Close(42, testNowMs))
	var names []string
	for _, dir := range []string{".", "orders-0"} {
		infos, err := disk.ReadDir(dir)
		must(t, err)
		for _, in := range infos {
			names = append(names, path.Join(dir, in.Name))
		}
	}
	want := strings.Fields(`.kafka_cleanshutdown .lock log-start-offset-checkpoint meta.properties orders-0
		recovery-point-offset-checkpoint replication-offset-checkpoint
		orders-0/00000000000000000000.index orders-0/00000000000000000000.log orders-0/00000000000000000000.timeindex
		orders-0/00000000000000000061.snapshot orders-0/leader-epoch-checkpoint orders-0/partition.metadata`)
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for name, want := range map[string]string{
		"meta.properties":                  "#\ncluster.id=AAAAAAAAAAAAAAAAAAAAAA\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAg\nnode.id=1\nversion=1\n",
		".kafka_cleanshutdown":             `{"version":0,"brokerEpoch":42}`,
		"replication-offset-checkpoint":    "0\n1\norders 0 50\n",
		"recovery-point-offset-checkpoint": "0\n1\norders 0 61\n",
		"log-start-offset-checkpoint":      "0\n1\norders 0 4\n",
		"orders-0/partition.metadata":      "version: 0\ntopic_id: " + testID + "\n",
		"orders-0/leader-epoch-checkpoint": "0\n2\n0 4\n4 60\n",
	} {
		got, err := vfs.ReadFile(disk, name)
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	l = open(t, disk, small()).Log(testTP)
	if l.Start() != 4 || l.HW() != 50 || l.End() != 61 || l.Flushed() != 61 || l.TopicID() != testID {
		t.Errorf("opened: [%d, %d), HW %d, flushed %d", l.Start(), l.End(), l.HW(), l.Flushed())
	}
}

// After a clean stop no segment is read to open the log, and none to stop again;
// an append reads what the indexes do not cover.
func TestCleanOpenReadsNoSegment(t *testing.T) {
	t.Parallel()
	disk, d, l := newLog(t, small())
	mixed(t, l, 200)
	producers := l.Producers()
	want := producers.Snapshot()
	must(t, d.Close(1, testNowMs))
	for range 2 {
		fsys := &countingFS{FS: disk}
		d = open(t, fsys, small())
		if len(fsys.reads) == 0 {
			t.Fatal("nothing is read: not even a checkpoint")
		}
		producers := d.Log(testTP).Producers()
		got := producers.Snapshot()
		if len(got) != len(want) || got[0].LastSequence() != want[0].LastSequence() {
			t.Errorf("producers %v, want %v", got, want)
		}
		must(t, d.Close(1, testNowMs))
		for _, call := range fsys.reads {
			if strings.HasSuffix(call, logSuffix) || strings.HasSuffix(call, indexSuffix) {
				t.Errorf("%s", call)
			}
		}
	}
	d = open(t, disk, small())
	l = d.Log(testTP)
	fill(t, l, 50)
	checkIndexes(t, l)
}

// After a crash what lies before the recovery point is not read, but for what
// append and read need of it.
func TestCrashOpenReadsFromRecoveryPoint(t *testing.T) {
	t.Parallel()
	disk, d, l := newLog(t, small())
	fill(t, l, 200)
	upTo, _, ok := l.SyncDue()
	if base := l.active().base; !ok || upTo != base {
		t.Fatalf("rolled segments are due to %d (%v), want %d", upTo, ok, base)
	}
	must(t, l.Flush(upTo, testNowMs))
	if _, _, ok := l.SyncDue(); ok {
		t.Error("the active segment is due by Kafka's default")
	}
	must(t, d.CheckpointRecoveryPoints())
	must(t, d.Abandon())
	fsys := &countingFS{FS: disk}
	open(t, fsys, small())
	for _, call := range fsys.reads {
		if strings.HasSuffix(call, logSuffix) && call != "read "+offsetName("orders-0", upTo, logSuffix) {
			t.Errorf("%s, recovery point is %d", call, upTo)
		}
	}
}

func TestFlushPolicies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		policy FlushPolicy
		due    int64 // -1: none
	}{
		{"never", FlushNever(), -1},
		{"every 50 ms", FlushEvery(50), testNowMs + 50},
		{"always", FlushAlways(), testNowMs},
	} {
		cfg := DefaultConfig()
		cfg.Flush = tt.policy
		_, _, l := newLog(t, cfg)
		if _, _, ok := l.SyncDue(); ok {
			t.Errorf("%s: due with nothing appended", tt.name)
		}
		must(t, l.Append(batchOf(t, 0, 1, 1), testNowMs))
		must(t, l.Append(batchOf(t, 1, 1, 1), testNowMs+40)) // shares the first one's sync
		upTo, due, ok := l.SyncDue()
		if ok != (tt.due >= 0) || ok && (upTo != 2 || due != tt.due) {
			t.Errorf("%s: up to %d at %d (%v), want at %d", tt.name, upTo, due, ok, tt.due)
		}
		must(t, l.Flush(l.End(), testNowMs+60))
		if _, _, ok := l.SyncDue(); ok || l.Flushed() != 2 {
			t.Errorf("%s: due after a flush", tt.name)
		}
	}
}

// Nothing valid is lost with a file that is not what it was: each is damaged in
// turn, after a clean stop and after a crash.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	damages := map[string]func(b []byte) []byte{
		"gone":  nil,
		"empty": func([]byte) []byte { return []byte{} },
		"cut":   func(b []byte) []byte { return b[:len(b)*2/3] },
		"zeros": func(b []byte) []byte { return make([]byte, len(b)) },
		"longer": func(b []byte) []byte {
			return append(bytes.Clone(b), bytes.Repeat([]byte("9"), 40)...)
		},
		"flipped": func(b []byte) []byte {
			b = bytes.Clone(b)
			for i := range b {
				if i%5 == 0 {
					b[i] ^= 0x11
				}
			}
			return b
		},
	}
	files := []string{
		"replication-offset-checkpoint", "recovery-point-offset-checkpoint", "orders-0/leader-epoch-checkpoint",
		"*.index", "*.timeindex", "*.snapshot", ".kafka_cleanshutdown",
	}
	for name, damage := range damages {
		for _, file := range files {
			for _, clean := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%s/clean=%v", name, path.Base(file), clean), func(t *testing.T) {
					t.Parallel()
					damageAndOpen(t, file, damage, clean)
				})
			}
		}
	}
}

func damageAndOpen(t *testing.T, file string, damage func(b []byte) []byte, clean bool) {
	t.Helper()
	cfg := small()
	disk, d, l := newLog(t, cfg)
	mixed(t, l, 120)
	want := readAll(t, l, 1<<20)
	must(t, l.Flush(l.End(), testNowMs))
	must(t, d.Checkpoint())
	if clean {
		must(t, d.Close(1, testNowMs))
	} else {
		must(t, d.Abandon())
	}
	for _, dir := range []string{".", "orders-0"} {
		infos, err := disk.ReadDir(dir)
		must(t, err)
		for _, in := range infos {
			name := path.Join(dir, in.Name)
			if ok, _ := path.Match(file, in.Name); !ok && name != file {
				continue
			}
			b, err := vfs.ReadFile(disk, name)
			must(t, err)
			must(t, disk.Remove(name))
			if damage != nil {
				must(t, vfs.WriteFile(disk, name, damage(b)))
			}
		}
	}
	d = open(t, disk, cfg)
	l = d.Log(testTP)
	if got := readAll(t, l, 1<<20); !bytes.Equal(got, want) {
		t.Fatalf("%d bytes, %d were there", len(got), len(want))
	}
	checkIndexes(t, l)
	checkState(t, l, batches(want))
	mixed(t, l, 40)
	checkIndexes(t, l)
	must(t, d.Close(1, testNowMs))
	checkIndexes(t, open(t, disk, cfg).Log(testTP))
}

func TestWhoseDirectory(t *testing.T) {
	t.Parallel()
	disk, d, _ := newLog(t, small())
	if _, err := Open(disk, options(small()), testNowMs); !errors.Is(err, vfs.ErrLocked) {
		t.Errorf("open twice: %v", err)
	}
	must(t, d.Close(1, testNowMs))
	must(t, d.Close(1, testNowMs))
	for _, id := range []Identity{{ClusterID: identity.ClusterID, NodeID: 2}, {ClusterID: "other", NodeID: 1}} {
		_, err := Open(disk, Options{Identity: id}, testNowMs)
		if !errors.Is(err, ErrWrongDir) {
			t.Errorf("%+v: %v", id, err)
		}
	}
	// It was not touched: it still counts as closed.
	if _, clean := open(t, disk, small()).CleanShutdown(); !clean {
		t.Error("the mark of the clean stop is gone")
	}
}

// Case E22: a topic of the same name and another id.
func TestStray(t *testing.T) {
	t.Parallel()
	disk, d, l := newLog(t, small())
	fill(t, l, 10)
	l.SetHW(30)
	must(t, d.Close(1, testNowMs))
	d = open(t, disk, small())
	if d.Log(testTP).TopicID() != testID {
		t.Fatal("topic id is not known")
	}
	must(t, d.SetAside(testTP, "0123"))
	l, err := d.Create(testTP, "BBBBBBBBBBBBBBBBBBBBBA", small(), testNowMs)
	must(t, err)
	if l.End() != 0 || l.HW() != 0 {
		t.Errorf("new log ends at %d, HW %d", l.End(), l.HW())
	}
	must(t, d.Abandon())
	d = open(t, disk, small())
	if l := d.Log(testTP); len(d.Logs()) != 1 || l.End() != 0 || l.HW() != 0 || l.TopicID() != "BBBBBBBBBBBBBBBBBBBBBA" {
		t.Errorf("after a crash: %d logs, end %d, HW %d, id %s", len(d.Logs()), l.End(), l.HW(), l.TopicID())
	}
	if gone, err := d.RemoveDeleted(); err != nil || len(gone) > 0 {
		t.Errorf("removed %v, %v", gone, err)
	}
	if _, err := disk.Stat("orders-0.0123-stray/00000000000000000000.log"); err != nil {
		t.Error(err)
	}
}

// Case E29: on a system that renames no open file either.
func TestDelete(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{RefuseOpen: true})
	cfg := small()
	cfg.RetentionBytes = 3000
	d := open(t, disk, cfg)
	l := create(t, d, cfg)
	fill(t, l, 100)
	checkIndexes(t, l) // all files are open
	l.SetHW(l.End())
	if n, err := l.ApplyRetention(testNowMs); err != nil || n == 0 {
		t.Fatalf("retention: %d, %v", n, err)
	}
	must(t, l.TruncateTo(l.End()-10, testNowMs))
	must(t, d.Delete(testTP, "0123"))
	if d.Log(testTP) != nil {
		t.Error("it is still there")
	}
	if err := l.Append(nil, testNowMs); !errors.Is(err, ErrClosed) {
		t.Errorf("append to a deleted log: %v", err)
	}
	if _, err := l.Read(nil, Fetch{}); !errors.Is(err, ErrClosed) {
		t.Errorf("read of a deleted log: %v", err)
	}
	gone, err := d.RemoveDeleted()
	if err != nil || len(gone) != 1 || gone[0] != "orders-0.0123-delete" {
		t.Errorf("removed %v, %v", gone, err)
	}
	for _, name := range []string{"orders-0", "orders-0.0123-delete"} {
		if _, err := disk.Stat(name); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	must(t, d.Close(1, testNowMs))
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"orders-0": true, "a-b-12": true, "orders": false, "-0": false, "orders-00": false, "orders--1": true, "orders-+1": false,
		"orders-0.0123-delete": false, "orders-0.0123-stray": false, "orders-99999999999": false,
	} {
		tp, ok := parseDirName(name)
		if ok != want || ok && tp.String() != name {
			t.Errorf("%s: %v, %v", name, tp, ok)
		}
	}
	long := asideName(TopicPartition{Topic: strings.Repeat("t", 249), Partition: 12}, strings.Repeat("u", 32), deleteSuffix)
	if len(long) != maxName || !strings.HasSuffix(long, "-12."+strings.Repeat("u", 32)+"-delete") {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}
