package exporter

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestFilters: they hold for every series, counts included.
func TestFilters(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) {
		m.AddTopic("other", 2, 3).Partitions[0].Shrink(1)
		m.AddTopic("t-internal", 1, 3)
		m.Group("g").Commit("other", 0, 0)
		m.AddGroup("h", fakekafka.ClassicGroup).Commit("t", 0, 1)
	})
	for _, tt := range []struct {
		name                   string
		topics, not, groups, n string
		wantTopics             []string
		wantGroups             []string
	}{
		{"none", "", "", "", "", []string{"other", "t", "t-internal"}, []string{"g", "h"}},
		{"the whole name", "t", "", "g", "", []string{"t"}, []string{"g"}},
		{"an alternative", "t|other", "", "", "h", []string{"other", "t"}, []string{"g"}},
		{"exclude beats include", ".*", "t.*", "", "", []string{"other"}, []string{"g", "h"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c, patience, func(o *Options) {
				o.Filter.Topics, _ = ParseNames(tt.topics)
				o.Filter.TopicsExclude, _ = ParseNames(tt.not)
				o.Filter.Groups, _ = ParseNames(tt.groups)
				o.Filter.GroupsExclude, _ = ParseNames(tt.n)
			})
			r.collectNow()
			r.sampleNow()
			s := r.scrape()
			s.count(t, len(tt.wantTopics), `kafka_topic_partitions\{.*`)
			under := 0
			for _, name := range tt.wantTopics {
				s.count(t, 1, `kafka_topic_partitions\{topic="`+name+`"}`)
				if name == "other" {
					under = 1
				}
			}
			s.is(t, fmt.Sprintf(`kafka_cluster_under_replicated_partitions %d`, under),
				fmt.Sprintf(`kafkaops_filtered_out{kind="topic"} %d`, 3-len(tt.wantTopics)),
				fmt.Sprintf(`kafkaops_filtered_out{kind="group"} %d`, 2-len(tt.wantGroups)))
			s.count(t, len(tt.wantGroups), `kafka_consumergroup_members.*`)
			if under == 0 {
				s.count(t, 0, `.*topic="other".*`)
			}
		})
	}
}

// TestLeaderlessCoordinatorsFilteredOut: groups that have no coordinator are missing,
// and that is told where the topic that they live in is filtered out too.
func TestLeaderlessCoordinatorsFilteredOut(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) {
		for _, p := range m.AddTopic("__consumer_offsets", 2, 3).Partitions {
			p.Leader, p.ISR = fakekafka.NoLeader, nil
		}
		m.Groups = nil
	})
	r := newRig(t, c, patience, func(o *Options) { o.Filter.TopicsExclude, _ = ParseNames("_.*") })
	r.collectNow()
	r.scrape().is(t, `kafkaops_collections_total{result="partial"} 1`, `kafkaops_collection_errors_total{broker="",kind="request"} 1`,
		`kafka_topic_partitions{topic="__consumer_offsets"} -`)
}

// TestDetails bound series, and no count; what is left out is counted.
func TestDetails(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) {
		m.Topic("t").Partitions[1].Shrink(0)
		m.AddGroup("idle", fakekafka.ClassicGroup).Commit("t", 0, 100)
	})
	for _, tt := range []struct {
		detail                       Detail
		partitions, replicas, groups int // series of one metric each
	}{
		{DetailAll, 3, 9, 2},
		{DetailUnhealthy, 1, 3, 1},
		{DetailNone, 0, 0, 0},
	} {
		t.Run(string(tt.detail), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c, patience, func(o *Options) { o.Partitions, o.Replicas, o.Groups = tt.detail, tt.detail, tt.detail })
			r.collectNow()
			s := r.scrape()
			s.count(t, tt.partitions, `kafka_topic_partition_offline\{.*`)
			s.count(t, tt.replicas, `kafka_topic_partition_replica_in_sync.*`)
			s.count(t, tt.groups, `kafka_consumergroup_members.*`)
			s.is(t,
				"kafka_cluster_under_replicated_partitions 1", `kafka_broker_out_of_sync_replicas{broker="0"} 1`,
				fmt.Sprintf(`kafkaops_series_omitted{kind="partition"} %d`, 3-tt.partitions),
				fmt.Sprintf(`kafkaops_series_omitted{kind="replica"} %d`, 9-tt.replicas),
				fmt.Sprintf(`kafkaops_series_omitted{kind="group"} %d`, 2-tt.groups),
			)
		})
	}
}

