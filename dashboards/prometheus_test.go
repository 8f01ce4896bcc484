package dashboards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
)

// needProgram skips the test where a program of Debian's package prometheus is
// missing; under CI it fails.
func needProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	message := fmt.Sprintf("no %s on the path: install Debian's package prometheus (make deps does, as root)", name)
	if os.Getenv("CI") == "true" {
		t.Fatal(message)
	}
	t.Skip(message)
	return ""
}

// freePort is one that nobody listens on now.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// process is a program that runs until the test ends, or stop.
type process struct {
	name string
	cmd  *exec.Cmd
	out  bytes.Buffer // to be read after its end only
	over chan struct{}
}

func start(t *testing.T, path string, args ...string) *process {
	t.Helper()
	p := &process{name: filepath.Base(path), cmd: exec.Command(path, args...), over: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	p.cmd.SysProcAttr = withParent()
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread that it ends with is this one's until it has ended
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
		}
		close(p.over)
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			text := p.out.String()
			t.Logf("%s said, last:\n%s", p.name, text[max(0, len(text)-4000):])
		}
	})
	return p
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.over:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.over
	}
}

// scale is by how much time runs faster in the shows than in the rules.
const scale = 10

// longestFor is the longest for: after scaling.
const longestFor = 90 * time.Second

// thresholds are replaced, each where it stands once: seconds and records that would
// take minutes to come about.
var thresholds = []struct{ file, from, to string }{
	{"replication.rules.yml", "kafka_broker_uncommitted_max_age_seconds > 10", "kafka_broker_uncommitted_max_age_seconds > 3"},
	{"replication.rules.yml", "kafka_broker_in_sync_replica_max_lag_seconds > 15", "kafka_broker_in_sync_replica_max_lag_seconds > 4"},
	// So long that a paused broker leaves and comes back on a busy machine too.
	{"replication.rules.yml", "kafka_broker_isr_shrinks_total[30000ms]", "kafka_broker_isr_shrinks_total[60000ms]"},
	{"replication.rules.yml", `kafka_broker_isr_expands_total{cause!="reassignment"}[30000ms]`, `kafka_broker_isr_expands_total{cause!="reassignment"}[60000ms]`},
	// As long as the rules over partitions: a broker takes no less to start where time runs
	// faster.
	{"cluster.rules.yml", "and kafka_broker_out_of_sync_replicas > 0\n        for: 18000ms", "and kafka_broker_out_of_sync_replicas > 0\n        for: 30000ms"},
	{"groups.rules.yml", "max without (partition) (kafka_consumergroup_lag_seconds) > 300", "max without (partition) (kafka_consumergroup_lag_seconds) > 5"},
}

var (
	durationsRE = regexp.MustCompile(`(\b(?:for|keep_firing_for|interval): |\[|\boffset )(\d+[smhd])\b`)
	dayRE       = regexp.MustCompile(`^(\d+)d$`)
)

// faster are the rules of a file as a show runs them. That is all that is altered:
//   - every for:, keep_firing_for:, interval:, [range] and offset is divided by scale;
//   - a for: is longestFor at most;
//   - the thresholds above.
func faster(t *testing.T, file, text string) string {
	t.Helper()
	text = durationsRE.ReplaceAllStringFunc(text, func(s string) string {
		m := durationsRE.FindStringSubmatch(s)
		given := m[2]
		if day := dayRE.FindStringSubmatch(given); day != nil {
			n, _ := strconv.Atoi(day[1])
			given = fmt.Sprintf("%dh", 24*n)
		}
		d, err := time.ParseDuration(given)
		if err != nil {
			t.Fatalf("%s: %s: %v", file, s, err)
		}
		d /= scale
		if m[1] == "for: " {
			d = min(d, longestFor)
		}
		return fmt.Sprintf("%s%dms", m[1], d.Milliseconds())
	})
	for _, th := range thresholds {
		if th.file == file {
			if strings.Count(text, th.from) != 1 {
				t.Fatalf("%s holds %q %d times, want once: bring thresholds up to date", file, th.from, strings.Count(text, th.from))
			}
			text = strings.Replace(text, th.from, th.to, 1)
		}
	}
	return text
}

// watcher is a real Prometheus that scrapes one kafkaops export every second, with
// the shipped rules made faster.
type watcher struct {
	t        *testing.T
	url      string
	exporter *process
	page     string // the exporter's
	began    time.Time
}

func watch(t *testing.T, c *kafkatest.Cluster) *watcher {
	t.Helper()
	prometheus, dir := needProgram(t, "prometheus"), t.TempDir()
	at, exporterAt := freePort(t), freePort(t)
	for _, file := range ruleFiles(t) {
		writeFile(t, filepath.Join(dir, file), faster(t, file, readRules(t, file)))
	}
	writeFile(t, filepath.Join(dir, "prometheus.yml"), fmt.Sprintf(`
global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
rule_files: ['*.rules.yml']
scrape_configs:
- job_name: kafkaops
  static_configs: [{targets: ['%s']}]
`, exporterAt))
	w := &watcher{t: t, url: "http://" + at, page: "http://" + exporterAt + "/metrics", began: time.Now()}
	w.exporter = start(t, kafkaopsBinary(t), "export", "-b", c.BootstrapServer(), "--web.listen-address", exporterAt,
		"--collect-interval", "1s", "--sample-interval", "250ms", "--max-age", "5s", "--timeout", "3s")
	start(t, prometheus, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+at, "--log.level=warn")
	w.await("scraping", time.Minute, func() error {
		if len(w.query("kafkaops_up == 1")) == 0 {
			return fmt.Errorf("no kafkaops_up yet")
		}
		return nil
	})
	return w
}

