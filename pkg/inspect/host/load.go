package host

import (
	"cmp"
	"slices"
)

// Load is what the whole machine went through between two readings.
type Load struct {
	// Sent are TCP segments, Again those of them that were sent once more since no answer
	// came: nstat's TcpOutSegs and TcpRetransSegs, the latter not among the former.
	Sent, Again uint64
	// Interfaces are those over which something went, by their names, without loopback.
	Interfaces []Interface
	// Pressures are known where the kernel tells them (PSI, from Linux 4.20 on): io, cpu and
	// memory, in that order.
	Pressures []Pressure
}

// Interface is a network interface: packets both ways, those with an error, and those that
// were dropped for want of room.
type Interface struct {
	Name                   string
	Packets, Errors, Drops uint64
}

// Pressure is the share of the time, 0 to 1, in which some task waited for a resource.
type Pressure struct {
	Resource string
	Some     float64
}

// pressures are the files of /proc/pressure.
var pressures = [...]string{"io", "cpu", "memory"}

// loopback tells nothing of a network.
const loopback = "lo"

// LoadOf is what came in between. Numbers that went back, as after a driver was loaded anew,
// are left out.
func LoadOf(first, last *Reading) Load {
	var out Load
	if last.tcp.sent >= first.tcp.sent && last.tcp.again >= first.tcp.again {
		out.Sent, out.Again = last.tcp.sent-first.tcp.sent, last.tcp.again-first.tcp.again
	}
	for name, is := range last.nets {
		was, began := first.nets[name]
		if name == loopback || !began || is.packets <= was.packets || is.errors < was.errors || is.drops < was.drops {
			continue
		}
		out.Interfaces = append(out.Interfaces, Interface{name, is.packets - was.packets, is.errors - was.errors, is.drops - was.drops})
	}
	slices.SortFunc(out.Interfaces, func(a, b Interface) int { return cmp.Compare(a.Name, b.Name) })
	us := float64(last.at.Sub(first.at).Microseconds())
	for _, resource := range pressures {
		was, began := first.waitedUs[resource]
		is, ended := last.waitedUs[resource]
		if began && ended && is >= was && us > 0 {
			out.Pressures = append(out.Pressures, Pressure{resource, min(1, float64(is-was)/us)})
		}
	}
	return out
}
