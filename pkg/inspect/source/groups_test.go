package source_test

import (
	"context"
	"fmt"
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

// groupPass takes the pass of lag groups.
func groupPass(t *testing.T, bootstrap string, timeout time.Duration, q source.GroupQuery) *inspect.Snapshot {
	t.Helper()
	addrs, err := connect.ParseBootstrap(bootstrap)
	if err != nil {
		t.Fatal(err)
	}
	src := source.New(connect.Config{Bootstrap: addrs}, timeout)
	s, err := src.Snapshot(context.Background(), source.Query{
		Parts: inspect.PartGroups | inspect.PartOffsets, Groups: q, ForGroups: true,
	})
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	return s
}

// groupsText is what was learned of every group, one a line.
func groupsText(s *inspect.Snapshot) string {
	var b strings.Builder
	for _, l := range s.GroupLags() {
		members := "-"
		if m, ok := l.Members.Get(); ok {
			members = fmt.Sprint(len(m))
		}
		fmt.Fprintf(&b, "%s %s %s at %d, %s members, lag %s known %s unknown %s\n",
			l.Name, l.Type, l.State, l.Coordinator, members, l.Lag, l.LagKnown, l.UnknownPartitions)
	}
	return b.String()
}

// everyKind is three brokers, t of three partitions with 100 records each, and a
// group of every kind.
func everyKind() *fakekafka.Model {
	m := fakekafka.NewModel(3)
	for _, p := range m.AddTopic("t", 3, 3).Partitions {
		p.HW = 100
	}
	m.AddTopic("unrelated", 3, 3)
	classic := m.AddGroup("classic", fakekafka.ClassicGroup)
	classic.Coordinator = 1
	classic.Join("m1", "t", 0, 1)
	classic.Join("m2", "t")
	classic.Commit("t", 0, 90)
	consumer := m.AddGroup("consumer", fakekafka.ConsumerGroup)
	consumer.Coordinator = 2
	for i := range int32(7) {
		consumer.Join(fmt.Sprintf("m%d", i), "t", i%3)
	}
	consumer.Commit("t", 2, 100)
	empty := m.AddGroup("empty", fakekafka.ClassicGroup)
	empty.Coordinator, empty.ProtocolType = 2, " "
	empty.Commit("t", 0, 60)
	empty.Commit("t", 1, -1)
	m.AddGroup("share", fakekafka.ShareGroup).Coordinator = 3
	workers := m.AddGroup("workers", fakekafka.ClassicGroup)
	workers.Coordinator, workers.ProtocolType = 3, "connect"
	workers.Join("w1", "")
	return m
}

// TestGroups: a KIP-848 group is what its own API says, not Dead with no members
// (https://github.com/danielqsj/kafka_exporter/issues/533,
// https://github.com/IBM/sarama/issues/3746).
func TestGroups(t *testing.T) {
	t.Parallel()
	const want = `classic classic Stable at 1, 2 members, lag 10 known 10 unknown 0
consumer consumer Stable at 2, 7 members, lag 0 known 0 unknown 0
empty classic Empty at 2, 0 members, lag 40 known 40 unknown 0
share share Empty at 3, - members, lag - known - unknown -
workers classic Stable at 3, 1 members, lag - known 0 unknown 0
`
	c := fakekafka.Start(t, everyKind())
	s := groupPass(t, c.Bootstrap(), ample, source.GroupQuery{})
	if got := groupsText(s); got != want || !s.Complete() {
		t.Errorf("got\n%swant\n%sfailures: %s", got, want, texts(s.Failures))
	}
	if len(s.Topics) != 1 || s.Topics[0].Name != "t" {
		t.Errorf("topics = %+v, want t alone: no group has to do with the other", s.Topics)
	}
	m := s.Group("classic").Members.Or(nil)[0]
	if m.ID != "m1" || m.ClientID != "client-m1" || m.Host != "/127.0.0.1" || len(m.Assigned) != 2 {
		t.Errorf("member = %+v", m)
	}
	if w := s.Group("workers"); w.Protocol != "connect" || len(w.Members.Or(nil)[0].Assigned) != 0 {
		t.Errorf("workers = %+v", w)
	}
}

// TestGroupsInAFullPass: beside everything else, and with every topic.
func TestGroupsInAFullPass(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, everyKind())
	s := snapshot(t, c.Bootstrap(), everything|inspect.PartGroups, ample)
	if len(s.Groups) != 5 || len(s.Topics) != 2 || !s.Complete() || !partition(t, s, 0).MinInsyncReplicas.IsKnown() {
		t.Errorf("%d groups, %d topics, failures %s; want 5, 2, none", len(s.Groups), len(s.Topics), texts(s.Failures))
	}
	if lag := partition(t, s, 0).Lag(); !lag.UncommittedMax.IsKnown() {
		t.Error("upper bounds are missing from a pass that is not for groups alone")
	}
}