// TestUnhealthyGroups: a growing lag, an unknown partition, no members or commits out
// of range, and five minutes after.
func TestUnhealthyGroups(t *testing.T) {
	t.Parallel()
	group := func(lag int64, unknown int, members int) inspect.GroupLag {
		return inspect.GroupLag{
			Group:    &inspect.Group{Name: "g", Members: inspect.Known(make([]inspect.Member, members))},
			LagKnown: inspect.Known(lag), UnknownPartitions: inspect.Known(unknown),
		}
	}
	well := group(10, 0, 1)
	with := func(l inspect.GroupLag, p inspect.GroupPartition) inspect.GroupLag {
		l.Partitions = append(l.Partitions, p)
		return l
	}
	for _, tt := range []struct {
		name  string
		looks []inspect.GroupLag
		want  bool
	}{
		{"well", []inspect.GroupLag{well, well, group(3, 0, 1)}, false},
		{"lag grows", []inspect.GroupLag{well, group(11, 0, 1)}, true},
		{"unknown partition", []inspect.GroupLag{group(10, 1, 1)}, true},
		{"no members", []inspect.GroupLag{group(0, 0, 0)}, true},
		{"committed beyond the end", []inspect.GroupLag{with(well, inspect.GroupPartition{Ahead: inspect.Known[int64](1)})}, true},
		{"committed below the start", []inspect.GroupLag{with(well, inspect.GroupPartition{BelowStart: inspect.Known[int64](1)})}, true},
		{"neither", []inspect.GroupLag{with(well, inspect.GroupPartition{Ahead: inspect.Known[int64](0), BelowStart: inspect.Known[int64](0)})}, false},
		{"a lag that stands for a minute", slices.Repeat([]inspect.GroupLag{well}, 7), true},
		{"for less", slices.Repeat([]inspect.GroupLag{well}, 6), false},
		{"no lag", slices.Repeat([]inspect.GroupLag{group(0, 0, 1)}, 20), false},
		{"a lag that stands while commits move", slices.Collect(func(yield func(inspect.GroupLag) bool) {
			for i := range 20 {
				if !yield(with(well, inspect.GroupPartition{Committed: inspect.Known(inspect.Offset(i))})) {
					return
				}
			}
		}), false},
		{"well again", []inspect.GroupLag{group(0, 0, 0), well}, true},
	} {
		var g groupHealth
		at := day
		for _, l := range tt.looks {
			at = at.Add(10 * time.Second)
			g.look([]inspect.GroupLag{l}, at)
		}
		if got := g.unhealthy("g", at); got != tt.want {
			t.Errorf("%s: got unhealthy %v, want %v", tt.name, got, tt.want)
		}
		if g.unhealthy("g", at.Add(6*time.Minute)) {
			t.Errorf("%s: unhealthy for ever", tt.name)
		}
	}
}

// TestUnhealthyGroupOfSilentCoordinator: a pass in which its coordinator tells nothing
// does not take a group's series.
func TestUnhealthyGroupOfSilentCoordinator(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) { m.Group("g").Members = nil })
	r := newRig(t, c, patience, func(o *Options) { o.Groups = DetailUnhealthy })
	const members = `kafka_consumergroup_members{consumergroup="g"} `
	r.collectNow()
	r.scrape().is(t, members+"0")
	c.Change(func(m *fakekafka.Model) { m.Group("g").Join("m", "t", 0, 1, 2) })
	c.Break(1, fakekafka.Faults{Refuse: true})
	r.collectNow()
	r.scrape().is(t, members+"-")
	c.Heal(1)
	r.collectNow()
	r.scrape().is(t, members+"1")
}

// TestServiceWithoutReplicaOffsets: LEO and lags are absent, the rest is not, and
// groups' lags in time go by the HW.
func TestServiceWithoutReplicaOffsets(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) {
		for _, p := range m.Topic("t").Partitions {
			p.AppendPerRead = 1
		}
	})
	for id := range int32(3) {
		c.Break(id, fakekafka.Faults{ReplicaReads: fakekafka.ReplicaReadsAsConsumer})
	}
	r := newRig(t, c, patience, nil)
	r.collectNow()
	r.sampleNow()
	c.Change(func(m *fakekafka.Model) { m.Group("g").Commit("t", 0, m.Topic("t").Partitions[0].HW) })
	r.sampleNow()
	r.collectNow()
	s := r.scrape()
	s.count(t, 0, `kafka_topic_partition_(log_end_offset|uncommitted_records|replica_lag_.*|replica_log_end_offset)\{.*`)
	s.count(t, 3, `kafka_topic_partition_current_offset.*`)
	s.count(t, 1, `kafka_consumergroup_lag_seconds.*partition="0".*`)
}
