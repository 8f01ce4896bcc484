package cli

import (
	"context"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// commandLine runs one command on a terminal of that width, or in a pipe where it
// is 0.
func commandLine(width int, args ...string) (stdout, stderr string, exit int) {
	d := term.NewDouble(width, 50)
	exit = run(context.Background(), args, Env{Terminal: d.Terminal, Getenv: func(string) string { return "" }})
	return d.Stdout.String(), d.Stderr.String(), exit
}

// TestDescribeFake runs describe's subcommands against clusters that a test
// cannot easily get from Kafka, and holds them to their exit codes.
func TestDescribeFake(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		alter   func(*fakekafka.Model)
		args    string
		exit    int
		stdout  string
		stderr  string
		faults  fakekafka.Faults // of broker 2
		timeout string
	}{
		{
			name: "quorum at risk",
			alter: func(m *fakekafka.Model) {
				m.Quorum = fakekafka.NewQuorum(3)
				m.Quorum.Voter(102).LastFetchMs -= 60_000
			},
			args: "describe quorum --exit-code", exit: 3, stdout: "102\tvoter\tlost",
		},
		{name: "quorum of ZooKeeper", alter: func(m *fakekafka.Model) { m.APIs = fakekafka.APIs(kmsg.DescribeQuorum) }, args: "describe quorum --exit-code", stdout: "NODE"},
		{name: "quorum refused", alter: deny(kmsg.DescribeQuorum), args: "describe quorum", exit: 1, stdout: "NODE", stderr: "grant DESCRIBE on the cluster"},
		{name: "one voter is a finding", alter: func(m *fakekafka.Model) { m.Quorum = fakekafka.NewQuorum(1) }, args: "describe --exit-code", stdout: "finding\tsmall-quorum"},
		{name: "every envelope names the controller", alter: nil, args: "describe topics -o json", stdout: `"controller": 101`},
		{name: "quorum takes no argument", args: "describe quorum x", exit: 2, stderr: "takes no argument"},
		{
			name: "features that disagree",
			alter: func(m *fakekafka.Model) {
				m.Broker(2).Supported = map[string]fakekafka.VersionRange{"metadata.version": {Min: 7, Max: 40}}
			},
			args: "describe features --exit-code", exit: 3, stdout: "disagree",
		},
		{name: "features of a silent broker", faults: fakekafka.Faults{Mute: true}, timeout: "900ms", args: "describe features", exit: 1, stdout: "unknown", stderr: "no reply to ApiVersions"},
		{
			name: "reassignments",
			alter: func(m *fakekafka.Model) {
				p := m.Topic("orders").Partitions[0]
				p.Replicas, p.ISR, p.HW, p.Adding = []int32{1, 2, 3}, []int32{1, 2}, 100, []int32{3}
				p.SetLEO(3, 30)
			},
			args: "describe reassignments --samples 2 --interval 100ms", stdout: "orders-0\t1\t1,2,3\t1,2,3\tnone\t3\t10000\t3000\t30\t0\t-\tcopying",
		},
		{name: "no reassignment", args: "describe reassignments orders", stdout: "PARTITION"},
		{name: "reassignments of no topic", args: "describe reassignments nope*", exit: 1, stderr: "matches no topic"},
		{name: "samples", args: "describe reassignments --samples 0", exit: 2, stderr: "--samples 0"},
		{
			name: "log dir offline", alter: func(m *fakekafka.Model) { m.Broker(2).LogDirs = []fakekafka.LogDir{{Path: "/d", Offline: true}} },
			args: "describe log-dirs --exit-code", exit: 3, stdout: "2\t/d\toffline\t-",
		},
		{
			name: "configs", alter: func(m *fakekafka.Model) {
				m.Broker(2).Configs = map[string]string{"num.replica.fetchers": "4", "replica.lag.time.max.ms": "7"}
				m.Broker(1).Configs = map[string]string{"replica.lag.time.max.ms": "8"}
			},
			args: "describe configs --exit-code", exit: 3, stdout: "broker\t2\treplica.lag.time.max.ms\t7\tnone\tSTATIC_BROKER_CONFIG\tdisagree,set",
		},
		{name: "configs refused", alter: deny(kmsg.DescribeConfigs), args: "describe configs", exit: 1, stderr: "grant DESCRIBE_CONFIGS on the cluster"},
		{name: "configs of no topic", args: "describe configs nope*", exit: 1, stderr: "matches no topic"},
		{
			name: "a transaction that hangs", alter: func(m *fakekafka.Model) {
				p := m.Topic("orders").Partitions[1]
				p.HW, p.LSO, p.Producers = 9, new(int64(4)), []fakekafka.Producer{{ID: 77, TxnStart: 4, LastTimestampMs: 1}}
			},
			args: "describe transactions --exit-code", exit: 3, stdout: "orders-1\t4\t4\t9\tyes\thanging",
		},
		{
			name: "a new leader", alter: func(m *fakekafka.Model) { m.Topic("orders").Partitions[1].HWUnknown = true }, args: "lag", exit: 1,
			stderr: "OFFSET_NOT_AVAILABLE; offsets are unknown for partition orders-1. a new leader tells no offsets before its HW has reached",
		},
		{name: "no transaction", args: "describe transactions --exit-code", stdout: "TRANSACTION"},
		{name: "log dirs refused", alter: deny(kmsg.DescribeLogDirs), args: "describe log-dirs", exit: 1, stderr: "grant DESCRIBE on the cluster"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := fakekafka.NewModel(3)
			m.AddTopic("orders", 2, 3)
			if tt.alter != nil {
				tt.alter(m)
			}
			c := fakekafka.Start(t, m)
			c.Break(2, tt.faults)
			args := append(strings.Fields(tt.args), "-b", c.Addr(1))
			if tt.timeout != "" {
				args = append(args, "--timeout", tt.timeout)
			}
			stdout, stderr, exit := commandLine(0, args...)
			if exit != tt.exit || !strings.Contains(stdout, tt.stdout) || !strings.Contains(stderr, tt.stderr) {
				t.Errorf("exit %d, want %d with %q and on stderr %q\n%s%s", exit, tt.exit, tt.stdout, tt.stderr, stdout, stderr)
			}
		})
	}
}

