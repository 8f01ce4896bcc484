package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Host is what a broker's own host tells of the time in which was looked.
type Host struct {
	// Disks are those of its log directories, the busiest first.
	Disks []Disk
	// Sent are the TCP segments of the whole host, Again those that were sent once more,
	// which do not count among them.
	Sent, Again uint64
	// Interfaces are those over which something went, loopback not among them.
	Interfaces []Interface
	// Pressures are the shares of the time in which some task waited for a resource.
	Pressures []Pressure
}

// Disk is what a disk of a broker did while it was looked.
type Disk struct {
	// Device is its name, such as nvme0n1; Dirs are the log directories on it.
	Device string
	Dirs   []string
	// Busy is the share of the time, 0 to 1, in which it had something to do, AwaitMs how
	// long a request took, in ms, and Queue how many there were at a time.
	Busy, AwaitMs, Queue float64
}

// Interface is a network interface, with packets both ways, those with an error and those
// that were dropped.
type Interface struct {
	Name                   string
	Packets, Errors, Drops uint64
}

// Pressure is the share of the time, 0 to 1, in which some task waited for io, cpu or memory
// (PSI).
type Pressure struct {
	Resource string
	Some     float64
}

// What to type on a broker's host; the device comes behind iostat.
const (
	iostat = "iostat -x 1"
	nstat  = "nstat TcpOutSegs TcpRetransSegs"
)

// Own takes in what a broker's host tells, where it runs on the machine on which the caller
// does.
func (c *Case) Own(id inspect.BrokerID, h Host) { c.broker(id).host = &h }

// addHosts puts what brokers' hosts tell beside findings that say to look at them.
func (c *Case) addHosts(all []Finding) {
	for i := range all {
		f := &all[i]
		if f.ID == SlowLink {
			c.addNetwork(f)
			continue
		}
		id, ok := f.Broker.Get()
		at := slices.IndexFunc(f.Next, func(next string) bool { return strings.HasSuffix(next, iostat) })
		if !ok || at < 0 || c.broker(id).host == nil {
			continue
		}
		h := c.broker(id).host
		said := h.tellDisk(f, at) + h.tellPressure(f)
		if f.ID != SlowFlush {
			said += h.tellNetwork(f)
		}
		if said != "" {
			f.Explanation += ". On this host: " + said[len("; "):]
		}
	}
}

// addNetwork looks at either end of a link. Where both are here it is one machine.
func (c *Case) addNetwork(f *Finding) {
	for _, figure := range f.Evidence {
		if figure.Name != "leader" && figure.Name != "follower" {
			continue
		}
		id := inspect.BrokerID(figure.Value)
		if h := c.broker(id).host; h != nil {
			if said := h.tellNetwork(f); said != "" {
				f.Explanation += fmt.Sprintf(". On this host, that of broker %d: %s", id, said[len("; "):])
			}
			return
		}
	}
}

// tellDisk is about the busiest, whose device the next command then names.
func (h *Host) tellDisk(f *Finding, next int) string {
	if len(h.Disks) == 0 {
		return ""
	}
	d := &h.Disks[0]
	f.Evidence = append(f.Evidence, Figure{"diskBusyPercent", round(wholePercent * d.Busy)}, Figure{"diskAwaitMs", round(d.AwaitMs)}, Figure{"diskQueue", round(d.Queue)})
	f.Next = slices.Clone(f.Next)
	f.Next[next] += " " + d.Device
	return fmt.Sprintf("; %s, with %s, was busy for %s of the time, %.3g ms a request, %.3g at a time", d.Device, strings.Join(d.Dirs, " and "), percent(d.Busy), d.AwaitMs, d.Queue)
}

func (h *Host) tellPressure(f *Finding) string {
	var waited []string
	for _, p := range h.Pressures {
		f.Evidence = append(f.Evidence, Figure{p.Resource + "PressurePercent", round(wholePercent * p.Some)})
		waited = append(waited, fmt.Sprintf("%s for %s", p.Resource, percent(p.Some)))
	}
	if len(waited) == 0 {
		return ""
	}
	return "; tasks waited for " + strings.Join(waited, ", for ") + " of the time"
}

func (h *Host) tellNetwork(f *Finding) string {
	said := ""
	if h.Sent > 0 {
		share := float64(h.Again) / float64(h.Sent)
		f.Evidence = append(f.Evidence, Figure{"tcpSentAgainPercent", round(wholePercent * share)})
		said += fmt.Sprintf("; %d TCP segments were sent, and %d once more", h.Sent, h.Again)
	}
	var errs, drops uint64
	for _, i := range h.Interfaces {
		errs, drops = errs+i.Errors, drops+i.Drops
		if i.Errors+i.Drops > 0 {
			said += fmt.Sprintf("; of %d packets over %s %d were dropped and %d had errors", i.Packets, i.Name, i.Drops, i.Errors)
		}
	}
	if len(h.Interfaces) > 0 {
		f.Evidence = append(f.Evidence, Figure{"packetsDropped", float64(drops)}, Figure{"packetErrors", float64(errs)})
	}
	return said
}
