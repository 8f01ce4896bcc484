package cli

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestCheckHealth goes through the verdicts, with and without --nagios.
func TestCheckHealth(t *testing.T) {
	t.Parallel()
	orders := func(m *fakekafka.Model) *fakekafka.Partition { return m.Topic("orders").Partitions[0] }
	for _, tt := range []struct {
		name  string
		spoil func(*fakekafka.Model)
		flags string
		code  int
		line  string // what the line begins with
		// nagios is the exit code with --nagios, and its line up to the first number.
		nagios int
		state  string
	}{
		{
			"ok", func(*fakekafka.Model) {}, "", exitOK,
			"OK cluster CLUSTER: 3 brokers, all answering, 3 topics, 5 partitions, all in sync, all with headroom\n",
			0, "KAFKA OK - 5 partitions, all in sync, all with headroom | ",
		},
		{
			"internal topics left out", func(m *fakekafka.Model) { m.Topic("__consumer_offsets").Partitions[0].Shrink(2) }, "--exclude-internal", exitOK,
			"OK cluster CLUSTER: 3 brokers, all answering, 2 topics, 4 partitions, all in sync, all with headroom\n",
			0, "KAFKA OK - 4 partitions, all in sync, all with headroom | ",
		},
		{
			"degraded", func(m *fakekafka.Model) { orders(m).Shrink(3) }, "", exitUnhealthy,
			"DEGRADED cluster CLUSTER: 1 partition has lost a replica: broker 3 is out of it; 1 partition is at min ISR",
			1, "KAFKA DEGRADED - 1 partition has lost a replica: broker 3 is out of it; ",
		},
		{
			"at-risk", func(m *fakekafka.Model) { orders(m).Shrink(2, 3) }, "", exitUnhealthy,
			"AT RISK cluster CLUSTER: 1 partition accepts no acks=all write (under min ISR)",
			2, "KAFKA AT-RISK - 1 partition accepts no acks=all write (under min ISR)",
		},
		{
			"unavailable", func(m *fakekafka.Model) { orders(m).Leader = fakekafka.NoLeader }, "", exitUnhealthy,
			"UNAVAILABLE cluster CLUSTER: 1 partition has no leader",
			2, "KAFKA UNAVAILABLE - 1 partition has no leader",
		},
		{
			"lag below its limit", func(m *fakekafka.Model) { orders(m).SetLEO(2, 990) }, "--max-lag 10", exitOK,
			"OK cluster CLUSTER: ", 0, "KAFKA OK - ",
		},
		{
			"lag above its limit", func(m *fakekafka.Model) { orders(m).SetLEO(2, 989) }, "--max-lag 10", exitUnhealthy,
			"DEGRADED cluster CLUSTER: the largest lag of a replica is 11 records (orders-0 on broker 2), above the limit of 10\n",
			1, "KAFKA DEGRADED - the largest lag of a replica is 11 records (orders-0 on broker 2), above the limit of 10 | ",
		},
		{
			"a limit of 0", func(m *fakekafka.Model) { orders(m).SetLEO(2, 999) }, "--max-lag 0", exitUnhealthy,
			"DEGRADED cluster CLUSTER: the largest lag of a replica is 1 record (orders-0 on broker 2), above the limit of 0\n",
			1, "KAFKA DEGRADED - ",
		},
		{
			"uncommitted above its limit", func(m *fakekafka.Model) { orders(m).SetLEO(1, 1041) }, "--max-uncommitted 40 --max-lag 100", exitUnhealthy,
			"DEGRADED cluster CLUSTER: the largest LEO-HW of a partition is 41 records (orders-0), above the limit of 40\n",
			1, "KAFKA DEGRADED - the largest LEO-HW of a partition is 41 records",
		},
		{
			"a record that waits", func(m *fakekafka.Model) { orders(m).SetLEO(1, 1001) }, "--max-uncommitted-age 1ms", exitUnhealthy,
			"DEGRADED cluster CLUSTER: a record has waited for its commit for at least 1ms (orders-0)\n",
			1, "KAFKA DEGRADED - a record has waited for its commit for at least 1ms (orders-0) | ",
		},
		{
			"records that wait in several partitions", func(m *fakekafka.Model) {
				for _, p := range m.Topic("orders").Partitions[:2] {
					p.SetLEO(p.Leader, p.HW+3)
				}
			}, "--max-uncommitted-age 1ms --max-uncommitted 5", exitUnhealthy,
			"DEGRADED cluster CLUSTER: a record has waited for its commit for at least 1ms (orders-0 and 1 more partition)\n",
			1, "KAFKA DEGRADED - a record has waited for its commit for at least 1ms (orders-0 and 1 more partition) | ",
		},
		{
			"none that waits", func(m *fakekafka.Model) { orders(m).AppendPerRead = 7 }, "--max-uncommitted-age 1ms", exitOK,
			"OK cluster CLUSTER: ", 0, "KAFKA OK - ",
		},
		{
			"not known whether one waits", func(m *fakekafka.Model) { m.Deny = []kmsg.Key{kmsg.ListOffsets} }, "--max-uncommitted-age 1ms", exitFailed,
			"UNKNOWN cluster CLUSTER: a record may have waited for its commit for 1ms: that of 5 partitions is not known\n",
			3, "KAFKA UNKNOWN - a record may have waited for its commit for 1ms: that of 5 partitions is not known | ",
		},
		{
			"the worse stays", func(m *fakekafka.Model) { orders(m).Shrink(2, 3); orders(m).SetLEO(2, 0) }, "--max-lag 10", exitUnhealthy,
			"AT RISK cluster CLUSTER: ", 2, "KAFKA AT-RISK - ",
		},
		{
			"lag not known everywhere", func(m *fakekafka.Model) { m.Deny = []kmsg.Key{kmsg.ListOffsets} }, "--max-lag 10", exitFailed,
			"UNKNOWN cluster CLUSTER: the largest lag of a replica may be above the limit of 10: those of 15 replicas are not known\n",
			3, "KAFKA UNKNOWN - the largest lag of a replica may be above the limit of 10: those of 15 replicas are not known | ",
		},
		{
			"something refused", func(m *fakekafka.Model) { m.Deny = []kmsg.Key{kmsg.DescribeConfigs} }, "", exitFailed,
			"UNKNOWN cluster CLUSTER: min.insync.replicas of 5 partitions is unknown, so it is not known whether they have enough in-sync replicas: DescribeConfigs: TOPIC_AUTHORIZATION_FAILED\n", 3, "KAFKA UNKNOWN - ",
		},
		{
			"reassignments refused", func(m *fakekafka.Model) { m.Deny = []kmsg.Key{kmsg.ListPartitionReassignments} }, "", exitFailed,
			"UNKNOWN cluster CLUSTER: whether 5 partitions are being reassigned is unknown (all of their replicas are in the ISR): ListPartitionReassignments: CLUSTER_AUTHORIZATION_FAILED\n",
			3, "KAFKA UNKNOWN - whether 5 partitions are being reassigned is unknown ",
		},
		{
			"being added", func(m *fakekafka.Model) {
				p := orders(m)
				p.Replicas, p.Adding = append(p.Replicas, 4), []int32{4}
				m.Brokers = append(m.Brokers, &fakekafka.Broker{ID: 4})
			}, "", exitOK,
			"OK cluster CLUSTER: 4 brokers, all answering, 3 topics, 5 partitions, no replica lost, 1 replica that is being added still copies, all with headroom\n",
			0, "KAFKA OK - 5 partitions, no replica lost, 1 replica that is being added still copies, all with headroom | ",
		},
		{
			"certainly critical, and something refused", func(m *fakekafka.Model) {
				m.Deny = []kmsg.Key{kmsg.DescribeConfigs}
				orders(m).Leader = fakekafka.NoLeader
			}, "", exitFailed,
			"UNAVAILABLE cluster CLUSTER: ", 2, "KAFKA UNAVAILABLE - ",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := healthyModel()
			tt.spoil(m)
			c := fakekafka.Start(t, m)
			r := ask(t, c, "check health "+tt.flags)
			line := strings.Replace(r.stdout, m.ClusterID, "CLUSTER", 1)
			if r.code != tt.code || !strings.HasPrefix(line, tt.line) || strings.Count(line, "\n") != 1 {
				t.Errorf("got exit code %d, %q; want %d, %q", r.code, line, tt.code, tt.line)
			}
			r = ask(t, c, "check health --nagios "+tt.flags)
			if r.code != tt.nagios || !strings.HasPrefix(r.stdout, tt.state) || strings.Count(r.stdout, "\n") != 1 {
				t.Errorf("--nagios: got exit code %d, %q; want %d, %q", r.code, r.stdout, tt.nagios, tt.state)
			}
			if strings.Count(r.stdout, "|") != 1 {
				t.Errorf("--nagios: got %q, want one bar, before the performance data", r.stdout)
			}
			item := items[render.HealthItem](t, ask(t, c, "check health -o json "+tt.flags))[0]
			if got := render.LevelWord(item.Verdict); !strings.HasPrefix(tt.line, got+" ") || (len(item.Reasons) == 0) != (item.Verdict == inspect.LevelOK) {
				t.Errorf("-o json: got verdict %s, reasons %q; want %q", item.Verdict, item.Reasons, tt.line)
			}
		})
	}
}

