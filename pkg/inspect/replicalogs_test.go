package inspect

import (
	"testing"
	"time"
)

// sized is partition t-0 moving from replicas 1,2 to 1,4, with these sizes of its
// logs on the brokers; negative is not told.
func sized(at time.Duration, isr string, leader, copied int64) *Snapshot {
	s := cluster(part(1, "124", isr, 1).moving("4", "2"))
	s.TakenAt = leaderClock.Add(at)
	s.Brokers = append(s.Brokers, Broker{ID: 4})
	for id, size := range map[int]int64{0: leader, 3: copied} {
		if size >= 0 {
			s.Brokers[id].LogDirs = Known([]LogDir{{Path: "/d", Replicas: []ReplicaLog{
				{Topic: "t", SizeBytes: size}, {Topic: "u", SizeBytes: 1 << 40}, {Topic: "t", SizeBytes: 7, Future: true},
			}}})
		}
	}
	return s
}

func TestReassignments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                   string
		before, now            *Snapshot
		done, rest, rate, left string
	}{
		{"one look", nil, sized(0, "12", 1000, 250), "250", "750", "-", "-"},
		{"two looks", sized(0, "12", 1000, 250), sized(10*time.Second, "12", 1000, 500), "500", "500", "25", "20s"},
		{"the leader grows as fast", sized(0, "12", 1000, 250), sized(10*time.Second, "12", 1250, 500), "500", "750", "25", "-"},
		{"in sync is done, whatever the sizes", sized(0, "12", 1000, 250), sized(10*time.Second, "124", 1000, 800), "1000", "0", "75", "0s"},
		{"larger than the leader's", nil, sized(0, "12", 1000, 1200), "1000", "0", "-", "-"},
		{"no log yet, or not told", nil, sized(0, "12", 1000, -1), "-", "-", "-", "-"},
		{"leader silent", sized(0, "12", -1, 200), sized(10*time.Second, "12", -1, 250), "250", "-", "5", "-"},
		{"just begun", cluster(part(1, "12", "12", 1)), sized(10*time.Second, "12", 1000, 250), "250", "750", "-", "-"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rs := tt.now.Reassignments(tt.before)
			if len(rs) != 1 || len(rs[0].Copies) != 1 || len(rs[0].Target) != 2 || rs[0].Target[1] != 4 {
				t.Fatalf("reassignments = %+v, want one, to 1,4", rs)
			}
			c := rs[0].Copies[0]
			if c.DoneBytes.String() != tt.done || c.RestBytes().String() != tt.rest || c.BytesPerSecond.String() != tt.rate || c.Remaining.String() != tt.left {
				t.Errorf("done %s, rest %s, rate %s, left %s; want %s, %s, %s, %s",
					c.DoneBytes, c.RestBytes(), c.BytesPerSecond, c.Remaining, tt.done, tt.rest, tt.rate, tt.left)
			}
		})
	}
	if got := cluster(part(1, "123", "123", 1)).Reassignments(nil); len(got) != 0 {
		t.Errorf("reassignments = %+v, want none", got)
	}
}

func TestLogDirReports(t *testing.T) {
	t.Parallel()
	volume := func(path string, total, usable int64, logs ...ReplicaLog) LogDir {
		return LogDir{Path: path, TotalBytes: Known(total), UsableBytes: Known(usable), Replicas: logs}
	}
	s := &Snapshot{Brokers: []Broker{
		{ID: 2},
		{ID: 1, LogDirs: Known([]LogDir{
			volume("/c", 1<<40, 1<<39),
			volume("/b", 1<<40, 1<<38, ReplicaLog{Topic: "t", SizeBytes: 10, Future: true, OffsetLag: 90}),
			volume("/a", 1<<40, 1<<38+1000, ReplicaLog{Topic: "t", SizeBytes: 100}),
			{Path: "/bad", Error: "KAFKA_STORAGE_ERROR"},
		})},
	}}
	rs := s.LogDirReports()
	if len(rs) != 4 || rs[0].Path != "/a" || rs[3].Path != "/c" {
		t.Fatalf("reports = %+v, want four of broker 1, by path", rs)
	}
	if len(rs[0].SharesWith) != 1 || rs[0].SharesWith[0] != "/b" || len(rs[2].SharesWith)+len(rs[3].SharesWith) != 0 {
		t.Errorf("shares: %v %v %v", rs[0].SharesWith, rs[2].SharesWith, rs[3].SharesWith)
	}
	want := DirMove{Topic: "t", From: Known("/a"), SizeBytes: 10, OfBytes: Known[int64](100), OffsetLag: 90}
	if len(rs[1].Moves) != 1 || rs[1].Moves[0] != want {
		t.Errorf("moves = %+v, want %+v", rs[1].Moves, want)
	}
}
