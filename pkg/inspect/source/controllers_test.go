package source_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/source"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// askedAt takes a pass over brokers, if any, with these controllers.
func askedAt(t *testing.T, brokers, controllers []string, timeout time.Duration, opts ...source.Option) (*inspect.Snapshot, error) {
	t.Helper()
	opts = append(opts, source.WithControllers(connect.Config{Bootstrap: controllers}))
	src := source.New(connect.Config{Bootstrap: brokers}, timeout, opts...)
	began := time.Now()
	s, err := src.Snapshot(context.Background(), source.Query{Parts: inspect.PartQuorum, QuorumAlone: true})
	if took := time.Since(began); took > timeout+time.Second {
		t.Errorf("took %s, want at most %s", took, timeout)
	}
	return s, err
}

// TestControllers: the quorum comes from the controllers and from nobody else,
// whichever of them is named.
func TestControllers(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewControllers(3)
	m.Quorum.Epoch = 77
	controllers := fakekafka.Start(t, m)
	brokers := fakekafka.Start(t, quorumModel())
	for _, named := range [][]string{controllers.Addrs(), {controllers.Addr(101)}, {controllers.Addr(103)}, {controllers.Addr(102), fakekafka.ClosedPort(t)}} {
		s, err := askedAt(t, brokers.Addrs(), named, ample)
		if err != nil {
			t.Fatal(err)
		}
		q, _ := s.Quorum.Get()
		if q.Epoch != inspect.Known[inspect.Epoch](77) || s.Controller != inspect.Known[inspect.BrokerID](101) || !s.Complete() {
			t.Errorf("at %v: got %+v, controller %s, failures %s", named, q, s.Controller, texts(s.Failures))
		}
	}
	if n := brokers.Count(kmsg.DescribeQuorum); n > 0 {
		t.Errorf("the brokers were asked %d times", n)
	}
	// A broker does as well: it passes the request on.
	s, err := askedAt(t, brokers.Addrs(), brokers.Addrs(), ample)
	if err != nil || !s.Quorum.IsKnown() || !s.Complete() {
		t.Errorf("at brokers: got %v", err)
	}
}

