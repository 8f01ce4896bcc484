package dashboards

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// rule is an alerting or a recording rule of rules/.
type rule struct {
	Record, Alert, Expr, For string
	Labels, Annotations      map[string]string
	file                     string
}

// ruleFiles are the names of the rule files, without those of tests.
func ruleFiles(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("rules/*.rules.yml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no rule files: %v", err)
	}
	for i := range paths {
		paths[i] = filepath.Base(paths[i])
	}
	return paths
}

func readRules(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("rules", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// allRules are the rules of all files.
func allRules(t *testing.T) []rule {
	t.Helper()
	var all []rule
	for _, file := range ruleFiles(t) {
		var doc struct {
			Groups []struct{ Rules []rule }
		}
		if err := yaml.Unmarshal([]byte(readRules(t, file)), &doc); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, g := range doc.Groups {
			for _, r := range g.Rules {
				r.file = file
				all = append(all, r)
			}
		}
	}
	return all
}

var (
	metricRE  = regexp.MustCompile(`\bkafka(?:ops)?_[a-z_]+\b`)
	recordRE  = regexp.MustCompile(`\bkafkaops:[a-z_0-9:]+`)
	headingRE = regexp.MustCompile("(?m)^### `([a-z_]+)(?:\\{([a-z,]+)\\})?`$")
	byRE      = regexp.MustCompile(`\b(?:without|ignoring|on|by) \(([a-z, ]+)\)`)
)

// catalog are the exporter's metrics, with their labels.
func catalog(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../pkg/exporter/METRICS.md")
	if err != nil {
		t.Fatal(err)
	}
	metrics := map[string][]string{}
	for _, m := range headingRE.FindAllStringSubmatch(string(text), -1) {
		metrics[m[1]] = strings.Split(m[2], ",")
	}
	return metrics
}

// TestMetrics: the rules use what the exporter has, and what they record.
func TestMetrics(t *testing.T) {
	metrics := catalog(t)
	known := map[string]bool{"job": true, "instance": true, "cluster": true} // of every scrape, and of --cluster-label
	for _, labels := range metrics {
		for _, l := range labels {
			known[l] = true
		}
	}
	recorded := map[string]bool{}
	for _, r := range allRules(t) {
		for _, name := range metricRE.FindAllString(r.Expr, -1) {
			if _, ok := metrics[name]; !ok {
				t.Errorf("%s: %s%s asks for %s, which METRICS.md does not have", r.file, r.Alert, r.Record, name)
			}
		}
		for _, name := range recordRE.FindAllString(r.Expr, -1) {
			if !recorded[name] {
				t.Errorf("%s: %s%s asks for %s, which no rule before it records", r.file, r.Alert, r.Record, name)
			}
		}
		for _, m := range byRE.FindAllStringSubmatch(r.Expr, -1) {
			for l := range strings.SplitSeq(m[1], ",") {
				if l = strings.TrimSpace(l); !known[l] {
					t.Errorf("%s: %s%s: no metric has a label %q", r.file, r.Alert, r.Record, l)
				}
			}
		}
		recorded[r.Record] = true
	}
}

// section is what RUNBOOK.md says of one alert.
var (
	sectionRE = regexp.MustCompile(`(?m)^## (Kafka[A-Za-z]+)$`)
	metaRE    = regexp.MustCompile(`(?m)^\*([a-z]+) · (.*)\*$`)
	commandRE = regexp.MustCompile(`(?m)^kafkaops ([^#\n]*)`)
)

func runbook(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	sections := map[string]string{}
	found := sectionRE.FindAllStringSubmatchIndex(text, -1)
	for i, at := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		sections[text[at[2]:at[3]]] = text[at[1]:end]
	}
	return sections
}

// TestRunbook: every alert has a section and every section an alert; they agree on
// severity and time; and each names a command.
func TestRunbook(t *testing.T) {
	sections := runbook(t)
	delays := map[string][]string{}
	alerts := map[string]rule{}
	for _, r := range allRules(t) {
		if r.Alert != "" {
			alerts[r.Alert] = r
			delays[r.Alert] = append(delays[r.Alert], or(r.For, "at once"))
		}
	}
	for name, r := range alerts {
		if s := r.Labels["severity"]; s != "page" && s != "ticket" {
			t.Errorf("%s: severity %q is neither page nor ticket", name, s)
		}
		for _, a := range []string{"summary", "description"} {
			if r.Annotations[a] == "" {
				t.Errorf("%s has no %s", name, a)
			}
		}
		if got, want := r.Annotations["runbook_url"], "https://github.com/kafkaops/kafkaops/blob/main/dashboards/RUNBOOK.md#"+strings.ToLower(name); got != want {
			t.Errorf("%s: runbook_url is %s, want %s", name, got, want)
		}
		text, ok := sections[name]
		if !ok {
			t.Errorf("%s has no section in RUNBOOK.md", name)
			continue
		}
		meta := metaRE.FindStringSubmatch(text)
		want := []string{r.Labels["severity"], strings.Join(delays[name], ", ")}
		if len(meta) == 0 || meta[1] != want[0] || !strings.HasPrefix(meta[2], want[1]) {
			t.Errorf("RUNBOOK.md, %s: got %q, want a line *%s · %s …*", name, meta, want[0], want[1])
		}
		if !commandRE.MatchString(text) {
			t.Errorf("RUNBOOK.md, %s: no command to type", name)
		}
		for _, part := range []string{"**Means**", "**At risk**", "**Do**", "**Ignore**"} {
			if !strings.Contains(text, part) {
				t.Errorf("RUNBOOK.md, %s: no %s", name, part)
			}
		}
	}
	for name := range sections {
		if _, ok := alerts[name]; !ok {
			t.Errorf("RUNBOOK.md, %s: there is no such alert", name)
		}
	}
}

// TestAlertmanagerExample: what RUNBOOK.md shows is YAML, of alerts that there are, by
// labels that they have.
func TestAlertmanagerExample(t *testing.T) {
	text, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "\n```yaml\n")
	block, _, ok := strings.Cut(block, "\n```\n")
	var doc struct {
		Route struct {
			Receiver string
			GroupBy  []string `yaml:"group_by"`
		}
		InhibitRules []struct {
			Source []string `yaml:"source_matchers"`
			Target []string `yaml:"target_matchers"`
			Equal  []string
		} `yaml:"inhibit_rules"`
		Receivers []struct{ Name string }
	}
	decoder := yaml.NewDecoder(strings.NewReader(block))
	decoder.KnownFields(true)
	if err := decoder.Decode(&doc); err != nil || !ok {
		t.Fatalf("no block of YAML: %v", err)
	}
	if len(doc.Receivers) != 1 || doc.Receivers[0].Name != doc.Route.Receiver {
		t.Errorf("the route's receiver is none of %v", doc.Receivers)
	}
	alerts := map[string]rule{}
	for _, r := range allRules(t) {
		alerts[r.Alert] = r
	}
	matcher := regexp.MustCompile(`^alertname(=~|!~)"(.+)"$`)
	for _, inhibit := range doc.InhibitRules {
		for _, m := range slices.Concat(inhibit.Source, inhibit.Target) {
			parts := matcher.FindStringSubmatch(m)
			if parts == nil {
				t.Errorf("%s is no matcher of alertname", m)
				continue
			}
			names := regexp.MustCompile("^(?:" + parts[2] + ")$")
			if !slices.ContainsFunc(slices.Collect(maps.Keys(alerts)), names.MatchString) {
				t.Errorf("%s matches no alert", m)
			}
			for name := range strings.SplitSeq(parts[2], "|") {
				if r, ok := alerts[name]; name != "Kafka.+" && !ok {
					t.Errorf("there is no alert %s", name)
				} else if slices.Contains(inhibit.Equal, "broker") && !strings.Contains(r.Annotations["summary"], "$labels.broker") {
					t.Errorf("%s has no broker, and the rule is by broker", name)
				}
			}
		}
		if len(inhibit.Source) == 0 || len(inhibit.Target) == 0 || !slices.Contains(inhibit.Equal, "instance") {
			t.Errorf("%+v: one side is empty, or two exporters mix", inhibit)
		}
	}
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// TestCommands: the built command knows every command and flag of RUNBOOK.md.
func TestCommands(t *testing.T) {
	binary := kafkaopsBinary(t)
	lines := map[string]bool{}
	for _, text := range runbook(t) {
		for _, m := range commandRE.FindAllStringSubmatch(text, -1) {
			lines[strings.TrimSpace(m[1])] = true
		}
	}
	for _, line := range slices.Sorted(maps.Keys(lines)) {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			// Names in capitals are the reader's to fill in. Nobody listens on port 1: a
			// command that is understood ends with 1, a wrong one with 2.
			args := append(strings.Fields(line), "-b", "127.0.0.1:1", "--timeout", "1s")
			for i, a := range args {
				if a == "N" { // a number
					args[i] = "1"
				}
			}
			out, err := exec.Command(binary, args...).CombinedOutput()
			code := 0
			var exit *exec.ExitError
			switch {
			case errors.As(err, &exit):
				code = exit.ExitCode()
			case err != nil:
				t.Fatal(err)
			}
			if code != 1 || !bytes.Contains(out, []byte("127.0.0.1:1")) {
				t.Errorf("kafkaops %s: exit %d, want 1 of an address where nobody is: %s", line, code, out)
			}
		})
	}
}

