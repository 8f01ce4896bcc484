package acceptance

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/cli"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/term"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
)

// inOutage are the commands that ask a cluster, with what they are given and how
// they end in an outage. One of the tree that is missing here fails TestVersions.
var inOutage = map[string]struct {
	flags string
	exit  int
}{
	"describe":               {"--exclude-internal --exit-code", 3},
	"describe topics":        {"--exit-code", 3},
	"describe brokers":       {"--exit-code", 3},
	"describe configs":       {"plain moving", 0},
	"describe features":      {"--exit-code", 0},
	"describe log-dirs":      {"--exit-code", 3},
	"describe quorum":        {"--exit-code", 0},
	"describe reassignments": {"", 0},
	"describe transactions":  {"--exit-code", 0},
	"lag":                    {"--exit-code", 3},
	"lag groups":             {"", 0},
	"check access":           {"", 0},
	"check health":           {"--exclude-internal --max-lag 100000", 3},
}

// TestVersions asks clusters of several versions, all in the same outage, every
// command: the same answers where the cluster can give them, null where not, and
// the same exit codes. The newest is always asked, the others where KAFKAOPS_LONG
// is set.
func TestVersions(t *testing.T) {
	if engine.FromEnv() != nil {
		t.Skip("these ask releases of Kafka")
	}
	for _, command := range asking(t, "") {
		if command == serving || slices.Contains(readingLog, command) || slices.Contains(ofRecordings, command) {
			// see exportedOutage, historyOfOutage, recordedOutage
			continue
		}
		if _, ok := inOutage[command]; !ok {
			t.Errorf("kafkaops %s is not asked on each version of Kafka: add it to inOutage", command)
		}
	}
	newest := askAll(t, kafka44, kafkatest.Options{Version: "4.4.0"})
	if newest == nil {
		return
	}
	for at, want := range factsOfOutage {
		if newest[at] != want {
			t.Errorf("%s is %q, want %q", at, newest[at], want)
		}
	}
	if os.Getenv("KAFKAOPS_LONG") == "" {
		t.Skip("long: older versions are not asked; set KAFKAOPS_LONG=1")
	}
	for name, opts := range map[string]kafkatest.Options{
		kafka40:   {Version: "4.0.0"},
		kafka39:   {Version: "3.9.1"},
		zooKeeper: {Version: "3.9.1", ZooKeeper: true},
	} {
		if old := askAll(t, name, opts); old != nil {
			sameButFor(t, name, newest, old)
		}
	}
}

// askAll starts a cluster, asks it every command while it is well and again in
// the outage, and ends it. It returns nil where that failed.
func askAll(t *testing.T, name string, opts kafkatest.Options) (all answers) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		opts.Brokers = 3
		opts.Properties = map[string]string{"auto.leader.rebalance.enable": "false"} // leaders move when the test says so
		c := kafkatest.Start(t, opts)
		c.CreateTopic(t, "well", c.Spread(3, 3), minISR(2))
		for p := range int32(3) { // a follower hosts its replica a moment after it is known to
			awaitQuiet(t, c, "well", p)
		}
		for command, in := range inOutage {
			if r := kafkaops(c, command+" "+strings.TrimPrefix(in.flags, "plain moving")+" -o json").want(t, 0); r.stderr != "" {
				t.Errorf("a cluster that is well: %v", r)
			}
		}
		exportOnce(t, c, "well", "kafka_cluster_under_replicated_partitions 0", "kafka_cluster_under_min_isr_partitions 0")
		deleteTopic(t, c, "well")
		outage(t, c)
		exportedOutage(t, c, opts.ZooKeeper)
		historyOfOutage(t, c, opts.ZooKeeper)
		recordedOutage(t, c)
		found := answers{}
		for command, in := range inOutage {
			found.add(t, c, command, kafkaops(c, command+" "+in.flags+" -o json").want(t, in.exit))
			for _, format := range []string{"table", "wide"} {
				if r := screen(c, command+" "+in.flags+" -o "+format).want(t, in.exit); r.stdout == "" {
					t.Errorf("nothing on the screen: %v", r)
				}
			}
		}
		for _, id := range alive(c) { // the controller, where it is one of them, and the others
			r := kafkaops(c, "describe reassignments -o json -b "+c.BrokerAddr(id)).want(t, 0)
			through := answers{}
			if through.add(t, c, "describe reassignments", r); through["describe reassignments/items"] != some {
				t.Errorf("through broker %d: %v", id, r)
			}
		}
		if opts.ZooKeeper {
			nothingToTell(t, c)
		}
		all = found
	})
	return all
}

// ofRecordings are the commands that write or read one, or can.
var ofRecordings = []string{"record", "tune", "diagnose", "top"}

// recordedOutage: what is looked at in an outage is in the file, with what is not known, and
// can be advised on.
func recordedOutage(t *testing.T, c *kafkatest.Cluster) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "outage.rec")
	// Where it can be told that broker 3 is fenced, nothing is asked of it in vain.
	if r := kafkaops(c, "record "+file+" --for 2s --interval 500ms -o json"); r.exit > 1 || !strings.Contains(r.stderr, "broker 3") {
		t.Errorf("a recording of an outage: %v", r)
	}
	if r := kafkaops(c, "tune --from "+file+" -o json").want(t, 0); !strings.Contains(r.stdout, `"min.insync.replicas"`) || !strings.Contains(r.stdout, `"30000"`) {
		t.Errorf("the settings in force are not told: %v", r)
	}
	if r := kafkaops(c, "diagnose --from "+file+" -o json").want(t, 3); !strings.Contains(r.stdout, `"broker-down"`) {
		t.Errorf("broker 3 is not told to be down: %v", r)
	}
}

