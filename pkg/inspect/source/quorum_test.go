package source_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func quorumModel() *fakekafka.Model {
	m := fakekafka.NewModel(3)
	m.AddTopic("t", 1, 3)
	m.Quorum = fakekafka.NewQuorum(3, 1, 2, 3)
	return m
}

func TestQuorum(t *testing.T) {
	t.Parallel()
	for version := int16(0); version <= 2; version++ {
		m := quorumModel()
		m.APIs = fakekafka.APIs()
		m.APIs[kmsg.DescribeQuorum] = fakekafka.VersionRange{Max: version}
		v := m.Quorum.Voter(103)
		v.LEO, v.LastFetchMs, v.Directory, v.Host, v.Port = 400, m.Quorum.ClockMs-61_000, [16]byte{1}, "c3", 9093
		c := fakekafka.Start(t, m)
		s := snapshot(t, c.Bootstrap(), inspect.PartQuorum, ample)
		q, ok := s.Quorum.Get()
		if !ok || !s.Complete() {
			t.Fatalf("v%d: quorum unknown, failures %s", version, texts(s.Failures))
		}
		if q.Leader != 101 || s.Controller != inspect.Known[inspect.BrokerID](101) || q.HW != inspect.Known[inspect.Offset](1000) {
			t.Errorf("v%d: quorum = %+v, want leader 101, HW 1000", version, q)
		}
		r := &q.Voters[2]
		if got := q.Lag(r); got != inspect.Known[int64](600) || len(q.Observers) != 3 {
			t.Errorf("v%d: lag of 103 = %s, want 600; observers %+v, want 3", version, got, q.Observers)
		}
		want := inspect.VoterLost
		if version == 0 {
			want = inspect.VoterUnknown
		}
		if got := q.State(r); got != want {
			t.Errorf("v%d: state of 103 = %s, want %s", version, got, want)
		}
		if known := r.DirectoryID.IsKnown(); known != (version == 2) || len(r.Endpoints) != int(version/2) {
			t.Errorf("v%d: replica = %+v", version, r)
		}
		if n := c.Count(kmsg.DescribeQuorum); n != 1 {
			t.Errorf("v%d: %d requests, want 1", version, n)
		}
	}
}

func TestQuorumIsNotAskedUnlessWanted(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, quorumModel())
	s := snapshot(t, c.Bootstrap(), everything&^inspect.PartQuorum, ample)
	if s.Quorum.IsKnown() || s.Controller.IsKnown() || c.Count(kmsg.DescribeQuorum) != 0 {
		t.Error("the quorum was asked")
	}
}

// In ZooKeeper mode the API is not there; some services list it and do not serve
// it. Neither is a failure.
func TestNoQuorum(t *testing.T) {
	t.Parallel()
	zk := quorumModel()
	zk.APIs = fakekafka.APIs(kmsg.DescribeQuorum)
	services := fakekafka.Start(t, quorumModel())
	services.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		if _, ok := req.(*kmsg.DescribeQuorumRequest); !ok {
			return nil, false
		}
		resp := kmsg.NewPtrDescribeQuorumResponse()
		resp.ErrorCode = 35
		return resp, true
	})
	for name, c := range map[string]*fakekafka.Cluster{"ZooKeeper": fakekafka.Start(t, zk), "service": services} {
		s := snapshot(t, c.Bootstrap(), inspect.PartQuorum, ample)
		if s.Quorum.IsKnown() || !s.Complete() || s.Verdict().Level != inspect.LevelOK {
			t.Errorf("%s: quorum %v, failures %s, level %s", name, s.Quorum, texts(s.Failures), s.Verdict().Level)
		}
	}
}

func TestQuorumRefused(t *testing.T) {
	t.Parallel()
	m := quorumModel()
	m.Deny = []kmsg.Key{kmsg.DescribeQuorum}
	s := snapshot(t, fakekafka.Start(t, m).Bootstrap(), inspect.PartQuorum, ample)
	if s.Quorum.IsKnown() || !strings.Contains(texts(s.Failures), "grant DESCRIBE on the cluster") || s.Verdict().Level != inspect.LevelUnknown {
		t.Errorf("failures %s, level %s; want the ACL and unknown", texts(s.Failures), s.Verdict().Level)
	}
}

