package source_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// takeSample takes a pass of three brokers, t of three partitions, of which
// broker 2's replica of t-0 is behind.
func takeSample(t *testing.T, q source.Query, change func(*fakekafka.Model), faults map[int32]fakekafka.Faults) (*inspect.Snapshot, *fakekafka.Cluster) {
	t.Helper()
	m := fakekafka.NewModel(3)
	for _, p := range m.AddTopic("t", 3, 3).Partitions {
		p.HW = 100
	}
	m.Topic("t").Partitions[0].SetLEO(2, 70)
	if change != nil {
		change(m)
	}
	c := fakekafka.Start(t, m)
	for id, f := range faults {
		c.Break(id, f)
	}
	pool := &connect.Pool{}
	t.Cleanup(pool.Close)
	src := source.New(connect.Config{Bootstrap: c.Addrs()[:1], Pool: pool}, time.Minute)
	s, err := src.Snapshot(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func lagsOf(s *inspect.Snapshot) []string {
	var out []string
	for p := range s.Partitions {
		l := p.Lag()
		line := fmt.Sprintf("%d HW %s LEO %s:", p.Index, l.HW, l.LEO)
		for _, r := range l.Replicas {
			line += fmt.Sprintf(" %d %s %s", r.Broker, r.LEO, r.Lag)
		}
		out = append(out, line)
	}
	return out
}

func TestSample(t *testing.T) {
	t.Parallel()
	written := func(m *fakekafka.Model) { m.Topic("t").Partitions[0].SetLEO(1, 130) }
	for _, tt := range []struct {
		name   string
		q      source.Query
		faults map[int32]fakekafka.Faults
		want   []string
		most   int // ListOffsets a broker
	}{
		{"leaders", source.Query{Sample: source.SampleLeaders}, nil, []string{
			"0 HW 100 LEO 130: 1 130 0 2 - - 3 - -", "1 HW 100 LEO 100: 2 100 0 3 - - 1 - -", "2 HW 100 LEO 100: 3 100 0 1 - - 2 - -",
		}, 2},
		{"ends", source.Query{Sample: source.SampleEnds}, nil, []string{
			"0 HW 100 LEO -: 1 - - 2 - - 3 - -", "1 HW 100 LEO -: 2 - - 3 - - 1 - -", "2 HW 100 LEO -: 3 - - 1 - - 2 - -",
		}, 1},
		{"a suspect is not asked", source.Query{Sample: source.SampleLeaders, Suspects: map[inspect.BrokerID]bool{2: true}}, map[int32]fakekafka.Faults{2: {Mute: true}}, []string{
			"0 HW 100 LEO 130: 1 130 0 2 - - 3 - -", "1 HW - LEO -: 2 - - 3 - - 1 - -", "2 HW 100 LEO 100: 3 100 0 1 - - 2 - -",
		}, 2},
		{"a broker that closes the connection on it", source.Query{Sample: source.SampleLeaders}, map[int32]fakekafka.Faults{
			2: {ReplicaReads: fakekafka.ReplicaReadsClosed},
		}, []string{
			"0 HW 100 LEO 130: 1 130 0 2 - - 3 - -", "1 HW 100 LEO -: 2 - - 3 - - 1 - -", "2 HW 100 LEO 100: 3 100 0 1 - - 2 - -",
		}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, c := takeSample(t, tt.q, written, tt.faults)
			if diff := cmp.Diff(tt.want, lagsOf(s)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			n := map[int32]int{}
			for _, r := range c.Requests() {
				if tt.q.Suspects[inspect.BrokerID(r.Broker)] {
					t.Errorf("the suspect was sent %s", r.Key.Name())
				}
				switch r.Key {
				case kmsg.ListOffsets:
					n[r.Broker]++
				case kmsg.ApiVersions, kmsg.Metadata:
				default:
					t.Errorf("a sample sent %s", r.Key.Name())
				}
			}
			for id, got := range n {
				if got > tt.most {
					t.Errorf("%d ListOffsets to broker %d, want at most %d", got, id, tt.most)
				}
			}
		})
	}
}

// TestLeaderlessELR is asked for leaderless partitions, where there can be one, and
// not else.
func TestLeaderlessELR(t *testing.T) {
	t.Parallel()
	leaderless := func(m *fakekafka.Model) {
		p := m.Topic("t").Partitions[1]
		p.Leader, p.ISR, p.ELR = fakekafka.NoLeader, nil, []int32{3}
	}
	for _, tt := range []struct {
		name   string
		change func(*fakekafka.Model)
		want   string
		asked  int
	}{
		{"none", nil, "-", 0},
		{"one", leaderless, "[3]", 1},
		{"no such feature", func(m *fakekafka.Model) {
			leaderless(m)
			m.Features = map[string]int16{}
		}, "-", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, c := takeSample(t, source.Query{Sample: source.SampleLeaders, LeaderlessELR: true}, tt.change, nil)
			if got := s.Topics[0].Partitions[1].ELR.String(); got != tt.want {
				t.Errorf("got ELR %s, want %s", got, tt.want)
			}
			if got := c.Count(kmsg.DescribeTopicPartitions); got != tt.asked {
				t.Errorf("asked %d times, want %d", got, tt.asked)
			}
			if s.Topics[0].Partitions[0].ELR.IsKnown() {
				t.Error("a partition with a leader has an ELR")
			}
		})
	}
}

// TestSampleOrder: a leader tells its LEO before its HW, so that what lies between
// was there.
func TestSampleOrder(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	m.AddTopic("t", 3, 3)
	c := fakekafka.Start(t, m)
	var mu sync.Mutex
	asked := map[int32][]int32{}
	c.Intercept(func(broker int32, req kmsg.Request) (kmsg.Response, bool) {
		if req, ok := req.(*kmsg.ListOffsetsRequest); ok {
			mu.Lock()
			defer mu.Unlock()
			asked[broker] = append(asked[broker], req.ReplicaID)
		}
		return nil, false
	})
	src := source.New(connect.Config{Bootstrap: c.Addrs()}, time.Minute)
	if _, err := src.Snapshot(t.Context(), source.Query{Sample: source.SampleLeaders}); err != nil {
		t.Fatal(err)
	}
	const debugging, consumer = -2, -1
	want := map[int32][]int32{1: {debugging, consumer}, 2: {debugging, consumer}, 3: {debugging, consumer}}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("replica ids, -want +got:\n%s", diff)
	}
}

// TestReachableByWhatIsAnswered: a broker that holds the request over a kept
// connection, and answers the next one over another, is reachable.
func TestReachableByWhatIsAnswered(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(2)
	m.AddTopic("t", 2, 2)
	c := fakekafka.Start(t, m)
	pool := &connect.Pool{}
	defer pool.Close()
	const parts = inspect.PartReachable | inspect.PartOffsets | inspect.PartLogDirs
	src := source.New(connect.Config{Bootstrap: []string{c.Addr(1)}, Pool: pool}, 6*time.Second)
	for _, broken := range []bool{false, true} {
		if broken {
			c.Break(2, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.ListOffsets}})
		}
		s, err := src.Snapshot(t.Context(), source.Query{Parts: parts})
		if err != nil {
			t.Fatal(err)
		}
		b := s.Broker(2)
		if b.Reachable != inspect.Known(true) || !b.LogDirs.IsKnown() || s.Complete() == broken {
			t.Errorf("holds ListOffsets: %v: reachable %v, log directories known: %v, complete: %v", broken, b.Reachable, b.LogDirs.IsKnown(), s.Complete())
		}
	}
}
