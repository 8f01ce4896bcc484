package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/advise"
	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/internal/admin"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history/recording"
)

// twoDays is a recording of a cluster in which a topic was in sync for two days, with
// min.insync.replicas 1.
func twoDays(t *testing.T, clusterID, topic string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "days.rec")
	w, err := recording.Open(name, clusterID)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	ids := []inspect.BrokerID{1, 2, 3}
	s := &inspect.Snapshot{
		ClusterID: inspect.Known(clusterID), TakenAt: now, Asked: inspect.PartConfigs, Brokers: []inspect.Broker{{ID: 1}, {ID: 2}, {ID: 3}},
		Topics: []inspect.Topic{{
			Name: topic, ID: inspect.Known("A"), MinInsyncReplicas: inspect.Known(int32(1)),
			Partitions: []inspect.Partition{{Topic: topic, Leader: 1, Replicas: ids, ISR: ids}},
		}},
	}
	err = w.AppendLook(s)
	if err == nil {
		err = w.Commit(recording.Coverage{
			Source: inspect.SourceMetadataLog, From: inspect.Known[inspect.Offset](0), To: inspect.Known[inspect.Offset](9),
			Epoch: inspect.Known[inspect.Epoch](1), Since: now.Add(-48 * time.Hour), Until: now,
		})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestTuneApply: not in a dry run, not without somebody's yes, not where the context or
// the recording says otherwise; then it is so, and back by the undo file.
func TestTuneApply(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	file, state := twoDays(t, c.ID(), "orders"), t.TempDir()
	at := func(typed string) place { return place{typed: typed, env: map[string]string{"XDG_STATE_HOME": state}} }
	const to2, to1 = "topic orders: min.insync.replicas not set (1 in force) -> 2", "topic orders: min.insync.replicas 2 -> not set"
	minISR := func() int32 {
		t.Helper()
		r := isr(t, place{}, c, "describe topics orders -o json")
		return items[render.PartitionItem](t, r)[0].MinInsyncReplicas.Or(0)
	}
	for _, tt := range []struct {
		name, flags string
		at          place
		code        int
		says        []string
		want        int32
	}{
		{"a dry run", "--dry-run", at(""), exitOK, []string{to2, "nothing was changed (dry run)"}, 1},
		{"nobody to ask", "", at(""), exitUsage, []string{"say --yes, or --dry-run"}, 1},
		{"no", "", at("n\n"), exitFailed, []string{to2, "Apply 1 change to cluster " + c.ID() + "? [y/N] ", "kafkaops: nothing was changed"}, 1},
		{"nothing typed", "", at(" \n"), exitFailed, []string{"kafkaops: nothing was changed"}, 1},
		{"yes", "", at("yes\n"), exitOK, []string{"applied " + to2, "in force at every broker", "undo file " + state}, 2},
		{"again", "--yes", at(""), exitOK, []string{"is 2 already", "nothing is to be changed"}, 2},
	} {
		r := isr(t, tt.at, c, strings.TrimSpace("tune --from "+file+" --apply "+tt.flags))
		if r.code != tt.code || tt.code != exitUsage && !strings.Contains(r.stdout, "min.insync.replicas") {
			t.Errorf("%s: exit code %d: %s%s", tt.name, r.code, r.stdout, r.stderr)
		}
		for _, part := range tt.says {
			if !strings.Contains(r.stderr, part) {
				t.Errorf("%s: %q is missing in %s", tt.name, part, r.stderr)
			}
		}
		if got := minISR(); got != tt.want {
			t.Errorf("%s: min.insync.replicas is %d, want %d", tt.name, got, tt.want)
		}
	}
	files, err := filepath.Glob(filepath.Join(state, "kafkaops", "undo", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("undo files %q, %v; want one", files, err)
	}
	var undo struct {
		Kind  string
		Items []struct{ Setting, State, Undo string }
	}
	in, err := os.ReadFile(files[0])
	if err == nil {
		err = json.Unmarshal(in, &undo)
	}
	if err != nil || undo.Kind != "Undo" || len(undo.Items) != 1 || undo.Items[0].State != "applied" || !strings.HasSuffix(undo.Items[0].Undo, "--topic orders --delete-config min.insync.replicas") {
		t.Errorf("the undo file: %v, %s", err, in)
	}
	r := isr(t, at(""), c, "tune --undo "+files[0]+" --yes --undo-file "+filepath.Join(state, "redo"))
	if r.code != exitOK || r.stdout != "" || !strings.Contains(r.stderr, "applied "+to1) || minISR() != 1 {
		t.Errorf("undo: exit code %d, now %d: %s%s", r.code, minISR(), r.stdout, r.stderr)
	}
	client, err := admin.Open(connect.Config{Bootstrap: strings.Split(c.Bootstrap(), ",")})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	three := []admin.Change{{Scope: admin.Scope{Kind: admin.ScopeTopic, Name: "orders"}, Setting: "min.insync.replicas", To: inspect.Known("3")}}
	byHand := admin.Order{Say: func(string) {}, UndoFile: filepath.Join(state, "by-hand"), Now: time.Now(), Timeout: patience}
	if err := client.Carry(t.Context(), three, byHand); err != nil {
		t.Fatal(err)
	}
	if r := isr(t, at(""), c, "tune --undo "+files[0]+" --yes"); r.code != exitFailed || !strings.Contains(r.stderr, "somebody changed it since") || minISR() != 3 {
		t.Errorf("undo of what is another's by now: exit code %d, now %d: %s", r.code, minISR(), r.stderr)
	}
	if r := isr(t, at(""), c, "tune --undo "+byHand.UndoFile+" --yes"); r.code != exitOK || minISR() != 1 {
		t.Errorf("undo of that: exit code %d, now %d: %s", r.code, minISR(), r.stderr)
	}
	if r := isr(t, at(""), c, "tune --undo "+filepath.Join(state, "redo")+" --dry-run"); r.code != exitOK || !strings.Contains(r.stderr, to2) {
		t.Errorf("redo: exit code %d: %s", r.code, r.stderr)
	}
}

// TestTuneApplyGuarded: what may not be changed is left alone before anything is asked.
func TestTuneApplyGuarded(t *testing.T) {
	t.Parallel()
	c := healthy(t)
	dir := t.TempDir()
	config := "current-context: prod\ncontexts:\n  prod:\n    bootstrap-server: " + c.Bootstrap() + "\n    readonly: true\n"
	if err := os.MkdirAll(filepath.Join(dir, "kafkaops"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kafkaops", "config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	file := twoDays(t, "another-cluster", "orders")
	p := place{env: map[string]string{"XDG_CONFIG_HOME": dir, "XDG_STATE_HOME": dir}}
	for _, tt := range []struct {
		line, says string
		code       int
		asked      bool
	}{
		{"tune --apply --yes", `context "prod" (`, exitFailed, false},
		{"tune --apply --yes --from " + file, "is readonly: nothing may change its cluster", exitFailed, false},
		{"tune --undo x --yes", "is readonly", exitFailed, false},
		{"tune --canary orders", "is readonly", exitFailed, false},
		{"tune --apply --dry-run --from " + file, "is about cluster another-cluster: nothing was changed", exitFailed, true},
		{"tune --dry-run", "are for --apply and --undo", exitUsage, false},
		{"tune --apply --dry-run --yes", "a dry run changes nothing", exitUsage, false},
		{"tune --undo x --apply", "nothing else is asked", exitUsage, false},
		{"tune --undo x orders --yes", "nothing else is asked", exitUsage, false},
	} {
		c.Reset()
		r := p.run(t.Context(), strings.Fields(tt.line)...)
		if r.code != tt.code || !strings.Contains(r.stderr, tt.says) || (len(c.Requests()) > 0) != tt.asked {
			t.Errorf("%s: exit code %d, %d requests: %s", tt.line, r.code, len(c.Requests()), r.stderr)
		}
	}
}

// TestTellRestarts: the lines of the files, and who comes first.
func TestTellRestarts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		order                advise.Restarts
		brokers, controllers []string
		want                 []string
	}{
		"nothing": {advise.Restarts{Brokers: []int32{1}}, nil, nil, nil},
		"both": {
			advise.Restarts{Brokers: []int32{3, 1, 2}, Controller: inspect.Known(inspect.BrokerID(2))},
			[]string{"a=1"},
			[]string{"b=2"},
			[]string{
				"not applied, as it takes a restart: in each broker's properties file", "  a=1",
				"not applied, as it takes a restart: in each controller's properties file", "  b=2",
				"restart brokers one by one: 3, 1, 2 (fewest leaders first, and 2 last, which is the active controller too); before each: kafkaops check health",
				"restart controllers one by one, the active one last (kafkaops describe quorum)",
			},
		},
	} {
		var got []string
		tellRestarts(func(line string) { got = append(got, line) }, tt.order, tt.brokers, tt.controllers)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
