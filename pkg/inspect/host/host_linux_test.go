package host

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestDisk: a partition's disk is its parent; what has no block device has none.
func TestDisk(t *testing.T) {
	t.Parallel()
	m := Machine{Root: t.TempDir()}
	part := m.path("sys/devices/pci0/nvme0n1/nvme0n1p1")
	for _, dir := range []string{part, m.path("sys/dev/block")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(part, "partition"), []byte("1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for number, at := range map[string]string{"259:0": filepath.Dir(part), "259:1": part} {
		if err := os.Symlink(at, m.path("sys/dev/block/"+number)); err != nil {
			t.Fatal(err)
		}
	}
	for minor := range uint64(3) {
		got, ok := m.disk(259, minor)
		if want := minor < 2; ok != want || want && got != "nvme0n1" {
			t.Errorf("259:%d: %q, %v", minor, got, ok)
		}
	}
}

// TestHere: a broker is here by its address and its directory's meta.properties, both.
func TestHere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "meta.properties"), []byte("node.id=2\ncluster.id=abc\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var m Machine
	device, onDisk := m.deviceOf(dir)
	for _, tt := range []struct {
		host, cluster string
		id            inspect.BrokerID
		want          bool
	}{
		{"127.0.0.1", "abc", 2, onDisk}, {"127.0.0.9", "abc", 2, onDisk}, {"127.0.0.1", "abc", 3, false}, {"127.0.0.1", "other", 2, false}, {"192.0.2.1", "abc", 2, false},
	} {
		b := &inspect.Broker{ID: tt.id, Host: tt.host, LogDirs: inspect.Known([]inspect.LogDir{{Path: dir}, {Path: filepath.Join(dir, "none")}})}
		want := "[]"
		if tt.want {
			want = fmt.Sprint([]Dir{{dir, device}})
		}
		if got := fmt.Sprint(m.DirsOf(tt.cluster, b)); got != want {
			t.Errorf("%+v: %s, want %s", tt, got, want)
		}
	}
}

// TestRead: this machine's own files can be read.
func TestRead(t *testing.T) {
	t.Parallel()
	r, err := Machine{}.Read(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if r.at.IsZero() || r.disks == nil {
		t.Errorf("%+v", r)
	}
	if _, err := (Machine{Root: t.TempDir()}).Read(time.Now()); err == nil {
		t.Error("read without /proc")
	}
}