// TestNagiosWithoutAnAnswer: whatever goes wrong is UNKNOWN, exit code 3, in one
// line on stdout. 2 would be CRITICAL and page someone for a typing mistake.
func TestNagiosWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	closed := fakekafka.ClosedPort(t)
	at := " -b " + c.Bootstrap()
	for line, want := range map[string]string{
		"check health --nagios":                               "no cluster named: use --bootstrap-server (-b) host:port, set KAFKAOPS_BOOTSTRAP_SERVER, or choose a context (kafkaops context)",
		"check health --nagios -b kafka-1":                    `--bootstrap-server: bootstrap server "kafka-1" is not host:port (such as kafka-1:9092, or [::1]:9092)`,
		"check health --nagios -b " + closed:                  "no bootstrap server answered: " + closed + ": dial: connection refused",
		"check health --nagios --no-such-flag" + at:           "unknown flag: --no-such-flag",
		"check health --no-such-flag --nagios" + at:           "unknown flag: --no-such-flag",
		"check health --no-such|flag --nagios" + at:           "unknown flag: --no-such/flag",
		"check health --nagios --timeout" + " 10" + at:        `--timeout "10": use a duration such as 10s or 1m30s`,
		"check health --nagios now" + at:                      `kafkaops check health takes no argument, got "now"`,
		"check health --nagios --max-lag -1" + at:             "--max-lag -1: a lag is not negative",
		"check health --nagios --max-uncommitted -1" + at:     "--max-uncommitted -1: a number of records is not negative",
		"check health --nagios --max-uncommitted-age 0s" + at: "--max-uncommitted-age 0s: use a duration above 0, at most 1h0m0s",
		"check health --nagios -o json" + at:                  "--nagios has a format of its own: leave --output json out",
		"check health --nagios --watch" + at:                  "--nagios answers once: leave --watch out",
		"check helth --nagios" + at:                           "unknown flag: --nagios",
	} {
		r := place{}.run(t.Context(), strings.Fields(line)...)
		if r.code != nagiosUnknown || r.stderr == "" {
			t.Errorf("%s: got exit code %d, stderr %q; want 3, and why", line, r.code, r.stderr)
		}
		if diff := cmp.Diff(r.stdout, "KAFKA UNKNOWN - "+want+"\n"); diff != "" {
			t.Errorf("%s: stdout: -got +want:\n%s", line, diff)
		}
	}
	for _, line := range []string{"describe --nagios" + at, "lag --nagios" + at, "check health --nagios=false --no-such-flag" + at} {
		if r := (place{}).run(t.Context(), strings.Fields(line)...); r.code != exitUsage || r.stdout != "" {
			t.Errorf("%s: got exit code %d, stdout %q; want 2 and nothing", line, r.code, r.stdout)
		}
	}
}