// TestGroupsOfOlderBrokers: what a broker cannot tell comes from elsewhere or is
// unknown, and is no failure.
func TestGroupsOfOlderBrokers(t *testing.T) {
	t.Parallel()
	limit := func(apis map[fakekafka.Key]fakekafka.VersionRange, key kmsg.Key, newest int16) {
		r := apis[key]
		r.Max = newest
		apis[key] = r
	}
	for _, tt := range []struct {
		name  string
		apis  func() map[fakekafka.Key]fakekafka.VersionRange
		drop  []string
		want  string
		fetch int
	}{
		{ // Kafka 3.7 with the new protocol: no types in the list; a classic group
			// sent to API 69 is not found there.
			name: "no types", drop: []string{"share"},
			apis: func() map[fakekafka.Key]fakekafka.VersionRange {
				apis := fakekafka.APIs()
				limit(apis, kmsg.ListGroups, 4)
				limit(apis, kmsg.ConsumerGroupDescribe, 0)
				return apis
			},
			want: `classic classic Stable at 1, 2 members, lag 10 known 10 unknown 0
consumer consumer Stable at 2, 7 members, lag 0 known 0 unknown 0
empty classic Empty at 1, 0 members, lag 40 known 40 unknown 0
workers classic Stable at 3, 1 members, lag - known 0 unknown 0
`, fetch: 3,
		},
		{ // Kafka 2.5: no API 69, no states in the list, one group an OffsetFetch.
			name: "no API 69", drop: []string{"share", "consumer"},
			apis: func() map[fakekafka.Key]fakekafka.VersionRange {
				apis := fakekafka.APIs(kmsg.ConsumerGroupDescribe, kmsg.DescribeTopicPartitions, kmsg.DescribeCluster)
				limit(apis, kmsg.ListGroups, 3)
				limit(apis, kmsg.DescribeGroups, 5)
				limit(apis, kmsg.OffsetFetch, 7)
				return apis
			},
			want: `classic classic Stable at 1, 2 members, lag 10 known 10 unknown 0
empty classic Empty at 1, 0 members, lag 40 known 40 unknown 0
workers classic Stable at 3, 1 members, lag - known 0 unknown 0
`, fetch: 3,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := everyKind()
			m.APIs = tt.apis()
			m.Group("empty").Coordinator = 1 // two groups at one broker
			m.Groups = slices.DeleteFunc(m.Groups, func(g *fakekafka.Group) bool { return slices.Contains(tt.drop, g.Name) })
			c := fakekafka.Start(t, m)
			s := groupPass(t, c.Bootstrap(), ample, source.GroupQuery{})
			if got := groupsText(s); got != tt.want || !s.Complete() {
				t.Errorf("got\n%swant\n%sfailures: %s", got, tt.want, texts(s.Failures))
			}
			if n := c.Count(kmsg.OffsetFetch); n != tt.fetch {
				t.Errorf("%d OffsetFetch requests, want %d", n, tt.fetch)
			}
		})
	}
}

