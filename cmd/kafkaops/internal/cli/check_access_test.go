package cli

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/access"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// sentBy are the requests that the brokers got, as access's table names them:
// DescribeConfigs by what it is about. Metadata stands for both of its rows.
func sentBy(c *fakekafka.Cluster) map[access.RequestID]bool {
	sent := map[access.RequestID]bool{}
	for _, r := range c.Requests() {
		switch body := r.Body.(type) {
		case *kmsg.DescribeConfigsRequest:
			for _, resource := range body.Resources {
				if resource.ResourceType == kmsg.ConfigResourceTypeTopic {
					sent[access.TopicConfigs] = true
				} else {
					sent[access.BrokerConfigs] = true
				}
			}
		default:
			sent[access.RequestID(r.Key.Name())] = true
		}
	}
	return sent
}

// TestAccessTable holds the table of commands against what each sends: a request
// that is not in it would be refused without check access knowing.
func TestAccessTable(t *testing.T) {
	t.Parallel()
	inTable := map[string]access.Command{}
	for _, c := range access.Commands() {
		inTable[c.Path] = c
	}
	all := map[access.RequestID]bool{}
	// briefly is how the commands that look for a while look for as short as they can.
	briefly := map[string]string{"record": " " + filepath.Join(t.TempDir(), "a.rec") + " --for 1s", "tune": " --for 1s", "diagnose": " --for 0s"}
	for _, command := range slices.Concat(asking(t), serving(t), []string{"isr", "isr summary"}, slices.Sorted(maps.Keys(briefly))) {
		if command == "check access" {
			continue
		}
		row, ok := inTable[command]
		delete(inTable, command)
		if !ok {
			t.Errorf("kafkaops %s is not in access.Commands", command)
			continue
		}
		if row.Path == "isr" || row.Path == "isr summary" {
			continue // fakes have no log; the real ones' tests read it
		}
		want := map[access.RequestID]bool{}
		flags := ""
		for _, p := range row.Parts {
			for _, id := range p.Requests {
				if id == access.MetadataLog { // which controllers are asked for
					continue
				}
				if id == access.Brokers {
					id = access.Metadata
				}
				want[id] = true
			}
			if p.Flag != "" {
				flags += " " + p.Flag + " 10"
			}
		}
		maps.Copy(all, want)
		got := map[access.RequestID]bool{}
		for _, without := range [][]kmsg.Key{nil, {kmsg.DescribeTopicPartitions}} { // what older brokers are asked instead
			c := accessCluster(t, func(m *fakekafka.Model) {
				m.APIs = fakekafka.APIs(without...)
				if slices.Contains(serving(t), command) { // asks for the ELR of what has no leader
					p := m.Topic("orders").Partitions[0]
					p.Leader, p.ISR = fakekafka.NoLeader, nil
				}
			})
			if slices.Contains(serving(t), command) {
				collectOnce(t, c, command+flags)
			} else {
				ask(t, c, command+briefly[command]+flags)
			}
			maps.Copy(got, sentBy(c))
		}
		if diff := cmp.Diff(sorted(got), sorted(want)); diff != "" {
			t.Errorf("kafkaops %s, -sent +table:\n%s", command, diff)
		}
	}
	for path := range inTable {
		t.Errorf("access.Commands has %q, which is no command", path)
	}
	// check access tries them all.
	delete(all, access.Brokers)
	c := accessCluster(t, func(*fakekafka.Model) {})
	ask(t, c, "check access")
	got := sentBy(c)
	for _, id := range sorted(all) {
		if !got[id] {
			t.Errorf("check access does not try %s", id)
		}
	}
}

func sorted(ids map[access.RequestID]bool) []access.RequestID { return slices.Sorted(maps.Keys(ids)) }

// accessCluster has groups of both protocols and an open transaction.
func accessCluster(t *testing.T, change func(*fakekafka.Model)) *fakekafka.Cluster {
	t.Helper()
	m := healthyModel()
	transact(m)
	audit := m.AddGroup("audit", fakekafka.ConsumerGroup)
	audit.Join("audit-1", "payments-eu", 0)
	audit.Commit("payments-eu", 0, 900)
	change(m)
	return fakekafka.Start(t, m)
}

