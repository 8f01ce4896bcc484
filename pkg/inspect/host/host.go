package host

import (
	"cmp"
	"slices"
	"time"
)

// Machine is this one.
type Machine struct {
	// Root is where proc and sys lie, for tests; empty stands for /.
	Root string
}

// Dir is a log directory of a broker that is here.
type Dir struct {
	// Path is as the broker tells it, Device the block device that it is on, such as
	// nvme0n1: the whole disk where it is on a partition.
	Path, Device string
}

// Reading is what the kernel counted, at a time.
type Reading struct {
	at    time.Time
	disks map[string]diskStat
	nets  map[string]netStat
	tcp   tcpStat
	// waitedUs is for how long some task has waited for io, cpu or memory; none where the
	// kernel does not tell.
	waitedUs map[string]uint64
}

// Disk is what a block device did between two readings.
type Disk struct {
	Device string
	// Dirs are the log directories on it.
	Dirs []string
	// Busy is the share of the time, 0 to 1, in which it had something to do; AwaitMs how
	// long a request took, with its wait, in ms, 0 where there was none; Queue how many there
	// were at a time. They are iostat's %util, await and aqu-sz.
	Busy, AwaitMs, Queue float64
}

// Disks are the devices of these directories, the busiest first. One that is missing from a
// reading, or whose numbers went back, is left out.
func Disks(first, last *Reading, dirs []Dir) []Disk {
	ms := float64(last.at.Sub(first.at).Milliseconds())
	var out []Disk
	for _, dir := range dirs {
		if i := slices.IndexFunc(out, func(d Disk) bool { return d.Device == dir.Device }); i >= 0 {
			out[i].Dirs = append(out[i].Dirs, dir.Path)
			continue
		}
		was, began := first.disks[dir.Device]
		is, ended := last.disks[dir.Device]
		if !began || !ended || ms <= 0 || is.requests < was.requests || is.tookMs < was.tookMs || is.busyMs < was.busyMs || is.weightedMs < was.weightedMs {
			continue
		}
		d := Disk{Device: dir.Device, Dirs: []string{dir.Path}, Busy: min(1, float64(is.busyMs-was.busyMs)/ms), Queue: float64(is.weightedMs-was.weightedMs) / ms}
		if n := is.requests - was.requests; n > 0 {
			d.AwaitMs = float64(is.tookMs-was.tookMs) / float64(n)
		}
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b Disk) int { return cmp.Compare(b.Busy, a.Busy) })
	return out
}
