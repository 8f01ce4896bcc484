package cli

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// shop is three brokers and groups with everything that a group can have.
func shop() *fakekafka.Model {
	m := fakekafka.NewModel(3)
	for i, p := range m.AddTopic("orders", 3, 3).Partitions {
		p.HW = 918_250 + int64(i)*100
		p.SetLEO(p.Leader, p.HW+40)
	}
	payments := m.AddTopic("payments", 2, 3).Partitions
	payments[0].LogStart, payments[0].HW = 400, 1000
	held := int64(900) // by an open transaction
	payments[0].LSO = &held
	payments[1].HW = 300
	m.AddTopic("groups", 1, 1)

	billing := m.AddGroup("billing", fakekafka.ClassicGroup)
	billing.Coordinator = 1
	member := func(g *fakekafka.Group, id, client, topic string, partitions ...int32) {
		joined := g.Join(id, topic, partitions...)
		joined.ClientID, joined.Host = client, "/10.0.0.7"
	}
	member(billing, "billing-1-2b0d1c1e", "billing-1", "orders", 0, 1)
	member(billing, "billing-2-4ad2d1e5", "billing-2", "orders", 2)
	member(billing, "billing-3-9e53a003", "billing-3", "orders")
	billing.Commit("orders", 0, 918_250)
	billing.Commit("orders", 1, 915_000)
	audit := m.AddGroup("audit", fakekafka.ConsumerGroup)
	audit.Coordinator = 2
	member(audit, "kEyTmYhLQMyoNNqWmVXFDw", "audit", "payments", 0, 1)
	audit.Commit("payments", 0, 200)
	audit.Commit("payments", 1, 500)
	mirror := m.AddGroup("mirror/eu", fakekafka.ClassicGroup)
	mirror.Coordinator, mirror.ProtocolType = 3, " "
	mirror.Commit("orders", 2, 900_000)
	mirror.Commit("old-orders", 0, 77)
	m.AddGroup("workflow", fakekafka.ShareGroup).Coordinator = 3
	return m
}

// kafkaops runs a command line against the cluster: on a terminal of the width, or
// in a pipe where it is 0.
func kafkaops(t *testing.T, c *fakekafka.Cluster, width int, args ...string) (out, notes string, code int) {
	t.Helper()
	d := term.NewDouble(width, 40)
	args = append(args, "-b", c.Bootstrap(), "--color", "never")
	code = run(context.Background(), args, Env{Terminal: d.Terminal, Getenv: func(string) string { return "" }})
	return d.Stdout.String(), d.Stderr.String(), code
}

func TestLagGroups(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, shop())
	for _, tt := range []struct {
		name, args, want string
	}{
		{"all", "lag groups", `
GROUP      TYPE      STATE   COORDINATOR  MEMBERS  PARTITIONS     LAG  NOTE
mirror/eu  classic   Empty             3        0           2  18,450  1 deleted
billing    classic   Stable            1        3           3   3,350  nothing committed in 1; 1 idle
audit      consumer  Stable            2        1           2     600  200 lost to retention; ahead 200
workflow   share     Empty             3        -           -       -
`},
		{"one", "lag groups billing", `
billing   classic, Stable   coordinator 1   3 members   lag 3,350   nothing committed in 1   1 idle
PARTITION  COMMITTED  LOG-START      LSO       HW      LEO    LAG  NOTE               MEMBER
orders-0     918,250          0  918,250  918,250  918,290      0                     billing-1@10.0.0.7
orders-1     915,000          0  918,350  918,350  918,390  3,350                     billing-1@10.0.0.7
orders-2           -          0  918,450  918,450  918,490      -  nothing committed  billing-2@10.0.0.7
`},
		{"wide", "lag groups a* mirror/* -o wide", `
mirror/eu   classic, Empty   coordinator 3   0 members   lag 18,450   1 deleted
PARTITION     COMMITTED  LOG-START      LSO       HW      LEO     LAG  NOTE
old-orders-0         77          -        -        -        -       -  no such topic
orders-2        900,000          0  918,450  918,450  918,490  18,450

audit   consumer, Stable   coordinator 2   1 member   lag 600   200 lost to retention   ahead 200
PARTITION   COMMITTED  LOG-START  LSO     HW    LEO  LAG  TO-LSO  NOTE                   MEMBER
payments-0        200        400  900  1,000  1,000  600     500  200 lost to retention  audit@10.0.0.7
payments-1        500          0  300    300    300    0          ahead 200              audit@10.0.0.7
(no room in 120 columns for MEMBER-ID)
`},
		{"by name, and --group", "lag groups audit --group workflow --sort name", `
GROUP     TYPE      STATE   COORDINATOR  MEMBERS  PARTITIONS  LAG  NOTE
audit     consumer  Stable            2        1           2  600  200 lost to retention; ahead 200
workflow  share     Empty             3        -           -    -
`},
		{"the worst, by name", "lag groups --top 2 --sort name", `
GROUP      TYPE     STATE   COORDINATOR  MEMBERS  PARTITIONS     LAG  NOTE
billing    classic  Stable            1        3           3   3,350  nothing committed in 1; 1 idle
mirror/eu  classic  Empty             3        0           2  18,450  1 deleted
`},
		{"far behind", "lag groups --min 3351", `
GROUP      TYPE     STATE  COORDINATOR  MEMBERS  PARTITIONS     LAG  NOTE
mirror/eu  classic  Empty            3        0           2  18,450  1 deleted
`},
		{"by state and type", "lag groups --state stable --type consumer,share", `
GROUP  TYPE      STATE   COORDINATOR  MEMBERS  PARTITIONS  LAG  NOTE
audit  consumer  Stable            2        1           2  600  200 lost to retention; ahead 200
`},
		{"none", "lag groups --state Dead", "\nno groups to show\n"},
	} {
		out, notes, code := kafkaops(t, c, 120, strings.Fields(tt.args)...)
		if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), out); diff != "" || notes != "" || code != 0 {
			t.Errorf("%s: exit %d, stderr %q (-want +got):\n%s", tt.name, code, notes, diff)
		}
	}
	// The name collides with the subcommand's; the flag does not.
	if out, _, code := kafkaops(t, c, 0, "lag", "--topic", "groups"); code != 0 || !strings.Contains(out, "\ngroups-0\t") {
		t.Errorf("lag --topic groups: exit %d, %s", code, out)
	}
}

