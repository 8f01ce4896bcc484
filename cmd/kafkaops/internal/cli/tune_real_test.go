package cli

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/admin"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// realChanges applies what tune advises, and a setting of all brokers, and takes both
// back; Kafka's own tool says what is set.
func realChanges(t *testing.T, c *kafkatest.Cluster) {
	c.CreateTopic(t, "tuned", c.Spread(1, 3), nil)
	client, err := admin.Open(connect.Config{Bootstrap: c.Bootstrap()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx := t.Context()
	fetchers := []admin.Change{{Scope: admin.Scope{Kind: admin.ScopeCluster}, Setting: "num.replica.fetchers", To: inspect.Known("2")}}
	p, err := client.PlanConfigs(ctx, fetchers)
	if err != nil {
		t.Fatal(err)
	}
	c.CreateTopic(t, "watched", c.Spread(1, 3), nil)
	applies(t, strings.Join(c.Bootstrap(), ","), p.ClusterID.Or(""), "watched")
	say := func(line string) { t.Log(line) }
	set := func(what, value string, args ...string) {
		t.Helper()
		if out := tool(t, c, kafkatest.ConfigCommand, append([]string{"--describe"}, args...)...); strings.Contains(out, what) != (value != "") ||
			value != "" && !strings.Contains(out, what+"="+value+" ") {
			t.Errorf("%s is to be %q:\n%s", what, value, out)
		}
	}
	dir := t.TempDir()
	topic, brokers := filepath.Join(dir, "topic"), filepath.Join(dir, "brokers")
	file := twoDays(t, p.ClusterID.Or(""), "tuned")
	out, notes, exit := onReal(t, c, 0, "tune", "--from", file, "--apply", "--yes", "--undo-file", topic)
	if exit != exitOK || !strings.Contains(notes, "in force at every broker") {
		t.Fatalf("exit %d: %s%s", exit, out, notes)
	}
	order := admin.Order{Say: say, UndoFile: brokers, Now: time.Now(), Timeout: time.Minute}
	if err := client.Carry(ctx, fetchers, order); err != nil {
		t.Fatal(err)
	}
	set("min.insync.replicas", "2", "--topic", "tuned")
	set("num.replica.fetchers", "2", "--broker-defaults")
	five := []admin.Change{{Scope: fetchers[0].Scope, Setting: "num.replica.fetchers", To: inspect.Known("5")}}
	if err := client.Carry(ctx, five, admin.Order{Say: say, DryRun: true, Timeout: time.Minute}); err == nil || !strings.Contains(err.Error(), "has 2, and takes 1 to 4") {
		t.Errorf("from 2 to 5: %v", err)
	}
	for _, undo := range []string{topic, brokers} {
		if out, notes, exit := onReal(t, c, 0, "tune", "--undo", undo, "--yes", "--undo-file", undo+".redo"); exit != exitOK {
			t.Errorf("exit %d: %s%s", exit, out, notes)
		}
	}
	set("min.insync.replicas", "", "--topic", "tuned")
	set("num.replica.fetchers", "", "--broker-defaults")
}
