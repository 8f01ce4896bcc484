package host

import (
	"bufio"
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// diskStat is what the kernel has counted of a block device since it booted.
type diskStat struct {
	// requests that were completed, reads, writes and flushes, and how long they took
	// together; busyMs is for how long there was any, and weightedMs that times how many.
	requests, tookMs, busyMs, weightedMs uint64
}

// The fields of a line of /proc/diskstats: device number and name come before the numbers.
const (
	diskName    = 2
	diskReads   = 3
	diskReadMs  = 6
	diskWrites  = 7
	diskWriteMs = 10
	diskBusy    = 12
	diskQueue   = 13
	diskFields  = 14
	flushes     = 18 // from Linux 5.5 on
	flushMs     = 19
)

// parseDisks reads /proc/diskstats, by the devices' names.
func parseDisks(text []byte) (map[string]diskStat, error) {
	out := map[string]diskStat{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) == 0 {
			continue
		}
		if len(f) < diskFields {
			return nil, fmt.Errorf("diskstats: %q has %d fields, not %d", lines.Text(), len(f), diskFields)
		}
		n, err := numbers(f[diskReads:])
		if err != nil {
			return nil, fmt.Errorf("diskstats: %w", err)
		}
		at := func(field int) uint64 { return n[field-diskReads] }
		d := diskStat{
			requests: at(diskReads) + at(diskWrites), tookMs: at(diskReadMs) + at(diskWriteMs),
			busyMs: at(diskBusy), weightedMs: at(diskQueue),
		}
		if len(f) > flushMs {
			d.requests += at(flushes)
			d.tookMs += at(flushMs)
		}
		out[f[diskName]] = d
	}
	return out, nil
}

func numbers(texts []string) ([]uint64, error) {
	out := make([]uint64, len(texts))
	for i, text := range texts {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

// isMeta reports whether a meta.properties is of this cluster and node.
func isMeta(text []byte, cluster, node string) bool {
	found := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok {
			found[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	id := found["node.id"]
	if id == "" {
		id = found["broker.id"] // with ZooKeeper
	}
	return cluster != "" && found["cluster.id"] == cluster && id == node
}
