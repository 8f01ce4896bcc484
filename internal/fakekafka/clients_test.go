package fakekafka

import (
	"testing"

	"github.com/IBM/sarama"
	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// lagging is three brokers and t1, one partition: HW 50, LEO 75 on the leader, 60
// and 50 on the followers, the second out of the ISR.
func lagging() *Model {
	m := NewModel(3)
	p := m.AddTopic("t1", 1, 3).Partitions[0]
	p.HW, p.LeaderEpoch = 50, 4
	p.SetLEO(1, 75)
	p.SetLEO(2, 60)
	p.Shrink(3)
	p.ELR = []int32{3}
	return m
}

func TestKgo(t *testing.T) {
	t.Parallel()
	c := Start(t, lagging())
	cl, ctx := kgoClient(t, c), testContext(t)

	got := make(map[int32]int64)
	for id := int32(1); id <= 3; id++ {
		resp, err := listRequest(11, debuggingReplica, latest, 0).RequestWith(ctx, cl.Broker(int(id)))
		if err != nil {
			t.Fatal(err)
		}
		got[id] = resp.Topics[0].Partitions[0].Offset
	}
	if diff := cmp.Diff(map[int32]int64{1: 75, 2: 60, 3: 50}, got); diff != "" {
		t.Errorf("LEO by broker: want -, got +:\n%s", diff)
	}

	dtp := kmsg.NewPtrDescribeTopicPartitionsRequest()
	dtp.ResponsePartitionLimit = 10
	described, err := dtp.RequestWith(ctx, cl)
	if err != nil {
		t.Fatal(err)
	}
	p := described.Topics[0].Partitions[0]
	if p.LeaderID != 1 || !cmp.Equal(p.ISR, []int32{1, 2}) || !cmp.Equal(p.EligibleLeaderReplicas, []int32{3}) {
		t.Errorf("got %+v", p)
	}
}

func TestSarama(t *testing.T) {
	t.Parallel()
	c := Start(t, lagging())
	b := saramaBroker(t, c, 2)

	t.Run("Metadata", func(t *testing.T) {
		resp, err := b.GetMetadata(&sarama.MetadataRequest{Version: 10, Topics: []string{"t1"}})
		if err != nil {
			t.Fatal(err)
		}
		p := resp.Topics[0].Partitions[0]
		if len(resp.Brokers) != 3 || p.Leader != 1 || p.LeaderEpoch != 4 || !cmp.Equal(p.Isr, []int32{1, 2}) {
			t.Errorf("got %d brokers, %+v", len(resp.Brokers), p)
		}
	})
	t.Run("ListOffsets", func(t *testing.T) {
		req := &sarama.OffsetRequest{Version: 6}
		req.SetReplicaID(debuggingReplica)
		req.AddBlock("t1", 0, sarama.OffsetNewest, 0)
		resp, err := b.GetAvailableOffsets(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.GetBlock("t1", 0); got.Err != sarama.ErrNoError || got.Offset != 60 {
			t.Errorf("got %+v, want the follower's own LEO 60", got)
		}
	})
	t.Run("DescribeConfigs", func(t *testing.T) {
		resp, err := b.DescribeConfigs(&sarama.DescribeConfigsRequest{Version: 4, Resources: []*sarama.ConfigResource{
			{Type: sarama.TopicResource, Name: "t1", ConfigNames: []string{"min.insync.replicas"}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Resources[0].Configs; len(got) != 1 || got[0].Value != "1" || got[0].Source != sarama.SourceDefault {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("DescribeLogDirs", func(t *testing.T) {
		resp, err := b.DescribeLogDirs(&sarama.DescribeLogDirsRequest{Version: 4})
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.LogDirs[0]; got.TotalBytes != 1<<40 || got.Topics[0].Partitions[0].Size != 60*bytesPerRecord {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("DescribeCluster", func(t *testing.T) {
		resp, err := b.DescribeCluster(sarama.NewDescribeClusterRequest(sarama.V4_0_0_0))
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.Brokers) != 3 || resp.ClusterID != "ZmFrZWthZmthY2x1c3Rlcg" {
			t.Errorf("got %+v", resp)
		}
	})
	t.Run("ListPartitionReassignments", func(t *testing.T) {
		c.Change(func(m *Model) { m.Topic("t1").Partitions[0].Removing = []int32{3} })
		req := &sarama.ListPartitionReassignmentsRequest{TimeoutMs: 1000}
		req.AddBlock("t1", []int32{0})
		resp, err := b.ListPartitionReassignments(req)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.TopicStatus["t1"][0]; got == nil || !cmp.Equal(got.RemovingReplicas, []int32{3}) {
			t.Errorf("got %+v", got)
		}
	})
	if got := c.Requests()[0]; got.Key != kmsg.ApiVersions || got.ClientID != "sarama-test" || got.Broker != 2 {
		t.Errorf("first request: got %+v", got)
	}
}
