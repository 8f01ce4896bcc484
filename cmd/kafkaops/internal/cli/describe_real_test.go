package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
)

// onEngine: the tests of a real Kafka run on the embedded engine, of what it has.
var onEngine = engine.FromEnv() != nil

// describedCluster are three brokers with two directories each, and three controllers;
// the engine has one of each.
func describedCluster() kafkatest.Options {
	o := kafkatest.Options{Engine: engine.FromEnv(), Brokers: 3, Controllers: 3, LogDirs: 2}
	if onEngine {
		o.Controllers, o.LogDirs = 1, 1
	}
	return o
}

// TestDescribeReal compares each of describe's subcommands with Kafka's own tool,
// on one cluster. The last part kills controllers.
func TestDescribeReal(t *testing.T) {
	if os.Getenv("KAFKAOPS_LONG") == "" && !onEngine {
		t.Skip("long: kills controllers one by one and waits for what becomes of it; set KAFKAOPS_LONG=1")
	}
	c := kafkatest.Start(t, describedCluster())
	c.CreateTopic(t, "orders", c.Spread(3, 3), map[string]string{"min.insync.replicas": "2"})
	for _, part := range []struct {
		name string
		test func(*testing.T, *kafkatest.Cluster)
	}{
		{"quorum", realQuorum},
		{"features", realFeatures},
		{"reassignments", realReassignments},
		{"log dirs", realLogDirs},
		{"configs", realConfigs},
		{"transactions", realTransactions},
		{"changes", realChanges},
		{"quorum with controllers killed", realQuorumLoss},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.test(t, c) }) {
			break // what follows may rest on it
		}
	}
}

// onReal runs a command line against a real cluster.
func onReal(t *testing.T, c *kafkatest.Cluster, width int, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	return commandLine(width, append(args, "-b", c.BootstrapServer())...)
}

// document runs a command for its JSON and decodes the items into T.
func document[T any](t *testing.T, c *kafkatest.Cluster, args ...string) (items []T, controller *int32, exit int) {
	t.Helper()
	stdout, stderr, exit := onReal(t, c, 0, append(args, "-o", "json")...)
	var doc struct {
		Cluster struct{ Controller *int32 }
		Items   []T
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, stdout, stderr)
	}
	return doc.Items, doc.Cluster.Controller, exit
}

func tool(t *testing.T, c *kafkatest.Cluster, class string, args ...string) string {
	t.Helper()
	stdout, stderr, exit, err := c.Tool(t.Context(), class, append([]string{"--bootstrap-server", c.BootstrapServer()}, args...)...)
	if err != nil || exit != 0 {
		t.Fatalf("%s: exit %d, %v\n%s%s", class, exit, err, stdout, stderr)
	}
	return stdout
}

// show logs a screen as people see it.
func show(t *testing.T, c *kafkatest.Cluster, args ...string) {
	t.Helper()
	stdout, stderr, exit := onReal(t, c, 120, args...)
	t.Logf("kafkaops %s (exit %d)\n%s%s", strings.Join(args, " "), exit, stdout, stderr)
}

type quorumItem struct {
	Leader            *int32
	LeaderEpoch       *int32
	HighWatermark     *int64
	Tolerates         *int
	Voters, Observers []struct {
		ID           int32
		State        string
		LogEndOffset *int64
	}
}

// toolRows reads a table of one of Kafka's tools: a header, then fields between
// blanks.
func toolRows(text string) []map[string]string {
	var rows []map[string]string
	var header []string
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case header == nil:
			header = fields
		default:
			row := map[string]string{}
			for i := range min(len(fields), len(header)) {
				row[header[i]] = fields[i]
			}
			rows = append(rows, row)
		}
	}
	return rows
}