// TestControllerAsBootstrap: the listener of a controller is no bootstrap server, and
// that is what it says.
func TestControllerAsBootstrap(t *testing.T) {
	t.Parallel()
	controllers := fakekafka.Start(t, fakekafka.NewControllers(1))
	_, err := askedAt(t, controllers.Addrs(), nil, ample)
	if want := controllers.Addrs()[0] + ": request: it does not offer Metadata: is this a controller's listener?"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestControllersWithoutBrokers: dead, silent or none known.
func TestControllersWithoutBrokers(t *testing.T) {
	t.Parallel()
	const timeout = 3 * time.Second
	controllers := fakekafka.Start(t, fakekafka.NewControllers(3))
	for name, brokers := range map[string][]string{"none": nil, "dead": {fakekafka.ClosedPort(t)}, "silent": {fakekafka.SilentPort(t)}} {
		s, err := askedAt(t, brokers, controllers.Addrs(), timeout)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !s.Quorum.IsKnown() || s.ClusterID != inspect.Known("ZmFrZWthZmthY2x1c3Rlcg") || !s.Complete() || len(s.Failures) != len(brokers) {
			t.Errorf("%s: quorum %v of cluster %s, failures %s", name, s.Quorum, s.ClusterID, texts(s.Failures))
		}
	}
	_, err := askedAt(t, []string{fakekafka.ClosedPort(t)}, []string{fakekafka.ClosedPort(t)}, timeout)
	var boot *source.BootstrapError
	if !errors.As(err, &boot) || len(boot.Failures) != 2 {
		t.Errorf("nobody there: got %v, want both addresses", err)
	}
	// Other passes need brokers.
	src := source.New(connect.Config{}, timeout, source.WithControllers(connect.Config{Bootstrap: controllers.Addrs()}))
	if _, err := src.Snapshot(t.Context(), source.Query{Parts: inspect.PartQuorum}); !errors.As(err, &boot) {
		t.Errorf("got %v, want that no broker answers", err)
	}
}

// TestControllersThatFail: what is not answered is unknown, with the reason.
func TestControllersThatFail(t *testing.T) {
	t.Parallel()
	const timeout = 3 * time.Second
	for _, tt := range []struct {
		name  string
		model func(*fakekafka.Model)
		then  func(*fakekafka.Cluster)
		named int32 // all, for none
		want  string
		known bool
		level inspect.Level
	}{
		{name: "one hangs", then: func(c *fakekafka.Cluster) { c.Break(102, fakekafka.Faults{Mute: true}) }, known: true, level: inspect.LevelOK},
		{name: "a dead one is named", then: func(c *fakekafka.Cluster) { c.Break(102, fakekafka.Faults{Refuse: true}) }, named: 102, want: "connection refused; the controllers are unknown", level: inspect.LevelUnknown},
		{
			name: "may not describe the cluster", model: deny(kmsg.DescribeCluster), known: true, level: inspect.LevelOK,
		},
		{
			name: "nor does the named one lead", model: deny(kmsg.DescribeCluster), named: 103,
			want: "1 of 1 controllers that were asked answered, and none of them is the active one; the controllers are unknown", level: inspect.LevelUnknown,
		},
		{name: "refused", model: deny(kmsg.DescribeQuorum), want: "CLUSTER_AUTHORIZATION_FAILED; the controllers are unknown; grant DESCRIBE on the cluster", level: inspect.LevelUnknown},
		{
			name: "before Kafka 3.7", model: func(m *fakekafka.Model) { delete(m.APIs, kmsg.DescribeCluster) }, known: true, level: inspect.LevelOK,
		},
		{
			name: "the active one is dead", then: func(c *fakekafka.Cluster) { c.Break(101, fakekafka.Faults{Refuse: true}) },
			want: "2 of 3 controllers that were asked answered, and none of them is the active one", level: inspect.LevelUnknown,
		},
		{
			name: "none is active", model: func(m *fakekafka.Model) { m.Quorum.Leader = -1 }, known: true,
			want: "all of 3 controllers answer, and none of them is the active one", level: inspect.LevelAtRisk,
		},
		{
			name: "another cluster's", model: func(m *fakekafka.Model) { m.ClusterID = "other" },
			want: "these controllers are of cluster other, the brokers of ZmFrZWthZmthY2x1c3Rlcg; the controllers are unknown", level: inspect.LevelUnknown,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := fakekafka.NewControllers(3)
			if tt.model != nil {
				tt.model(m)
			}
			c := fakekafka.Start(t, m)
			if tt.then != nil {
				tt.then(c)
			}
			named := c.Addrs()
			if tt.named != 0 {
				named = []string{c.Addr(tt.named)}
			}
			s, err := askedAt(t, fakekafka.Start(t, quorumModel()).Addrs(), named, timeout)
			if err != nil {
				t.Fatal(err)
			}
			if s.Quorum.IsKnown() != tt.known || s.Complete() != (tt.want == "") || !strings.Contains(texts(s.Failures), tt.want) {
				t.Errorf("got quorum %v, failures\n%swant %q", s.Quorum, texts(s.Failures), tt.want)
			}
			if v := s.Verdict(); v.Level != tt.level {
				t.Errorf("got verdict %s %q, want %s", v.Level, v.Reasons, tt.level)
			}
		})
	}
}

// TestControllersOfTwoClusters: of those that are named, the ones of the brokers'
// cluster tell, or of the expected one, and never another's.
func TestControllersOfTwoClusters(t *testing.T) {
	t.Parallel()
	ours := fakekafka.NewControllers(3)
	ours.Quorum.Epoch = 7
	theirs := fakekafka.NewControllers(3)
	theirs.ClusterID, theirs.Quorum.Epoch = "other", 99
	our, their := fakekafka.Start(t, ours), fakekafka.Start(t, theirs)
	brokers := fakekafka.Start(t, quorumModel())
	expect := source.ExpectCluster(ours.ClusterID)
	// Ours that leads is slow, so that theirs has every chance.
	our.Break(101, fakekafka.Faults{Delay: map[kmsg.Key]time.Duration{kmsg.DescribeQuorum: 50 * time.Millisecond, kmsg.DescribeCluster: 50 * time.Millisecond}})
	for _, named := range [][]string{
		{our.Addr(103), their.Addr(101)}, {their.Addr(101), our.Addr(103)}, {their.Addr(101), our.Addr(101)}, {their.Addr(103), their.Addr(101), our.Addr(102)},
	} {
		for name, ask := range map[string]func() (*inspect.Snapshot, error){
			"brokers":  func() (*inspect.Snapshot, error) { return askedAt(t, brokers.Addrs(), named, ample) },
			"expected": func() (*inspect.Snapshot, error) { return askedAt(t, nil, named, ample, expect) },
		} {
			for range 5 { // whoever answers first
				s, err := ask()
				if err != nil {
					t.Fatalf("%s, at %v: %v", name, named, err)
				}
				if q := s.Quorum.Or(inspect.Quorum{}); q.Epoch != inspect.Known[inspect.Epoch](7) || !s.Complete() {
					t.Errorf("%s, at %v: got %+v, failures %s", name, named, q, texts(s.Failures))
				}
			}
		}
	}
	// Who may not tell is asked, and theirs that told is not.
	our.Change(deny(kmsg.DescribeCluster))
	for range 5 {
		s, err := askedAt(t, brokers.Addrs(), []string{our.Addr(101), their.Addr(101)}, ample)
		if err != nil || s.Quorum.Or(inspect.Quorum{}).Epoch != inspect.Known[inspect.Epoch](7) {
			t.Errorf("one does not tell: got %v", err)
		}
	}
	if n := their.Count(kmsg.DescribeQuorum); n > 0 {
		t.Errorf("the other cluster was asked %d times", n)
	}
}