// TestConsumerProtocolSwitchedOff: the broker knows API 69 and the cluster has not
// enabled the protocol; all groups are classic.
func TestConsumerProtocolSwitchedOff(t *testing.T) {
	t.Parallel()
	m := everyKind()
	m.APIs = fakekafka.APIs()
	m.APIs[kmsg.ListGroups] = fakekafka.VersionRange{Max: 4}
	c := fakekafka.Start(t, m)
	c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		r, ok := req.(*kmsg.ConsumerGroupDescribeRequest)
		if !ok {
			return nil, false
		}
		resp := kmsg.NewPtrConsumerGroupDescribeResponse()
		for _, name := range r.Groups {
			g := kmsg.NewConsumerGroupDescribeResponseGroup()
			g.Group, g.ErrorCode = name, 35 // UNSUPPORTED_VERSION
			resp.Groups = append(resp.Groups, g)
		}
		return resp, true
	})
	s := groupPass(t, c.Bootstrap(), ample, source.GroupQuery{Names: []string{"classic"}})
	if got, want := groupsText(s), "classic classic Stable at 1, 2 members, lag 10 known 10 unknown 0\n"; got != want || !s.Complete() {
		t.Errorf("got %swant %sfailures: %s", got, want, texts(s.Failures))
	}
}

// TestCommitsAreReadBeforeEnds: the log moves on and the group commits all the
// time, and is never shown ahead of the log
// (https://github.com/danielqsj/kafka_exporter/issues/191).
func TestCommitsAreReadBeforeEnds(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	for _, p := range m.AddTopic("t", 6, 3).Partitions {
		p.HW, p.AppendPerRead = 100, 3
	}
	m.AddGroup("a", "").Coordinator = 1
	m.AddGroup("b", "").Coordinator = 3
	c := fakekafka.Start(t, m)
	// Broker 3 answers last of all: everyone has to wait for its commits.
	c.Break(3, fakekafka.Faults{Delay: map[kmsg.Key]time.Duration{kmsg.OffsetFetch: 200 * time.Millisecond}})
	c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		if _, ok := req.(*kmsg.OffsetFetchRequest); ok {
			c.Change(func(m *fakekafka.Model) {
				for i, p := range m.Topic("t").Partitions {
					p.Append(1000)
					m.Group("a").Commit("t", int32(i), p.HW)
					m.Group("b").Commit("t", int32(i), p.HW)
				}
			})
		}
		return nil, false
	})
	s := groupPass(t, c.Bootstrap(), ample, source.GroupQuery{})
	seen := 0
	for _, l := range s.GroupLags() {
		for _, p := range l.Partitions {
			seen++
			if p.Ahead != inspect.Known(int64(0)) || p.Lag.Or(-1) < 0 {
				t.Errorf("%s %s-%d: lag %s, ahead %s; want no phantom", l.Name, p.Topic, p.Partition, p.Lag, p.Ahead)
			}
		}
	}
	if seen != 12 || !s.Complete() {
		t.Errorf("%d partitions, failures %s; want 12", seen, texts(s.Failures))
	}
	fetches := 0
	for _, r := range c.Requests() {
		switch r.Key {
		case kmsg.OffsetFetch:
			fetches++
		case kmsg.ListOffsets:
			if fetches != 2 {
				t.Fatalf("an offset was read after %d of 2 OffsetFetch", fetches)
			}
		}
	}
}

// TestGroupAheadAndBelow: state B of https://github.com/danielqsj/kafka_exporter/issues/437
// (a truncated topic), and a group that retention has overtaken.
func TestGroupAheadAndBelow(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(1)
	parts := m.AddTopic("t", 2, 1).Partitions
	parts[0].HW = 300
	parts[1].LogStart, parts[1].HW = 50, 80
	g := m.AddGroup("g", "")
	g.Commit("t", 0, 500)
	g.Commit("t", 1, 10)
	l := groupPass(t, fakekafka.Start(t, m).Bootstrap(), ample, source.GroupQuery{}).GroupLags()[0]
	if p := l.Partitions[0]; p.Lag != inspect.Known(int64(0)) || p.Ahead != inspect.Known(int64(200)) {
		t.Errorf("truncated: lag %s ahead %s, want 0 and 200", p.Lag, p.Ahead)
	}
	if p := l.Partitions[1]; p.Lag != inspect.Known(int64(30)) || p.BelowStart != inspect.Known(int64(40)) {
		t.Errorf("overtaken: lag %s below start %s, want 30 and 40", p.Lag, p.BelowStart)
	}
	if l.Lag != inspect.Known(int64(30)) {
		t.Errorf("lag %s, want 30: ahead is not set off", l.Lag)
	}
}

