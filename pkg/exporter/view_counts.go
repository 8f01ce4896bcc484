package exporter

import "github.com/kafkaops/kafkaops/pkg/inspect"

// clusterCounts are of all partitions, whether they have series or not.
type clusterCounts struct {
	live, underReplicated, offline, wrongLeader int
	underMin                                    int
	// underMinUnknown: of some partition it is not known.
	underMinUnknown bool
}

// led sums the partitions that a broker leads.
type led struct {
	partitions, underReplicated, underMin int
	// uncommitted is a sum of LEO − HW, uncommittedSeconds the largest age of a
	// record that is not committed.
	uncommitted        int64
	uncommittedSeconds inspect.Opt[float64]
	// These are of some partition not known.
	underMinUnknown, uncommittedUnknown bool
}

// oldestSeconds is uncommittedSeconds, or 0 where nothing can wait.
func (l *led) oldestSeconds() inspect.Opt[float64] {
	if l.partitions == 0 {
		return inspect.Known(0.0)
	}
	return l.uncommittedSeconds
}

// hosted sums the replicas on a broker; lags are its followers', inSyncSeconds of
// those in their ISR.
type hosted struct {
	outOfSync                 int
	maxLag                    inspect.Opt[int64]
	maxSeconds, inSyncSeconds inspect.Opt[float64]
}

// certainAge is how long ago, at the least, the first of so many records behind
// position was written.
func (m *maker) certainAge(row *partitionRow, position inspect.Opt[inspect.Offset], records int64) inspect.Opt[float64] {
	if records == 0 {
		return inspect.Known(0.0)
	}
	at, told := position.Get()
	if !told {
		return inspect.Unknown[float64]()
	}
	return m.state.lags.writtenAtLeast(row.Topic, row.Index, at)
}

// atLeast is the larger of two as far as they are known.
func atLeast[T number](a, b inspect.Opt[T]) inspect.Opt[T] {
	was, had := a.Get()
	is, has := b.Get()
	if !has || had && was >= is {
		return a
	}
	return b
}

// count adds the partition to its brokers' and the cluster's numbers.
func (m *maker) count(row *partitionRow, h *inspect.Health) {
	for _, id := range h.OutOfSync {
		m.broker(id).hosted.outOfSync++
	}
	under, known := row.underMin.Get()
	c := &m.counts
	c.underReplicated += ifSo(row.underReplicated)
	c.offline += ifSo(row.offline)
	c.underMin += ifSo(under)
	c.underMinUnknown = c.underMinUnknown || !known
	if row.offline {
		return
	}
	c.wrongLeader += ifSo(row.Leader != row.PreferredLeader())
	l := &m.broker(row.Leader).led
	l.partitions++
	l.underReplicated += ifSo(row.underReplicated)
	l.underMin += ifSo(under)
	l.underMinUnknown = l.underMinUnknown || !known
	records, told := row.uncommitted.Get()
	l.uncommitted += records
	l.uncommittedUnknown = l.uncommittedUnknown || !told
	if under {
		records = 0 // the HW stands by rule: nobody is waited for
	}
	if told {
		l.uncommittedSeconds = atLeast(l.uncommittedSeconds, m.certainAge(row, row.hw, records))
	}
}

func ifSo(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
