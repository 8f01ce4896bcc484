package exporter

import (
	"strconv"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// groupRow is a group with its partitions.
type groupRow struct {
	*inspect.GroupLag
	// own: it has series.
	own    bool
	topics []groupTopic
	rows   []groupPartitionRow
	// refused are partitions whose commit could not be told.
	refused map[inspect.TopicPartition]bool
}

// groupTopic sums a group's partitions of one topic. A sum with a part that is not
// known is not known.
type groupTopic struct {
	topic       string
	offset, lag inspect.Opt[int64]
}

type groupPartitionRow struct {
	*inspect.GroupPartition
	index   string
	seconds inspect.Opt[float64]
}

func (m *maker) addGroups(lags []inspect.GroupLag) {
	m.groups = make([]groupRow, 0, len(lags))
	for i := range lags {
		l := &lags[i]
		g := groupRow{
			GroupLag: l,
			own:      m.state.options.Groups.has(m.state.groups.unhealthy(l.Name, m.takenAt)),
		}
		if g.own {
			m.fill(&g)
		} else {
			m.omitted["group"]++
		}
		m.groups = append(m.groups, g)
	}
}

func (m *maker) fill(g *groupRow) {
	for _, c := range g.Commits.Or(nil) {
		if c.Error != "" {
			if g.refused == nil {
				g.refused = map[inspect.TopicPartition]bool{}
			}
			g.refused[c.TopicPartition] = true
		}
	}
	g.rows = make([]groupPartitionRow, 0, len(g.Partitions))
	for i := range g.Partitions {
		p := &g.Partitions[i]
		if p.Gone || !m.state.options.Filter.topic(p.Topic, false) {
			continue
		}
		row := groupPartitionRow{GroupPartition: p, index: strconv.Itoa(int(p.Partition))}
		lag, behind := p.Lag.Get()
		position, told := p.Position().Get()
		switch {
		case behind && lag == 0:
			row.seconds = inspect.Known(0.0)
		case behind && told:
			row.seconds = m.state.lags.readable(p.Topic, p.Partition, position)
		}
		g.rows = append(g.rows, row)
	}
	for from := 0; from < len(g.rows); {
		to := from
		for to < len(g.rows) && g.rows[to].Topic == g.rows[from].Topic {
			to++
		}
		g.topics = append(g.topics, sumTopic(g, g.rows[from:to]))
		from = to
	}
}

// sumTopic sums what is committed: a partition without a commit is no part of it,
// but one whose commit or end could not be told makes both sums unknown.
func sumTopic(g *groupRow, rows []groupPartitionRow) groupTopic {
	t := groupTopic{topic: rows[0].Topic}
	if !g.Commits.IsKnown() {
		return t
	}
	var offset, lag int64
	n := 0
	for i := range rows {
		committed, has := rows[i].Committed.Get()
		behind, known := rows[i].Lag.Get()
		switch {
		case has && known:
			offset += int64(committed)
			lag += behind
			n++
		case has, g.refused[rows[i].TopicPartition]:
			return t
		}
	}
	if n > 0 {
		t.offset, t.lag = inspect.Known(offset), inspect.Known(lag)
	}
	return t
}
