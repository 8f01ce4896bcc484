package source_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func movingModel() *fakekafka.Model {
	m := fakekafka.NewModel(3)
	p := m.AddTopic("t", 1, 2).Partitions[0]
	p.Replicas, p.ISR, p.HW = []int32{1, 2, 3}, []int32{1, 2}, 100
	p.Adding, p.Removing = []int32{3}, []int32{2}
	p.SetLEO(3, 25)
	m.Broker(1).LogDirs = []fakekafka.LogDir{
		{Path: "/a", TotalBytes: 1000, UsableBytes: 10}, {Path: "/b", TotalBytes: 1000, UsableBytes: 10, Cordoned: true}, {Path: "/c", Offline: true},
	}
	p.Moves = map[int32]fakekafka.Move{1: {Dir: "/b", LEO: 60}}
	return m
}

func TestReplicaLogs(t *testing.T) {
	t.Parallel()
	for version := int16(1); version <= 5; version++ {
		m := movingModel()
		m.APIs = fakekafka.APIs()
		m.APIs[kmsg.DescribeLogDirs] = fakekafka.VersionRange{Min: 1, Max: version}
		c := fakekafka.Start(t, m)
		s := snapshot(t, c.Bootstrap(), inspect.PartReplicaLogs, ample)
		if !s.Complete() || c.Count(kmsg.DescribeLogDirs) != 3 {
			t.Fatalf("v%d: %d requests, failures %s", version, c.Count(kmsg.DescribeLogDirs), texts(s.Failures))
		}
		dirs := s.LogDirReports()[:3]
		if dirs[0].TotalBytes.IsKnown() != (version >= 4) || dirs[2].Error != "KAFKA_STORAGE_ERROR" || dirs[1].Cordoned.Or(false) != (version == 5) {
			t.Errorf("v%d: dirs = %+v", version, dirs)
		}
		if moves := dirs[1].Moves; len(moves) != 1 || moves[0].OffsetLag != 40 || moves[0].From != inspect.Known("/a") {
			t.Errorf("v%d: moves = %+v, want one from /a, 40 behind", version, moves)
		}
		rs := s.Reassignments(nil)
		if len(rs) != 1 || rs[0].Copies[0].DoneBytes != inspect.Known[int64](2500) || rs[0].Copies[0].TotalBytes != inspect.Known[int64](10_000) {
			t.Errorf("v%d: reassignments = %+v, want 2500 of 10000 bytes", version, rs)
		}
	}
}

func TestReplicaLogsFailures(t *testing.T) {
	t.Parallel()
	m := movingModel()
	m.Deny = []kmsg.Key{kmsg.DescribeLogDirs}
	s := snapshot(t, fakekafka.Start(t, m).Bootstrap(), inspect.PartReplicaLogs, ample)
	if len(s.Failures) != 3 || !strings.Contains(texts(s.Failures), "grant DESCRIBE on the cluster") || s.Broker(1).LogDirs.IsKnown() {
		t.Errorf("refused: failures %s", texts(s.Failures))
	}
	c := fakekafka.Start(t, movingModel())
	c.Break(3, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.DescribeLogDirs}})
	s = snapshot(t, c.Addr(1), inspect.PartReplicaLogs, 3*time.Second)
	copied := s.Reassignments(nil)[0].Copies[0]
	if s.Complete() || copied.DoneBytes.IsKnown() || !copied.TotalBytes.IsKnown() {
		t.Errorf("silent: copy = %+v, failures %s", copied, texts(s.Failures))
	}
}
