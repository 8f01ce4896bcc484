package fakekafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// listRequest asks for one offset of the partitions of t1.
func listRequest(version int16, replica int32, timestamp int64, partitions ...int32) *kmsg.ListOffsetsRequest {
	req := kmsg.NewPtrListOffsetsRequest()
	req.Version, req.ReplicaID = version, replica
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = "t1"
	for _, i := range partitions {
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.CurrentLeaderEpoch, rp.Timestamp = i, -1, timestamp
		rt.Partitions = append(rt.Partitions, rp)
	}
	req.Topics = append(req.Topics, rt)
	return req
}

func TestListOffsets(t *testing.T) {
	t.Parallel()
	type answer struct {
		Code   int16
		Offset int64
	}
	leaderless := func(m *Model) { m.Topics[0].Partitions[0].Leader = NoLeader }
	tests := []struct {
		name      string
		change    func(m *Model)
		broker    int32
		version   int16
		replica   int32
		timestamp int64
		committed bool
		partition int32
		epoch     int32
		want      answer
	}{
		{name: "HW from the leader", broker: 1, replica: -1, timestamp: latest, want: answer{0, 50}},
		{name: "LSO for read_committed", broker: 1, replica: -1, timestamp: latest, committed: true, want: answer{0, 40}},
		{name: "no HW from a follower", broker: 2, replica: -1, timestamp: latest, want: answer{notLeaderOrFollower, -1}},
		{name: "LEO from the leader", broker: 1, replica: -2, timestamp: latest, want: answer{0, 75}},
		{name: "LEO, read_committed or not", broker: 1, replica: -2, timestamp: latest, committed: true, want: answer{0, 75}},
		{name: "own LEO from a follower", broker: 2, replica: -2, timestamp: latest, want: answer{0, 60}},
		{name: "own LEO in version 1", broker: 2, version: 1, replica: -2, timestamp: latest, want: answer{0, 60}},
		{name: "own LEO without a leader", change: leaderless, broker: 2, replica: -2, timestamp: latest, want: answer{0, 60}},
		{name: "no HW without a leader", change: leaderless, broker: 1, replica: -1, timestamp: latest, want: answer{notLeaderOrFollower, -1}},
		{name: "LEO for any other replica", broker: 1, replica: 99, timestamp: latest, want: answer{0, 75}},
		{name: "other replicas ask the leader only", broker: 2, replica: 99, timestamp: latest, want: answer{notLeaderOrFollower, -1}},
		{name: "log start", broker: 1, replica: -1, timestamp: earliest, want: answer{0, 10}},
		{name: "log start from a follower", broker: 3, replica: -2, timestamp: earliest, want: answer{0, 10}},
		{name: "by time", broker: 1, replica: -1, timestamp: 20_500, want: answer{0, 21}},
		{name: "by time, beyond the HW", broker: 1, replica: -1, timestamp: 50_000, want: answer{0, -1}},
		{name: "by time, beyond the HW but below the LEO", broker: 1, replica: -2, timestamp: 50_000, want: answer{0, 50}},
		{name: "largest timestamp", broker: 1, replica: -2, timestamp: maxTimestamp, want: answer{0, 74}},
		{name: "largest timestamp before its version", broker: 1, version: 6, replica: -2, timestamp: maxTimestamp, want: answer{unsupportedVersion, -1}},
		{name: "nothing is tiered", broker: 1, replica: -1, timestamp: latestTiered, want: answer{0, -1}},
		{name: "unknown partition", broker: 1, replica: -2, timestamp: latest, partition: 9, want: answer{unknownTopicOrPartition, -1}},
		{name: "not hosted", change: func(m *Model) { m.Topics[0].Partitions[0].Replicas = []int32{1, 2} }, broker: 3, replica: -2, timestamp: latest, want: answer{notLeaderOrFollower, -1}},
		{name: "directory offline", change: func(m *Model) { m.Brokers[1].LogDirs[0].Offline = true }, broker: 2, replica: -2, timestamp: latest, want: answer{kafkaStorageError, -1}},
		{name: "old epoch", broker: 2, replica: -2, timestamp: latest, epoch: 3, want: answer{fencedLeaderEpoch, -1}},
		{name: "epoch to come", broker: 2, replica: -2, timestamp: latest, epoch: 5, want: answer{unknownLeaderEpoch, -1}},
		{name: "HW not known yet", change: func(m *Model) { m.Topics[0].Partitions[0].HWUnknown = true }, broker: 1, replica: -1, timestamp: latest, want: answer{offsetNotAvailable, -1}},
		{name: "HW not known yet, old client", change: func(m *Model) { m.Topics[0].Partitions[0].HWUnknown = true }, broker: 1, version: 4, replica: -1, timestamp: latest, want: answer{leaderNotAvailable, -1}},
		{name: "LEO while the HW is not known", change: func(m *Model) { m.Topics[0].Partitions[0].HWUnknown = true }, broker: 1, replica: -2, timestamp: latest, want: answer{0, 75}},
		{name: "hidden topic", change: func(m *Model) { m.Topics[0].DenyDescribe = true }, broker: 1, replica: -2, timestamp: latest, want: answer{topicAuthorizationFailed, -1}},
		{name: "denied", change: func(m *Model) { m.Deny = []Key{kmsg.ListOffsets} }, broker: 1, replica: -2, timestamp: latest, want: answer{topicAuthorizationFailed, -1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := lagging()
			p := m.Topics[0].Partitions[0]
			p.LogStart, p.LSO = 10, new(int64(40))
			p.TimestampMs = func(offset int64) int64 { return offset * 1000 }
			c := Start(t, m)
			if tt.change != nil {
				c.Change(tt.change)
			}
			if tt.version == 0 {
				tt.version = 11
			}
			req := listRequest(tt.version, tt.replica, tt.timestamp, tt.partition)
			if tt.committed {
				req.IsolationLevel = readCommitted
			}
			if tt.epoch != 0 {
				req.Topics[0].Partitions[0].CurrentLeaderEpoch = tt.epoch
			}
			got := ask[*kmsg.ListOffsetsResponse](t, c, tt.broker, req).Topics[0].Partitions[0]
			if diff := cmp.Diff(tt.want, answer{got.ErrorCode, got.Offset}); diff != "" {
				t.Errorf("want -, got +:\n%s", diff)
			}
			if tt.version >= 4 && tt.want.Offset >= 0 && got.LeaderEpoch != 4 {
				t.Errorf("got leader epoch %d, want the current one, 4", got.LeaderEpoch)
			}
		})
	}
}

