package exporter

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// view is one collection as it is shown: judged, filtered, and joined with what
// the state knows. Nothing in it changes once it is made.
type view struct {
	takenAt time.Time
	snap    *inspect.Snapshot
	// partitions are sorted by topic and index.
	partitions []partitionRow
	brokers    []brokerRow
	groups     []groupRow
	counts     clusterCounts
	omitted    map[string]float64
	// shrinks and expands are replicas, sorted.
	shrinks, expands []causeCount
	unclean          float64
	gaps             map[gapReason]float64
	isrSource        inspect.IsrSource
}

type partitionRow struct {
	*inspect.Partition
	index string
	// own and replicasOwn: it, and its replicas, have series.
	own, replicasOwn, countersOwn bool

	underReplicated, offline bool
	underMin, atMin          inspect.Opt[bool]
	reassigning              inspect.Opt[bool]
	effectiveMin, headroom   inspect.Opt[int32]

	logStart, hw, leo inspect.Opt[inspect.Offset]
	uncommitted       inspect.Opt[int64]
	sizeBytes         inspect.Opt[int64]
	shrinks, expands  float64
	replicas          []replicaRow
}

type replicaRow struct {
	broker string
	id     inspect.BrokerID
	leo    inspect.Opt[inspect.Offset]
	lag    inspect.Opt[int64]
	// seconds is the lag in time.
	seconds inspect.Opt[float64]
	inSync  bool
}

type brokerRow struct {
	id     string
	info   *inspect.Broker // nil: it only is in replica lists
	led    led
	hosted hosted
}

type causeCount struct {
	broker, cause string
	n             float64
}

// maker makes a view.
type maker struct {
	*view
	state   *state
	brokers map[inspect.BrokerID]*brokerRow
	names   map[inspect.BrokerID]string
	// leaderSizes is filled by sizes.
	replicas []replicaRow
}

func newView(s *state, snap *inspect.Snapshot, groups []inspect.GroupLag) *view {
	m := &maker{
		view:    &view{takenAt: snap.TakenAt, snap: snap, omitted: map[string]float64{}},
		state:   s,
		brokers: map[inspect.BrokerID]*brokerRow{}, names: map[inspect.BrokerID]string{},
	}
	for i := range snap.Brokers {
		b := &snap.Brokers[i]
		m.broker(b.ID).info = b
		if !b.Fenced.Or(false) {
			m.counts.live++
		}
	}
	m.addPartitions()
	m.addSizes()
	m.addGroups(groups)
	for _, id := range slices.Sorted(maps.Keys(m.brokers)) {
		m.view.brokers = append(m.view.brokers, *m.brokers[id])
	}
	m.shrinks, m.expands = causeCounts(s.isr.shrinks), causeCounts(s.isr.expands)
	m.unclean, m.gaps, m.isrSource = s.isr.unclean, maps.Clone(s.isr.gaps), s.isr.source
	return m.view
}

func (m *maker) broker(id inspect.BrokerID) *brokerRow {
	if m.brokers[id] == nil {
		m.names[id] = strconv.Itoa(int(id))
		m.brokers[id] = &brokerRow{id: m.names[id]}
	}
	return m.brokers[id]
}

func causeCounts(of map[brokerCause]float64) []causeCount {
	out := make([]causeCount, 0, len(of))
	for _, k := range slices.SortedFunc(maps.Keys(of), brokerCause.compare) {
		out = append(out, causeCount{strconv.Itoa(int(k.broker)), string(k.cause), of[k]})
	}
	return out
}

func (m *maker) addPartitions() {
	partitions, replicas := 0, 0
	for p := range m.snap.Partitions {
		partitions++
		replicas += len(p.Replicas)
	}
	m.partitions = make([]partitionRow, 0, partitions)
	m.replicas = make([]replicaRow, 0, replicas)
	indexes := indexNames{}
	for p := range m.snap.Partitions {
		m.partitions = append(m.partitions, m.partition(p, indexes.name(p.Index)))
	}
}

// indexNames are the partitions' numbers as text, each made once.
type indexNames []string

func (n *indexNames) name(index int32) string {
	for int(index) >= len(*n) {
		*n = append(*n, strconv.Itoa(len(*n)))
	}
	return (*n)[index]
}