func deny(keys ...kmsg.Key) func(*fakekafka.Model) {
	return func(m *fakekafka.Model) { m.Deny = keys }
}

// TestExpectCluster: another cluster gets no request after the one that told.
func TestExpectCluster(t *testing.T) {
	t.Parallel()
	const ours = "ZmFrZWthZmthY2x1c3Rlcg"
	for _, parts := range []inspect.Parts{everything, everything &^ inspect.PartELR, inspect.PartGroups} {
		for id, got := range map[string]inspect.Opt[string]{"other": inspect.Known("other"), "": inspect.Unknown[string](), ours: inspect.Known(ours)} {
			m := quorumModel()
			m.ClusterID = id
			c := fakekafka.Start(t, m)
			src := source.New(connect.Config{Bootstrap: c.Addrs()}, ample, source.ExpectCluster(ours))
			for range 2 {
				_, err := src.Snapshot(t.Context(), source.Query{Parts: parts})
				if id == ours {
					if err != nil {
						t.Error(err)
					}
					continue
				}
				var wrong *source.WrongClusterError
				if !errors.As(err, &wrong) || wrong.Got != got || wrong.Expected != ours || wrong.Address != c.Addr(1) {
					t.Errorf("cluster %q: got %v", id, err)
				}
			}
			if id == ours {
				continue
			}
			for _, r := range c.Requests() {
				if !slices.Contains([]kmsg.Key{kmsg.ApiVersions, kmsg.Metadata, kmsg.DescribeCluster}, r.Key) {
					t.Errorf("cluster %q was asked %s", id, r.Key.Name())
				}
			}
		}
	}
	m := fakekafka.NewControllers(1)
	m.ClusterID = "other"
	c := fakekafka.Start(t, m)
	for _, denied := range [][]kmsg.Key{nil, {kmsg.DescribeCluster}} {
		c.Change(deny(denied...))
		_, err := askedAt(t, nil, c.Addrs(), ample, source.ExpectCluster(ours))
		var wrong *source.WrongClusterError
		if !errors.As(err, &wrong) || wrong.Got.IsKnown() != (denied == nil) || c.Count(kmsg.DescribeQuorum) > 0 {
			t.Errorf("controllers alone, denied %v: got %v after %d DescribeQuorum", denied, err, c.Count(kmsg.DescribeQuorum))
		}
	}
}

// TestNames: sorted, internal ones apart, by Metadata and ListGroups alone.
func TestNames(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	for _, name := range []string{"b", "a", "__consumer_offsets"} {
		m.AddTopic(name, 1, 1).Internal = strings.HasPrefix(name, "__")
	}
	for i, name := range []string{"two words", "über:\"$x\"", "a"} {
		m.AddGroup(name, fakekafka.ConsumerGroup).Coordinator = int32(i + 1)
	}
	c := fakekafka.Start(t, m)
	src := source.New(connect.Config{Bootstrap: c.Addrs()}, 3*time.Second)
	names, internal, err := src.TopicNames(t.Context())
	if err != nil || !slices.Equal(names, []string{"a", "b"}) || !slices.Equal(internal, []string{"__consumer_offsets"}) {
		t.Errorf("got %q, %q, %v", names, internal, err)
	}
	groups, err := src.GroupNames(t.Context())
	if err != nil || !slices.Equal(groups, []string{"a", "two words", "über:\"$x\""}) {
		t.Errorf("got %q, %v", groups, err)
	}
	for _, r := range c.Requests() {
		if !slices.Contains([]kmsg.Key{kmsg.ApiVersions, kmsg.Metadata, kmsg.ListGroups}, r.Key) {
			t.Errorf("%s was asked", r.Key.Name())
		}
	}
	c.Break(2, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.ListGroups}})
	if groups, err = src.GroupNames(t.Context()); err != nil || len(groups) != 2 {
		t.Errorf("one broker hung: got %q, %v; want the others' groups", groups, err)
	}
	wrong := source.New(connect.Config{Bootstrap: c.Addrs()}, ample, source.ExpectCluster("other"))
	if names, _, err := wrong.TopicNames(t.Context()); err == nil {
		t.Errorf("of another cluster: got %q", names)
	}
	if groups, err := wrong.GroupNames(t.Context()); err == nil {
		t.Errorf("of another cluster: got %q", groups)
	}
}