// TestLagGroupsExit: every way to fail has its code, a clean stdout and a line
// (apache/kafka#23349, and kafka-consumer-groups.sh, which exits with 0).
func TestLagGroupsExit(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, shop())
	hung := fakekafka.Start(t, shop())
	hung.Break(3, fakekafka.Faults{CloseOn: []kmsg.Key{kmsg.ListGroups}})
	for _, tt := range []struct {
		args  string
		c     *fakekafka.Cluster
		code  int
		notes string
	}{
		{"lag groups nope", c, 1, `no group "nope", or no permission to see it`},
		{"lag groups x*", c, 1, `no group matches "x*"`},
		{"lag groups x* --state Empty", c, 0, ""},
		{"lag groups", hung, 1, "broker 3 (" + hung.Addr(3) + ")"},
		{"lag groups audit", hung, 0, "broker 3 (" + hung.Addr(3) + ")"}, // nothing of it is lost
		{"lag groups nope", hung, 1, `group "nope" is not listed by the brokers that answered`},
		{"lag groups --exit-code --min 18450", c, 3, ""},
		{"lag groups --exit-code --min 18451", c, 0, ""},
		{"lag groups --exit-code --min 1", hung, 1, "the groups that it coordinates are not shown"},
		{"lag groups --exit-code", c, 2, "needs --min N"},
		{"lag groups --min -1", c, 2, "not negative"},
		{"lag groups --top -1", c, 2, "not negative"},
		{"lag groups --samples 0", c, 2, "--samples 0"},
		{"lag groups --time --samples 2", c, 2, "use one of them"},
		{"lag groups --sort uncommitted", c, 2, "lag or name"},
		{"lag groups --state Stabel", c, 2, "PreparingRebalance"},
		{"lag groups --type new", c, 2, "classic, consumer, share, streams"},
		{"lag groups [", c, 2, "group pattern"},
	} {
		out, notes, code := kafkaops(t, tt.c, 0, strings.Fields(tt.args)...)
		if code != tt.code || !strings.Contains(notes, tt.notes) || (tt.notes == "") != (notes == "") {
			t.Errorf("%s: exit %d, stderr %q; want %d and %q", tt.args, code, notes, tt.code, tt.notes)
		}
		if strings.Contains(out, "kafkaops:") || code == 2 && out != "" {
			t.Errorf("%s: stdout %q", tt.args, out)
		}
	}
}