// accessOf is what check access says: the status of each command, and the ACLs
// that are missing, with the names where they are some.
func accessOf(t *testing.T, r ran) (statuses map[string]access.Status, missing []string) {
	t.Helper()
	statuses = map[string]access.Status{}
	found := map[string]bool{}
	for _, item := range items[render.AccessItem](t, r) {
		statuses[item.Command] = item.Status
		for _, p := range item.Parts {
			for _, n := range p.Needs {
				if n.Status == access.Partly || n.Status == access.Refused {
					text := inspect.ACL{Operation: n.Operation, Resource: n.ResourceType}.String()
					if n.Status == access.Partly {
						text += ": " + strings.Join(n.Without, ",")
					}
					found[text] = true
				}
			}
		}
	}
	return statuses, slices.Sorted(maps.Keys(found))
}

// TestCheckAccess: what is refused is the answer; what nobody told is not called
// refused; what a cluster cannot do is no failure.
func TestCheckAccess(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		change  func(*fakekafka.Model)
		flags   string
		code    int
		missing []string
		// statuses of the commands that do not work.
		statuses map[string]access.Status
		// stderr is a part of it; empty for nothing at all.
		stderr string
	}{
		{name: "all works", change: func(*fakekafka.Model) {}, code: exitOK},
		{
			name: "quorum", change: deny(kmsg.DescribeQuorum), code: exitUnhealthy,
			missing: []string{"DESCRIBE on the cluster"},
			statuses: map[string]access.Status{
				"describe": "partly", "describe brokers": "partly", "describe quorum": "refused", "check health": "partly", "export": "partly",
				"record": "partly", "tune": "partly", "diagnose": "partly",
			},
		},
		{
			name: "log directories", change: deny(kmsg.DescribeLogDirs), code: exitUnhealthy,
			missing:  []string{"DESCRIBE on the cluster"},
			statuses: map[string]access.Status{"describe brokers": "partly", "describe log-dirs": "refused", "describe reassignments": "partly", "export": "partly", "record": "partly", "diagnose": "partly"},
		},
		{
			name: "producers", change: deny(kmsg.DescribeProducers), code: exitOK, missing: []string{"READ on the topic"},
		},
		{
			name: "one topic's configs", change: func(m *fakekafka.Model) { m.Topic("orders").DenyDescribeConfigs = true }, code: exitUnhealthy,
			missing: []string{"DESCRIBE_CONFIGS on the topic: orders"},
			statuses: map[string]access.Status{
				"describe": "partly", "describe topics": "partly", "describe configs": "partly",
				"lag": "partly", "check health": "partly", "export": "partly", "record": "partly", "tune": "partly", "diagnose": "partly",
			},
		},
		{
			name: "and not that topic", change: func(m *fakekafka.Model) { m.Topic("orders").DenyDescribeConfigs = true },
			flags: "--topic payments-eu", code: exitOK,
		},
		{
			name: "a named topic", change: func(m *fakekafka.Model) { m.Topic("orders").DenyDescribe = true },
			flags: "--topic orders --topic payments-eu", code: exitUnhealthy,
			missing: []string{"DESCRIBE on the topic: orders", "READ on the topic: orders"},
			statuses: map[string]access.Status{
				"describe": "partly", "describe topics": "partly", "describe brokers": "partly", "describe configs": "partly",
				"describe reassignments": "partly", "describe transactions": "partly", "lag": "partly", "lag groups": "partly", "check health": "partly", "export": "partly",
				"record": "partly", "tune": "partly", "diagnose": "partly",
			},
		},
		{
			name: "a hidden topic that has logs", change: func(m *fakekafka.Model) { m.Topic("orders").DenyDescribe = true }, code: exitUnhealthy,
			missing: []string{"DESCRIBE on the topic: orders", "READ on the topic: orders"},
			statuses: map[string]access.Status{
				"describe": "partly", "describe topics": "partly", "describe brokers": "partly", "describe configs": "partly",
				"describe reassignments": "partly", "describe transactions": "partly", "lag": "partly", "lag groups": "partly", "check health": "partly", "export": "partly",
				"record": "partly", "tune": "partly", "diagnose": "partly",
			},
		},
		{
			name: "a named group", change: func(m *fakekafka.Model) { m.Group("billing").DenyDescribe = true },
			flags: "--group billing --group no-such-group", code: exitUnhealthy,
			missing: []string{"DESCRIBE on the group: billing"}, statuses: map[string]access.Status{"lag groups": "partly", "export": "partly", "record": "partly"},
		},
		{name: "a group that nobody has", change: func(*fakekafka.Model) {}, flags: "--group no-such-group", code: exitOK},
		{
			name: "transactional ids", code: exitUnhealthy,
			change: func(m *fakekafka.Model) {
				m.Transactions, m.Deny = nil, []kmsg.Key{kmsg.DescribeTransactions}
			},
			missing: []string{"DESCRIBE on the transactional id"}, statuses: map[string]access.Status{"describe transactions": "refused", "diagnose": "partly"},
		},
		{
			name: "named transactional ids", code: exitOK, flags: "--transactional-id checkout --transactional-id none-such",
			change: func(*fakekafka.Model) {},
		},
		{
			name: "ZooKeeper", code: exitOK, change: func(m *fakekafka.Model) { m.APIs = fakekafka.APIs(kmsg.DescribeQuorum, kmsg.ListTransactions) },
			statuses: map[string]access.Status{"describe quorum": "unavailable", "describe transactions": "unavailable"},
			stderr:   "ListTransactions: the broker does not offer it",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := accessCluster(t, tt.change)
			r := ask(t, c, "check access -o json "+tt.flags)
			statuses, missing := accessOf(t, r)
			wantISR := access.Unknown // fakes have no controllers that could be asked for their log
			switch tt.name {
			case "quorum":
				wantISR = access.Partly
			case "ZooKeeper":
				wantISR = access.Unavailable
			}
			for _, command := range []string{"isr", "isr summary"} {
				if got := statuses[command]; got != wantISR {
					t.Errorf("%s is %s, want %s", command, got, wantISR)
				}
				delete(statuses, command)
			}
			maps.DeleteFunc(statuses, func(_ string, s access.Status) bool { return s == access.Works })
			if tt.statuses == nil {
				tt.statuses = map[string]access.Status{}
			}
			if diff := cmp.Diff(statuses, tt.statuses); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
			if diff := cmp.Diff(missing, tt.missing); diff != "" || r.code != tt.code || (r.stderr == "") != (tt.stderr == "") || !strings.Contains(r.stderr, tt.stderr) {
				t.Errorf("exit code %d, want %d; stderr %q; missing, -got +want:\n%s", r.code, tt.code, r.stderr, diff)
			}
		})
	}
}

