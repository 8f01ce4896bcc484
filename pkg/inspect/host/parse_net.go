package host

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// netStat is what the kernel has counted of a network interface, both ways together.
type netStat struct{ packets, errors, drops uint64 }

// tcpStat is what it has counted of segments that were sent, those that were sent again not
// among them, and of those.
type tcpStat struct{ sent, again uint64 }

// The fields of a line of /proc/net/dev behind the interface's name: eight of what was
// received, then eight of what was sent.
const (
	netPackets = 1
	netErrors  = 2
	netDrops   = 3
	netSent    = 8
	netFields  = 16
)

// parseNet reads /proc/net/dev, by the interfaces' names. The first two lines are its head.
func parseNet(text []byte) (map[string]netStat, error) {
	out := map[string]netStat{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, rest, ok := strings.Cut(lines.Text(), ":")
		if !ok {
			continue
		}
		f := strings.Fields(rest)
		if len(f) < netFields {
			return nil, fmt.Errorf("net/dev: %q has %d numbers, not %d", lines.Text(), len(f), netFields)
		}
		n, err := numbers(f)
		if err != nil {
			return nil, fmt.Errorf("net/dev: %w", err)
		}
		out[strings.TrimSpace(name)] = netStat{
			packets: n[netPackets] + n[netSent+netPackets], errors: n[netErrors] + n[netSent+netErrors], drops: n[netDrops] + n[netSent+netDrops],
		}
	}
	return out, nil
}

// parseTCP reads the two lines of /proc/net/snmp that begin with Tcp: names, and numbers in
// their order.
func parseTCP(text []byte) (tcpStat, error) {
	var names []string
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		rest, ok := strings.CutPrefix(lines.Text(), "Tcp:")
		if !ok {
			continue
		}
		f := strings.Fields(rest)
		if names == nil {
			names = f
			continue
		}
		at := map[string]string{}
		for i := range min(len(names), len(f)) {
			at[names[i]] = f[i]
		}
		n, err := numbers([]string{at["OutSegs"], at["RetransSegs"]})
		if err != nil {
			return tcpStat{}, fmt.Errorf("net/snmp: %w", err)
		}
		return tcpStat{n[0], n[1]}, nil
	}
	return tcpStat{}, errors.New("net/snmp: it tells nothing of TCP")
}

// parsePressure reads a file of /proc/pressure: for how long, in us since boot, some task has
// waited for the resource.
func parsePressure(text []byte) (uint64, error) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) == 0 || f[0] != "some" {
			continue
		}
		for _, field := range f[1:] {
			if total, ok := strings.CutPrefix(field, "total="); ok {
				n, err := numbers([]string{total})
				if err != nil {
					return 0, fmt.Errorf("pressure: %w", err)
				}
				return n[0], nil
			}
		}
	}
	return 0, errors.New("pressure: it tells nothing of some")
}