// TestLeaderlessPartitionOfAGroup: the others' rows are complete, and it is no
// failure to have asked (https://github.com/apache/kafka/pull/20064).
func TestLeaderlessPartitionOfAGroup(t *testing.T) {
	t.Parallel()
	m := everyKind()
	m.Topic("t").Partitions[2].Leader = fakekafka.NoLeader
	m.Group("classic").Commit("t", 2, 5)
	c := fakekafka.Start(t, m)
	s := groupPass(t, c.Bootstrap(), ample, source.GroupQuery{})
	const want = "classic classic Stable at 1, 2 members, lag - known 10 unknown 1\n"
	if got := groupsText(s); !strings.HasPrefix(got, want) || !s.Complete() {
		t.Errorf("got\n%swant\n%sfailures: %s", got, want, texts(s.Failures))
	}
	if p := s.GroupLags()[0].Partitions[2]; p.Note != "no leader" || p.HW.IsKnown() {
		t.Errorf("row of the leaderless partition = %+v", p)
	}
}

// TestHungCoordinator costs its own groups, is named, and holds nobody up
// (https://github.com/apache/kafka/pull/20168).
func TestHungCoordinator(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		faults fakekafka.Faults
		// lost is what the failure has to say, b what is known of its group.
		lost, b string
		// leads: the partitions that it leads can be read all the same.
		leads bool
	}{
		{"mute", fakekafka.Faults{Mute: true}, "the groups that it coordinates are not shown, the ends of the 2 partitions", "", false},
		{"refusing", fakekafka.Faults{Refuse: true}, "the groups that it coordinates are not shown, the ends of the 2 partitions", "", false},
		{"hangs on the list", fakekafka.Faults{HangOn: []kmsg.Key{kmsg.ListGroups}}, "the groups that it coordinates are not shown", "", true},
		{
			"hangs on members",
			fakekafka.Faults{HangOn: []kmsg.Key{kmsg.DescribeGroups}},
			"members or commits of its one group are unknown",
			"b classic Stable at 2, - members, lag 30 known 30 unknown 0\n", true,
		},
		{
			"closes on commits",
			fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.OffsetFetch}},
			"members or commits of its one group are unknown",
			"b classic Stable at 2, 1 members, lag - known - unknown -\n", true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := fakekafka.NewModel(3)
			for _, p := range m.AddTopic("t", 6, 3).Partitions {
				p.HW = 100
			}
			for id, name := range []string{"a", "b", "c"} {
				g := m.AddGroup(name, "")
				g.Coordinator = int32(id + 1)
				g.Join("m", "t", 0)
				for i := range int32(6) {
					g.Commit("t", i, 95)
				}
			}
			c := fakekafka.Start(t, m)
			c.Break(2, tt.faults)
			const timeout = 3 * time.Second
			began := time.Now()
			s := groupPass(t, c.Addr(1), timeout, source.GroupQuery{})
			if took := time.Since(began); took > timeout {
				t.Errorf("took %s with a timeout of %s", took, timeout)
			}
			sums := "lag 30 known 30 unknown 0"
			if !tt.leads {
				sums = "lag - known 20 unknown 2" // 2 of t's partitions are led by broker 2
			}
			want := "a classic Stable at 1, 1 members, " + sums + "\n" + tt.b + "c classic Stable at 3, 1 members, " + sums + "\n"
			if got := groupsText(s); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
			told := texts(s.Failures)
			if s.Complete() || !strings.Contains(told, c.Addr(2)) || !strings.Contains(told, tt.lost) || len(s.Failures) != 1 {
				t.Errorf("failures = %s, want one, with %s and %q", told, c.Addr(2), tt.lost)
			}
		})
	}
}

