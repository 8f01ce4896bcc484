package advise

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/tuning"
)

// wide is a look at a topic of eight partitions that broker 1 leads, with the leader's
// log end and those of brokers 2 and 3; -1 does not answer. Broker 3 leads eight others,
// which do well.
func wide(at int, leader, second, third inspect.Offset) *inspect.Snapshot {
	s := look(at, leader, 1, 2, 3)
	s.Brokers[0].Configs = inspect.Known([]inspect.Config{
		{Name: "num.replica.fetchers", Value: inspect.Known("2")}, {Name: "replica.fetch.max.bytes", Value: inspect.Known("1048576")},
	})
	p := s.Topics[0].Partitions[0]
	s.Topics[0].Partitions = nil
	for i := range int32(8) {
		p.Index = i
		o := *p.Offsets
		o.Followers = []inspect.FollowerOffset{{Broker: 2, LEO: inspect.Known(second)}, {Broker: 3, LEO: inspect.Known(third)}}
		if second < 0 {
			o.Followers[0].LEO = inspect.Unknown[inspect.Offset]()
		}
		p.Offsets = &o
		s.Topics[0].Partitions = append(s.Topics[0].Partitions, p)
	}
	for i := range int32(8) {
		p.Index, p.Leader = 8+i, 3
		o := *p.Offsets
		o.Followers = []inspect.FollowerOffset{{Broker: 1, LEO: inspect.Known(leader)}, {Broker: 2, LEO: inspect.Known(leader)}}
		p.Offsets = &o
		s.Topics[0].Partitions = append(s.Topics[0].Partitions, p)
	}
	return s
}

// TestLinks: who falls behind, with all partitions, at the same rate however much waits,
// is at its limit; a look behind is nobody.
func TestLinks(t *testing.T) {
	t.Parallel()
	c := collect()
	for i := range 40 {
		n := inspect.Offset(i)
		c.Look(wide(i, 200*n, 100*n, 200*max(n-1, 0)))
	}
	h := c.fetchHistory()
	if len(h.Links) != 4 || h.Stretches != 1 || h.Lagging != 1 || h.Fetchers != 2 || h.PartitionBytes != 1<<20 {
		t.Fatalf("got %+v", h)
	}
	slow, good := h.Links[0], h.Links[1]
	if slow.Leader != 1 || slow.Follower != 2 || slow.Partitions != 8 || slow.Behind != 8 || slow.LagMs < 8000 || math.Abs(slow.PerSecond-800) > 20 || slow.MostPerSecond > 820 {
		t.Errorf("the slow one: %+v", slow)
	}
	if good.Partitions != 8 || good.Behind != 0 || good.LagMs != 0 {
		t.Errorf("the good one: %+v", good)
	}
	for i := 40; i < 1000; i++ { // a quiet quarter of an hour after that
		c.Look(wide(i, 8000, 8000, 8000))
	}
	if later := c.fetchHistory(); !cmp.Equal(later.Links[:1], c.links.worst[:1]) || later.Links[0].Behind != 8 || later.Lagging != 1 {
		t.Errorf("later: %+v", later)
	}
	for _, a := range c.Result().Advice {
		if a.Setting == "num.replica.fetchers" && (a.Recommended != "4" || !strings.Contains(a.Why, "From broker 1 to broker 2, 8 of 8")) {
			t.Errorf("got %+v", a)
		}
	}
}

// TestFetchFindings: what limits followers is told where something does.
func TestFetchFindings(t *testing.T) {
	t.Parallel()
	slow, well := collect(), collect()
	for i := range 40 {
		n := inspect.Offset(i)
		slow.Look(wide(i, 200*n, 100*n, 200*max(n-1, 0)))
		well.Look(wide(i, 200*n, 200*n, 200*n))
	}
	if got := well.FetchFindings(); len(got) != 0 {
		t.Errorf("nobody lags: %+v", got)
	}
	got := slow.FetchFindings()
	if len(got) != 1 || got[0].ID != "too-few-fetchers" || !strings.Contains(got[0].Title, "(2): 4 would") || len(got[0].Next) < 2 {
		t.Errorf("got %+v", got)
	}
}