func TestListOffsetsDuplicate(t *testing.T) {
	t.Parallel()
	m := NewModel(1)
	m.AddTopic("t1", 2, 1)
	c := Start(t, m)
	resp := ask[*kmsg.ListOffsetsResponse](t, c, 1, listRequest(11, -2, latest, 0, 1, 0))
	var got []int16
	for _, p := range resp.Topics[0].Partitions {
		got = append(got, p.ErrorCode)
	}
	if diff := cmp.Diff([]int16{invalidRequest, 0, invalidRequest}, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestOffsetsMove(t *testing.T) {
	t.Parallel()
	c := Start(t, lagging())
	read := func(broker, replica int32) int64 {
		return ask[*kmsg.ListOffsetsResponse](t, c, broker, listRequest(11, replica, latest, 0)).Topics[0].Partitions[0].Offset
	}
	c.Change(func(m *Model) { m.Topics[0].Partitions[0].AppendPerRead = 5 })
	// Each read moves the leader, the ISR and the HW by 5, and not broker 3.
	got := []int64{read(1, -2), read(2, -2), read(3, -2), read(1, -1), read(1, -2)}
	if diff := cmp.Diff([]int64{80, 70, 50, 70, 100}, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}

	c.Change(func(m *Model) { m.Topics[0].Partitions[0].AppendPerRead = 0 })
	c.OnListOffsets(func(m *Model, broker int32) {
		if broker == 2 {
			m.Topics[0].Partitions[0].SetLEO(1, 1000)
		}
	})
	got = []int64{read(1, -2), read(2, -2), read(1, -2)}
	if diff := cmp.Diff([]int64{100, 85, 1000}, got); diff != "" {
		t.Errorf("after the hook: want -, got +:\n%s", diff)
	}
}