// TestCheckAccessUnanswered: a broker that says nothing refuses nothing, and 1
// beats 3.
func TestCheckAccessUnanswered(t *testing.T) {
	t.Parallel()
	silent := func(key kmsg.Key, changes ...func(*fakekafka.Model)) *fakekafka.Cluster {
		c := accessCluster(t, func(m *fakekafka.Model) {
			for _, change := range changes {
				change(m)
			}
		})
		for _, id := range []int32{1, 2, 3} {
			c.Break(id, fakekafka.Faults{CloseOn: []kmsg.Key{key}})
		}
		return c
	}
	r := ask(t, silent(kmsg.DescribeConfigs), "check access -o json")
	statuses, missing := accessOf(t, r)
	if r.code != exitFailed || len(missing) > 0 || r.stderr == "" || statuses["describe configs"] != access.Unknown || statuses["lag groups"] != access.Works {
		t.Errorf("exit code %d, missing %v, statuses %v, stderr %q; want 1, none missing, describe configs unknown", r.code, missing, statuses, r.stderr)
	}
	r = ask(t, silent(kmsg.DescribeConfigs, deny(kmsg.DescribeProducers)), "check access -o json")
	if _, missing = accessOf(t, r); r.code != exitFailed || len(missing) != 1 {
		t.Errorf("exit code %d, missing %v; want 1, and READ", r.code, missing)
	}
	c := accessCluster(t, func(*fakekafka.Model) {})
	c.Break(1, fakekafka.Faults{HangOn: []kmsg.Key{kmsg.DescribeGroups}})
	began := time.Now()
	r = place{}.run(t.Context(), "check", "access", "-b", c.Addr(1), "--timeout", "3s")
	if r.code != exitFailed || !strings.Contains(r.stderr, "DescribeGroups") || strings.Contains(r.stdout, "refused") || time.Since(began) > 20*time.Second {
		t.Errorf("a broker that hangs: %+v", r)
	}
}