// A voter that never fetched from this leader is asked about twice, a second
// apart, unless this leader has been seen for longer.
func TestQuorumSecondLook(t *testing.T) {
	t.Parallel()
	m := quorumModel()
	v := m.Quorum.Voter(102)
	v.LastFetchMs, v.LastCaughtUpMs, v.LEO = -1, -1, -1
	c := fakekafka.Start(t, m)
	src := source.New(connect.Config{Bootstrap: c.Addrs()}, ample)
	state := func() inspect.VoterState {
		s, err := src.Snapshot(context.Background(), source.Query{Parts: inspect.PartQuorum})
		if err != nil {
			t.Fatal(err)
		}
		q, _ := s.Quorum.Get()
		return q.State(&q.Voters[1])
	}
	var asked atomic.Int32
	c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		// It has fetched by the time of the second look, and not before the first is answered.
		if _, ok := req.(*kmsg.DescribeQuorumRequest); ok && asked.Add(1) == 2 {
			c.Change(func(m *fakekafka.Model) {
				v := m.Quorum.Voter(102)
				v.LastFetchMs, v.LastCaughtUpMs, v.LEO = m.Quorum.ClockMs, m.Quorum.ClockMs, 1000
			})
		}
		return nil, false
	})
	if got := state(); got != inspect.VoterOK || c.Count(kmsg.DescribeQuorum) != 2 {
		t.Errorf("state = %s after %d requests, want ok after 2", got, c.Count(kmsg.DescribeQuorum))
	}
	c.Change(func(m *fakekafka.Model) { m.Quorum.Voter(102).LastFetchMs = -1 })
	if got := state(); got != inspect.VoterLost || c.Count(kmsg.DescribeQuorum) != 3 {
		t.Errorf("state = %s after %d requests, want lost after 3", got, c.Count(kmsg.DescribeQuorum))
	}
}

// Brokers that know no active controller hold what they would pass on to it.
func TestQuorumWithoutLeader(t *testing.T) {
	t.Parallel()
	const timeout = 3 * time.Second
	hold := fakekafka.Faults{HangOn: []kmsg.Key{kmsg.DescribeQuorum, kmsg.ListPartitionReassignments}}
	t.Run("all hold", func(t *testing.T) {
		t.Parallel()
		c := fakekafka.Start(t, quorumModel())
		for id := int32(1); id <= 3; id++ {
			c.Break(id, hold)
		}
		began := time.Now()
		s := snapshot(t, c.Bootstrap(), inspect.PartQuorum|inspect.PartReachable, timeout)
		if took := time.Since(began); took > timeout {
			t.Errorf("took %s, want less than %s", took, timeout)
		}
		q, ok := s.Quorum.Get()
		if !ok || q.Leader != inspect.NoBroker || len(q.Silent) != 3 || s.Controller.IsKnown() {
			t.Errorf("quorum = %+v, want none leading, three silent", q)
		}
		if v := s.Verdict(); v.Level != inspect.LevelAtRisk || !strings.Contains(v.Reasons[0], "no active controller") {
			t.Errorf("verdict %s %q, want at-risk", v.Level, v.Reasons)
		}
		if p := partition(t, s, 0); !p.MinInsyncReplicas.IsKnown() {
			t.Error("min ISR is unknown, though brokers answer it by themselves")
		}
	})
	t.Run("one holds", func(t *testing.T) {
		t.Parallel()
		c := fakekafka.Start(t, quorumModel())
		c.Break(1, hold)
		s := snapshot(t, c.Addr(1), inspect.PartQuorum, timeout)
		if s.Controller != inspect.Known[inspect.BrokerID](101) {
			t.Errorf("controller = %s, want 101 by another broker; failures %s", s.Controller, texts(s.Failures))
		}
	})
	t.Run("one broker alone proves nothing", func(t *testing.T) {
		t.Parallel()
		m := fakekafka.NewModel(1)
		c := fakekafka.Start(t, m)
		c.Break(1, hold)
		s := snapshot(t, c.Bootstrap(), inspect.PartQuorum, timeout)
		if s.Quorum.IsKnown() || s.Complete() {
			t.Errorf("quorum = %v, want unknown and a failure", s.Quorum)
		}
	})
}
