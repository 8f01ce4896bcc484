package exporter

import (
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// told is a partition of RF 3 as a test tells it: an offset below 0 is not told.
type told struct {
	leader   inspect.BrokerID
	isr      ids
	leo, hw  int64
	follower int64 // LEO of every other replica
	minISR   int32 // 0: not told
}

func (p told) partition(index int) inspect.Partition {
	known := func(at int64) inspect.Opt[inspect.Offset] {
		if at < 0 {
			return inspect.Unknown[inspect.Offset]()
		}
		return inspect.Known(inspect.Offset(at))
	}
	out := inspect.Partition{
		Topic: "t", Index: int32(index), Leader: p.leader, LeaderEpoch: inspect.Known(inspect.Epoch(0)),
		Replicas: ids{1, 2, 3}, ISR: p.isr, Adding: inspect.Known(ids{}), Removing: inspect.Known(ids{}),
		Offsets: &inspect.Offsets{LEOBefore: known(p.leo), HW: known(p.hw), LSO: known(p.hw), LogStart: known(min(p.hw, 0))},
	}
	if p.minISR > 0 {
		out.MinInsyncReplicas = inspect.Known(p.minISR)
	}
	for _, id := range out.Replicas {
		if id != p.leader {
			out.Offsets.Followers = append(out.Offsets.Followers, inspect.FollowerOffset{Broker: id, LEO: known(p.follower)})
		}
	}
	return out
}

func (p told) at(second int, group int64) *inspect.Snapshot {
	return snapshotAt(second, group, p)
}

// snapshotAt is what three brokers tell at a second; a group g has committed the
// first partition up to an offset, where it is not below 0.
func snapshotAt(second int, committed int64, partitions ...told) *inspect.Snapshot {
	s := &inspect.Snapshot{
		TakenAt: day.Add(time.Duration(second) * time.Second), Asked: inspect.PartOffsets | inspect.PartGroups,
		Topics: []inspect.Topic{{Name: "t", ID: inspect.Known("id")}},
	}
	for id := inspect.BrokerID(1); id <= 3; id++ {
		s.Brokers = append(s.Brokers, inspect.Broker{ID: id, Reachable: inspect.Known(true)})
	}
	for i, p := range partitions {
		s.Topics[0].Partitions = append(s.Topics[0].Partitions, p.partition(i))
	}
	if committed >= 0 {
		s.Groups = []inspect.Group{{Name: "g", Members: inspect.Known([]inspect.Member{}), Commits: inspect.Known([]inspect.Commit{
			{TopicPartition: inspect.TopicPartition{Topic: "t"}, Offset: inspect.Known(inspect.Offset(committed))},
		})}}
	}
	return s
}

// shown is what is served of a collection.
func shown(t *testing.T, v *view) scraped {
	t.Helper()
	var text strings.Builder
	if err := newPage(v, "").writePlain(&text); err != nil {
		t.Fatal(err)
	}
	return parse(text.String())
}

// TestCountsByBroker: what a broker leads and hosts, whatever has series of its own.
func TestCountsByBroker(t *testing.T) {
	t.Parallel()
	all := ids{1, 2, 3}
	const (
		records   = "kafka_broker_uncommitted_records"
		age       = "kafka_broker_uncommitted_max_age_seconds"
		underMin  = "kafka_broker_under_min_isr_partitions"
		inSyncLag = "kafka_broker_in_sync_replica_max_lag_seconds"
		anyLag    = "kafka_broker_replica_max_lag_seconds"
	)
	for _, tt := range []struct {
		name string
		// partitions are as they are for 20 s, after one second with all logs at 0.
		partitions []told
		want       []string
	}{
		{"nothing waits", []told{{1, all, 5, 5, 5, 2}, {2, all, 7, 7, 7, 2}}, []string{
			records + `{broker="1"} 0`, age + `{broker="1"} 0`, underMin + `{broker="1"} 0`, inSyncLag + `{broker="2"} 0`,
			records + `{broker="3"} 0`, age + `{broker="3"} 0`, underMin + `{broker="3"} 0`, // it leads none
			`kafka_cluster_wrong_leader_partitions 1`,
		}},
		{"one waits among those that do not", []told{{1, all, 5, 5, 5, 2}, {1, all, 9, 2, 2, 2}, {1, all, 9, 8, 9, 2}}, []string{
			records + `{broker="1"} 8`, age + `{broker="1"} 19`, records + `{broker="2"} 0`, age + `{broker="2"} 0`,
			inSyncLag + `{broker="2"} 19`, anyLag + `{broker="2"} 20`,
		}},
		{"what is out of the ISR is waited for by nobody", []told{{1, ids{1}, 9, 9, 2, 1}}, []string{
			records + `{broker="1"} 0`, age + `{broker="1"} 0`, anyLag + `{broker="2"} 20`, inSyncLag + `{broker="2"} -`,
		}},
		{"under min ISR the HW stands by rule", []told{{1, ids{1}, 9, 2, 2, 2}}, []string{
			records + `{broker="1"} 7`, age + `{broker="1"} 0`, underMin + `{broker="1"} 1`,
		}},
		{"it is not known whether it is under min ISR", []told{{1, ids{1}, 9, 2, 2, 0}}, []string{
			records + `{broker="1"} 7`, age + `{broker="1"} 19`, underMin + `{broker="1"} -`, underMin + `{broker="2"} 0`,
		}},
		{"a leader that does not tell", []told{{1, all, 5, 2, 5, 2}, {1, all, -1, -1, 5, 2}}, []string{
			records + `{broker="1"} -`, age + `{broker="1"} 19`,
		}},
		{"without a leader", []told{{inspect.NoBroker, ids{1}, -1, -1, 5, 2}}, []string{
			records + `{broker="1"} 0`, age + `{broker="1"} 0`, underMin + `{broker="1"} 0`,
			`kafka_cluster_under_min_isr_partitions 1`, `kafka_cluster_wrong_leader_partitions 0`,
		}},
	} {
		for _, d := range []Detail{DetailAll, DetailNone} {
			s := newState(Options{Partitions: d, Replicas: d, Groups: d}.withDefaults())
			begin := make([]told, len(tt.partitions))
			for i, p := range tt.partitions {
				begin[i] = told{p.leader, p.isr, min(p.leo, 0), min(p.hw, 0), 0, p.minISR}
			}
			v := s.collected(snapshotAt(0, -1, begin...), day)
			for second := 1; second <= 20; second++ {
				v = s.collected(snapshotAt(second, -1, tt.partitions...), day)
			}
			t.Run(tt.name+" "+string(d), func(t *testing.T) { shown(t, v).is(t, tt.want...) })
		}
	}
}

// TestGroupLagSeconds: a group is behind from when a record could be read, which is
// when it was committed.
func TestGroupLagSeconds(t *testing.T) {
	t.Parallel()
	s := newState(Options{}.withDefaults())
	var v *view
	for second := range 41 {
		p := told{1, ids{1, 2, 3}, 5, 5, 5, 2}
		if second >= 10 { // written at 10 s, committed at 30 s
			p.leo = 9
		}
		if second >= 30 {
			p.hw = 9
		}
		v = s.collected(p.at(second, 5), day)
	}
	shown(t, v).is(t,
		`kafka_consumergroup_lag{consumergroup="g",topic="t",partition="0"} 4`,
		`kafka_consumergroup_lag_seconds{consumergroup="g",topic="t",partition="0"} 11`,
		`kafka_topic_partition_replica_lag_seconds{topic="t",partition="0",broker="2"} 31`,
	)
}
