package cli

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestDiagnoseJMX: busy handlers are found live and in a recording; an agent that is not
// there, or does not say where it is, is told and no error.
func TestDiagnoseJMX(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{Config: map[string]string{"min.insync.replicas": "2"}})
	agent := func(more string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "kafka_server_KafkaRequestHandlerPool_OneMinuteRate{name=\"RequestHandlerAvgIdlePercent\"} 0.05\n"+more)
		}))
		t.Cleanup(s.Close)
		return s.URL + "/metrics"
	}
	of2 := agent("kafka_server_app_info_startTimeMs{id=\"2\"} 1\n")
	file := filepath.Join(t.TempDir(), "a.rec")
	const troubles = " --jmx http://me:hush@127.0.0.1:1/"
	if r := isr(t, place{}, c, "record "+file+" --interval 100ms --for 1s --jmx "+of2+troubles); r.code != exitOK || strings.Count(r.stderr, "connection refused") != 1 || strings.Contains(r.stderr, "hush") {
		t.Fatalf("record: exit code %d: %s", r.code, r.stderr)
	}
	for name, r := range map[string]ran{
		"live":     isr(t, place{}, c, "diagnose --for 300ms --interval 100ms -o json --jmx "+of2+troubles),
		"one look": isr(t, place{}, c, "diagnose --for 0s -o json --jmx "+of2+troubles),
		"recorded": place{}.run(t.Context(), "diagnose", "--from", file, "-o", "json"),
	} {
		d := diagnosis(t, r)
		if r.code != exitUnhealthy || len(d.Items) != 1 || d.Items[0].ID != "request-handlers-busy" || d.Items[0].Broker != inspect.Known(inspect.BrokerID(2)) {
			t.Errorf("%s: exit code %d: %+v %s", name, r.code, d.Items, r.stderr)
		}
		if name != "recorded" && (strings.Count(r.stderr, "connection refused") != 1 || strings.Contains(r.stderr, "hush")) {
			t.Errorf("%s: stderr %q", name, r.stderr)
		}
	}
	// Several brokers are on this host: one that does not say which it is in is no one's.
	silent := agent("")
	if r := isr(t, place{}, c, "diagnose --for 0s --jmx "+silent); r.code != exitOK || !strings.Contains(r.stderr, "does not say which broker it is in") {
		t.Errorf("no broker: exit code %d: %s", r.code, r.stderr)
	}
	// With {host} it is the broker's that was asked for.
	_, port, err := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(silent, "http://"), "/metrics"))
	if err != nil {
		t.Fatal(err)
	}
	r := isr(t, place{}, c, "diagnose --for 0s -o json --jmx http://{host}:"+port+"/metrics")
	if n := len(diagnosis(t, r).Items); n != 3 || r.code != exitUnhealthy {
		t.Errorf("by host: exit code %d, %d findings: %s", r.code, n, r.stderr)
	}
}
