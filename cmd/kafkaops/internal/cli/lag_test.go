package cli

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// lagging is a cluster whose partitions lag by different amounts, in sync all the
// same, and of which one has a replica whose lag cannot be known.
func lagging(t *testing.T) *fakekafka.Cluster {
	t.Helper()
	m := fakekafka.NewModel(3)
	// 0 lags by 5 and has 100 uncommitted; 1 lags by 50 and has 1; 2 by 0.
	topic := m.AddTopic("a", 3, 2)
	for i, p := range topic.Partitions {
		p.HW = 1000
		leader, follower := p.Replicas[0], p.Replicas[1]
		p.SetLEO(leader, 1000+[]int64{100, 1, 0}[i])
		p.SetLEO(follower, p.LogEnd(leader)-[]int64{5, 50, 0}[i])
	}
	return fakekafka.Start(t, m)
}

func TestLagSelectsAndSorts(t *testing.T) {
	t.Parallel()
	c := lagging(t)
	for _, tt := range []struct {
		flags string
		want  string // partitions in the order of the table
	}{
		{"", "1 0 2"},
		{"--sort lag", "1 0 2"},
		{"--sort uncommitted", "0 1 2"},
		{"--sort name", "0 1 2"},
		{"--top 1", "1"},
		{"--top 2", "1 0"},
		{"--top 3", "1 0 2"},
		{"--top 1 --sort uncommitted", "0"},
		{"--top 2 --sort name", "0 1"},
		{"--top 1 --sort name", "1"},
		{"--min 0", "1 0 2"},
		{"--min 1", "1 0"},
		{"--min 5", "1 0"},
		{"--min 6", "1"},
		{"--min 50", "1"},
		{"--min 51", ""},
		{"--min 1 --sort name --top 1", "1"},
	} {
		r := ask(t, c, "lag "+tt.flags)
		var got []string
		for _, name := range column(t, r.stdout, "PARTITION") {
			got = append(got, strings.TrimPrefix(name, "a-"))
		}
		// A row is a replica; the partitions stay whole.
		rows := len(got)
		if got = slices.Compact(got); rows != 2*len(got) {
			t.Errorf("lag %s: got %d rows, want two for each partition", tt.flags, rows)
		}
		if got := strings.Join(got, " "); got != tt.want || r.code != exitOK || r.stderr != "" {
			t.Errorf("lag %s: got %q, exit code %d, stderr %q; want %q", tt.flags, got, r.code, r.stderr, tt.want)
		}
		// JSON has the same ones, sorted by name.
		got = nil
		for _, item := range items[render.LagItem](t, ask(t, c, "lag -o json "+tt.flags)) {
			if got = append(got, strconv.Itoa(int(item.Partition))); len(item.Replicas) != 2 {
				t.Errorf("lag %s -o json: got %d replicas, want items to stay whole", tt.flags, len(item.Replicas))
			}
		}
		want := strings.Fields(tt.want)
		slices.Sort(want)
		if diff := cmp.Diff(strings.Join(got, " "), strings.Join(want, " ")); diff != "" {
			t.Errorf("lag %s -o json: -got +want:\n%s", tt.flags, diff)
		}
	}
}

// TestLagExitCode: 3 for a replica that is --min records behind, or a verdict
// that is not ok; without --exit-code never.
func TestLagExitCode(t *testing.T) {
	t.Parallel()
	c, ill := lagging(t), unhealthy(t)
	for _, tt := range []struct {
		c     *fakekafka.Cluster
		flags string
		want  int
	}{
		{c, "--exit-code", exitOK}, // behind, but in sync
		{c, "--min 50", exitOK},
		{c, "--min 50 --exit-code", exitUnhealthy},
		{c, "--min 50 --exit-code --top 1", exitUnhealthy},
		{c, "--min 51 --exit-code", exitOK},
		{c, "--min 0 --exit-code", exitUnhealthy},
		{ill, "--exit-code", exitUnhealthy},
		{ill, "--min 1000000 --exit-code", exitUnhealthy},
		{ill, "--min 1000000", exitOK},
	} {
		for _, format := range []string{"table", "json"} {
			if r := ask(t, tt.c, "lag -o "+format+" "+tt.flags); r.code != tt.want || r.stderr != "" {
				t.Errorf("lag %s -o %s: got exit code %d, stderr %q; want %d", tt.flags, format, r.code, r.stderr, tt.want)
			}
		}
	}
}

