package host

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Read takes a reading, at now.
func (m Machine) Read(now time.Time) (*Reading, error) {
	r := &Reading{at: now, waitedUs: map[string]uint64{}}
	var err error
	if r.disks, err = read(m, "proc/diskstats", parseDisks); err != nil {
		return nil, err
	}
	if r.nets, err = read(m, "proc/net/dev", parseNet); err != nil {
		return nil, err
	}
	if r.tcp, err = read(m, "proc/net/snmp", parseTCP); err != nil {
		return nil, err
	}
	for _, resource := range pressures {
		// A kernel without PSI has none, or refuses to read it.
		if us, err := read(m, "proc/pressure/"+resource, parsePressure); err == nil {
			r.waitedUs[resource] = us
		}
	}
	return r, nil
}

func read[T any](m Machine, name string, parse func([]byte) (T, error)) (T, error) {
	text, err := os.ReadFile(m.path(name))
	if err != nil {
		var none T
		return none, err
	}
	return parse(text)
}

func (m Machine) path(name string) string { return filepath.Join(cmp.Or(m.Root, "/"), name) }

// DirsOf are a broker's log directories that are on a block device, and whether it runs here.
func (m Machine) DirsOf(cluster string, b *inspect.Broker) (out []Dir, here bool) {
	found := false
	for _, d := range b.LogDirs.Or(nil) {
		text, err := os.ReadFile(filepath.Join(d.Path, "meta.properties"))
		if err != nil || !isMeta(text, cluster, strconv.Itoa(int(b.ID))) {
			continue
		}
		found = true
		if device, ok := m.deviceOf(d.Path); ok {
			out = append(out, Dir{d.Path, device})
		}
	}
	if !found || !isHere(b.Host) { // or it is a copy of another machine's directory
		return nil, false
	}
	return out, true
}

// deviceOf is the disk that a file lies on.
func (m Machine) deviceOf(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", false
	}
	// The encoding of a dev_t that glibc's gnu_dev_major has.
	dev := uint64(stat.Dev) //nolint:unconvert // of another width on some machines
	major := dev>>8&0xfff | dev>>32&^uint64(0xfff)
	minor := dev&0xff | dev>>12&^uint64(0xff)&0xffffffff
	return m.disk(major, minor)
}

// disk is the name of a device, or of the one that it is a partition of.
func (m Machine) disk(major, minor uint64) (string, bool) {
	at, err := filepath.EvalSymlinks(m.path(fmt.Sprintf("sys/dev/block/%d:%d", major, minor)))
	if err != nil {
		return "", false
	}
	if _, err := os.Stat(filepath.Join(at, "partition")); err == nil {
		at = filepath.Dir(at)
	}
	return filepath.Base(at), true
}

// lookupPatience bounds the question for a name's addresses: what is here is a figure, and
// not worth waiting for.
const lookupPatience = time.Second

// isHere reports whether an address of the host is one of this machine's.
func isHere(host string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), lookupPatience)
	defer cancel()
	wanted, err := net.DefaultResolver.LookupIP(ctx, "ip", host)
	if err != nil {
		return false
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addresses {
		in, ok := a.(*net.IPNet)
		for _, ip := range wanted {
			if ok && (in.IP.Equal(ip) || ip.IsLoopback() && in.Contains(ip)) {
				return true
			}
		}
	}
	return false
}