// TestLagGroupsUndecided: a sum that is unknown may hide behind --min, and is told.
func TestLagGroupsUndecided(t *testing.T) {
	t.Parallel()
	m := shop()
	m.Topic("orders").Partitions[1].Leader = fakekafka.NoLeader
	m.Group("billing").Commit("orders", 2, 918_000)
	c := fakekafka.Start(t, m)
	out, notes, code := kafkaops(t, c, 0, "lag", "groups", "--min", "1000")
	if strings.Contains(out, "billing") || !strings.Contains(notes, "1 group whose lag is unknown is not shown by --min 1000") || code != 0 {
		t.Errorf("exit %d, stderr %q, got\n%s", code, notes, out)
	}
	// What is known of a sum is its lower bound, and may be enough to decide.
	out, notes, code = kafkaops(t, c, 0, "lag", "groups", "--min", "450", "--exit-code")
	if !strings.Contains(out, "billing\tclassic\tStable\t1\t3\t1\t3\t-\t450\t1\t") || notes != "" || code != 3 {
		t.Errorf("exit %d, stderr %q, got\n%s", code, notes, out)
	}
	out, _, code = kafkaops(t, c, 120, "lag", "groups", "billing")
	const want = `billing   classic, Stable   coordinator 1   3 members   lag -   unknown in 1, 450 in the others   1 idle
PARTITION  COMMITTED  LOG-START      LSO       HW      LEO  LAG  NOTE       MEMBER
orders-0     918,250          0  918,250  918,250  918,290    0             billing-1@10.0.0.7
orders-1     915,000          -        -        -        -    -  no leader  billing-1@10.0.0.7
orders-2     918,000          0  918,450  918,450  918,490  450             billing-2@10.0.0.7
`
	if diff := cmp.Diff(want, out); diff != "" || code != 0 {
		t.Errorf("exit %d (-want +got):\n%s", code, diff)
	}
}

// TestLagGroupsTimeNow: the age of the first unread record by its own timestamp, at
// once.
func TestLagGroupsTimeNow(t *testing.T) {
	t.Parallel()
	m := shop()
	now := time.Now().UnixMilli()
	for _, p := range m.Topic("orders").Partitions {
		p.LogStart = p.HW - 100_000
		p.TimestampMs = func(o int64) int64 { return now - (p.HW-o)*1000 } // one a second
	}
	out, notes, code := kafkaops(t, fakekafka.Start(t, m), 120, "lag", "groups", "billing", "--time")
	// To within a twentieth of 55m50s.
	for _, want := range []string{
		`time 5[5-8]m\d\ds   nothing`, `orders-0 .* 0 +0 +billing-1@`, `orders-1 .* 3,350 +5[5-8]m\d\ds +billing-1@`, `orders-2 .* - +- +nothing committed`,
	} {
		if !regexp.MustCompile(want).MatchString(out) || notes != "" || code != 0 {
			t.Errorf("exit %d, stderr %q, want %s in\n%s", code, notes, want, out)
		}
	}
}

// TestLagGroupsTime: a group that stands still while the log moves on has a lag in
// time once samples tell, and none without.
func TestLagGroupsTime(t *testing.T) {
	t.Parallel()
	// Four reads at the leader and one at each follower: a look moves the log on by
	// 60, so that the first finds the HW below the commit, and the others above.
	moving := func() *fakekafka.Model {
		m := shop()
		m.Topic("orders").Partitions[0].AppendPerRead = 10
		m.Group("billing").Commits["orders"] = map[int32]int64{0: 918_312, 1: 918_350}
		return m
	}
	type document struct {
		Kind  string
		Items []struct {
			Group               string
			LagMs, LagMsAtLeast *int64
			Partitions          []struct {
				Lag, LagMs, LagMsAtLeast *int64
			}
		}
	}
	ask := func(args ...string) document {
		t.Helper()
		out, notes, code := kafkaops(t, fakekafka.Start(t, moving()), 0, append([]string{"lag", "groups", "billing", "-o", "json"}, args...)...)
		var d document
		if err := json.Unmarshal([]byte(out), &d); err != nil || code != 0 || d.Kind != "GroupLag" || len(d.Items) != 1 {
			t.Fatalf("exit %d, stderr %q, %v: %s", code, notes, err, out)
		}
		return d
	}
	once := ask().Items[0]
	if once.LagMs != nil || once.LagMsAtLeast != nil || once.Partitions[0].LagMs != nil {
		t.Errorf("without samples: %+v, want no time", once)
	}
	sampled := ask("--samples", "3", "--interval", "100ms").Items[0]
	p := sampled.Partitions
	if p[0].LagMs == nil || *p[0].LagMs < 100 || *p[0].Lag == 0 || *p[1].LagMs != 0 || sampled.LagMs == nil || *sampled.LagMs != *p[0].LagMs {
		t.Errorf("with samples: %+v, want at least an interval for the first, 0 for the second", sampled)
	}
}
