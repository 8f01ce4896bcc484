package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestOwn: what a broker's own host tells stands beside what is said of that broker, and of
// no other one.
func TestOwn(t *testing.T) {
	t.Parallel()
	own := Host{
		Disks: []Disk{{Device: "nvme0n1", Dirs: []string{"/data"}, Busy: 0.98, AwaitMs: 45.24, Queue: 12}, {Device: "sda"}},
		Sent:  1000, Again: 25,
		Interfaces: []Interface{{"eth0", 5000, 0, 7}, {"eth1", 10, 0, 0}},
		Pressures:  []Pressure{{"io", 0.35}, {"cpu", 0.02}},
	}
	for _, id := range []inspect.BrokerID{2, 3} {
		c := seen(10, func(_ int, s *inspect.Snapshot) { lagging(s, 0, 3, 5) })
		c.Own(id, own)
		f := c.Diagnose().Findings[0]
		told := strings.HasSuffix(f.Explanation, ". On this host: nvme0n1, with /data, was busy for 98 % of the time, 45.2 ms a request, 12 at a time; "+
			"tasks waited for io for 35 %, for cpu for 2 % of the time; 1000 TCP segments were sent, and 25 once more; of 5000 packets over eth0 7 were dropped and 0 had errors")
		named := slices.Contains(f.Next, "on broker 3: iostat -x 1 nvme0n1")
		for _, want := range []Figure{
			{"diskBusyPercent", 98}, {"ioPressurePercent", 35}, {"cpuPressurePercent", 2}, {"tcpSentAgainPercent", 2.5}, {"packetsDropped", 7}, {"packetErrors", 0},
		} {
			if slices.Contains(f.Evidence, want) != (id == 3) {
				t.Errorf("host of broker %d: %+v among %v", id, want, f.Evidence)
			}
		}
		if told != (id == 3) || named != told {
			t.Errorf("host of broker %d: %q, %q", id, f.Explanation, f.Next)
		}
	}
}

// TestOwnNothing: a host that tells nothing adds nothing.
func TestOwnNothing(t *testing.T) {
	t.Parallel()
	c := seen(10, func(_ int, s *inspect.Snapshot) { lagging(s, 0, 3, 5) })
	c.Own(3, Host{})
	if f := c.Diagnose().Findings[0]; strings.Contains(f.Explanation, "host") || !slices.Contains(f.Next, "on broker 3: iostat -x 1") {
		t.Errorf("%q, %q", f.Explanation, f.Next)
	}
}

// TestOwnLink: of a link that is slow either end tells of the network, and of no disk; who is
// neither end does not.
func TestOwnLink(t *testing.T) {
	t.Parallel()
	for _, id := range []inspect.BrokerID{1, 2, 3} {
		c := seen(10, func(_ int, s *inspect.Snapshot) { lagging(s, 1, 3, 5) })
		c.Own(id, Host{Disks: []Disk{{Device: "sda", Dirs: []string{"/data"}}}, Sent: 1000, Again: 25})
		f := c.Diagnose().Findings[0]
		if f.ID != SlowLink {
			t.Fatalf("%s: %s", f.ID, f.Title)
		}
		told := strings.Contains(f.Explanation, "1000 TCP segments were sent, and 25 once more")
		here := strings.Contains(f.Explanation, "On this host, that of broker "+map[inspect.BrokerID]string{1: "1", 2: "2", 3: "3"}[id])
		if want := id != 2; told != want || here != want || strings.Contains(f.Explanation, "sda") {
			t.Errorf("host of broker %d: %q", id, f.Explanation)
		}
	}
}