// TestGroupRequestBudget counts what every broker gets for 1,000 groups over
// 10,000 partitions. What that takes in time is told and not judged: it is the
// machine's, which may be busy with something else. Not parallel with the others, whose
// brokers have less time to answer.
func TestGroupRequestBudget(t *testing.T) {
	const brokers, groups, topics, perTopic = 3, 1000, 200, 50
	m := fakekafka.NewModel(brokers)
	m.AddTopics("t", topics, perTopic, 3)
	at := map[int32]int{}
	for i := range groups {
		kind := []string{fakekafka.ClassicGroup, fakekafka.ConsumerGroup}[i%2]
		g := m.AddGroup(fmt.Sprintf("group-%04d", i), kind)
		g.Coordinator = int32(i%brokers + 1)
		at[g.Coordinator]++
		// A fifth of a topic each: together they are at every partition.
		topic, first := m.Topics[i%topics].Name, int32(i/topics*perTopic/5)
		for p := first; p < first+perTopic/5; p++ {
			g.Commit(topic, p, 0)
			g.Join(fmt.Sprintf("m%d", p), topic, p)
		}
	}
	c := fakekafka.Start(t, m)
	began := time.Now()
	s := groupPass(t, c.Addr(1), 10*ample, source.GroupQuery{})
	lags := s.GroupLags()
	t.Logf("took %s", time.Since(began))
	partitions := 0
	for _, l := range lags {
		partitions += len(l.Partitions)
		if l.Lag != inspect.Known(int64(0)) || len(l.Members.Or(nil)) != perTopic/5 {
			t.Fatalf("%s: lag %s, %d members", l.Name, l.Lag, len(l.Members.Or(nil)))
		}
	}
	if len(lags) != groups || partitions != topics*perTopic || !s.Complete() {
		t.Errorf("%d groups, %d partitions, failures %s", len(lags), partitions, texts(s.Failures))
	}
	got := map[int32]map[kmsg.Key]int{}
	for _, r := range c.Requests() {
		if got[r.Broker] == nil {
			got[r.Broker] = map[kmsg.Key]int{}
		}
		got[r.Broker][r.Key]++
		if f, ok := r.Body.(*kmsg.OffsetFetchRequest); ok && len(f.Groups) > 100 {
			t.Errorf("one OffsetFetch names %d groups, want at most 100", len(f.Groups))
		}
	}
	for id := int32(1); id <= brokers; id++ {
		others := 0
		for key, n := range got[id] {
			if key != kmsg.OffsetFetch {
				others += n
			}
		}
		fetches := (at[id] + 99) / 100
		t.Logf("broker %d: %d OffsetFetch for %d groups, %d other requests", id, got[id][kmsg.OffsetFetch], at[id], others)
		if got[id][kmsg.OffsetFetch] != fetches || others > 10 {
			t.Errorf("broker %d got %v: want %d OffsetFetch and at most 10 others", id, got[id], fetches)
		}
	}
}

// TestGroupsAreSafe: nothing is joined, committed or created, on a cluster that
// has never had a group.
func TestGroupsAreSafe(t *testing.T) {
	t.Parallel()
	reads := map[kmsg.Key]bool{
		kmsg.ApiVersions: true, kmsg.Metadata: true, kmsg.ListOffsets: true, kmsg.ListGroups: true,
		kmsg.DescribeGroups: true, kmsg.ConsumerGroupDescribe: true, kmsg.OffsetFetch: true,
	}
	for _, m := range []*fakekafka.Model{fakekafka.NewModel(2), everyKind()} {
		c := fakekafka.Start(t, m)
		groupPass(t, c.Bootstrap(), ample, source.GroupQuery{Names: []string{"no-such-group"}})
		for _, r := range c.Requests() {
			if !reads[r.Key] || r.Err != nil {
				t.Errorf("%s (%v) is not one of the requests that only read", r.Key.Name(), r.Err)
			}
			if f, ok := r.Body.(*kmsg.OffsetFetchRequest); ok && f.RequireStable {
				t.Error("OffsetFetch waits for pending transactions")
			}
		}
		if created := c.Created(); len(created) > 0 {
			t.Errorf("asking created %v", created)
		}
	}
}