// TestLagMinOfUnknownLags: a partition with a lag that is unknown is left out, and
// that is told. Where it could have been known, the filter has failed.
func TestLagMinOfUnknownLags(t *testing.T) {
	t.Parallel()
	const leftOut = "kafkaops: ListOffsets: --min 10 leaves out 1 partition with a replica whose lag is unknown\n"
	for _, tt := range []struct {
		name   string
		spoil  func(*fakekafka.Model)
		fault  fakekafka.Faults // of broker 3, a follower of a-0
		code   int              // with --exit-code
		stderr string           // its last lines
	}{
		{"no leader", func(m *fakekafka.Model) {
			m.Topic("a").Partitions[0].Leader = fakekafka.NoLeader
		}, fakekafka.Faults{}, exitUnhealthy, leftOut},
		{"fenced broker", func(m *fakekafka.Model) {
			m.Broker(3).Fenced = true
		}, fakekafka.Faults{}, exitUnhealthy, leftOut},
		{"stopped broker", func(m *fakekafka.Model) {
			m.Brokers = m.Brokers[:2]
		}, fakekafka.Faults{}, exitUnhealthy, leftOut},
		{"silent broker", func(*fakekafka.Model) {}, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.ApiVersions}}, exitFailed, leftOut},
		{"a service that does not tell it", func(m *fakekafka.Model) {
			m.Topic("a").Partitions = m.Topic("a").Partitions[:1]
		}, fakekafka.Faults{ReplicaReads: fakekafka.ReplicaReadsInvalid}, exitFailed, leftOut},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := fakekafka.NewModel(3)
			topic := m.AddTopic("a", 2, 2)
			for i, p := range topic.Partitions {
				p.HW, p.Leader, p.Replicas, p.ISR = 100, 1, [][]int32{{1, 3}, {1, 2}}[i], [][]int32{{1, 3}, {1, 2}}[i]
			}
			topic.Partitions[1].SetLEO(2, 80)
			c := fakekafka.Start(t, m)
			c.Change(tt.spoil)
			if tt.fault.ReplicaReads != 0 {
				c.Break(1, tt.fault)
			}
			c.Break(3, tt.fault)
			for _, format := range []string{"table", "json"} {
				r := ask(t, c, "lag --min 10 --exit-code -o "+format)
				if format == "json" {
					items[render.LagItem](t, r) // and it says whether it is complete
				}
				if r.code != tt.code || !strings.HasSuffix(r.stderr, tt.stderr) || strings.Contains(r.stdout, "a-0") || strings.Contains(r.stdout, `"partition": 0`) {
					t.Errorf("-o %s: got %+v; want a-0 left out, exit code %d, %q", format, r, tt.code, tt.stderr)
				}
			}
			want := exitOK
			if tt.code == exitFailed {
				want = exitFailed
			}
			if r := ask(t, c, "lag --min 10"); r.code != want {
				t.Errorf("without --exit-code: got exit code %d, want %d", r.code, want)
			}
			// At least 0 behind is everyone, and all is known of the other partition.
			if r := ask(t, c, "lag --min 0"); !strings.Contains(r.stdout, "a-0") || strings.Contains(r.stderr, "leaves out") {
				t.Errorf("--min 0: got %+v, want all", r)
			}
		})
	}
}

