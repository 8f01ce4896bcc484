package exporter

import (
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// groupMetric is one that every partition of a group with series may have.
func groupMetric(m metric[*view], draw func(g string, p *groupPartitionRow, add addFunc)) metric[*view] {
	m.labels, m.since, m.kind = []string{"consumergroup", "topic", "partition"}, first, gauge
	m.draw = func(v *view, add addFunc) {
		for i := range v.groups {
			g := &v.groups[i]
			for j := range g.rows {
				draw(g.Name, &g.rows[j], add)
			}
		}
	}
	return m
}

const (
	// sharpness is how far lags in time can be trusted.
	sharpness    = "Sharp to one sample interval. Beyond a minute, and where the exporter did not look for a while, it is at the least so much, and up to a minute more; beyond what is remembered, an hour for up to some 39,000 partitions and less for more, it may be any more."
	groupLeftOut = "left out by --group-metrics"
	noCommit     = "the group has no commit for the partition, or it could not be told; the partition no longer exists; " + groupLeftOut
	noEnd        = "the partition's end was not told, or it has no leader; " + noCommit
)

func groupMetrics() []metric[*view] {
	return append(groupPartitionMetrics(), groupWholeMetrics()...)
}

func groupPartitionMetrics() []metric[*view] {
	return []metric[*view]{
		groupMetric(metric[*view]{
			name: "kafka_consumergroup_current_offset", unit: "offset",
			help:   "What the group has committed for the partition: it will read this offset next.",
			absent: noCommit, use: "rate() is what the group gets through.",
		}, func(g string, p *groupPartitionRow, add addFunc) { known(add, p.Committed, g, p.Topic, p.index) }),
		groupMetric(metric[*view]{
			name: "kafka_consumergroup_lag", unit: "records",
			help:   "Records that are there and that the group has yet to read: high watermark less what it has committed, or less the log start where that has passed it. Never negative.",
			absent: noEnd, use: "Whether consumers keep up.",
		}, func(g string, p *groupPartitionRow, add addFunc) { known(add, p.Lag, g, p.Topic, p.index) }),
		groupMetric(metric[*view]{
			name: "kafka_consumergroup_lag_seconds", unit: "seconds",
			help:   "How long ago the first record that the group has yet to read was committed, which is when it could be read; 0 without lag. " + sharpness,
			absent: noEnd + "; behind since before the exporter started, for a minute", use: "What an objective for freshness is measured by.",
		}, func(g string, p *groupPartitionRow, add addFunc) { known(add, p.seconds, g, p.Topic, p.index) }),
		groupMetric(metric[*view]{
			name: "kafka_consumergroup_lag_read_committed", unit: "records",
			help:   "As kafka_consumergroup_lag, up to the last stable offset: as far as a read_committed consumer can get.",
			absent: noEnd, use: "A lag that only an open transaction causes.",
		}, func(g string, p *groupPartitionRow, add addFunc) {
			known(add, p.LagReadCommitted, g, p.Topic, p.index)
		}),
		groupMetric(metric[*view]{
			name: "kafka_consumergroup_committed_beyond_end", unit: zeroOrOneUnit,
			help:   "Whether the commit lies beyond the high watermark: the topic was created anew, or its log was cut. The group reads nothing until the log has grown so far.",
			absent: noEnd, use: "A group with lag 0 that is not well.",
		}, func(g string, p *groupPartitionRow, add addFunc) {
			if n, ok := p.Ahead.Get(); ok {
				add(truth(n > 0), g, p.Topic, p.index)
			}
		}),
		groupMetric(metric[*view]{
			name: "kafka_consumergroup_committed_below_start", unit: zeroOrOneUnit,
			help:   "Whether the commit lies before the log start: retention has deleted records before the group read them.",
			absent: noEnd, use: "Records are lost to this group.",
		}, func(g string, p *groupPartitionRow, add addFunc) {
			if n, ok := p.BelowStart.Get(); ok {
				add(truth(n > 0), g, p.Topic, p.index)
			}
		}),
	}
}

func groupWholeMetrics() []metric[*view] {
	const incomplete = "a part of the sum is not known; the group has no commit for the topic; " + groupLeftOut
	group, groupTopicLabels := []string{"consumergroup"}, []string{"consumergroup", "topic"}
	each := func(draw func(g *groupRow, add addFunc)) func(*view, addFunc) {
		return func(v *view, add addFunc) {
			for i := range v.groups {
				if v.groups[i].own {
					draw(&v.groups[i], add)
				}
			}
		}
	}
	sums := func(of func(t *groupTopic) inspect.Opt[int64]) func(*view, addFunc) {
		return each(func(g *groupRow, add addFunc) {
			for i := range g.topics {
				known(add, of(&g.topics[i]), g.Name, g.topics[i].topic, "")
			}
		})
	}
	return []metric[*view]{
		{
			name: "kafka_consumergroup_current_offset_sum", kind: gauge, labels: groupTopicLabels, unit: "offset", since: first,
			help:   "Sum of kafka_consumergroup_current_offset over the topic's partitions.",
			absent: incomplete, use: "rate() is what the group gets through of a topic.",
			draw: sums(func(t *groupTopic) inspect.Opt[int64] { return t.offset }),
		},
		{
			name: "kafka_consumergroup_lag_sum", kind: gauge, labels: groupTopicLabels, unit: "records", since: first,
			help:   "Sum of kafka_consumergroup_lag over the topic's partitions.",
			absent: incomplete, use: "Autoscaling: it is whole, or absent.",
			draw: sums(func(t *groupTopic) inspect.Opt[int64] { return t.lag }),
		},
		{
			name: "kafka_consumergroup_members", kind: gauge, labels: group, unit: "members", since: first,
			help:   "Members of the group.",
			absent: "the coordinator did not tell; share and streams groups; " + groupLeftOut, use: "0: nobody reads.",
			draw: each(func(g *groupRow, add addFunc) {
				if members, ok := g.Members.Get(); ok {
					add(float64(len(members)), g.Name, "", "")
				}
			}),
		},
		{
			name: "kafka_consumergroup_info", kind: gauge, labels: []string{"consumergroup", "type", "state"}, unit: "1", since: first,
			help:   "The group's type (classic, consumer, share, streams) and state, in Kafka's words.",
			absent: "the coordinator told neither; " + groupLeftOut, use: "Groups that rebalance, or are dead.",
			draw: each(func(g *groupRow, add addFunc) {
				state, ok := g.State.Get()
				if kind, has := g.Type.Get(); ok || has {
					add(1, g.Name, string(kind), state)
				}
			}),
		},
	}
}
