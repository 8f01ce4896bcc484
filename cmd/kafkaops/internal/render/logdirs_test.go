package render

import (
	"testing"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func TestLogDirsScreens(t *testing.T) {
	t.Parallel()
	s := healthy()
	gib := func(n int64) inspect.Opt[int64] { return inspect.Known(n << 30) }
	s.Brokers[0].LogDirs = inspect.Known([]inspect.LogDir{
		{
			Path: "/disk2/kafka", TotalBytes: gib(1000), UsableBytes: gib(90), ReplicasBytes: gib(840), Cordoned: inspect.Known(false),
			Replicas: []inspect.ReplicaLog{
				{Topic: "orders", Partition: 1, SizeBytes: 840 << 30},
				{Topic: "orders", SizeBytes: 3 << 30, Future: true, OffsetLag: 1_204_000},
			},
		},
		{
			Path: "/disk1/kafka", TotalBytes: gib(1000), UsableBytes: gib(400), ReplicasBytes: gib(500), Cordoned: inspect.Known(true),
			Replicas: []inspect.ReplicaLog{{Topic: "orders", SizeBytes: 12 << 30}},
		},
		{Path: "/disk1/more", TotalBytes: gib(1000), UsableBytes: gib(400), ReplicasBytes: inspect.Known[int64](0), Cordoned: inspect.Known(false)},
		{Path: "/disk3/kafka", Error: "KAFKA_STORAGE_ERROR"},
	})
	s.Brokers[2].LogDirs = inspect.Unknown[[]inspect.LogDir]()
	down := healthy()
	down.Brokers[0].LogDirs = inspect.Known([]inspect.LogDir{{Path: "/d", ReplicasBytes: inspect.Known[int64](7)}})
	down.Brokers[1].Fenced, down.Brokers[1].Reachable, down.Brokers[1].LogDirs = inspect.Known(true), inspect.Unknown[bool](), inspect.Unknown[[]inspect.LogDir]()
	down.Brokers[2].Reachable, down.Brokers[2].LogDirs = inspect.Known(false), inspect.Unknown[[]inspect.LogDir]()
	down.Gone = []inspect.BrokerID{4}
	checkFacets(t, "logdirs.txtar", facet{"a cluster", s, LogDirs}, facet{"brokers down", down, LogDirs})
}
