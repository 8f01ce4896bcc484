package render

import (
	"fmt"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

var takenAt = time.Date(2026, 11, 29, 20, 15, 57, 123_000_000, time.UTC)

func ids(ids ...inspect.BrokerID) []inspect.BrokerID { return ids }

// cluster is three brokers that all answer, with the topics given.
func cluster(topics ...inspect.Topic) *inspect.Snapshot {
	s := &inspect.Snapshot{
		ClusterID: inspect.Known("64bNKcnqSLylJY2lNVGf3g"), TakenAt: takenAt,
		Asked:  inspect.PartReachable | inspect.PartOffsets | inspect.PartLogDirs | inspect.PartFenced | inspect.PartELR,
		Topics: topics,
	}
	for id := inspect.BrokerID(1); id <= 3; id++ {
		s.Brokers = append(s.Brokers, inspect.Broker{
			ID: id, Host: fmt.Sprintf("10.0.0.1%d", id), Port: 9092,
			Rack:   inspect.Known(fmt.Sprintf("eu-1%c", 'a'+id-1)),
			Fenced: inspect.Known(false), Reachable: inspect.Known(true),
			VersionRange: inspect.Known("4.4"),
			LogDirs: inspect.Known([]inspect.LogDir{{
				Path: "/var/lib/kafka", TotalBytes: inspect.Known[int64](2 << 40),
				UsableBytes: inspect.Known[int64](900 << 30), ReplicasBytes: inspect.Known[int64](1100 << 30),
			}}),
		})
	}
	return s
}

// topic sets what its partitions have from it.
func topic(name string, minISR int32, partitions ...inspect.Partition) inspect.Topic {
	t := inspect.Topic{
		Name: name, ID: inspect.Known("Rs9nV9pbT7iVlYbbm4Bkxg"), Internal: name[0] == '_',
		MinInsyncReplicas: inspect.Known(minISR),
	}
	for i, p := range partitions {
		p.Topic, p.TopicID, p.Internal, p.Index = name, t.ID, t.Internal, int32(i)
		p.MinInsyncReplicas = t.MinInsyncReplicas
		t.Partitions = append(t.Partitions, p)
	}
	return t
}

// part has the first replica as its leader and no reassignment.
func part(replicas, isr []inspect.BrokerID, offsets *inspect.Offsets) inspect.Partition {
	none := inspect.Known([]inspect.BrokerID(nil))
	return inspect.Partition{
		Leader: replicas[0], LeaderEpoch: inspect.Known[inspect.Epoch](14), Replicas: replicas, ISR: isr,
		ELR: none, LastKnownELR: none, Adding: none, Removing: none, Offsets: offsets,
	}
}

// offsets of a leader that does not move, and its followers' LEO.
func offsets(hw, leo inspect.Offset, followers ...inspect.FollowerOffset) *inspect.Offsets {
	return &inspect.Offsets{
		LEOBefore: inspect.Known(leo), LEOAfter: inspect.Known(leo), HW: inspect.Known(hw),
		LSO: inspect.Known(hw), LogStart: inspect.Known[inspect.Offset](0), Followers: followers,
	}
}

func at(id inspect.BrokerID, leo inspect.Offset) inspect.FollowerOffset {
	return inspect.FollowerOffset{Broker: id, LEO: inspect.Known(leo)}
}

func healthy() *inspect.Snapshot {
	return cluster(
		topic("__consumer_offsets", 1, part(ids(2, 3, 1), ids(2, 3, 1), offsets(1204, 1204, at(3, 1204), at(1, 1204)))),
		topic("orders", 2,
			part(ids(1, 2, 3), ids(1, 2, 3), offsets(921404, 921404, at(2, 921404), at(3, 921404))),
			part(ids(2, 3, 1), ids(3, 2, 1), offsets(918200, 918250, at(3, 918240), at(1, 918250)))),
	)
}

// pausedFollower: broker 3 hangs; payments is under its min ISR, orders at it.
func pausedFollower() *inspect.Snapshot {
	silent := inspect.FollowerOffset{Broker: 3, Error: "no reply to ListOffsets within 3s"}
	p4 := part(ids(1, 2, 3), ids(1), offsets(918250, 921404, at(2, 918250), silent))
	p4.Offsets.LEOAfter = inspect.Known[inspect.Offset](921410)
	s := cluster(
		topic("orders", 2, part(ids(1, 2, 3), ids(1, 2), offsets(5000, 5000, at(2, 5000), at(3, 4100)))),
		topic("payments", 2, p4, part(ids(3, 2, 1), ids(2, 1), offsets(70, 70, silent, at(1, 70)))),
	)
	s.Topics[1].Partitions[1].Leader = 2
	// Of the third one the log could tell nothing.
	s.Topics[0].Partitions[0].Onset = &inspect.Onset{
		Since: inspect.Known(takenAt.Add(-86_123 * time.Millisecond)), Cause: inspect.Known(inspect.CauseReplicaLag),
	}
	s.Topics[1].Partitions[0].Onset = &inspect.Onset{Before: inspect.Known(takenAt.Add(-63 * time.Minute))}
	s.Brokers[2].Reachable = inspect.Known(false)
	s.Brokers[2].VersionRange = inspect.Unknown[string]()
	s.Brokers[2].LogDirs = inspect.Unknown[[]inspect.LogDir]()
	for _, request := range []string{"ApiVersions", "ListOffsets"} {
		s.Failures = append(s.Failures, inspect.Failure{
			Broker: inspect.Known[inspect.BrokerID](3), Address: "10.0.0.13:9092", Request: request,
			Phase: inspect.PhaseRequest, Error: "no reply to " + request + " within 3s",
		})
	}
	s.Failures[1].Lost = "its 3 replicas are shown as unknown"
	return s
}

func leaderless() *inspect.Snapshot {
	p := part(ids(2), nil, &inspect.Offsets{Followers: []inspect.FollowerOffset{at(2, 1200)}})
	p.Leader, p.Offline = inspect.NoBroker, ids(2)
	p.ELR = inspect.Known(ids(2))
	s := cluster(topic("audit", 1,
		part(ids(1), ids(1), offsets(10, 10)), p, part(ids(3), ids(3), offsets(12, 12))))
	s.Brokers[1].Fenced, s.Brokers[1].Reachable = inspect.Known(true), inspect.Unknown[bool]()
	s.Brokers[0].LogDirs = inspect.Known([]inspect.LogDir{{Path: "/disk2", Error: "KAFKA_STORAGE_ERROR"}})
	return s
}

func reassigning() *inspect.Snapshot {
	p := part(ids(1, 2, 3, 4), ids(1, 2, 3), offsets(500, 500, at(2, 500), at(3, 500), at(4, 120)))
	p.Adding, p.Removing = inspect.Known(ids(4)), inspect.Known(ids(1))
	q := part(ids(3, 1, 2), ids(1, 2), offsets(9, 9, at(3, 5), at(2, 9)))
	q.Leader = 1
	q.Offsets.Followers[0], q.Offsets.Followers[1] = at(3, 5), at(2, 9)
	return cluster(topic("moving", 2, p, q))
}

func minAboveRF() *inspect.Snapshot {
	return cluster(topic("single", 2, part(ids(2), ids(2), offsets(3, 3))))
}

func unknownMin() *inspect.Snapshot {
	s := healthy()
	for t := range s.Topics {
		s.Topics[t].MinInsyncReplicas = inspect.Unknown[int32]()
		for p := range s.Topics[t].Partitions {
			s.Topics[t].Partitions[p].MinInsyncReplicas = inspect.Unknown[int32]()
			s.Topics[t].Partitions[p].Adding = inspect.Unknown[[]inspect.BrokerID]()
			s.Topics[t].Partitions[p].Removing = inspect.Unknown[[]inspect.BrokerID]()
			s.Topics[t].Partitions[p].ELR = inspect.Unknown[[]inspect.BrokerID]()
		}
	}
	s.Failures = []inspect.Failure{{
		Address: "10.0.0.11:9092", Request: "DescribeConfigs", Phase: inspect.PhaseRequest,
		Error: "TOPIC_AUTHORIZATION_FAILED", Lost: "min ISR is shown as unknown", Hint: "It needs DESCRIBE_CONFIGS on the topics",
	}}
	return s
}

func offsetsUnknown() *inspect.Snapshot {
	s := healthy()
	for p := range s.Partitions {
		p.Offsets = &inspect.Offsets{Error: "NOT_LEADER_OR_FOLLOWER"}
		for _, id := range p.Replicas[1:] {
			p.Offsets.Followers = append(p.Offsets.Followers, inspect.FollowerOffset{Broker: id, Refused: true, Error: "replica id -2 is not honoured"})
		}
	}
	s.Controller = inspect.Known[inspect.BrokerID](100)
	return s
}

func judge(s *inspect.Snapshot) []inspect.Judged {
	var out []inspect.Judged
	for p := range s.Partitions {
		out = append(out, inspect.Judged{Partition: p, Health: p.Health()})
	}
	return out
}

func lagRowsOf(s *inspect.Snapshot) []LagRow {
	var out []LagRow
	for p := range s.Partitions {
		out = append(out, NewLagRow(p))
	}
	return out
}

// timed adds what samples would tell to the first partition of payments.
func timed(rows []LagRow) []LagRow {
	for i := range rows {
		rows[i].Timing = &PartitionTiming{HWFrozenMs: inspect.Known[int64](0)}
		for _, r := range rows[i].Lag.Replicas {
			t := ReplicaTiming{Broker: r.Broker}
			switch {
			case r.Lag.Or(1) == 0:
				t.LagMs = inspect.Known[int64](0)
			case r.Broker == 2:
				t.LagMs, t.CatchUpMs = inspect.Known[int64](12_412), inspect.Known[int64](8000)
			case r.LEO.IsKnown():
				t.LagMsAtLeast = inspect.Known[int64](91_000)
			}
			rows[i].Timing.Replicas = append(rows[i].Timing.Replicas, t)
		}
		if rows[i].Partition.Topic == "payments" && rows[i].Partition.Index == 0 {
			rows[i].Timing.HWFrozenMs = inspect.Known[int64](42_000)
			rows[i].Timing.AppendPerSecond = inspect.Known(75.25)
			rows[i].Timing.CommitPerSecond = inspect.Known(0.0)
			rows[i].Notes = []string{"a producer is not using acks=all"}
		}
	}
	return rows
}

// grouped has a group of every kind and with every oddity.
func grouped() *inspect.Snapshot {
	silent := &inspect.Offsets{Error: "no reply to ListOffsets within 3s"}
	cut := part(ids(3, 2, 1), ids(3, 2, 1), offsets(300, 300, at(2, 300), at(1, 300)))
	held := part(ids(1, 2, 3), ids(1, 2, 3), offsets(1000, 1040, at(2, 1040), at(3, 1040)))
	held.Offsets.LogStart, held.Offsets.LSO = inspect.Known[inspect.Offset](400), inspect.Known[inspect.Offset](900)
	s := cluster(
		topic("orders", 2,
			part(ids(1, 2, 3), ids(1, 2, 3), offsets(918250, 921404, at(2, 921404), at(3, 921404))),
			part(ids(2, 3, 1), ids(2, 3, 1), offsets(917004, 917004, at(3, 917004), at(1, 917004))),
			part(ids(3, 1, 2), ids(3, 1, 2), silent)),
		topic("payments", 2, held, cut),
	)
	p := func(topic string, partition int32) inspect.TopicPartition {
		return inspect.TopicPartition{Topic: topic, Partition: partition}
	}
	commit := func(tp inspect.TopicPartition, at inspect.Offset) inspect.Commit {
		return inspect.Commit{TopicPartition: tp, Offset: inspect.Known(at)}
	}
	member := func(n int, assigned ...inspect.TopicPartition) inspect.Member {
		return inspect.Member{
			ID:       fmt.Sprintf("consumer-billing-%d-2b0d1c1e-4d0a-4c3f-9e53-4ad2d1e5a00%d", n, n),
			ClientID: fmt.Sprintf("consumer-billing-%d", n), Host: fmt.Sprintf("/10.0.0.%d", n), Assigned: assigned,
		}
	}
	s.Groups = []inspect.Group{
		{
			Name: "audit", Type: inspect.Known(inspect.GroupConsumer), Protocol: "consumer", State: inspect.Known("Stable"), Coordinator: 2,
			Members: inspect.Known([]inspect.Member{{ID: "kEyTmYhLQMyoNNqWmVXFDw", ClientID: "audit", Host: "/10.0.0.9", Assigned: []inspect.TopicPartition{p("payments", 0), p("payments", 1)}}}),
			Commits: inspect.Known([]inspect.Commit{commit(p("payments", 0), 200), commit(p("payments", 1), 500)}),
		},
		{
			Name: "billing", Type: inspect.Known(inspect.GroupClassic), Protocol: "consumer", State: inspect.Known("Stable"), Coordinator: 1,
			Members: inspect.Known([]inspect.Member{member(1, p("orders", 0), p("orders", 1)), member(2, p("orders", 2)), member(3)}),
			Commits: inspect.Known([]inspect.Commit{commit(p("orders", 0), 918250), commit(p("orders", 1), 915000), commit(p("orders", 2), 7)}),
		},
		{
			Name: "connect-s3", Type: inspect.Known(inspect.GroupClassic), Protocol: "connect", State: inspect.Known("Stable"), Coordinator: 3,
			Members: inspect.Known([]inspect.Member{member(7)}), Commits: inspect.Known([]inspect.Commit{}),
		},
		{
			Name: "mirror/eu-west-1-to-eu-central-1-of-everything", Type: inspect.Known(inspect.GroupClassic), State: inspect.Known("Empty"), Coordinator: 3,
			Members: inspect.Known([]inspect.Member{}),
			Commits: inspect.Known([]inspect.Commit{commit(p("old-orders", 0), 77), commit(p("orders", 1), 900000), {TopicPartition: p("payments", 0)}}),
		},
		{
			Name: "refused", Type: inspect.Known(inspect.GroupClassic), Protocol: "consumer", State: inspect.Known("Stable"), Coordinator: 1,
			Error: "GROUP_AUTHORIZATION_FAILED",
		},
		{Name: "workflow", Type: inspect.Known(inspect.GroupShare), Protocol: "share", State: inspect.Known("Empty"), Coordinator: 3},
	}
	return s
}

func groupRowsOf(s *inspect.Snapshot) []GroupRow {
	var out []GroupRow
	for _, l := range s.GroupLags() {
		out = append(out, GroupRow{GroupLag: l})
	}
	return MostBehindFirst(out)
}

// timedGroupRows adds what samples would tell.
func timedGroupRows(rows []GroupRow) []GroupRow {
	for i := range rows {
		rows[i].Times = make([]ReadTime, len(rows[i].Partitions))
		for n := range rows[i].Partitions {
			switch lag, known := rows[i].Partitions[n].Lag.Get(); {
			case known && lag == 0:
				rows[i].Times[n].LagMs = inspect.Known[int64](0)
			case known && lag < 10_000:
				rows[i].Times[n].LagMs = inspect.Known[int64](12_412)
			case known:
				rows[i].Times[n].LagMsAtLeast = inspect.Known[int64](91_000)
			}
		}
	}
	return rows
}