// TestCheckAccessUsage: names are checked before anybody is asked.
func TestCheckAccessUsage(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	for _, flags := range []string{"--topic=", "--topic=a[", "--group=", "--group=a[", "--transactional-id=", "--transactional-id=*-eu", "orders"} {
		if r := ask(t, c, "check access "+flags); r.code != exitUsage || r.stdout != "" {
			t.Errorf("check access %s: %+v", flags, r)
		}
	}
	if n := len(c.Requests()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
	for _, flags := range []string{"--topic nosuch*", "--group nosuch*", "--topic nosuch"} { // whether it may be described is told
		if r := ask(t, c, "check access "+flags); r.code != exitOK || !strings.Contains(r.stderr, "nosuch") {
			t.Errorf("check access %s: %+v, want 0 and a line", flags, r)
		}
	}
}

// TestCheckAccessAdds: no more is proposed than was asked about, what cannot be
// told is not called missing, and READ stands apart.
func TestCheckAccessAdds(t *testing.T) {
	t.Parallel()
	everything := []kmsg.Key{
		kmsg.DescribeQuorum, kmsg.DescribeConfigs, kmsg.DescribeGroups, kmsg.DescribeTransactions, kmsg.DescribeProducers,
	}
	c := accessCluster(t, func(m *fakekafka.Model) {
		m.Transactions, m.Deny = nil, everything
		m.Topic("orders").DenyDescribe = true
	})
	for flags, want := range map[string][]string{
		"": {
			"--operation Describe --cluster", "--operation DescribeConfigs --topic '*'", "--operation Read --topic '*'",
			"--operation Describe --group billing", "--operation Describe --transactional-id '*'", "--operation DescribeConfigs --cluster",
		},
		"--topic orders --group pay --transactional-id tx": {
			"--operation Describe --topic orders", "--operation DescribeConfigs --topic orders", "--operation Read --topic orders",
			"--operation Describe --group pay", "--operation Describe --transactional-id tx",
		},
		"--topic new-* --group new-* --transactional-id new-*": {
			"--operation DescribeConfigs --resource-pattern-type prefixed --topic new-", "--operation Read --resource-pattern-type prefixed --topic new-",
			"--operation Describe --resource-pattern-type prefixed --group new-",
			"--operation Describe --resource-pattern-type prefixed --transactional-id new-",
		},
		"--topic *-new": {},
	} {
		r := ask(t, c, "check access -o json "+flags)
		added, cautions := map[string]bool{}, 0
		for _, item := range items[render.AccessItem](t, r) {
			for _, p := range item.Parts {
				for _, n := range p.Needs {
					_, add, found := strings.Cut(n.Add.Or(""), "--allow-principal User:ANONYMOUS ")
					if found {
						added[add] = true
					}
					if n.Caution.IsKnown() {
						cautions++
					}
				}
			}
		}
		for _, add := range want {
			if !added[add] {
				t.Errorf("check access %s does not propose %q, but %v", flags, add, slices.Sorted(maps.Keys(added)))
			}
		}
		for add := range added {
			if flags != "" && strings.Contains(add, "'*'") {
				t.Errorf("check access %s proposes more than was asked: %s", flags, add)
			}
		}
		if r.code != exitUnhealthy || cautions == 0 {
			t.Errorf("check access %s: exit code %d, %d cautions", flags, r.code, cautions)
		}
		text := ask(t, c, "check access "+flags).stdout
		above, below, apart := strings.Cut(text, "READ on a topic also lets its holder consume the records")
		if strings.Contains(above, "--operation Read") || apart != strings.Contains(below, "--operation Read") {
			t.Errorf("check access %s: READ is not under its warning:\n%s", flags, text)
		}
		if flags == "--topic *-new" && !strings.Contains(text, "DESCRIBE on the transactional id: cannot tell,") {
			t.Errorf("check access %s: no advice:\n%s", flags, text)
		}
	}
}

// TestCheckAccessDenied: a rule for all and another that denies is not answered by
// the first one once more.
func TestCheckAccessDenied(t *testing.T) {
	t.Parallel()
	c := accessCluster(t, func(m *fakekafka.Model) { m.Topic("orders").DenyDescribeConfigs = true })
	r := ask(t, c, "check access")
	if r.code != exitUnhealthy || !strings.Contains(r.stdout, "a DENY rule takes it away on orders") || strings.Contains(r.stdout, "--add") {
		t.Errorf("%+v", r)
	}
}

// TestCheckAccessHWUnknown: a partition whose leader cannot tell its HW yet was
// asked all the same.
func TestCheckAccessHWUnknown(t *testing.T) {
	t.Parallel()
	c := accessCluster(t, func(m *fakekafka.Model) { m.Topic("orders").Partitions[0].HWUnknown = true })
	if r := ask(t, c, "check access"); r.code != exitOK || !strings.Contains(r.stderr, "OFFSET_NOT_AVAILABLE") {
		t.Errorf("%+v", r)
	}
}
