package storage

import (
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// TestCreateSyncsLast: of a new log all is there before the first sync, so that a driver
// that leaves syncs for later need not do one at once.
func TestCreateSyncsLast(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	d := open(t, disk, small())
	var steps []string
	disk.OnStep(func(s vfs.Step) { steps = append(steps, strings.TrimSpace(s.Op.String()+" "+s.Name)) })
	create(t, d, small())
	disk.OnStep(nil)
	const want = `mkdir orders-0, create orders-0/00000000000000000000.log, create orders-0/partition.metadata.tmp, ` +
		`write orders-0/partition.metadata.tmp, truncate orders-0/partition.metadata.tmp, ` +
		`sync orders-0/partition.metadata.tmp, rename orders-0/partition.metadata.tmp, syncdir orders-0, syncdir .`
	if got := strings.Join(steps, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestCloseEmpty: an empty log that nothing was told of has nothing to be written down.
func TestCloseEmpty(t *testing.T) {
	t.Parallel()
	disk, d, _ := newLog(t, small())
	must(t, d.Close(1, testNowMs))
	infos, err := disk.ReadDir("orders-0")
	must(t, err)
	var names []string
	for _, in := range infos {
		names = append(names, in.Name)
	}
	if got := strings.Join(names, " "); got != "00000000000000000000.log partition.metadata" {
		t.Errorf("it has %s", got)
	}
	d = open(t, disk, small())
	if _, clean := d.CleanShutdown(); !clean || len(d.Repairs()) > 0 {
		t.Errorf("opened: clean %v, repairs %v", clean, d.Repairs())
	}
	l := d.Log(testTP)
	fill(t, l, 3)
	must(t, d.Close(1, testNowMs))
	if l := open(t, disk, small()).Log(testTP); l.End() == 0 || l.Flushed() != l.End() {
		t.Errorf("it ends at %d, flushed to %d", l.End(), l.Flushed())
	}
}
