package source_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestNoPhantomLag reads a busy partition whose replicas all have everything:
// each read finds more records than the one before.
func TestNoPhantomLag(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	for _, p := range m.AddTopic("t", 6, 3).Partitions {
		p.AppendPerRead = 1000
	}
	s := snapshot(t, fakekafka.Start(t, m).Bootstrap(), inspect.PartOffsets, ample)
	for p := range s.Partitions {
		l := p.Lag()
		if l.LEO.Or(0) < l.HW.Or(0) || l.HW.Or(0) < l.LSO.Or(0) || l.LSO.Or(0) < l.LogStart.Or(0) {
			t.Errorf("%s-%d: offsets out of order: %+v", p.Topic, p.Index, l)
		}
		for _, r := range l.Replicas {
			most, known := r.LagMax.Get()
			if r.Lag != inspect.Known(int64(0)) || !r.CaughtUp.Or(false) || !known {
				t.Errorf("%s-%d replica %d: lag %s..%s, want 0 and an upper bound", p.Topic, p.Index, r.Broker, r.Lag, r.LagMax)
			}
			if r.State == inspect.ReplicaInSync && most == 0 {
				t.Errorf("%s-%d replica %d: lagMax 0, but the log moved while it was read", p.Topic, p.Index, r.Broker)
			}
		}
	}
}

// TestLeaderless is the case of a partition without a leader beside healthy ones
// (https://github.com/birdayz/kaf/pull/114): nothing else is lost, and each
// replica's own LEO is shown.
func TestLeaderless(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	topic := m.AddTopic("t", 3, 3)
	p := topic.Partitions[1]
	p.Leader, p.ISR, p.ELR = fakekafka.NoLeader, nil, []int32{2}
	p.SetLEO(1, 497)
	p.SetLEO(2, 477)
	p.SetLEO(3, 480)
	s := snapshot(t, fakekafka.Start(t, m).Bootstrap(), inspect.PartOffsets, ample)
	if !s.Complete() {
		t.Errorf("failures: %s", texts(s.Failures))
	}
	off := partition(t, s, 1)
	l := off.Lag()
	if off.Leader != inspect.NoBroker || l.HW.IsKnown() || l.LEO.IsKnown() || l.LogStart.IsKnown() {
		t.Errorf("leaderless partition: leader %d, lag %+v; want none and unknown", off.Leader, l)
	}
	for _, r := range l.Replicas {
		want := map[inspect.BrokerID]inspect.Offset{1: 497, 2: 477, 3: 480}[r.Broker]
		if r.LEO != inspect.Known(want) || r.Lag.IsKnown() {
			t.Errorf("replica %d: LEO %s lag %s, want %d and unknown", r.Broker, r.LEO, r.Lag, want)
		}
	}
	for _, i := range []int32{0, 2} {
		if l := partition(t, s, i).Lag(); !l.HW.IsKnown() || !l.LEO.IsKnown() {
			t.Errorf("t-%d is healthy and has %+v", i, l)
		}
	}
}

// TestSilentBroker: one that accepts and never answers costs its own answers and
// a third of the timeout; one that refuses costs no time at all.
func TestSilentBroker(t *testing.T) {
	t.Parallel()
	for name, faults := range map[string]fakekafka.Faults{
		"mute":                     {Mute: true},
		"refusing":                 {Refuse: true},
		"hangs on offsets":         {HangOn: []kmsg.Key{kmsg.ListOffsets}},
		"hangs after two answers":  {HangAfter: 2},
		"hangs after five answers": {HangAfter: 5},
		"closes on offsets":        {CloseOn: []kmsg.Key{kmsg.ListOffsets}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := fakekafka.NewModel(3)
			m.AddTopic("t", 6, 3)
			c := fakekafka.Start(t, m)
			c.Break(3, faults)
			const timeout = 3 * time.Second
			began := time.Now()
			s := snapshot(t, c.Addr(1), inspect.PartOffsets, timeout)
			if took := time.Since(began); took > timeout+timeout/2 {
				t.Errorf("took %s with a timeout of %s", took, timeout)
			}
			if s.Complete() || !strings.Contains(texts(s.Failures), c.Addr(3)) {
				t.Errorf("failures = %q, want one with %s", texts(s.Failures), c.Addr(3))
			}
			for p := range s.Partitions {
				l := p.Lag()
				if p.Leader != 3 && (!l.HW.IsKnown() || !l.LEO.IsKnown()) {
					t.Errorf("%s-%d is led by %d and has no offsets: %+v", p.Topic, p.Index, p.Leader, l)
				}
				for _, r := range l.Replicas {
					if r.Broker != 3 && !r.LEO.IsKnown() {
						t.Errorf("%s-%d replica %d answered and has no LEO (%s)", p.Topic, p.Index, r.Broker, r.Error)
					}
				}
			}
		})
	}
}

