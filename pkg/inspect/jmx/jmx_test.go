package jmx

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

var same = cmp.Options{
	cmp.Comparer(func(a, b inspect.Opt[int64]) bool { return a == b }), cmp.Comparer(func(a, b inspect.Opt[inspect.BrokerID]) bool { return a == b }),
	cmpopts.IgnoreFields(Meters{}, "Address", "Load"),
}

// serve answers every request with this.
func serve(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func page(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// TestPage: the names that exporters' rules give the meters.
func TestPage(t *testing.T) {
	t.Parallel()
	want := Meters{Broker: inspect.Known[inspect.BrokerID](7), Shrinks: inspect.Known[int64](3), Expands: inspect.Known[int64](2), FailedUpdates: inspect.Known[int64](0)}
	for name, text := range map[string]string{
		"no rules": `# HELP kafka_server_ReplicaManager_Count Attribute exposed for management
# TYPE kafka_server_ReplicaManager_Count untyped
kafka_server_ReplicaManager_Count{name="IsrShrinksPerSec",} 3.0
kafka_server_ReplicaManager_Count{name="IsrExpandsPerSec",} 2.0
kafka_server_ReplicaManager_Count{name="FailedIsrUpdatesPerSec",} 0.0
kafka_server_ReplicaManager_OneMinuteRate{name="IsrShrinksPerSec",} 9.5
kafka_server_ReplicaManager_Value{name="LeaderCount",} 12.0
kafka_server_app_info_startTimeMs{id="7",} 1.7e12
`,
		"in lower case": `kafka_server_replicamanager_isrshrinkspersec_count 3
kafka_server_replicamanager_isrshrinkspersec_oneminuterate 8
kafka_server_replicamanager_isrexpandspersec_count 2
kafka_server_replicamanager_failedisrupdatespersec_count 0
kafka_server_app_info_starttimems{id="7"} 1
`,
		"totals": `kafka_server_replicamanager_isrshrinks_total 3
kafka_server_replicamanager_isr_expands_total{node="a"} 2
kafka_server_replicamanager_failedisrupdates_total 0
kafka_server_app_info{id="7"} 1
`,
	} {
		got, err := Read(t.Context(), serve(t, page(text))+"/metrics")
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(&want, got, same); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestErrors: what is no agent, or none that can be used.
func TestErrors(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter, _ *http.Request) {
		line := []byte(strings.Repeat("kafka_log_log_size{partition=\"1\"} 1\n", 1000))
		for {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}
	slow := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "# a page\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	for _, tt := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"a web page", page("\n<html>"), "answers with a web page"},
		{"nothing", page(""), "answers with nothing"},
		{"text", page("hello there, who are you?\n"), "neither Jolokia's JSON nor a page of Prometheus metrics"},
		{"bytes", page(strings.Repeat("\x00\x01", 100_000)), "neither Jolokia's JSON nor a page"},
		{"one long line", page("kafka_a " + strings.Repeat("1", 100_000)), "neither Jolokia's JSON nor a page"},
		{"other JSON", page(`{"status":"green"}`), "JSON that is not Jolokia's"},
		{"other metrics", page("node_load1 0.3\n"), "has none of Kafka's meters of ISRs"},
		{"damaged metrics", page("kafka_IsrShrinksPerSec_Count{a=} x\n"), "a page of metrics that is damaged"},
		{"endless", endless, "answers with more than any agent would"},
		{"slow", slow, "did not answer to the end in time"},
		{"missing", status(404), "a Jolokia agent answers at /jolokia/, a Prometheus JMX exporter at /metrics"},
		{"locked", status(401), "credentials go before the host"},
		{"broken", status(500), "HTTP 500"},
	} {
		ctx := t.Context()
		if tt.name == "slow" {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, 100*time.Millisecond)
			t.Cleanup(cancel)
		}
		address := strings.Replace(serve(t, tt.answer), "http://", "http://me:hush@", 1)
		_, err := Read(ctx, address+"/x")
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := Read(t.Context(), "http://me:hush@127.0.0.1:1/x"); err == nil || !strings.Contains(err.Error(), "connection refused") || strings.Contains(err.Error(), "hush") {
		t.Errorf("nobody listens: %v", err)
	}
	for text, want := range map[string]string{"kafka-1:8778": "not a URL", "ftp://a": "not a URL of http", "http://": "names no host", "http://me:hush@a:x/": "not a URL", "": "not a URL"} {
		if _, err := ParseURL(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestJolokiaRefusal: an agent whose policy forbids an MBean says so.
func TestJolokiaRefusal(t *testing.T) {
	t.Parallel()
	_, err := Read(t.Context(), serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"status":200}`)
			return
		}
		all := make([]jolokiaAnswer, len(meters)+1+len(loadMBeans))
		for i := range all {
			all[i] = jolokiaAnswer{Status: 403, Error: "forbidden"}
		}
		_ = json.NewEncoder(w).Encode(all)
	}))
	if err == nil || !strings.Contains(err.Error(), "refuses kafka.server:type=ReplicaManager,name=IsrShrinksPerSec: status 403 forbidden") {
		t.Error(err)
	}
}

// TestReal: a broker with a Jolokia agent and one with Prometheus's, after a replica
// left by lag and came back, some of which they count.
func TestReal(t *testing.T) {
	dir := t.TempDir()
	rules := filepath.Join(dir, "rules.yaml")
	if err := os.WriteFile(rules, []byte("rules:\n- pattern: \".*\"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	jolokia, prometheus := kafkatest.Agent(t, kafkatest.JolokiaAgent), kafkatest.Agent(t, kafkatest.PrometheusAgent)
	ports := [2]string{freePort(t), freePort(t)}
	c := kafkatest.Start(t, kafkatest.Options{
		Brokers: 3, StartTimeout: 3 * time.Minute, Properties: map[string]string{"replica.lag.time.max.ms": "2000", "broker.session.timeout.ms": "20000", "auto.leader.rebalance.enable": "false"},
		JVM: func(id int32) []string {
			switch id {
			case 1:
				return []string{"-javaagent:" + jolokia + "=port=" + ports[0] + ",host=127.0.0.1"}
			case 2:
				return []string{"-javaagent:" + prometheus + "=127.0.0.1:" + ports[1] + ":" + rules}
			}
			return nil
		},
	})
	c.CreateTopic(t, "a", [][]int32{{1, 3}}, nil)
	c.CreateTopic(t, "b", [][]int32{{2, 3}}, nil)
	for _, topic := range []string{"a", "b"} {
		c.ProduceRecords(t, topic, 0, 1, -1, 10)
	}
	c.Pause(t, 3)
	for i, topic := range []string{"a", "b"} {
		c.ProduceRecords(t, topic, 0, 5, 1, 10)
		c.AwaitISR(t, topic, 0, int32(i+1))
	}
	c.Resume(t, 3)
	for i, topic := range []string{"a", "b"} {
		c.AwaitISR(t, topic, 0, int32(i+1), 3)
	}
	jolokiaAt, pageAt := "http://127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1]
	counted := int64(0)
	for id, address := range map[inspect.BrokerID]string{1: jolokiaAt + "/jolokia/", 2: pageAt + "/metrics"} {
		got, err := Read(t.Context(), address)
		if err != nil {
			t.Errorf("broker %d: %v", id, err)
			continue
		}
		t.Logf("%+v", *got)
		checkRealLoad(t, id, got.Load)
		// What the agent says of each by itself.
		raw := func(name string) (n int64) {
			if id == 1 {
				var answer struct{ Value int64 }
				if err := json.Unmarshal(get(t, jolokiaAt+"/jolokia/read/kafka.server:name="+name+"PerSec,type=ReplicaManager/Count"), &answer); err != nil {
					t.Fatal(err)
				}
				return answer.Value
			}
			m := regexp.MustCompile(`(?m)^kafka_server_ReplicaManager_Count\{name="` + name + `PerSec",?\} ([0-9.]+)$`).FindSubmatch(get(t, pageAt+"/metrics"))
			if m == nil {
				t.Fatalf("the page has no %s", name)
			}
			f, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				t.Fatal(err)
			}
			return int64(f)
		}
		want := Meters{
			Broker: inspect.Known(id), Shrinks: inspect.Known(raw("IsrShrinks")), Expands: inspect.Known(raw("IsrExpands")),
			FailedUpdates: inspect.Known(raw("FailedIsrUpdates")),
		}
		if diff := cmp.Diff(&want, got, same); diff != "" {
			t.Errorf("broker %d (-want +got):\n%s", id, diff)
		}
		counted += got.Shrinks.Or(0) + got.Expands.Or(0)
	}
	if counted == 0 {
		t.Error("no agent counts anything: nothing was compared")
	}
	for _, at := range []string{jolokiaAt, pageAt, pageAt + "/"} { // the path may be left out
		if _, err := Read(t.Context(), at); err != nil {
			t.Error(err)
		}
	}
}

func get(t *testing.T, address string) []byte {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}