// TestLinksLater: what falls behind after the first five minutes shows in the next.
func TestLinksLater(t *testing.T) {
	t.Parallel()
	c := collect()
	for i := range 360 {
		n := inspect.Offset(i)
		c.Look(wide(i, 200*n, 200*n-100*max(n-320, 0), 200*n))
	}
	if h := c.fetchHistory(); h.Stretches != 2 || h.Lagging != 1 || h.Links[0].MostPerSecond == 0 {
		t.Errorf("got %+v", h)
	}
}

// TestLinksAway: a follower that was away has to catch up, and is no evidence until it has.
func TestLinksAway(t *testing.T) {
	t.Parallel()
	c := collect()
	for i := range 40 {
		n := inspect.Offset(i)
		second := 200 * n
		switch {
		case i >= 10 && i < 15:
			second = -1
		case i >= 15:
			second = min(second, 2000+210*(n-15))
		}
		c.Look(wide(i, 200*n, second, 200*n))
	}
	if h := c.fetchHistory(); h.Lagging != 0 || len(h.Links) != 4 {
		t.Errorf("got %+v", h)
	}
}

// TestFencings: in one life of it a broker stalled, in another it was started again; by
// looks nobody can tell.
func TestFencings(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	fenced := func(s int, b inspect.BrokerID) inspect.IsrEvent {
		return inspect.IsrEvent{Time: at(s), Topic: "gone", Type: inspect.IsrShrink, Cause: inspect.CauseBrokerFenced, Brokers: brokers{b}}
	}
	back := func(s int, b inspect.BrokerID) inspect.IsrEvent {
		return inspect.IsrEvent{Time: at(s), Topic: "gone", Type: inspect.IsrExpand, Cause: inspect.CauseCaughtUp, Brokers: brokers{b}}
	}
	stalled, polled := back(9, 2), back(70, 3)
	stalled.FencedFor = inspect.Known(3 * time.Second)
	polled.Source = inspect.SourceMetadataDiff
	c := collect(look(0, 0, 1, 2, 3), look(1, 0, 1, 2, 3))
	c.Known([]Span{{at(0), at(100)}, {at(500), at(600)}})
	for _, e := range []inspect.IsrEvent{
		fenced(5, 2), fenced(5, 2), stalled, back(10, 2), fenced(20, 2), back(40, 2), fenced(60, 3), polled, fenced(80, 1),
	} {
		c.Event(&e)
	}
	want := &tuning.FencingHistory{FromMs: second(400), ToMs: second(600), SessionTimeoutMs: 9000, Fencings: []tuning.Fencing{
		{Broker: 2, AtMs: second(5), BackMs: second(8)},
		{Broker: 2, AtMs: second(20), BackMs: second(40), Restarted: true},
		{Broker: 3, AtMs: second(60), BackMs: second(70), RestartUnknown: true},
		{Broker: 1, AtMs: second(80)},
	}}
	if diff := cmp.Diff(want, c.fencingHistory()); diff != "" {
		t.Error(diff)
	}

	away := look(2, 0, 1, 2, 3)
	away.Brokers = []inspect.Broker{{ID: 2}}
	c = collect(look(0, 0, 1, 2, 3), look(1, 0, 1, 2, 3), away, look(3, 0, 1, 2, 3))
	if diff := cmp.Diff([]tuning.Fencing{{Broker: 1, AtMs: second(2), BackMs: second(3), RestartUnknown: true}}, c.fencingHistory().Fencings[:1]); diff != "" {
		t.Error(diff)
	}
}

// TestZooKeeper: there the session has another name.
func TestZooKeeper(t *testing.T) {
	t.Parallel()
	for voters, want := range map[string]string{"": zkSession, "1@c:9093": ""} {
		s := look(0, 0, 1)
		s.Brokers[0].Configs = inspect.Known([]inspect.Config{
			{Name: "broker.session.timeout.ms", Value: inspect.Known("9000")},
			{Name: zkSession, Value: inspect.Known("18000")},
			{Name: "controller.quorum.voters", Value: inspect.Known(voters)},
		})
		c := collect(s)
		if h := c.fencingHistory(); h.Setting != want || (h.SessionTimeoutMs == 18000) != (want != "") {
			t.Errorf("voters %q: %+v", voters, h)
		}
	}
}