// TestLateFollower answers after the leaders' second round: its LEO bounds the
// lag from below only, and nobody waits for it longer than the grace.
func TestLateFollower(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(2)
	p := m.AddTopic("t", 1, 2).Partitions[0]
	p.HW = 90
	p.SetLEO(1, 100)
	p.SetLEO(2, 90)
	c := fakekafka.Start(t, m)
	c.Break(2, fakekafka.Faults{Delay: map[kmsg.Key]time.Duration{kmsg.ListOffsets: 1500 * time.Millisecond}})
	s := snapshot(t, c.Addr(1), inspect.PartOffsets, ample)
	l := partition(t, s, 0).Lag()
	r := l.Replicas[1]
	if r.Lag != inspect.Known(int64(10)) || r.LagMax.IsKnown() {
		t.Errorf("late follower: lag %s..%s, want 10 and no upper bound", r.Lag, r.LagMax)
	}
	if !l.UncommittedMax.IsKnown() {
		t.Error("the leader answered in time and has no upper bound for its own")
	}
	told := s.Broker(1).LeaderLEOsAt.Or(s.TakenAt.Add(time.Hour))
	toldLate := s.Broker(2).FollowerLEOsAt.Or(s.TakenAt)
	if told.Before(s.TakenAt) || toldLate.Sub(told) < 1500*time.Millisecond || s.Broker(1).FollowerLEOsAt.IsKnown() || s.Broker(2).LeaderLEOsAt.IsKnown() {
		t.Errorf("the leader told its log's end %s after the pass began, the follower %s after it", told.Sub(s.TakenAt), toldLate.Sub(s.TakenAt))
	}
}

// TestServiceWithoutReplicaReads: HW, LSO and log start are shown, LEO is not
// guessed, and it is no failure, for it cannot be had.
func TestServiceWithoutReplicaReads(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]fakekafka.ReplicaReads{
		"as a consumer": fakekafka.ReplicaReadsAsConsumer,
		"closed":        fakekafka.ReplicaReadsClosed,
		"invalid":       fakekafka.ReplicaReadsInvalid,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := fakekafka.NewModel(3)
			p := m.AddTopic("t", 1, 3).Partitions[0]
			p.HW = 50
			p.SetLEO(1, 75)
			c := fakekafka.Start(t, m)
			for id := int32(1); id <= 3; id++ {
				c.Break(id, fakekafka.Faults{ReplicaReads: mode})
			}
			s := snapshot(t, c.Bootstrap(), inspect.PartOffsets, ample)
			if !s.Complete() || len(s.Failures) != 1 || !strings.Contains(s.Failures[0].Error, "replica id −2") {
				t.Errorf("failures = %s, want one notice about replica id −2", texts(s.Failures))
			}
			part := partition(t, s, 0)
			l := part.Lag()
			if l.HW != inspect.Known(inspect.Offset(50)) || !l.LSO.IsKnown() || !l.LogStart.IsKnown() || l.LEO.IsKnown() || l.Uncommitted.IsKnown() {
				t.Errorf("lag = %+v, want HW 50, LSO and log start, no LEO", l)
			}
			for i, want := range []inspect.ReplicaState{inspect.ReplicaLeader, inspect.ReplicaInSync, inspect.ReplicaInSync} {
				if r := l.Replicas[i]; r.State != want || r.LEO.IsKnown() {
					t.Errorf("replica %d = %+v, want %s without LEO", r.Broker, r, want)
				}
				if r := l.Replicas[i]; r.Error == "" && mode == fakekafka.ReplicaReadsClosed {
					t.Errorf("replica %d = %+v, want to be told why there is no LEO", r.Broker, r)
				}
			}
		})
	}
}

// TestLeadershipMovesWhileRead: the broker that Metadata names is no leader any
// more, so nothing that it answers is the leader's LEO.
func TestLeadershipMovesWhileRead(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(2)
	p := m.AddTopic("t", 1, 2).Partitions[0]
	p.HW = 50
	p.SetLEO(1, 75)
	c := fakekafka.Start(t, m)
	c.OnListOffsets(func(m *fakekafka.Model, _ int32) { m.Topic("t").Partitions[0].Leader = 2 })
	s := snapshot(t, c.Addr(1), inspect.PartOffsets, ample)
	l := partition(t, s, 0).Lag()
	if l.LEO.IsKnown() || l.HW.IsKnown() || !strings.Contains(texts(s.Failures), "NOT_LEADER_OR_FOLLOWER") {
		t.Errorf("lag = %+v, failures %s; want unknown and NOT_LEADER_OR_FOLLOWER", l, texts(s.Failures))
	}
}

// TestFollowersAfterLeaders: no follower is read before every leader is, so that none
// that lacks nothing is taken for one that lags.
func TestFollowersAfterLeaders(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	m.AddTopic("t", 3, 3)
	c := fakekafka.Start(t, m)
	var mu sync.Mutex
	n := map[int32]int{}
	c.Intercept(func(broker int32, req kmsg.Request) (kmsg.Response, bool) {
		if _, ok := req.(*kmsg.ListOffsetsRequest); !ok {
			return nil, false
		}
		mu.Lock()
		n[broker]++
		hold := broker == 1 && n[broker] == 1
		mu.Unlock()
		if !hold {
			return nil, false
		}
		time.Sleep(200 * time.Millisecond) // long enough for the others to go wrong
		mu.Lock()
		defer mu.Unlock()
		if n[2] > 1 || n[3] > 1 {
			t.Errorf("followers were read while a leader was not: %v", n)
		}
		return nil, false
	})
	src := source.New(connect.Config{Bootstrap: c.Addrs()}, time.Minute)
	if _, err := src.Snapshot(t.Context(), source.Query{Parts: inspect.PartOffsets}); err != nil {
		t.Fatal(err)
	}
}