func realQuorum(t *testing.T, c *kafkatest.Cluster) {
	o := describedCluster()
	show(t, c, "describe", "quorum")
	theirs := tool(t, c, kafkatest.MetadataQuorumCommand, "describe", "--replication")
	t.Log(theirs)
	items, controller, exit := document[quorumItem](t, c, "describe", "quorum", "--exit-code")
	if exit != 0 || len(items) != 1 || controller == nil || *controller != *items[0].Leader || *items[0].Tolerates != (o.Controllers-1)/2 {
		t.Fatalf("exit %d, controller %v, items %+v; want one, and %d to lose", exit, controller, items, (o.Controllers-1)/2)
	}
	ours := map[string]string{}
	for _, v := range items[0].Voters {
		ours[fmt.Sprint(v.ID)] = "Follower"
		if v.ID == *items[0].Leader {
			ours[fmt.Sprint(v.ID)] = "Leader"
		}
	}
	for _, o := range items[0].Observers {
		ours[fmt.Sprint(o.ID)] = "Observer"
	}
	rows := toolRows(theirs)
	if len(rows) != len(ours) || len(ours) != o.Brokers+o.Controllers {
		t.Errorf("%d nodes, theirs %d, want %d", len(ours), len(rows), o.Brokers+o.Controllers)
	}
	for _, row := range rows {
		if ours[row["NodeId"]] != row["Status"] {
			t.Errorf("node %s: ours %q, theirs %q", row["NodeId"], ours[row["NodeId"]], row["Status"])
		}
	}
	status := tool(t, c, kafkatest.MetadataQuorumCommand, "describe", "--status")
	for key, want := range map[string]string{"LeaderId:": fmt.Sprint(*items[0].Leader), "LeaderEpoch:": fmt.Sprint(*items[0].LeaderEpoch)} {
		if got := valueOf(status, key); got != want {
			t.Errorf("%s theirs %s, ours %s", key, got, want)
		}
	}
	if hw, err := strconv.ParseInt(valueOf(status, "HighWatermark:"), 10, 64); err != nil || hw < *items[0].HighWatermark {
		t.Errorf("their later HW %d (%v) is below ours, %d", hw, err, *items[0].HighWatermark)
	}
}

// realFeatures wants what kafka-features.sh says, which asks one broker.
func realFeatures(t *testing.T, c *kafkatest.Cluster) {
	show(t, c, "describe", "features")
	theirs := tool(t, c, kafkatest.FeatureCommand, "describe")
	items, _, exit := document[struct {
		Name                         string
		FinalizedLevel, MaxSupported int16
		Release                      *string
		Status                       []string
	}](t, c, "describe", "features", "--exit-code")
	if exit != 0 || len(items) == 0 {
		t.Fatalf("exit %d, %d features", exit, len(items))
	}
	for _, f := range items {
		want := strconv.Itoa(int(f.FinalizedLevel))
		if f.Release != nil {
			want = *f.Release
		}
		found := false
		for line := range strings.Lines(theirs) {
			if valueOf(line, "Feature:") == f.Name {
				found = valueOf(line, "FinalizedVersionLevel:") == want
			}
		}
		if !found {
			t.Errorf("%s at %s is not what theirs says:\n%s", f.Name, want, theirs)
		}
	}
	if n := strings.Count(theirs, "Feature:"); n != len(items) {
		t.Errorf("%d features, theirs %d:\n%s", len(items), n, theirs)
	}
}

// realReassignments moves a partition, held back by a throttle, and wants what
// kafka-reassign-partitions.sh --list says.
func realReassignments(t *testing.T, c *kafkatest.Cluster) {
	c.CreateTopic(t, "moving", [][]int32{{1, 2}, {2, 1}}, map[string]string{"follower.replication.throttled.replicas": "*"})
	for range 8 {
		c.ProduceRecords(t, "moving", 0, 250, kafkatest.AcksAll, 1000)
	}
	c.AlterBrokerConfig(t, 3, "follower.replication.throttled.rate", "100000")
	defer c.AlterBrokerConfig(t, 3, "follower.replication.throttled.rate", "")
	c.Reassign(t, "moving", 0, []int32{1, 3})
	defer c.AwaitISR(t, "moving", 0, 1, 2)
	defer c.Reassign(t, "moving", 0, nil)
	show(t, c, "describe", "reassignments", "--samples", "2", "--interval", "2s")
	items, _, exit := document[struct {
		Topic                            string
		Partition                        int32
		Replicas                         []int32
		TargetReplicas                   []int32
		AddingReplicas, RemovingReplicas []int32
		Copies                           []struct {
			Broker                int32
			TotalBytes, DoneBytes *int64
		}
	}](t, c, "describe", "reassignments")
	theirs := tool(t, c, kafkatest.ReassignPartitionsCommand, "--list")
	if exit != 0 || len(items) != 1 || len(items[0].Copies) != 1 {
		t.Fatalf("exit %d, items %+v, want one; theirs:\n%s", exit, items, theirs)
	}
	r := items[0]
	words := func(ids []int32) string { return strings.Trim(strings.ReplaceAll(fmt.Sprint(ids), " ", ","), "[]") }
	want := fmt.Sprintf("%s-%d: replicas: %s. adding: %s. removing: %s.", r.Topic, r.Partition, words(r.Replicas), words(r.AddingReplicas), words(r.RemovingReplicas))
	if !strings.Contains(theirs, want) {
		t.Errorf("ours %q, theirs:\n%s", want, theirs)
	}
	if cp := r.Copies[0]; cp.Broker != 3 || cp.TotalBytes == nil || *cp.TotalBytes < 2_000_000 || cp.DoneBytes == nil || *cp.DoneBytes >= *cp.TotalBytes || words(r.TargetReplicas) != "1,3" {
		t.Errorf("copies = %+v, target %v; want broker 3 on its way to 2 MB", r.Copies, r.TargetReplicas)
	}
}

