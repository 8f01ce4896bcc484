package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// diagnosis is a diagnose's answer.
func diagnosis(t *testing.T, r ran) render.DiagnosisDocument {
	t.Helper()
	var d render.DiagnosisDocument
	dec := json.NewDecoder(strings.NewReader(r.stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		t.Fatalf("stdout is no document: %v\n%s\nstderr: %s", err, r.stdout, r.stderr)
	}
	if d.Kind != render.KindFinding || d.Cluster.ID == inspect.Unknown[string]() || len(d.Checks) == 0 {
		t.Errorf("kind %s, cluster %v, %d checks", d.Kind, d.Cluster.ID, len(d.Checks))
	}
	return d
}

// TestDiagnose: nothing where nothing is wrong, and the cause where something is, live and
// from a recording, with the exit codes of both.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{Config: map[string]string{"min.insync.replicas": "2"}})
	const live = "diagnose --for 500ms --interval 100ms"
	if r := isr(t, place{}, c, live+" -o json"); r.code != exitOK || len(diagnosis(t, r).Items) != 0 {
		t.Errorf("nothing is wrong: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	if r := isr(t, screen(), c, live); r.code != exitOK || !strings.Contains(r.stdout, "nothing was found") || !strings.Contains(r.stdout, "checked: ") {
		t.Errorf("nothing is wrong: exit code %d: %s%s", r.code, r.stdout, r.stderr)
	}
	c.Broker(2).Kill() // broker 3 has been down once already
	awaitISR(t, c, "orders", 2)
	awaitISR(t, c, "payments-eu", 2)
	file := filepath.Join(t.TempDir(), "a.rec")
	if r := isr(t, place{}, c, "record "+file+" --interval 100ms --for 1s"); r.code != exitOK {
		t.Fatalf("record: exit code %d: %s", r.code, r.stderr)
	}
	for name, r := range map[string]ran{
		"live":     isr(t, place{}, c, live+" -o json"),
		"one look": isr(t, place{}, c, "diagnose --for 0s -o json"),
		"recorded": place{}.run(t.Context(), "diagnose", "--from", file, "-o", "json"),
	} {
		items := diagnosis(t, r).Items
		if r.code != exitUnhealthy || len(items) != 1 || items[0].ID != "broker-down" || items[0].Broker != inspect.Known(inspect.BrokerID(2)) || len(items[0].Next) == 0 {
			t.Errorf("%s: exit code %d: %+v %s", name, r.code, items, r.stderr)
			continue
		}
		if s := items[0].Symptoms; len(s) != 1 || s[0].ID != "replica-out" || len(s[0].Topics) != 2 {
			t.Errorf("%s: symptoms %+v", name, s)
		}
	}
	for _, at := range []place{{}, screen()} {
		r := at.run(t.Context(), "diagnose", "--from", file, "pay*")
		if r.code != exitUnhealthy || !strings.Contains(r.stdout, "broker 2") || !strings.Contains(r.stdout, "kafkaops isr --broker 2") || strings.Contains(r.stdout, "orders") {
			t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
		}
	}
	if r := (place{}).run(t.Context(), "diagnose", "--from", file, "--until", "2020-01-01T00:00:00Z"); r.code != exitFailed || !strings.Contains(r.stderr, "has no look in the time asked for") {
		t.Errorf("before the first look: exit code %d: %s", r.code, r.stderr)
	}
}

// TestDiagnoseWithoutLog: where the log cannot be had the looks tell all the same, nothing
// is asked but reads, and what could not be asked is no health.
func TestDiagnoseWithoutLog(t *testing.T) {
	t.Parallel()
	c := unhealthy(t)
	// So far apart that no lag gets old enough to be a finding, on a busy machine too.
	r := place{}.run(t.Context(), "diagnose", "--for", "1s", "--interval", "1s", "-o", "json", "-b", c.Addr(1))
	items := diagnosis(t, r).Items
	if r.code != exitUnhealthy || len(items) == 0 || items[0].ID != "replica-out" || items[0].Severity != "critical" {
		t.Errorf("exit code %d: %+v %s", r.code, items, r.stderr)
	}
	checkRequests(t, c, "diagnose")
}

// TestDiagnoseRefuses: what cannot be is said.
func TestDiagnoseRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign")
	if err := os.WriteFile(foreign, []byte("not a recording, whatever its name says"), 0o600); err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"diagnose":                                "no cluster named",
		"diagnose --from " + dir + "/none":        "no such file",
		"diagnose --from " + foreign:              "is not a recording of kafkaops",
		"diagnose --until 1h -b 127.0.0.1:1":      "name one by --from",
		"diagnose --for 1000h -b 127.0.0.1:1":     "use kafkaops record",
		"diagnose --from x --until yesterday":     `--until "yesterday" is neither`,
		"diagnose --timeout 300ms -b 127.0.0.1:1": "127.0.0.1:1",
	} {
		if r := (place{}).run(t.Context(), strings.Fields(line)...); r.code == exitOK || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: exit code %d, %s", line, r.code, r.stderr)
		}
	}
}
