package dashboards

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"go.yaml.in/yaml/v3"
)

// panel is what the tests need of one.
type panel struct {
	Title, Description, Type string
	Links                    []struct{ Title, URL string }
	Targets                  []struct{ Expr, LegendFormat string }
	FieldConfig              struct {
		Defaults struct{ Unit string }
	}
	GridPos struct{ X, Y, W, H int }
}

// board is a dashboard.
type board struct {
	UID, Title string
	Panels     []panel
	Templating struct {
		List []struct{ Name, Type, Definition string }
	}
}

func readBoard(t *testing.T, name string) (board, []byte) {
	t.Helper()
	text, err := Dashboard(name)
	if err != nil {
		t.Fatal(err)
	}
	var b board
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b, text
}

var selectorRE = regexp.MustCompile(`\b(kafka(?:ops)?_[a-z_]+)\{([^}]*)\}`)

// TestDashboards: each is of Grafana's schema, asks for what the exporter has by labels
// that it has, says what each panel shows, and where the runbook goes on.
func TestDashboards(t *testing.T) {
	metrics, sections := catalog(t), runbook(t)
	uids := map[string]bool{}
	for _, name := range Dashboards() {
		b, text := readBoard(t, name)
		var d dashboard.Dashboard //nolint:staticcheck // the classic schema, which every Grafana reads
		// It gives an error without errors where all is well.
		if err := d.UnmarshalJSONStrict(text); err != nil && err.Error() != "" {
			t.Errorf("%s: not Grafana's schema: %v", name, err)
		} else if err := d.Validate(); err != nil {
			t.Errorf("%s: not valid by Grafana's schema: %v", name, err)
		}
		if b.UID == "" || uids[b.UID] {
			t.Errorf("%s: uid %q is missing, or another's", name, b.UID)
		}
		uids[b.UID] = true
		chosen := map[string]bool{}
		for _, v := range b.Templating.List {
			if v.Type == "query" {
				checkSelectors(t, name+", variable "+v.Name, v.Definition, metrics)
			}
			chosen[v.Name] = true
		}
		for _, v := range []string{"datasource", "instance", "cluster", "topic", "broker", "group"} {
			if !chosen[v] {
				t.Errorf("%s: no variable %s", name, v)
			}
		}
		end := 0
		for _, p := range b.Panels {
			if p.Type == "row" {
				if end != 0 && end != 24 {
					t.Errorf("%s: the line before %q is %d wide", name, p.Title, end)
				}
				end = 0
				continue
			}
			if end = p.GridPos.X + p.GridPos.W; end > 24 {
				t.Errorf("%s: %q ends in column %d", name, p.Title, end)
			}
			what := name + ", " + p.Title
			if p.Description == "" || len(p.Targets) == 0 {
				t.Errorf("%s: no description, or nothing is asked", what)
			}
			if len(p.Links) != 1 || !strings.HasPrefix(p.Links[0].URL, runbookURL) || !hasSection(sections, p.Links[0].URL[len(runbookURL):]) {
				t.Errorf("%s: links %v, want one to a section of the runbook", what, p.Links)
			}
			for _, q := range p.Targets {
				checkSelectors(t, what, q.Expr, metrics)
			}
		}
	}
}

const runbookURL = "https://github.com/kafkaops/kafkaops/blob/main/dashboards/RUNBOOK.md"

// hasSection reports whether a link's fragment is a section's.
func hasSection(sections map[string]string, fragment string) bool {
	for name := range sections {
		if "#"+strings.ToLower(name) == fragment {
			return true
		}
	}
	return false
}

func checkSelectors(t *testing.T, what, expr string, metrics map[string][]string) {
	t.Helper()
	for _, m := range selectorRE.FindAllStringSubmatch(expr, -1) {
		has, ok := metrics[m[1]]
		if !ok {
			t.Errorf("%s asks for %s, which METRICS.md does not have", what, m[1])
		}
		for matcher := range strings.SplitSeq(m[2], ",") {
			label, _, _ := strings.Cut(matcher, "=")
			if label != "instance" && label != "cluster" && !slices.Contains(has, label) {
				t.Errorf("%s selects %s by %s, which it has not", what, m[1], label)
			}
		}
	}
	// No metric without the viewer's choice, save the one that the choice is made from.
	bare := metricRE.FindAllString(selectorRE.ReplaceAllString(expr, ""), -1)
	if len(bare) > 0 && expr != "label_values(kafkaops_up, instance)" {
		t.Errorf("%s: %v without the exporter that was chosen", what, bare)
	}
}

// TestFiles: what is printed is what the files hold, and all of the rules is one file of
// Prometheus'.
func TestFiles(t *testing.T) {
	if got, want := Dashboards(), []string{"brokers", "cluster", "groups", "replication"}; !slices.Equal(got, want) {
		t.Errorf("dashboards %v, want %v", got, want)
	}
	all, err := Dashboard(All)
	if err != nil {
		t.Fatal(err)
	}
	var boards []board
	if err := json.Unmarshal(all, &boards); err != nil || len(boards) != len(Dashboards()) {
		t.Errorf("all dashboards: %d, %v, want %d", len(boards), err, len(Dashboards()))
	}
	text, err := RuleFile(All)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Groups []struct {
			Name  string
			Rules []rule
		}
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, g := range doc.Groups {
		n += len(g.Rules)
	}
	if want := len(allRules(t)); n != want {
		t.Errorf("all rules: %d, want %d", n, want)
	}
	file := filepath.Join(t.TempDir(), "all.yml")
	writeFile(t, file, string(text))
	if out, err := promtool(t, nil, "check", "rules", "--lint-fatal", file); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, f := range []func(string) ([]byte, error){Dashboard, RuleFile} {
		if _, err := f("no"); err == nil || !strings.Contains(err.Error(), "cluster, ") {
			t.Errorf("of a name that there is not: %v, want one that names those that there are", err)
		}
	}
}

// overview are the expressions of the dashboard that danielqsj/kafka_exporter comes with,
// number 7589 at Grafana's: who changes from it keeps it.
var overview = []string{
	`sum(rate(kafka_topic_partition_current_offset{topic!="__consumer_offsets"}[1m])) by (topic)`,
	`sum(kafka_consumergroup_lag) by (consumergroup, topic) `,
	`sum by(topic) (kafka_topic_partitions{topic!="__consumer_offsets"})`,
	`sum(delta(kafka_topic_partition_current_offset{instance=~'$instance', topic=~"$topic"}[5m])/5) by (topic)`,
	`sum(delta(kafka_consumergroup_current_offset{instance=~'$instance',topic=~"$topic"}[5m])/5) by (consumergroup, topic)`,
	`sum(kafka_consumergroup_lag{instance="$instance",topic=~"$topic"}) by (consumergroup, topic)`,
}

// substituted is an expression as Grafana sends it with everything chosen.
func substituted(expr, instance string) string {
	out := strings.NewReplacer("$__rate_interval", "10s", "$__range", "5m", `instance="$instance"`, fmt.Sprintf("instance=%q", instance)).Replace(expr)
	return regexp.MustCompile(`\$[a-z]+`).ReplaceAllString(out, ".*")
}
