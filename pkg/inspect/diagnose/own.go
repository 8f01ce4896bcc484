package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Disk is what a disk of a broker did while it was looked, as its own host tells.
type Disk struct {
	// Device is its name, such as nvme0n1; Dirs are the log directories on it.
	Device string
	Dirs   []string
	// Busy is the share of the time, 0 to 1, in which it had something to do, AwaitMs how
	// long a request took, in ms, and Queue how many there were at a time.
	Busy, AwaitMs, Queue float64
}

// iostat is what to type on a broker's host; the device comes behind it.
const iostat = "iostat -x 1"

// Own takes in a broker's disks, the busiest first, where it runs on the machine on which
// the caller does.
func (c *Case) Own(id inspect.BrokerID, disks []Disk) { c.broker(id).disks = slices.Clone(disks) }

// addDisks puts a broker's disks beside findings that say to look at them.
func (c *Case) addDisks(all []Finding) {
	for i := range all {
		f := &all[i]
		id, ok := f.Broker.Get()
		at := slices.IndexFunc(f.Next, func(next string) bool { return strings.HasSuffix(next, iostat) })
		if !ok || at < 0 || len(c.broker(id).disks) == 0 {
			continue
		}
		d := c.broker(id).disks[0]
		f.Evidence = append(f.Evidence, Figure{"diskBusyPercent", round(wholePercent * d.Busy)}, Figure{"diskAwaitMs", round(d.AwaitMs)}, Figure{"diskQueue", round(d.Queue)})
		f.Explanation += fmt.Sprintf(". On this host: %s, with %s, was busy for %s of the time, %.3g ms a request, %.3g at a time", d.Device, strings.Join(d.Dirs, " and "), percent(d.Busy), d.AwaitMs, d.Queue)
		f.Next = slices.Clone(f.Next)
		f.Next[at] += " " + d.Device
	}
}
