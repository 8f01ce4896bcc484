package isrlog

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func TestSummarize(t *testing.T) {
	t.Parallel()
	sec := func(n int) time.Time { return day.Add(time.Duration(n) * time.Second) }
	event := func(at int, partition int32, kind inspect.IsrEventType, cause inspect.IsrCause, brokers ...inspect.BrokerID) inspect.IsrEvent {
		return inspect.IsrEvent{
			Time: sec(at), Topic: "t", Partition: partition, Type: kind, Cause: cause, Brokers: brokers, Replicas: ids{1, 2, 3},
		}
	}
	leave := func(at int, partition int32, brokers ...inspect.BrokerID) inspect.IsrEvent {
		return event(at, partition, inspect.IsrShrink, inspect.CauseReplicaLag, brokers...)
	}
	back := func(at int, partition int32, brokers ...inspect.BrokerID) inspect.IsrEvent {
		return event(at, partition, inspect.IsrExpand, inspect.CauseCaughtUp, brokers...)
	}
	removed := event(75, 2, inspect.IsrReassign, inspect.CauseReassignment, 2)
	removed.Replicas = ids{1, 3}
	deleted := event(80, 5, inspect.IsrDelete, inspect.CauseTopicDeleted, 1, 2, 3)
	deleted.Replicas = nil
	got := Summarize([]inspect.IsrEvent{
		leave(10, 0, 2, 3), leave(12, 1, 2), back(20, 0, 2), back(22, 1, 2), // 2 is out from 10 to 22
		leave(30, 0, 2), back(31, 0, 2), leave(32, 0, 2), back(34, 0, 2),
		event(40, 0, inspect.IsrShrink, inspect.CauseBrokerFenced, 2), back(45, 0, 2),
		event(50, 0, inspect.IsrShrink, inspect.CauseReassignment, 1),
		leave(70, 2, 2), removed,
		leave(70, 5, 1), deleted,
	}, sec(0), sec(100), 4)
	part := func(partition int32, times, out, first, last int) PartitionAbsence {
		return PartitionAbsence{
			TopicPartition: inspect.TopicPartition{Topic: "t", Partition: partition}, Times: times,
			Out: time.Duration(out) * time.Second, First: sec(first), Last: sec(last),
		}
	}
	want := []Absences{
		{
			Broker: 3, Cause: inspect.CauseReplicaLag, Times: 1, Out: 90 * time.Second, Longest: 90 * time.Second, StillOut: 1,
			Partitions: []PartitionAbsence{part(0, 1, 90, 10, 10)}, Timeline: []int{1, 0, 0, 0},
		},
		{
			Broker: 2, Cause: inspect.CauseReplicaLag, Times: 5, Out: 20 * time.Second, Longest: 10 * time.Second,
			Partitions: []PartitionAbsence{part(0, 3, 13, 10, 32), part(1, 1, 10, 12, 12), part(2, 1, 5, 70, 70)}, Timeline: []int{2, 2, 1, 0},
		},
		{
			Broker: 1, Cause: inspect.CauseReplicaLag, Times: 1, Out: 10 * time.Second, Longest: 10 * time.Second,
			Partitions: []PartitionAbsence{part(5, 1, 10, 70, 70)}, Timeline: []int{0, 0, 1, 0},
		},
		{
			Broker: 2, Cause: inspect.CauseBrokerFenced, Times: 1, Out: 5 * time.Second, Longest: 5 * time.Second,
			Partitions: []PartitionAbsence{part(0, 1, 5, 40, 40)}, Timeline: []int{0, 1, 0, 0},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if p := got[1].Partitions; !p[0].Flapped() || p[1].Flapped() {
		t.Error("t-0 left three times and flapped, t-1 left once and did not")
	}
}
