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
		{"127.0.0.1", "abc", 2, true}, {"127.0.0.9", "abc", 2, true}, {"127.0.0.1", "abc", 3, false}, {"127.0.0.1", "other", 2, false}, {"192.0.2.1", "abc", 2, false},
	} {
		b := &inspect.Broker{ID: tt.id, Host: tt.host, LogDirs: inspect.Known([]inspect.LogDir{{Path: dir}, {Path: filepath.Join(dir, "none")}})}
		want := "[]"
		if tt.want && onDisk {
			want = fmt.Sprint([]Dir{{dir, device}})
		}
		got, here := m.DirsOf(tt.cluster, b)
		if fmt.Sprint(got) != want || here != tt.want {
			t.Errorf("%+v: %v, %t, want %s", tt, got, here, want)
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
	if _, lo := r.nets[loopback]; r.at.IsZero() || r.disks == nil || !lo || r.tcp == (tcpStat{}) {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat("/proc/pressure/io"); err == nil && len(r.waitedUs) != len(pressures) {
		t.Errorf("%+v, want all pressures", r.waitedUs)
	}
	m := Machine{Root: t.TempDir()}
	for _, f := range []struct{ name, text string }{
		{"proc/diskstats", ""}, {"proc/net/dev", ""}, {"proc/net/snmp", "Tcp: OutSegs RetransSegs\nTcp: 1 0\n"},
	} {
		if _, err := m.Read(time.Now()); err == nil {
			t.Errorf("read without %s", f.name)
		}
		if err := os.MkdirAll(filepath.Dir(m.path(f.name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(m.path(f.name), []byte(f.text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := m.Read(time.Now()); err != nil || len(r.waitedUs) > 0 {
		t.Errorf("a kernel that tells no pressure: %+v, %v", r, err)
	}
}
