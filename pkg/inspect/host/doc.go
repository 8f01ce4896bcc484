// Package host reads what Linux tells of a broker's disks and network, and of what its
// machine waits for, where the broker runs on this very machine.
//
//	m := host.Machine{}
//	dirs, here := m.DirsOf(clusterID, broker) // its log directories, if they are here
//	first, err := m.Read(time.Now())
//	// … a while later …
//	last, err := m.Read(time.Now())
//	disks, load := host.Disks(first, last, dirs), host.LoadOf(first, last)
//
// A broker is taken to be here where its address is one of this machine's, or loopback, and
// the directory that it tells has a meta.properties of its cluster and with its id: a port
// that is forwarded into a container or to another machine has none at that path. What lies
// on a file system without a block device of its own (overlay, btrfs, NFS) has no figures.
//
// The numbers are the kernel's: /proc/diskstats, and /sys/dev/block for the
// disk that a partition is on (Documentation/admin-guide/iostats.rst), /proc/net/dev and
// /proc/net/snmp (proc(5)), /proc/pressure (Documentation/accounting/psi.rst). What is told
// of the network is of the namespace in which this process runs. Elsewhere than on Linux
// nothing is here.
package host