// promtool runs it in the directory of the rules.
func promtool(t *testing.T, stdin io.Reader, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(needProgram(t, "promtool"), args...)
	cmd.Dir, cmd.Stdin = "rules", stdin
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestCheckRules(t *testing.T) {
	if out, err := promtool(t, nil, append([]string{"check", "rules", "--lint-fatal"}, ruleFiles(t)...)...); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestRules runs promtool's unit tests in rules/*_test.yml, and sees that each alert
// fires in one.
func TestRules(t *testing.T) {
	files, err := filepath.Glob("rules/*_test.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no unit tests: %v", err)
	}
	fires := map[string]bool{}
	for _, path := range files {
		if out, err := promtool(t, nil, "test", "rules", filepath.Base(path)); err != nil {
			t.Errorf("%s: %v: %s", path, err, out)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Tests []struct {
				AlertRuleTest []struct {
					Alertname string     `yaml:"alertname"`
					ExpAlerts []struct{} `yaml:"exp_alerts"`
				} `yaml:"alert_rule_test"`
				PromqlExprTest []struct {
					Expr       string
					ExpSamples []struct{ Labels string } `yaml:"exp_samples"`
				} `yaml:"promql_expr_test"`
			}
		}
		if err := yaml.Unmarshal(b, &doc); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, test := range doc.Tests {
			for _, q := range test.PromqlExprTest {
				for _, s := range q.ExpSamples {
					if m := regexp.MustCompile(`alertname="(\w+)"`).FindStringSubmatch(s.Labels); m != nil {
						fires[m[1]] = true
					}
				}
			}
		}
	}
	for _, r := range allRules(t) {
		if r.Alert != "" && !fires[r.Alert] {
			t.Errorf("%s fires in no unit test", r.Alert)
		}
	}
}

// checkPage holds a page of the exporter's against promtool check metrics, which may
// complain of the two inherited names and no other.
func checkPage(t *testing.T, url string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := promtool(t, resp.Body, "check", "metrics")
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "kafka_consumergroup_current_offset_sum ") && !strings.HasPrefix(line, "kafka_consumergroup_lag_sum ") {
			t.Errorf("promtool check metrics: %s", strings.TrimSpace(line))
		}
	}
}
