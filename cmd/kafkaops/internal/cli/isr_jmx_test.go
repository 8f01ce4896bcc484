package cli

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kafkaops/kafkaops/cmd/kafkaops/internal/render"
	"github.com/kafkaops/kafkaops/pkg/embedded"
	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// TestIsrJMX shows meters beside events, and hides no agent that cannot be read.
func TestIsrJMX(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "kafka_server_ReplicaManager_Count{name=\"IsrShrinksPerSec\"} 4\nkafka_server_app_info_startTimeMs{id=\"2\"} 1\n")
	}))
	t.Cleanup(agent.Close)
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)

	for _, command := range []string{"isr", "isr summary"} {
		r := isr(t, place{}, c, command+" -o json --jmx "+agent.URL+"/metrics")
		var meters []render.MetersItem
		if command == "isr" {
			meters = isrEvents(t, r).Meters
		} else {
			meters = documentOf[render.IsrSummaryItem](t, r).Meters
		}
		if len(meters) != 1 || meters[0].IsrShrinks != inspect.Known[int64](4) || meters[0].IsrExpands.IsKnown() || meters[0].Broker != inspect.Known[inspect.BrokerID](2) || r.code != exitOK {
			t.Errorf("%s: exit code %d, meters %+v", command, r.code, meters)
		}
		r = isr(t, screen(), c, command+" --color never --jmx "+agent.URL+"/metrics")
		if !strings.Contains(r.stdout, "they count what leaders") || !strings.Contains(r.stdout, "     2        4        -       -        -  "+agent.URL) {
			t.Errorf("%s on a terminal:\n%s", command, r.stdout)
		}
		plain := isr(t, place{}, c, command)
		r = isr(t, place{}, c, command+" --jmx "+agent.URL+"/metrics --jmx "+other.URL+"/metrics --jmx http://me:hush@127.0.0.1:1/")
		if strings.Count(r.stdout, "\n") != strings.Count(plain.stdout, "\n") || r.code != exitFailed {
			t.Errorf("%s in a pipe: exit code %d\n%s", command, r.code, r.stdout)
		}
		for _, want := range []string{"/metrics: broker 2 counts by itself, since it began: IsrShrinks 4, IsrExpands -", "not found (HTTP 404)", "127.0.0.1:1", "connection refused"} {
			if !strings.Contains(r.stderr, want) || strings.Contains(r.stderr, "hush") {
				t.Errorf("%s: stderr %q, want %q and no secret", command, r.stderr, want)
			}
		}
	}
}

// TestIsrContextJMX: a context's agents are read where --jmx names none, and not where it
// does.
func TestIsrContextJMX(t *testing.T) {
	t.Parallel()
	c := eventful(t, embedded.Options{})
	agent := func(id int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "kafka_server_ReplicaManager_Count{name=\"IsrShrinksPerSec\"} 4\nkafka_server_app_info_startTimeMs{id=\"%d\"} 1\n", id)
		}))
		t.Cleanup(s.Close)
		return s.URL + "/metrics"
	}
	of1, of2, of3 := agent(1), agent(2), agent(3)
	config := func(jmx string) place {
		return withConfig(t, "current-context: mine\ncontexts:\n  mine:\n    bootstrap-server: "+c.Bootstrap()+"\n    jmx: '"+jmx+"'\n")
	}
	file := filepath.Join(t.TempDir(), "a.isr")
	p := config(of1 + ", " + of2)
	for flags, want := range map[string]string{"": "12", "--jmx " + of3: "3", "--store " + file: "12"} {
		if flags == "--store "+file {
			followIsr(t, c, "isr --follow -o json --store "+file).errs.await(t, "complete since offset 0")
		}
		r := p.run(t.Context(), append(strings.Fields("isr -o json --timeout 3m"), strings.Fields(flags)...)...)
		got := ""
		for _, m := range isrEvents(t, r).Meters {
			got += m.Broker.String()
		}
		if got != want || r.code != exitOK {
			t.Errorf("isr %s: exit code %d, meters of %q, want %q; stderr %q", flags, r.code, got, want, r.stderr)
		}
	}
	if r := p.run(t.Context(), "isr", "-b", c.Bootstrap(), "-o", "json"); len(isrEvents(t, r).Meters) > 0 {
		t.Errorf("by an address that replaces the context: %s", r.stdout)
	}
	r := config("ftp://kafka-1").run(t.Context(), "isr")
	if r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, `kafkaops: context "mine": jmx: not a URL of http or https`) || !strings.Contains(r.stderr, "config.yaml:3)") {
		t.Errorf("no URL: %+v", r)
	}
}