// realLogDirs wants the directories and sizes of kafka-log-dirs.sh. Sizes of
// Kafka's own topics may change between the two.
func realLogDirs(t *testing.T, c *kafkatest.Cluster) {
	show(t, c, "describe", "log-dirs")
	items, _, exit := document[struct {
		Broker                                 int32
		Path                                   string
		TotalBytes, UsableBytes, ReplicasBytes *int64
		Replicas                               *int
	}](t, c, "describe", "log-dirs", "--exit-code")
	theirs := tool(t, c, kafkatest.LogDirsCommand, "--describe")
	lines := strings.Split(strings.TrimSpace(theirs), "\n")
	var doc struct {
		Brokers []struct {
			Broker  int32
			LogDirs []struct {
				LogDir     string
				Partitions []struct{ Size int64 }
			}
		}
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &doc); err != nil {
		t.Fatalf("%v\n%s", err, theirs)
	}
	want := map[string]string{}
	for _, b := range doc.Brokers {
		for _, d := range b.LogDirs {
			sum := int64(0)
			for _, p := range d.Partitions {
				sum += p.Size
			}
			want[fmt.Sprint(b.Broker, d.LogDir)] = fmt.Sprint(len(d.Partitions), " logs, ", sum)
		}
	}
	o := describedCluster()
	if exit != 0 || len(items) != len(want) || len(items) != o.Brokers*o.LogDirs {
		t.Errorf("exit %d, %d directories, theirs %d, want %d", exit, len(items), len(want), o.Brokers*o.LogDirs)
	}
	for _, d := range items {
		if got := fmt.Sprint(*d.Replicas, " logs, ", *d.ReplicasBytes); got != want[fmt.Sprint(d.Broker, d.Path)] {
			t.Errorf("broker %d %s: ours %s, theirs %s", d.Broker, d.Path, got, want[fmt.Sprint(d.Broker, d.Path)])
		}
		if onEngine {
			continue // in memory: there is no volume
		}
		if d.TotalBytes == nil || d.UsableBytes == nil || *d.UsableBytes > *d.TotalBytes {
			t.Errorf("broker %d %s: volume %v of %v", d.Broker, d.Path, d.UsableBytes, d.TotalBytes)
		}
	}
}