// TestLagSamples: what two looks tell and one does not.
func TestLagSamples(t *testing.T) {
	t.Parallel()
	m := fakekafka.NewModel(3)
	for _, name := range []string{"idle", "busy", "stuck"} {
		m.AddTopic(name, 1, 3).Partitions[0].HW = 1000
	}
	c := fakekafka.Start(t, m)
	// From the second look on 100 records arrive before each: at all replicas of
	// busy, and of stuck at all but broker 3.
	onPass(c, func(n int, m *fakekafka.Model) {
		if n == 1 {
			return
		}
		m.Topic("busy").Partitions[0].Append(100)
		stuck := m.Topic("stuck").Partitions[0]
		behind := stuck.LogEnd(3)
		stuck.Append(100)
		stuck.SetLEO(3, behind)
	})
	r := ask(t, c, "lag --samples 4 --interval 100ms -o json")
	if r.code != exitOK || r.stderr != "" {
		t.Fatalf("got exit code %d, stderr %q; want 0 and nothing", r.code, r.stderr)
	}
	by := map[string]render.LagItem{}
	for _, item := range items[render.LagItem](t, r) {
		by[item.Topic] = item
	}
	const atLeastMs = 3 * 100
	for topic, want := range map[string]struct{ growing bool }{"idle": {false}, "busy": {true}, "stuck": {true}} {
		item := by[topic]
		if item.Rates == nil {
			t.Fatalf("%s: got no rates", topic)
		}
		appends, known := item.Rates.AppendPerSecond.Get()
		if !known || (appends > 0) != want.growing || item.Rates.CommitPerSecond != item.Rates.AppendPerSecond {
			t.Errorf("%s: got rates %+v, want growing %v, and as many committed as appended", topic, *item.Rates, want.growing)
		}
		if item.HWFrozenMs != inspect.Known[int64](0) || len(item.Notes) > 0 {
			t.Errorf("%s: got HW frozen for %s ms, notes %q; want it to move", topic, item.HWFrozenMs, item.Notes)
		}
	}
	for _, topic := range []string{"idle", "busy"} {
		for _, rep := range by[topic].Replicas {
			if rep.LagMs != inspect.Known[int64](0) || rep.Lag != inspect.Known[int64](0) {
				t.Errorf("%s: got %+v, want no lag in time", topic, rep)
			}
		}
	}
	last := by["stuck"].Replicas[2]
	// It was caught up at the first look, three intervals ago.
	if last.Lag.Or(0) != 300 || last.LagMs.Or(0) < atLeastMs || last.LagMs.Or(0) > 100*atLeastMs || last.LagPerSecond.Or(0) <= 0 {
		t.Errorf("got %+v; want 300 records, %d ms at least, growing", last, atLeastMs)
	}
	if n := c.Count(kmsg.Metadata); n != 4 {
		t.Errorf("got %d looks, want 4", n)
	}

	r = ask(t, c, "lag stuck --samples 2 --interval 100ms")
	times := column(t, r.stdout, "TIME-MS")
	if !cmp.Equal(times[:2], []string{"0", "0"}) || times[2] != render.Unknown || column(t, r.stdout, "TIME-AT-LEAST-MS")[2] == render.Unknown {
		t.Errorf("behind since before the first look: got TIME-MS %q in\n%s\nwant unknown, and a lower bound", times, r.stdout)
	}
	if r := screen().ask(t, c, "lag stuck --samples 2 --interval 100ms"); !strings.Contains(r.stdout, "TIME") || !regexp.MustCompile(`>\d`).MatchString(r.stdout) {
		t.Errorf("on a terminal: got\n%s\nwant a TIME column with a lower bound", r.stdout)
	}
	for _, line := range []string{"lag", "lag --samples 1", "lag -o wide"} {
		if r := ask(t, c, line); strings.Contains(r.stdout, "TIME") {
			t.Errorf("%s: got a TIME column without samples:\n%s", line, r.stdout)
		}
	}
}

// TestLagSampleFails: a failure of an earlier look is told once and makes the
// answer, which is the last one's, incomplete: every line of a failure is exit
// code 1.
func TestLagSampleFails(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	onPass(c, func(n int, m *fakekafka.Model) {
		m.Deny = nil
		if n < 3 {
			m.Deny = []kmsg.Key{kmsg.DescribeConfigs}
		}
	})
	r := ask(t, c, "lag orders --samples 3 --interval 100ms").names(c)
	const denied = "kafkaops: broker-1: DescribeConfigs: TOPIC_AUTHORIZATION_FAILED; min.insync.replicas is unknown for topic orders. grant DESCRIBE_CONFIGS on the topic\n"
	if r.code != exitFailed || r.stderr != denied || strings.Contains(r.stdout, "unknown") {
		t.Errorf("got %+v, want exit code 1, the last answer, and stderr %q", r, denied)
	}
}

// TestLagBudget: what a look costs does not grow with the cluster, but for
// brokers.
func TestLagBudget(t *testing.T) {
	t.Parallel()
	var costs []map[string]int
	for _, topics := range []int{2, 200} {
		m := fakekafka.NewModel(3)
		m.AddTopics("t", topics, 10, 3)
		c := fakekafka.Start(t, m)
		if r := ask(t, c, "lag -o json"); r.code != exitOK || len(items[render.LagItem](t, r)) != topics*10 {
			t.Fatalf("%d topics: got exit code %d, stderr %q", topics, r.code, r.stderr)
		}
		cost := map[string]int{}
		for _, r := range c.Requests() {
			cost[fmt.Sprintf("%s at %d", r.Key.Name(), r.Broker)]++
		}
		for what, n := range cost {
			if strings.HasPrefix(what, "ListOffsets") && n > 6 {
				t.Errorf("%d topics: got %d requests %s, want 6 at most", topics, n, what)
			}
		}
		costs = append(costs, cost)
	}
	if diff := cmp.Diff(costs[0], costs[1]); diff != "" {
		t.Errorf("the cost of 20 and 2000 partitions differs:\n%s", diff)
	}
	total := 0
	for n := range maps.Values(costs[0]) {
		total += n
	}
	// Three connections, the bootstrap's and two of the quorum's client ask
	// ApiVersions; 6 ListOffsets at each broker; Metadata, ListPartitionReassignments,
	// DescribeConfigs, DescribeQuorum.
	if want := 6 + 3*6 + 4; total != want {
		t.Errorf("got %d requests in all, want %d: %v", total, want, costs[0])
	}
}