// TestNagiosUnreachable: a cluster that does not reply is critical where that was
// asked for; what an answer refuses, and wrong usage, never is.
func TestNagiosUnreachable(t *testing.T) {
	t.Parallel()
	mute, dumb := healthy(t), healthy(t)
	for id := range int32(3) {
		mute.Break(id+1, fakekafka.Faults{Mute: true})
		dumb.Break(id+1, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.Metadata, kmsg.DescribeCluster}})
	}
	const look = ". The controllers may tell more: kafkaops describe quorum --controller host:port\n"
	for _, tt := range []struct {
		at, end string
		code    int // with --nagios-unreachable critical
	}{
		{fakekafka.ClosedPort(t), "connection refused\n", nagiosCritical},
		{mute.Bootstrap(), "no reply to ApiVersions within SOME s" + look, nagiosCritical},
		{dumb.Bootstrap(), look, nagiosCritical},
		{"closing", "", nagiosUnknown},
		{"nocolon", "(such as kafka-1:9092, or [::1]:9092)\n", nagiosUnknown},
	} {
		if tt.at == "closing" {
			c := healthy(t)
			for id := range int32(3) {
				c.Break(id+1, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.ApiVersions}})
			}
			tt.at = c.Bootstrap()
		}
		for flag, want := range map[string]int{"": nagiosUnknown, "=unknown": nagiosUnknown, "=critical": tt.code} {
			args := []string{"check", "health", "--nagios", "--timeout", "900ms", "-b", tt.at}
			if flag != "" {
				args = append(args, "--nagios-unreachable"+flag)
			}
			word := map[int]string{nagiosUnknown: "KAFKA UNKNOWN - ", nagiosCritical: "KAFKA CRITICAL - "}[want]
			r := place{}.run(t.Context(), args...)
			r.stdout = spans.ReplaceAllString(r.stdout, "within SOME s") // by the clock
			if r.code != want || !strings.HasPrefix(r.stdout, word) || !strings.HasSuffix(r.stdout, tt.end) || strings.Count(r.stdout, "\n") != 1 {
				t.Errorf("%s: got exit code %d, %q; want %d, %s…%s", args, r.code, r.stdout, want, word, tt.end)
			}
		}
	}
}

// TestNagiosOKButNotAll: the last round of offsets is cut off. What was read says
// ok, but not all was read.
func TestNagiosOKButNotAll(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	var mu sync.Mutex
	n := 0
	c.Intercept(func(broker int32, req kmsg.Request) (kmsg.Response, bool) {
		mu.Lock()
		defer mu.Unlock()
		r, ok := req.(*kmsg.ListOffsetsRequest)
		if !ok || broker != 1 || r.ReplicaID != -2 {
			return nil, false
		}
		n++
		return nil, n == 3 // leaders, followers, leaders again
	})
	r := ask(t, c, "check health --nagios --max-lag 10")
	if r.code != nagiosUnknown || !strings.HasPrefix(r.stdout, "KAFKA UNKNOWN - ok as far as was answered, which is not all | ") || !strings.Contains(r.stderr, "ListOffsets") {
		t.Errorf("got %+v, want UNKNOWN, exit code 3", r)
	}
}