// realConfigs wants what kafka-configs.sh --all says of a broker and a topic, and
// finds the value that Kafka stores for all brokers and none applies.
func realConfigs(t *testing.T, c *kafkatest.Cluster) {
	// Before the other: once that is stored, brokers refuse every change.
	c.AlterBrokerConfig(t, 2, "num.io.threads", "9")
	defer c.AlterBrokerConfig(t, 2, "num.io.threads", "")
	defer awaitNoneStored(t, c) // deferred calls run backwards: after the deletion below
	wantStored := 3
	if onEngine {
		wantStored = 0 // what its controller stores its brokers have
	} else {
		// A broker would refuse it; asked directly, the controllers store it.
		stdout, stderr, exit, err := c.Tool(t.Context(), kafkatest.ConfigCommand, "--bootstrap-controller", c.ControllerAddr(),
			"--alter", "--entity-type", "brokers", "--entity-default", "--add-config", "num.replica.fetchers=5")
		if err != nil || exit != 0 {
			t.Fatalf("exit %d, %v\n%s%s", exit, err, stdout, stderr)
		}
		defer c.AlterBrokerConfig(t, -1, "num.replica.fetchers", "")
	}
	type synonym struct {
		Name, Source string
		Value        *string
	}
	type item struct {
		Scope, Entity, Name string
		Value, NotApplied   *string
		Disagree            bool
		Synonyms            []synonym
	}
	text := func(v *string) string {
		if v == nil {
			return "null"
		}
		return *v
	}
	var items []item
	kafkatest.Eventually(t, time.Minute, func() error {
		var exit int
		items, _, exit = document[item](t, c, "describe", "configs", "orders", "--exit-code")
		stored, disagree := 0, 0
		for _, i := range items {
			if i.Name == "num.replica.fetchers" && text(i.NotApplied) == "5" && text(i.Value) == "1" {
				stored++
			}
			if i.Name == "num.io.threads" && i.Disagree {
				disagree++
			}
		}
		if exit != 3 || stored != wantStored || disagree != 3 {
			return fmt.Errorf("exit %d, %d brokers store 5 fetchers and have 1, %d disagree on threads; want 3, %d, 3", exit, stored, disagree, wantStored)
		}
		return nil
	})
	show(t, c, "describe", "configs", "orders")
	theirs := map[string]string{
		"broker 2":     tool(t, c, kafkatest.ConfigCommand, "--describe", "--all", "--broker", "2"),
		"topic orders": tool(t, c, kafkatest.ConfigCommand, "--describe", "--all", "--topic", "orders"),
	}
	compared := 0
	for _, i := range items {
		say, ok := theirs[i.Scope+" "+i.Entity]
		if !ok {
			continue
		}
		var synonyms []string
		for _, s := range i.Synonyms {
			synonyms = append(synonyms, s.Source+":"+s.Name+"="+text(s.Value))
		}
		want := "  " + i.Name + "=" + text(i.Value) + " sensitive=false synonyms={" + strings.Join(synonyms, ", ") + "}"
		compared++
		if !strings.Contains(say, want) {
			t.Errorf("ours %q", want)
			for line := range strings.Lines(say) {
				if strings.HasPrefix(line, "  "+i.Name+"=") {
					t.Errorf("theirs %q", line)
				}
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d settings compared", compared)
	}
}

// awaitNoneStored waits until every broker has heard that what it could not apply
// is deleted: until then it refuses every other change.
func awaitNoneStored(t *testing.T, c *kafkatest.Cluster) {
	t.Helper()
	type item struct {
		Entity, Name string
		NotApplied   *string
	}
	kafkatest.Eventually(t, time.Minute, func() error {
		items, _, _ := document[item](t, c, "describe", "configs", "orders")
		for _, i := range items {
			if i.NotApplied != nil {
				return fmt.Errorf("broker %s still stores %s", i.Entity, i.Name)
			}
		}
		return nil
	})
}

// valueOf is the field behind a key in the text of a tool.
func valueOf(text, key string) string {
	fields := strings.Fields(text)
	for i, f := range fields {
		if f == key && i+1 < len(fields) {
			return fields[i+1]
		}
	}
	return ""
}

// realQuorumLoss kills the leading controller, then the one that follows it.
func realQuorumLoss(t *testing.T, c *kafkatest.Cluster) {
	if onEngine {
		t.Skip("the engine has one controller")
	}
	items, _, _ := document[quorumItem](t, c, "describe", "quorum")
	first := *items[0].Leader
	c.Kill(t, first)
	var second int32
	kafkatest.Eventually(t, time.Minute, func() error {
		items, controller, exit := document[quorumItem](t, c, "describe", "quorum", "--exit-code", "--timeout", "6s")
		if exit != 3 || controller == nil || *controller == first {
			return fmt.Errorf("exit %d, controller %v", exit, controller)
		}
		for _, v := range items[0].Voters {
			if want := map[bool]string{true: "lost"}[v.ID == first]; want != "" && v.State != want {
				return fmt.Errorf("voter %d is %s", v.ID, v.State)
			}
		}
		second = *controller
		return nil
	})
	show(t, c, "describe", "quorum")
	show(t, c, "describe")
	stdout, _, exit := onReal(t, c, 0, "describe", "--exit-code")
	if exit != 3 || !strings.Contains(stdout, "verdict\tat-risk") || !strings.Contains(stdout, "has lost 1 of 3 voters") {
		t.Errorf("one of three killed: exit %d\n%s", exit, stdout)
	}

	c.Kill(t, second)
	kafkatest.Eventually(t, time.Minute, func() error {
		stdout, stderr, exit := onReal(t, c, 0, "describe", "--timeout", "6s")
		if exit != 1 || !strings.Contains(stdout, "verdict\tat-risk") || !strings.Contains(stdout, "no active controller answers") {
			return fmt.Errorf("two of three killed: exit %d\n%s%s", exit, stdout, stderr)
		}
		return nil
	})
	show(t, c, "describe", "quorum")
	show(t, c, "describe")
	c.Heal(t)
	kafkatest.Eventually(t, time.Minute, func() error {
		if _, stderr, exit := onReal(t, c, 0, "describe", "quorum", "--exit-code"); exit != 0 {
			return fmt.Errorf("healed: exit %d\n%s", exit, stderr)
		}
		return nil
	})
}
