package diagnose

import (
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestOwn: the disks of a broker's own host stand beside what is said of it, and of no
// other one.
func TestOwn(t *testing.T) {
	t.Parallel()
	for _, id := range []inspect.BrokerID{2, 3} {
		c := seen(10, func(_ int, s *inspect.Snapshot) { lagging(s, 0, 3, 5) })
		c.Own(id, []Disk{{Device: "nvme0n1", Dirs: []string{"/data"}, Busy: 0.98, AwaitMs: 45.24, Queue: 12}, {Device: "sda"}})
		f := c.Diagnose().Findings[0]
		own := strings.HasSuffix(f.Explanation, ". On this host: nvme0n1, with /data, was busy for 98 % of the time, 45.2 ms a request, 12 at a time")
		named := slices.Contains(f.Next, "on broker 3: iostat -x 1 nvme0n1")
		figures := slices.ContainsFunc(f.Evidence, func(e Figure) bool { return e == Figure{"diskBusyPercent", 98} })
		if own != (id == 3) || named != own || figures != own {
			t.Errorf("disks of broker %d: %q, %q, %v", id, f.Explanation, f.Next, f.Evidence)
		}
	}
}