func TestNamedGroups(t *testing.T) {
	t.Parallel()
	only := func(names ...string) source.GroupQuery { return source.GroupQuery{Names: names} }
	andMore := source.GroupQuery{Names: []string{"classic"}, Keep: func(n string) bool { return n[0] == 'e' }}
	offsetsTopic := func(leaderless bool) *fakekafka.Model {
		m := everyKind()
		p := m.AddTopic("__consumer_offsets", 4, 3).Partitions[inspect.OffsetsPartition("lost", 4)]
		if leaderless {
			p.Leader = fakekafka.NoLeader
		}
		return m
	}
	for _, tt := range []struct {
		name   string
		model  *fakekafka.Model
		hang   bool
		query  source.GroupQuery
		groups int
		want   string
	}{
		{"there", everyKind(), false, only("classic", "empty"), 2, ""},
		{"missing", everyKind(), false, only("classic", "nope"), 1, `no group "nope", or no permission to see it`},
		{"a broker is silent", everyKind(), true, only("classic", "nope"), 1, `group "nope" is not listed by the brokers that answered`},
		{"its coordinator is gone", offsetsTopic(true), false, only("lost"), 0, `group "lost" has no coordinator: __consumer_offsets-0 has no leader`},
		{"another's coordinator is gone", offsetsTopic(true), false, only("classic"), 1, ""},
		{"there, another broker is silent", everyKind(), true, only("classic", "empty"), 2, ""},
		{"a name and a pattern", everyKind(), false, andMore, 2, ""},
		{"a name and a pattern, a broker is silent", everyKind(), true, andMore, 2, "the groups that it coordinates are not shown"},
		{"a name and a pattern, a coordinator is gone", offsetsTopic(true), false, andMore, 2, "1 of 4 partitions have no leader"},
		{"all", offsetsTopic(true), false, source.GroupQuery{}, 5, "1 of 4 partitions have no leader"},
		{"all, healthy", offsetsTopic(false), false, source.GroupQuery{}, 5, ""},
		{"by state", everyKind(), false, source.GroupQuery{States: []string{"EMPTY"}}, 2, ""},
		{"by type", everyKind(), false, source.GroupQuery{Types: []string{"consumer", "share"}}, 2, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := fakekafka.Start(t, tt.model)
			if tt.hang {
				c.Break(3, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.ListGroups}})
			}
			s := groupPass(t, c.Bootstrap(), ample, tt.query)
			told := texts(s.Failures)
			if len(s.Groups) != tt.groups || s.Complete() != (tt.want == "") || !strings.Contains(told, tt.want) {
				t.Errorf("got\n%sfailures %s; want %d groups and %q", groupsText(s), told, tt.groups, tt.want)
			}
		})
	}
}

// TestGroupsRefused: one line for a broker, a request and a cause, with the ACL.
func TestGroupsRefused(t *testing.T) {
	t.Parallel()
	for key, want := range map[kmsg.Key]string{
		kmsg.OffsetFetch:           "empty classic Empty at 2, 0 members, lag - known - unknown -\n",
		kmsg.DescribeGroups:        "empty classic Empty at 2, - members, lag 40 known 40 unknown 0\n",
		kmsg.ConsumerGroupDescribe: "consumer consumer Stable at 2, - members, lag 0 known 0 unknown 0\n",
	} {
		m := everyKind()
		m.Deny = []kmsg.Key{key}
		s := groupPass(t, fakekafka.Start(t, m).Bootstrap(), ample, source.GroupQuery{})
		told := texts(s.Failures)
		if s.Complete() || !strings.Contains(told, "grant DESCRIBE on the group") || !strings.Contains(told, "GROUP_AUTHORIZATION_FAILED") {
			t.Errorf("%s refused: failures %s", key.Name(), told)
		}
		if got := groupsText(s); !strings.Contains(got, want) {
			t.Errorf("%s refused: got\n%swant among it\n%s", key.Name(), got, want)
		}
	}
}

// TestCoordinatorMoves between two listings: the new one is right, and no failure
// is told of a group that the other told of.
func TestCoordinatorMoves(t *testing.T) {
	t.Parallel()
	m := everyKind()
	m.Group("classic").Coordinator = 2
	c := fakekafka.Start(t, m)
	c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		if _, ok := req.(*kmsg.ListGroupsRequest); !ok {
			return nil, false
		}
		resp := kmsg.NewPtrListGroupsResponse()
		g := kmsg.NewListGroupsResponseGroup()
		g.Group, g.ProtocolType, g.GroupState, g.GroupType = "classic", "consumer", "Stable", "classic"
		resp.Groups = append(resp.Groups, g)
		return resp, true
	})
	s := groupPass(t, c.Bootstrap(), ample, source.GroupQuery{})
	const want = "classic classic Stable at 2, 2 members, lag 10 known 10 unknown 0\n"
	if got := groupsText(s); got != want || !s.Complete() {
		t.Errorf("got %swant %sfailures: %s", got, want, texts(s.Failures))
	}
}