// sample is one series of an answer.
type sample struct {
	labels map[string]string
	value  float64
}

// query is an instant query; nil where Prometheus does not answer yet.
func (w *watcher) query(expr string) []sample {
	w.t.Helper()
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct {
				Metric map[string]string
				Value  [2]any
			}
		}
	}
	resp, err := http.PostForm(w.url+"/api/v1/query", url.Values{"query": {expr}})
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode == http.StatusServiceUnavailable {
		return nil
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Status != "success" {
		w.t.Fatalf("%s: %v %s", expr, err, body)
	}
	out := make([]sample, 0, len(answer.Data.Result))
	for _, r := range answer.Data.Result {
		v, err := strconv.ParseFloat(fmt.Sprint(r.Value[1]), 64)
		if err != nil {
			w.t.Fatalf("%s: %v", expr, err)
		}
		out = append(out, sample{r.Metric, v})
	}
	return out
}

// await polls until f says nothing more.
func (w *watcher) await(what string, within time.Duration, f func() error) {
	w.t.Helper()
	limit := time.Now().Add(within)
	for {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(limit) {
			w.t.Fatalf("%s: %v after %s", what, err, within)
		}
		time.Sleep(250 * time.Millisecond)
	}
}

// since is the time of the show.
func (w *watcher) since() string { return fmt.Sprintf("%5.1fs", time.Since(w.began).Seconds()) }

// fires waits for alerts to fire, and returns when the first series of the last did.
func (w *watcher) fires(within time.Duration, names ...string) time.Time {
	w.t.Helper()
	var last time.Time
	for _, name := range names {
		w.await(name+" fires", within, func() error {
			if len(w.query(fmt.Sprintf("ALERTS{alertname=%q,alertstate=\"firing\"}", name))) == 0 {
				return fmt.Errorf("not firing; alerts: %v", w.states())
			}
			return nil
		})
		last = w.firstFiring(name)
		w.t.Logf("%s fired, %s", name, w.since())
	}
	return last
}

// firstFiring is the time of the first sample of a firing alert.
func (w *watcher) firstFiring(name string) time.Time {
	w.t.Helper()
	return w.first(fmt.Sprintf("ALERTS{alertname=%q,alertstate=\"firing\"}", name), w.began)
}

// first is when an expression first had data since a time, to a second; zero if it
// has had none.
func (w *watcher) first(expr string, since time.Time) time.Time {
	w.t.Helper()
	var first time.Time
	for _, s := range w.span(expr, since) {
		if at := time.UnixMilli(int64(s.at[0] * 1000)); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// series is one of an answer over a span of time, with at least one value.
type series struct {
	labels map[string]string
	at     []float64 // seconds since 1970
	value  []float64
}

// span is a query over all of the time since, second by second.
func (w *watcher) span(expr string, since time.Time) []series {
	w.t.Helper()
	var answer struct {
		Status, Error string
		Data          struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	resp, err := http.PostForm(w.url+"/api/v1/query_range", url.Values{
		"query": {expr}, "step": {"1"},
		"start": {strconv.FormatInt(since.Unix(), 10)}, "end": {strconv.FormatInt(time.Now().Unix()+1, 10)},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || answer.Status != "success" {
		w.t.Fatalf("%s: %v %s", expr, err, answer.Error)
	}
	var out []series
	for _, r := range answer.Data.Result {
		s := series{labels: r.Metric}
		for _, v := range r.Values {
			at, _ := v[0].(float64)
			value, err := strconv.ParseFloat(fmt.Sprint(v[1]), 64)
			if err != nil {
				w.t.Fatalf("%s: %v", expr, err)
			}
			s.at, s.value = append(s.at, at), append(s.value, value)
		}
		out = append(out, s)
	}
	return out
}

// states are the alerts that are pending or firing now.
func (w *watcher) states() []string {
	w.t.Helper()
	var out []string
	for _, s := range w.query("ALERTS") {
		out = append(out, s.labels["alertname"]+":"+s.labels["alertstate"])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// fired are the alerts that fired since.
func (w *watcher) fired(since time.Time) []string {
	w.t.Helper()
	span := max(1, int(time.Since(since).Seconds()))
	var out []string
	for _, s := range w.query(fmt.Sprintf(`count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[%ds]))`, span)) {
		out = append(out, s.labels["alertname"])
	}
	slices.Sort(out)
	return out
}

// onlyThese fails the test where another alert fired since.
func (w *watcher) onlyThese(incident string, since time.Time, allowed ...string) {
	w.t.Helper()
	fired := w.fired(since)
	w.t.Logf("%s: fired %v, %s", incident, fired, w.since())
	for _, name := range fired {
		if !slices.Contains(allowed, name) {
			w.t.Errorf("%s: %s fired, and is none of %v: %v", incident, name, allowed,
				w.query(fmt.Sprintf("last_over_time(ALERTS{alertname=%q,alertstate=\"firing\"}[10m])", name)))
		}
	}
}

// calm waits until no alert fires but these.
func (w *watcher) calm(but ...string) {
	w.t.Helper()
	w.await("calm", 3*time.Minute, func() error {
		for _, s := range w.query(`ALERTS{alertstate="firing"}`) {
			if !slices.Contains(but, s.labels["alertname"]) {
				return fmt.Errorf("still %v", s.labels)
			}
		}
		return nil
	})
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