func deny(keys ...kmsg.Key) func(*fakekafka.Model) {
	return func(m *fakekafka.Model) { m.Deny = keys }
}

// Every subcommand of describe says what it is for, with two examples.
func TestDescribeHelp(t *testing.T) {
	t.Parallel()
	for _, cmd := range newDescribeCmd(Env{}).Commands() {
		if cmd.Short == "" || strings.Count(cmd.Example, "\n") != 1 {
			t.Errorf("%s: help %q, examples\n%s", cmd.Name(), cmd.Short, cmd.Example)
		}
	}
}

// TestDownBrokers: one that is fenced or, before Kafka 4.0, only missed by its
// replicas is a row of unknowns and a line on stderr. The cluster has told of it,
// so that the exit code stays.
func TestDownBrokers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		args         string
		exitCode     int // with --exit-code
		row          string
		lost, member string // of the line on stderr; of JSON
	}{
		{"describe log-dirs", exitUnhealthy, "3\t-\tWORD\t-\t-\t-\t-\t-\t-\t-\t-\tERROR\n", "its log directories are unknown", `"path": null`},
		{"describe features", exitOK, ";3=-/-/-\n", "its features are unknown", `"finalizedLevel": null`},
		{"describe configs", exitOK, "broker\t3\t-\t-\t-\t-\tWORD\t-\tERROR\n", "its settings are unknown", `"name": null`},
	} {
		for _, fenced := range []bool{true, false} {
			m := fakekafka.NewModel(3)
			m.AddTopic("orders", 2, 3)
			word, cause, line := "fenced", "fenced", "kafkaops: broker 3 (ADDRESS): fenced: the controller does not hear from it; "
			if fenced {
				m.Broker(3).Fenced = true
			} else {
				word, cause, line = "gone", "not among the live brokers", "kafkaops: broker 3: not among the live brokers, and replicas are assigned to it; "
			}
			c := fakekafka.Start(t, m)
			line = strings.Replace(line, "ADDRESS", c.Addr(3), 1) + tt.lost + "\n"
			if !fenced {
				c.Change(func(m *fakekafka.Model) { m.Brokers = m.Brokers[:2] })
			}
			at := []string{"-b", c.Addr(1)}
			row := strings.NewReplacer("WORD", word, "ERROR", cause).Replace(tt.row)
			for flag, want := range map[string]int{"": exitOK, "--exit-code": tt.exitCode} {
				stdout, stderr, exit := commandLine(0, strings.Fields(tt.args+" "+flag+" "+strings.Join(at, " "))...)
				if exit != want || !strings.Contains(stdout, row) || stderr != line || strings.Contains(stdout, "upgradable") {
					t.Errorf("%s %s: exit %d, want %d with %q and on stderr %q\n%s%s", tt.args, flag, exit, want, row, line, stdout, stderr)
				}
			}
			stdout, _, exit := commandLine(0, strings.Fields(tt.args+" -o json "+strings.Join(at, " "))...)
			if exit != exitOK || !strings.Contains(stdout, tt.member) || !strings.Contains(stdout, `"error": "`+cause+`"`) || !strings.Contains(stdout, `"complete": true`) {
				t.Errorf("%s -o json: exit %d, want %s and the cause %q\n%s", tt.args, exit, tt.member, cause, stdout)
			}
		}
	}
}
