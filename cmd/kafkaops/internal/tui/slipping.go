package tui

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// slipping are partitions that are in sync by their ISRs, and of which a replica in the
// ISR does not keep up all the same: the high watermark waits for it, and writes with
// acks=all do, until it has been behind for replica.lag.time.max.ms and is dropped.
type slipping struct {
	// partitions is how many there are, and uncommitted what waits above their high
	// watermarks, in records.
	partitions  int
	uncommitted int64
	// worst is a replica that has been behind for longest, ms, and name its partition's.
	worst  inspect.BrokerID
	leader inspect.BrokerID
	name   string
	ms     int64
}

// slippingOf finds them. A lag of one look is in flight as likely as not, so that it takes
// two: the interval and a half is more than one look can make it.
func slippingOf(rows []render.LagRow, interval time.Duration) (s slipping) {
	from := max(inFlightMs, interval.Milliseconds()*3/2)
	for i := range rows {
		r := &rows[i]
		if r.Timing == nil || r.Partition.Leader == inspect.NoBroker {
			continue
		}
		longest := int64(-1)
		for j := range r.Timing.Replicas {
			t := &r.Timing.Replicas[j]
			ms := t.LagMs.Or(t.LagMsAtLeast.Or(0))
			if ms <= from || !slices.Contains(r.Partition.ISR, t.Broker) {
				continue
			}
			longest = max(longest, ms)
			if ms > s.ms {
				s.worst, s.leader, s.name, s.ms = t.Broker, r.Partition.Leader, r.Name(), ms
			}
		}
		if longest >= 0 {
			s.partitions++
			s.uncommitted += r.Lag.Uncommitted.Or(0)
		}
	}
	return s
}

// line says it in a sentence; empty where there is none.
func (s *slipping) line(l *Look) string {
	if s.partitions == 0 {
		return ""
	}
	text := fmt.Sprintf("%s in sync and not keeping up: replica %d of %s is %s behind", counted(s.partitions, "partition is", "partitions are"), s.worst, s.name, render.Millis(s.ms))
	if limit, ok := lagTimeMax(l.Snap, s.leader); ok {
		text += fmt.Sprintf(", and leaves the ISR when that is %s", render.Millis(limit))
	}
	if s.uncommitted > 0 {
		text += fmt.Sprintf("; %s wait above the HW", counted(int(s.uncommitted), "record", "records"))
	}
	return text
}

// lagTimeMax is a leader's replica.lag.time.max.ms, where it is known.
func lagTimeMax(s *inspect.Snapshot, leader inspect.BrokerID) (int64, bool) {
	b := s.Broker(leader)
	if b == nil {
		return 0, false
	}
	value, _ := b.Config("replica.lag.time.max.ms")
	ms, err := strconv.ParseInt(value, 10, 64)
	return ms, err == nil
}
