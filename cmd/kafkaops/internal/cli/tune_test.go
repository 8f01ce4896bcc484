package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// adviceOn is what a tune says of a setting, by topic; "" for the cluster's.
func adviceOn(t *testing.T, r ran, setting string) map[string]render.AdviceItem {
	t.Helper()
	out := map[string]render.AdviceItem{}
	for _, a := range items[render.AdviceItem](t, r) {
		if a.Setting == setting {
			out[a.Scope.Name] = a
		}
	}
	return out
}

// TestTune: from a recording and live; the values in force are those of the cluster, and
// with little seen nothing is recommended.
func TestTune(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	file := filepath.Join(t.TempDir(), "a.rec")
	if r := isr(t, place{}, c, "record "+file+" --interval 100ms --for 1500ms"); r.code != exitOK {
		t.Fatalf("record: exit code %d: %s", r.code, r.stderr)
	}
	from := func(args ...string) ran {
		t.Helper()
		return place{}.run(t.Context(), append([]string{"tune", "--from", file}, args...)...)
	}
	recorded := from("-o", "json")
	live := isr(t, place{}, c, "tune --for 500ms --interval 100ms -o json")
	for name, r := range map[string]ran{"recorded": recorded, "live": live} {
		lag := adviceOn(t, r, "replica.lag.time.max.ms")[""]
		if r.code != exitOK || lag.Current != inspect.Known("2000") || lag.Recommended.IsKnown() || !strings.Contains(lag.Why, "not enough evidence") || lag.Evidence["looks"] == 0 {
			t.Errorf("%s: exit code %d, %+v; %s", name, r.code, lag, r.stderr)
		}
		if a := adviceOn(t, r, "broker.session.timeout.ms")[""]; a.Current != inspect.Known("2000") || a.Recommended.IsKnown() || a.Evidence["fencings"] == 0 || !strings.Contains(a.Why, "a day is needed") {
			t.Errorf("%s: session: %+v", name, a)
		}
		for setting, current := range map[string]string{"num.replica.fetchers": "1", "replica.fetch.max.bytes": "1048576"} {
			if a := adviceOn(t, r, setting)[""]; a.Current != inspect.Known(current) || a.Recommended.IsKnown() || !strings.Contains(a.Why, "nothing was written") {
				t.Errorf("%s: %s: %+v", name, setting, a)
			}
		}
		isrs := adviceOn(t, r, "min.insync.replicas")
		if a := isrs["orders"]; a.Current != inspect.Known("1") || a.Recommended.IsKnown() || !a.StartingPoint.IsKnown() || a.Evidence["partitions"] == 0 {
			t.Errorf("%s: min.insync.replicas of orders: %+v", name, a)
		}
		if a := adviceOn(t, r, "acks")[""]; !strings.Contains(a.Why, "not observable") {
			t.Errorf("%s: acks: %+v", name, a)
		}
	}
	canary := isr(t, place{}, c, "tune --from "+file+" --canary orders -o json")
	if a := adviceOn(t, canary, "acks")[""]; canary.code != exitOK || !strings.Contains(a.Why, "That is what acks=all costs here") || !strings.Contains(canary.stderr, "writes 440 records") ||
		a.Evidence["canaryRecordsAtAcks1"] == 0 || a.Evidence["canaryRecordsAtAcksAll"] == 0 || a.Evidence["canaryP99MsAtAcksAll"] < a.Evidence["canaryP50MsAtAcksAll"] {
		t.Errorf("canary: exit code %d: %+v, %s", canary.code, a, canary.stderr)
	}
	if hw := items[render.LagItem](t, isr(t, place{}, c, "lag orders -o json"))[0].HighWatermark; hw != inspect.Known[inspect.Offset](440) {
		t.Errorf("the canary wrote up to %s, not 440 records", hw)
	}
	if r := isr(t, place{}, c, "tune --from "+file+" --canary nosuch"); r.code != exitFailed || !strings.Contains(r.stderr, "there is no such topic") {
		t.Errorf("no such canary: exit code %d: %s", r.code, r.stderr)
	}
	again := from("-o", "json")
	if again.stdout != recorded.stdout {
		t.Errorf("the same recording gives other advice:\n%s\n%s", again.stdout, recorded.stdout)
	}
	if r := from("pay*", "-o", "json"); len(adviceOn(t, r, "min.insync.replicas")) != 1 {
		t.Errorf("topics that were not named: %s", r.stdout)
	}
	if durable := adviceOn(t, from("--goal", "durable", "-o", "json"), "replica.lag.time.max.ms")[""]; !strings.Contains(durable.Why, "goal durable") {
		t.Errorf("goal durable: %+v", durable)
	}
	places := []place{{}, screen()}
	for _, at := range places {
		r := at.run(t.Context(), "tune", "--from", file)
		if r.code != exitOK || !strings.Contains(r.stdout, "replica.lag.time.max.ms") || !strings.Contains(r.stdout, "not enough evidence") {
			t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
	}
	if r := isr(t, place{}, c, "record "+file+" --interval 100ms --for 300ms"); r.code != exitOK {
		t.Fatalf("record again: exit code %d: %s", r.code, r.stderr)
	}
	in, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.rec")
	if err := os.WriteFile(cut, in[:len(in)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	if r := (place{}).run(t.Context(), "tune", "--from", cut, "-o", "json"); r.code != exitOK || len(adviceOn(t, r, "min.insync.replicas")) == 0 {
		t.Errorf("a recording that is cut off: exit code %d: %s", r.code, r.stderr)
	}
}

// TestTuneRefuses: what cannot be is said.
func TestTuneRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign")
	if err := os.WriteFile(foreign, []byte("not a recording, whatever its name says"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"tune":                                "no cluster named",
		"tune --from " + dir + "/none":        "no such file",
		"tune --from " + foreign:              "is not a recording of kafkaops",
		"tune --from " + dir:                  "is not a file",
		"tune --from x --for 1m":              "--from and --for",
		"tune --since 1h -b 127.0.0.1:1":      "name one by --from",
		"tune --goal fast --from x":           `--goal "fast": use balanced, durable, throughput or latency`,
		"tune --for 0s -b 127.0.0.1:1":        "look for longer",
		"tune --max-stall -1s --from x":       "--max-stall -1s is negative",
		"tune --interval 1ms -b 127.0.0.1:1":  "--interval 1ms is too short",
		"tune --from x --since yesterday":     `--since "yesterday" is neither`,
		"tune --timeout 300ms -b 127.0.0.1:1": "127.0.0.1:1",
	} {
		if r := (place{}).run(t.Context(), strings.Fields(line)...); r.code == exitOK || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d, %s", line, r.code, r.stderr)
		}
	}
}
