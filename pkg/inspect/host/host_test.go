package host

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	disksBefore = ` 259       0 nvme0n1 100 0 800 50 1000 20 16000 4000 0 3000 4050 0 0 0 0 10 100
 259       1 nvme0n1p1 90 0 700 40 900 20 15000 3000 0 2500 3050
   7       0 loop0 5 0 10 1 0 0 0 0 0 1 1
`
	disksAfter = ` 259       0 nvme0n1 110 0 880 60 1080 20 17000 7980 3 12000 44050 0 0 0 0 20 110
 259       1 nvme0n1p1 90 0 700 40 900 20 15000 3000 0 2500 3050
   7       0 loop0 4 0 10 1 0 0 0 0 0 1 1
`
)

func reading(t *testing.T, seconds int, disks string) *Reading {
	t.Helper()
	r := &Reading{at: time.Unix(int64(seconds), 0)}
	var err error
	if r.disks, err = parseDisks([]byte(disks)); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDisks: iostat's numbers between two readings, by hand: 100 requests (10 reads, 80
// writes, 10 flushes) took 4,000 ms, of 10,000 ms 9,000 were busy, 40,000 were waited.
func TestDisks(t *testing.T) {
	t.Parallel()
	first, last := reading(t, 0, disksBefore), reading(t, 10, disksAfter)
	dirs := []Dir{{"/c", "nvme0n1p1"}, {"/a", "nvme0n1"}, {"/b", "nvme0n1"}, {"/d", "loop0"}, {"/e", "sdz"}}
	want := []Disk{{Device: "nvme0n1", Dirs: []string{"/a", "/b"}, Busy: 0.9, AwaitMs: 40, Queue: 4}, {Device: "nvme0n1p1", Dirs: []string{"/c"}}}
	if diff := cmp.Diff(want, Disks(first, last, dirs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Disks(first, first, dirs); got != nil {
		t.Errorf("in no time: %+v", got)
	}
}

const (
	netBefore = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 900       9    0    0    0     0          0         0   900       9    0    0    0     0       0          0
  eth0:1000     100    1    2    0     0          0         0  2000     200    3    4    0     0       0          0
  eth1:   5       5    0    0    0     0          0         0     0       0    0    0    0     0       0          0
`
	netAfter = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 990      99    0    9    0     0          0         0   900       9    0    0    0     0       0          0
  eth0:1000     150    1    9    0     0          0         0  2000     230    5    7    0     0       0          0
  eth1:   5       5    0    0    0     0          0         0     0       0    0    0    0     0       0          0
`
	snmpBefore = `Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm MaxConn InSegs OutSegs RetransSegs
Tcp: 1 -1 500 1000 10
`
	snmpAfter = `Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm MaxConn InSegs OutSegs RetransSegs
Tcp: 1 -1 700 1300 40
`
	ioBefore = `some avg10=0.48 avg60=0.42 avg300=0.48 total=1000000
full avg10=0.00 avg60=0.00 avg300=0.00 total=500000
`
	ioAfter = `some avg10=35.00 avg60=20.00 avg300=0.48 total=4500000
full avg10=0.00 avg60=0.00 avg300=0.00 total=500000
`
)

func loaded(t *testing.T, seconds int, net, snmp, io string) *Reading {
	t.Helper()
	r := &Reading{at: time.Unix(int64(seconds), 0), waitedUs: map[string]uint64{}}
	var err error
	if r.nets, err = parseNet([]byte(net)); err != nil {
		t.Fatal(err)
	}
	if r.tcp, err = parseTCP([]byte(snmp)); err != nil {
		t.Fatal(err)
	}
	if r.waitedUs["io"], err = parsePressure([]byte(io)); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLoad: by hand, of ten seconds: eth0 had 80 packets, 2 with an error, and 10 dropped;
// of 300 segments 30 were sent again; some task waited for io for 3.5 s.
func TestLoad(t *testing.T) {
	t.Parallel()
	first, last := loaded(t, 0, netBefore, snmpBefore, ioBefore), loaded(t, 10, netAfter, snmpAfter, ioAfter)
	want := Load{Sent: 300, Again: 30, Interfaces: []Interface{{"eth0", 80, 2, 10}}, Pressures: []Pressure{{"io", 0.35}}}
	if diff := cmp.Diff(want, LoadOf(first, last)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Load{}, LoadOf(last, first)); diff != "" {
		t.Errorf("numbers that went back (-want +got):\n%s", diff)
	}
}

// TestDamaged: what is no such file is refused.
func TestDamaged(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"8 0 sda 1 2\n", "8 0 sda 1 2 3 4 5 6 7 8 9 x 11\n"} {
		if got, err := parseDisks([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, text := range []string{"  eth0: 1 2 3\n", "  eth0: x 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"} {
		if got, err := parseNet([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, text := range []string{"", "Tcp: OutSegs RetransSegs\n", "Tcp: OutSegs\nTcp: 5\n", "Tcp: OutSegs RetransSegs\nTcp: 5 x\n"} {
		if got, err := parseTCP([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	for _, text := range []string{"", "full avg10=0.00 total=5\n", "some avg10=0.00\n", "some total=x\n"} {
		if got, err := parsePressure([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestMeta(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"#\nnode.id=2\ncluster.id=abc\nversion=1\n": true,
		"broker.id=2\r\ncluster.id=abc\r\n":         true,
		"node.id=3\ncluster.id=abc\n":               false,
		"node.id=2\ncluster.id=other\n":             false,
		"":                                          false,
	} {
		if got := isMeta([]byte(text), "abc", "2"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if isMeta([]byte("node.id=2\n"), "", "2") {
		t.Error("of no cluster")
	}
}