func (m *maker) partition(p *inspect.Partition, index string) partitionRow {
	h, lag := p.Health(), p.Lag()
	row := partitionRow{
		Partition: p, index: index,
		underReplicated: len(h.OutOfSync) > 0, offline: p.Leader == inspect.NoBroker,
		effectiveMin: h.EffectiveMinISR, headroom: h.Headroom,
		logStart: lag.LogStart, hw: lag.HW, leo: lag.LEO, uncommitted: lag.Uncommitted,
	}
	switch {
	case h.EffectiveMinISR.IsKnown():
		row.underMin, row.atMin = inspect.Known(h.Has(inspect.StatusUnderMinISR)), inspect.Known(h.Has(inspect.StatusAtMinISR))
	case len(p.ISR) == 0: // below every minimum that there can be
		row.underMin, row.atMin = inspect.Known(true), inspect.Known(false)
	}
	if p.Adding.IsKnown() {
		row.reassigning = inspect.Known(p.Reassigning())
	}
	counted := m.state.isr.of(p.Topic, p.Index)
	row.shrinks, row.expands = counted.shrinks, counted.expands
	allTold := m.addReplicas(&row, &lag)
	m.count(&row, &h)
	o := &m.state.options
	unhealthy := h.Unhealthy()
	row.own = o.Partitions.has(unhealthy)
	row.countersOwn = o.Partitions.has(unhealthy || row.shrinks+row.expands > 0)
	row.replicasOwn = o.Replicas.has(unhealthy || !allTold)
	if !row.own {
		m.omitted["partition"]++
	}
	if !row.replicasOwn {
		m.omitted["replica"] += float64(len(p.Replicas))
	}
	return row
}

// has reports whether one that is unhealthy or not has series of its own.
func (d Detail) has(unhealthy bool) bool {
	return d == DetailAll || d == DetailUnhealthy && unhealthy
}

// addReplicas reports whether every replica told its LEO.
func (m *maker) addReplicas(row *partitionRow, lag *inspect.PartitionLag) (allTold bool) {
	allTold = true
	from := len(m.replicas)
	for i := range lag.Replicas {
		r := &lag.Replicas[i]
		b := m.broker(r.Broker)
		rep := replicaRow{broker: b.id, id: r.Broker, leo: r.LEO, lag: r.Lag, inSync: r.InSync}
		records, behind := r.Lag.Get()
		leo, told := r.LEO.Get()
		allTold = allTold && told
		switch {
		case behind && records == 0:
			rep.seconds = inspect.Known(0.0)
		case behind && told:
			rep.seconds = m.state.lags.written(row.Topic, row.Index, leo)
		}
		if behind && r.Broker != row.Leader {
			b.hosted.maxLag = atLeast(b.hosted.maxLag, inspect.Known(records))
			b.hosted.maxSeconds = atLeast(b.hosted.maxSeconds, rep.seconds)
			if r.InSync {
				b.hosted.inSyncSeconds = atLeast(b.hosted.inSyncSeconds, m.certainAge(row, r.LEO, records))
			}
		}
		m.replicas = append(m.replicas, rep)
	}
	row.replicas = m.replicas[from:len(m.replicas):len(m.replicas)]
	return allTold
}

// addSizes joins the leaders' logs with their partitions.
func (m *maker) addSizes() {
	topics := map[string][]partitionRow{}
	for from := 0; from < len(m.partitions); {
		to := from
		for to < len(m.partitions) && m.partitions[to].Topic == m.partitions[from].Topic {
			to++
		}
		topics[m.partitions[from].Topic] = m.partitions[from:to]
		from = to
	}
	for i := range m.snap.Brokers {
		dirs := m.snap.Brokers[i].LogDirs.Or(nil)
		for d := range dirs {
			for _, log := range dirs[d].Replicas {
				rows := topics[log.Topic]
				at := int(log.Partition) // the usual case: all from 0 on are there
				if log.Future || at >= len(rows) || rows[at].Index != log.Partition || rows[at].Leader != m.snap.Brokers[i].ID {
					continue
				}
				rows[at].sizeBytes = inspect.Known(log.SizeBytes)
			}
			dirs[d].Replicas = nil // of no more use, and large
		}
	}
}