// TestFollowersAreNotTheGroupsConcern: one that cannot tell its own log end loses
// nothing of a group's lag; but where none can, the leaders' is not believed.
func TestFollowersAreNotTheGroupsConcern(t *testing.T) {
	t.Parallel()
	m := everyKind()
	m.Broker(2).LogDirs = []fakekafka.LogDir{{Path: "/good"}, {Path: "/bad", Offline: true}}
	m.Topic("t").Partitions[0].Dirs = map[int32]string{2: "/bad"}
	c := fakekafka.Start(t, m)
	s := groupPass(t, c.Bootstrap(), ample, source.GroupQuery{})
	if p := s.GroupLags()[0].Partitions[0]; len(s.Failures) != 0 || p.LEO != inspect.Known(inspect.Offset(100)) {
		t.Errorf("LEO %s, failures %s; want 100 and none", p.LEO, texts(s.Failures))
	}
	for id := int32(1); id <= 3; id++ {
		c.Break(id, fakekafka.Faults{ReplicaReads: fakekafka.ReplicaReadsAsConsumer})
	}
	s = groupPass(t, c.Bootstrap(), ample, source.GroupQuery{})
	if p := s.GroupLags()[0].Partitions[0]; !s.Complete() || p.LEO.IsKnown() || p.Lag != inspect.Known(int64(10)) {
		t.Errorf("LEO %s, lag %s, failures %s; want unknown, 10, a notice", p.LEO, p.Lag, texts(s.Failures))
	}
}

// TestGroupTimes finds how old the first unread record is by asking for times, for
// groups at several places of one partition, and counts the requests.
func TestGroupTimes(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	now := time.Now().UnixMilli()
	for _, p := range m.AddTopic("t", 3, 3).Partitions {
		p.LogStart, p.HW = 100, 1000
		p.TimestampMs = func(o int64) int64 { return now - (1000-o)*60_000 } // one a minute
	}
	bare := m.AddTopic("bare", 1, 3).Partitions[0] // of records without timestamps
	bare.HW = 5
	for name, at := range map[string]int64{"a": 400, "b": 999, "c": 1000, "d": 7} {
		g := m.AddGroup(name, "")
		for i := range int32(3) {
			g.Commit("t", i, at)
		}
		g.Commit("bare", 0, 2)
	}
	c := fakekafka.Start(t, m)
	s := groupPass(t, c.Bootstrap(), ample, source.GroupQuery{Times: true})
	if !s.Complete() {
		t.Errorf("failures: %s", texts(s.Failures))
	}
	for _, l := range s.GroupLags() {
		for _, p := range l.Partitions {
			since, found := p.UnreadSinceMs.Get()
			minutes := map[string]int64{"a": 600, "b": 1, "d": 900}[l.Name] // d goes on at the log's start
			wantMs := minutes * 60_000
			switch age := now - since; {
			case p.Topic == "bare" || minutes == 0:
				if found {
					t.Errorf("%s %s-%d: found %d, want unknown", l.Name, p.Topic, p.Partition, since)
				}
			case !found || age < wantMs-1000 || age > wantMs+wantMs/10+1000:
				t.Errorf("%s %s-%d: found %t, %d ms old, want about %d", l.Name, p.Topic, p.Partition, found, age, wantMs)
			}
		}
	}
	perBroker := map[int32]int{}
	for _, r := range c.Requests() {
		if r.Key == kmsg.ListOffsets {
			perBroker[r.Broker]++
		}
	}
	for id, n := range perBroker {
		t.Logf("broker %d: %d ListOffsets", id, n)
		if n > 5+60 {
			t.Errorf("broker %d got %d ListOffsets, want at most 65", id, n)
		}
	}
	c.Reset()
	groupPass(t, c.Bootstrap(), ample, source.GroupQuery{Names: []string{"a"}, Times: true})
	if n := c.Count(kmsg.ListOffsets); n > 3*(5+20) {
		t.Errorf("one group took %d ListOffsets of three brokers, want at most 75", n)
	}
}

