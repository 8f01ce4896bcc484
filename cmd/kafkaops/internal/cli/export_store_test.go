package cli

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/embedded/embeddedtest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// storing is an export --isr-store against an engine.
func storing(t *testing.T, c *embedded.Cluster, file, flags string) (*started, string) {
	t.Helper()
	s := place{}.start(t, c.Bootstrap(), quickly+"--isr-store "+file+" "+flags)
	return s, "http://" + s.address(t) + "/metrics"
}

// awaitStored waits until isr --store tells that of every event.
func awaitStored(t *testing.T, file string, want []string) {
	t.Helper()
	limit := time.Now().Add(patience)
	for {
		r := (place{}).run(t.Context(), "isr", "-o", "json", "--store", file)
		diff := r.stderr
		if r.code == exitOK {
			if diff = cmp.Diff(want, brief(isrEvents(t, r))); diff == "" {
				return
			}
		}
		if time.Now().After(limit) {
			t.Fatalf("stored (-want +got):\n%s", diff)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func wholeLog(t *testing.T, c *embedded.Cluster) []string {
	t.Helper()
	return brief(isrEvents(t, isr(t, place{}, c, "isr -o json")))
}

// TestExportStore: what happened before the exporter began is in the file and in no
// counter; what happens while it is down is in the file too, once; and what --topics
// leaves out of the counters.
func TestExportStore(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	file := filepath.Join(t.TempDir(), "a.isr")
	s, url := storing(t, c, file, "--topics orders")
	page(t, http.DefaultClient, url, holds(`kafkaops_isr_source{source="metadata-log"} 1`, "kafkaops_isr_store_up 1",
		`kafka_topic_partition_isr_shrinks_total{topic="orders",partition="0"} 0`, `kafka_broker_isr_shrinks_total{broker="3",cause="broker-fenced"} 0`))
	awaitStored(t, file, wholeLog(t, c))
	second := place{}.start(t, c.Bootstrap(), quickly+"--isr-store "+file)
	if r := second.end(t); r.code != exitFailed || r.stdout != "" || r.stderr != "kafkaops: --isr-store: "+file+": another kafkaops is writing it: a file has one writer\n" {
		t.Errorf("a second exporter: exit code %d, stderr %q", r.code, r.stderr)
	}
	c.Broker(2).Kill()
	page(t, http.DefaultClient, url, holds(`kafka_broker_isr_shrinks_total{broker="2",cause="broker-fenced"} 1`,
		`kafka_topic_partition_isr_shrinks_total{topic="orders",partition="0"} 1`))
	awaitStored(t, file, wholeLog(t, c))
	if r := s.interrupt(); r.code != exitInterrupted || strings.Contains(r.stderr, "level=ERROR") || !strings.Contains(r.stderr, `msg="ISR changes are kept from now on, and what the metadata log has of before" file=`+file) {
		t.Errorf("exit code %d, stderr %q", r.code, r.stderr)
	}
	heal(t, c)

	s, url = storing(t, c, file, "")
	s.stderr.await(t, func(all string) bool {
		return strings.Contains(all, `msg="ISR changes are kept, from where the file ends" file=`+file+` offset=`)
	})
	body := page(t, http.DefaultClient, url, holds(`kafkaops_isr_source{source="metadata-log"} 1`, "kafkaops_isr_store_up 1"))
	if line := `kafka_broker_isr_expands_total{broker="2",cause="caught-up"} 0`; !strings.Contains(body, line) {
		t.Errorf("what happened while it was down is counted: no line %s", line)
	}
	c.Broker(3).Kill()
	page(t, http.DefaultClient, url, holds(`kafka_broker_isr_shrinks_total{broker="3",cause="broker-fenced"} 2`))
	whole := wholeLog(t, c)
	awaitStored(t, file, whole)
	s.interrupt()
	awaitStored(t, file, whole)
	r := (place{}).run(t.Context(), "isr", "summary", "--broker", "2", "--store", file)
	if want := isr(t, place{}, c, "isr summary --broker 2").stdout; r.code != exitOK || outOf(r.stdout) != outOf(want) {
		t.Errorf("summary: exit code %d, stderr %q\n%s\nwant\n%s", r.code, r.stderr, r.stdout, want)
	}
}

// TestExportStoreNotOurs: a file that is no recording, or another cluster's, ends it with
// a line before anything is served, and is left as it is.
func TestExportStoreNotOurs(t *testing.T) {
	t.Parallel()
	c, other := embeddedtest.New(t, embedded.Options{Brokers: 1}), embeddedtest.New(t, embedded.Options{Brokers: 1})
	dir := t.TempDir()
	text, foreign, missing := filepath.Join(dir, "notes.txt"), filepath.Join(dir, "other.isr"), filepath.Join(dir, "none", "a.isr")
	if err := os.WriteFile(text, []byte("notes of somebody\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, url := storing(t, other, foreign, "")
	page(t, http.DefaultClient, url, holds("kafkaops_isr_store_up 1"))
	s.interrupt()
	for file, want := range map[string]string{
		text:    text + ": is not a recording of kafkaops, or nothing in it says of which cluster",
		dir:     dir + ": is not a file",
		missing: "open " + missing + ": no such file or directory",
		foreign: foreign + " belongs to cluster " + other.ID() + ", and this is " + c.ID() + ": name another file",
	} {
		before, _ := os.ReadFile(file)
		s := place{}.start(t, c.Bootstrap(), quickly+"--isr-store "+file)
		r := s.end(t)
		lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
		if last := lines[len(lines)-1]; r.code != exitFailed || r.stdout != "" || last != "kafkaops: --isr-store: "+want {
			t.Errorf("exit code %d, the last line %q, want %q", r.code, last, want)
		}
		if after, _ := os.ReadFile(file); string(after) != string(before) {
			t.Errorf("%s was written to", file)
		}
	}
}

// TestExportStoreByLooks: where the log cannot be had, what looks tell is kept.
func TestExportStoreByLooks(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	file := filepath.Join(t.TempDir(), "a.isr")
	s, url := storing(t, c, file, "--controller 127.0.0.1:1 --timeout 10s")
	page(t, http.DefaultClient, url, holds(`kafkaops_isr_source{source="metadata-diff"} 1`, "kafkaops_isr_store_up 1"))
	c.Broker(2).Kill()
	page(t, http.DefaultClient, url, holds(`kafka_topic_partition_isr_shrinks_total{topic="orders",partition="0"} 1`))
	for got := awaitRecorded(t, file, 2); ; got = awaitRecorded(t, file, 2) {
		if strings.Contains(strings.Join(got, "\n"), "orders-0 shrink") {
			break
		}
	}
	s.interrupt()
	d := isrEvents(t, (place{}).run(t.Context(), "isr", "-o", "json", "--store", file))
	if e := d.Evidence; e.Source != inspect.Known(inspect.SourceRecording) || e.FromOffset.IsKnown() || d.Items[0].Source != inspect.SourceMetadataDiff {
		t.Errorf("evidence %+v, items %+v", e, d.Items)
	}
	// With the log, it tells what looks have told.
	s, _ = storing(t, c, file, "")
	awaitStored(t, file, wholeLog(t, c))
	s.interrupt()
}
