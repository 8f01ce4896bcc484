package storage

import (
	"errors"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

func openMetadata(tb testing.TB, fsys vfs.FS) (*Dir, *Log) {
	tb.Helper()
	d, l, err := OpenMetadata(fsys, identity, small(), testNowMs)
	must(tb, err)
	tb.Cleanup(func() { _ = d.Abandon() })
	return d, l
}

// A metadata log in a broker's directory: neither touches what is the other's.
func TestMetadataLogBesideOthers(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	broker := open(t, disk, small())
	of := create(t, broker, small())
	fill(t, of, 5)
	of.SetHW(of.End())
	must(t, of.SetStart(2))
	must(t, broker.Close(7, testNowMs))
	before := map[string]string{}
	shared := []string{hwCheckpoint, recoveryCheckpoint, startCheckpoint, cleanShutdownFile}
	for _, name := range shared {
		b, err := vfs.ReadFile(disk, name)
		must(t, err)
		before[name] = string(b)
	}

	d, l := openMetadata(t, disk)
	if l.TopicID() != metadataTopicID || len(d.Logs()) != 1 {
		t.Fatalf("topic id %s, %d logs", l.TopicID(), len(d.Logs()))
	}
	fill(t, l, 40)
	must(t, l.Flush(l.End(), testNowMs))
	l.SetHW(l.End())
	must(t, l.SetStart(100))
	if n, err := l.ApplyRetention(testNowMs); err != nil || n == 0 {
		t.Fatalf("%d segments deleted, %v", n, err)
	}
	end, first := l.End(), l.segs[0].base
	must(t, d.Close(-1, testNowMs))

	// A new start begins where the first segment does: no checkpoint says more.
	d, l = openMetadata(t, disk)
	if l.Start() != first || l.End() != end || l.HW() != end || first == 0 {
		t.Fatalf("[%d, %d) HW %d, want [%d, %d)", l.Start(), l.End(), l.HW(), first, end)
	}
	must(t, d.Abandon())
	for _, name := range shared {
		if b, err := vfs.ReadFile(disk, name); err != nil || string(b) != before[name] {
			t.Errorf("%s is %q, %v; was %q", name, b, err, before[name])
		}
	}
	broker = open(t, disk, small())
	if epoch, clean := broker.CleanShutdown(); epoch != 7 || !clean || len(broker.Logs()) != 1 {
		t.Fatalf("epoch %d, clean %v, %d logs", epoch, clean, len(broker.Logs()))
	}
}

func TestMetadataLogOfOthers(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	d, l := openMetadata(t, disk)
	if _, _, err := OpenMetadata(disk, identity, small(), testNowMs); !errors.Is(err, vfs.ErrLocked) {
		t.Fatal(err)
	}
	must(t, d.Close(-1, testNowMs))
	other := identity
	other.NodeID++
	if _, _, err := OpenMetadata(disk, other, small(), testNowMs); !errors.Is(err, ErrWrongDir) {
		t.Fatal(err)
	}
	must(t, writeTopicID(disk, l.name, "AAAAAAAAAAAAAAAAAAAAAg"))
	if _, _, err := OpenMetadata(disk, identity, small(), testNowMs); !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
}