// TestOtherTopicsAreNotTheGroupsConcern: one that the cluster cannot describe, and
// that no group reads, is no failure; one that a group reads is.
func TestOtherTopicsAreNotTheGroupsConcern(t *testing.T) {
	t.Parallel()
	for topic, want := range map[string]bool{"unrelated": true, "t": false} {
		c := fakekafka.Start(t, everyKind())
		c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
			if _, ok := req.(*kmsg.MetadataRequest); !ok {
				return nil, false
			}
			resp := kmsg.NewPtrMetadataResponse()
			for id := int32(1); id <= 3; id++ {
				host, port, _ := strings.Cut(c.Addr(id), ":")
				b := kmsg.NewMetadataResponseBroker()
				b.NodeID, b.Host = id, host
				_, _ = fmt.Sscan(port, &b.Port)
				resp.Brokers = append(resp.Brokers, b)
			}
			failed := kmsg.NewMetadataResponseTopic()
			failed.Topic, failed.ErrorCode = &topic, 29 // TOPIC_AUTHORIZATION_FAILED
			resp.Topics = append(resp.Topics, failed)
			return resp, true
		})
		s := groupPass(t, c.Bootstrap(), ample, source.GroupQuery{})
		if s.Complete() != want {
			t.Errorf("%s cannot be described: complete %t, want %t; failures %s", topic, s.Complete(), want, texts(s.Failures))
		}
		p := s.GroupLags()[0].Partitions[0]
		if note := map[string]string{"unrelated": "no such topic", "t": "TOPIC_AUTHORIZATION_FAILED"}[topic]; p.Note != note {
			t.Errorf("%s cannot be described: note %q, want %q", topic, p.Note, note)
		}
	}
}

// TestHiddenTopicsOfGroups: a topic that a group's member reads and that the
// credentials may not see is no deleted one. Kafka hides its commits as well, so
// that a sum without it is not the group's lag.
func TestHiddenTopicsOfGroups(t *testing.T) {
	t.Parallel()
	for _, hidden := range []bool{true, false} {
		m := fakekafka.NewModel(1)
		for _, name := range []string{"seen", "other"} {
			m.AddTopic(name, 1, 1).Partitions[0].HW = 100
		}
		m.Topic("other").DenyDescribe = hidden
		g := m.AddGroup("g", fakekafka.ClassicGroup)
		g.Coordinator = 1
		g.Join("g-1", "seen", 0)
		g.Join("g-2", "other", 0)
		g.Commit("seen", 0, 90)
		if !hidden {
			m.Topics = m.Topics[:1]
		}
		c := fakekafka.Start(t, m)
		s := groupPass(t, c.Bootstrap(), ample, source.GroupQuery{})
		lag := s.GroupLags()[0]
		other := lag.Partitions[0]
		switch {
		case hidden:
			const want = "TOPIC_AUTHORIZATION_FAILED; the lag of groups that read topic other is unknown; grant DESCRIBE on the topic"
			if lag.Lag.IsKnown() || lag.LagKnown != inspect.Known[int64](10) || lag.UnknownPartitions != inspect.Known(1) {
				t.Errorf("hidden: got lag %s, known %s, unknown %s; want none, 10, 1", lag.Lag, lag.LagKnown, lag.UnknownPartitions)
			}
			if other.Gone || other.Note != "TOPIC_AUTHORIZATION_FAILED" || s.Complete() || !strings.Contains(texts(s.Failures), want) {
				t.Errorf("hidden: got %+v, failures %s, want %q", other, texts(s.Failures), want)
			}
		case lag.Lag != inspect.Known[int64](10) || !other.Gone || other.Note != "no such topic" || !s.Complete():
			t.Errorf("deleted: got lag %s, %+v, failures %s", lag.Lag, other, texts(s.Failures))
		}
		if created := c.Created(); len(created) > 0 {
			t.Errorf("asking created %q", created)
		}
	}
}