// readingLog are the commands that read the controllers' log.
var readingLog = []string{"isr", "isr summary"}

// historyOfOutage: every version with a KRaft controller has the stop of broker 3 in its
// log; with ZooKeeper there is none, and that is said.
func historyOfOutage(t *testing.T, c *kafkatest.Cluster, zooKeeper bool) {
	t.Helper()
	for _, command := range readingLog {
		if zooKeeper {
			if r := kafkaops(c, command+" -o json").want(t, 1); r.stderr == "" {
				t.Errorf("not a word why there is no history: %v", r)
			}
			continue
		}
		if r := kafkaops(c, command+" -o json").want(t, 0); !strings.Contains(r.stdout, `"cause": "controlled-shutdown"`) {
			t.Errorf("a broker was stopped, and the history does not tell: %v", r)
		}
	}
}

// exportedOutage: of the outage every version's exporter tells the same.
func exportedOutage(t *testing.T, c *kafkatest.Cluster, zooKeeper bool) {
	t.Helper()
	lines := []string{
		"kafka_brokers 2", "kafka_cluster_offline_partitions 1",
		`kafka_topic_partition_offline{topic="gone",partition="0"} 1`,
		`kafka_topic_partition_under_min_isr{topic="strict",partition="0"} 1`,
		`kafka_topic_partition_at_min_isr{topic="plain",partition="0"} 1`,
		`kafka_topic_partition_uncommitted_records{topic="strict",partition="0"} 5`,
		`kafka_topic_partition_reassigning{topic="moving",partition="0"} 1`,
		`kafka_topic_partition_replica_lag_records{topic="plain",partition="0",broker="2"} 0`,
		`kafka_consumergroup_lag_sum{consumergroup="idle",topic="plain"} 18`,
		`kafka_consumergroup_members{consumergroup="classic"} 1`,
		`kafka_broker_up{broker="1"} 1`,
	}
	const controller = "kafka_cluster_active_controllers"
	if !zooKeeper {
		lines = append(lines, controller+" 1")
	}
	body := exportOnce(t, c, "an outage", lines...)
	if strings.Contains(body, "\n"+controller+" ") == zooKeeper {
		t.Errorf("%s is there: %v", controller, !zooKeeper)
	}
}

// nothingToTell: where the cluster has no such thing, people are told so.
func nothingToTell(t *testing.T, c *kafkatest.Cluster) {
	t.Helper()
	for command, say := range map[string]string{
		"describe quorum":   "no controller quorum .*ZooKeeper",
		"describe features": "no broker tells .*ZooKeeper",
	} {
		if r := screen(c, command).want(t, 0); !regexp.MustCompile(say).MatchString(r.stdout) {
			t.Errorf("the screen does not say %q: %v", say, r)
		}
	}
}

// factsOfOutage are what the newest version is to answer, so that all versions do
// not agree on something wrong.
var factsOfOutage = map[string]string{
	"describe/0/verdict":                                           "unavailable",
	"describe/0/brokers":                                           "2",
	"describe/0/offline":                                           "1",
	"describe/0/reassigning":                                       "1",
	"describe/0/wrongLeader":                                       "1",
	"describe/0/findings/min-isr-exceeds-rf/topics":                "[above]",
	"describe/0/unhealthy/strict-0/status":                         "[under-min-isr under-replicated]",
	"describe topics/plain-0/status":                               "[at-min-isr under-replicated]",
	"describe topics/plain-2/status":                               "[at-min-isr under-replicated wrong-leader]",
	"describe topics/above-0/findings":                             "[single-replica no-headroom min-isr-exceeds-rf]",
	"describe topics/gone-0/leader":                                null,
	"describe topics/moving-0/addingReplicas":                      "[2]",
	"describe topics/strict-0/elr":                                 "[3]",
	"describe brokers/3/fenced":                                    "true",
	"describe brokers/1/reachable":                                 "true",
	"describe configs/topic:plain:min.insync.replicas/value":       "2",
	"describe quorum/0/leader":                                     "100",
	"describe reassignments/moving-0/targetReplicas":               "[1 2]",
	"describe transactions/pay/status":                             "open",
	"describe transactions/pay/partitions/paid-0/lastStableOffset": "0",
	"describe transactions/pay/partitions/paid-0/highWatermark":    "7",
	"lag/strict-0/highWatermark":                                   "10",
	"lag/strict-0/uncommitted":                                     "5",
	"lag/plain-0/replicas/3/state":                                 "offline",
	"lag/gone-0/logEndOffset":                                      null,
	"lag groups/idle/lag":                                          "18",
	"lag groups/classic/members":                                   "1",
	"lag groups/classic/type":                                      "classic",
	"lag groups/modern/type":                                       "consumer",
	"check health/0/offline":                                       "1",
}

// asking are the paths of the commands below path that ask a cluster, by their
// help.
func asking(t *testing.T, path string) (paths []string) {
	t.Helper()
	d := term.NewDouble(0, 0)
	args := append(strings.Fields(path), "--help")
	if exit := cli.Main(args, cli.Env{Terminal: d.Terminal, Getenv: func(string) string { return "" }}); exit != 0 {
		t.Fatalf("kafkaops %s --help: exit %d: %s", path, exit, d.Stderr.String())
	}
	help := d.Stdout.String()
	if strings.Contains(help, "--bootstrap-server") {
		paths = append(paths, path)
	}
	_, list, _ := strings.Cut(help, "\nAvailable Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		paths = append(paths, asking(t, strings.TrimSpace(path+" "+strings.Fields(line)[0]))...)
	}
	return paths
}
