package exporter

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

var rewrite = flag.Bool("rewrite", false, "write METRICS.md and the goldens anew; then read the difference")

// golden compares with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not current; run go test ./pkg/exporter -rewrite. -want +got:\n%s", path, diff)
	}
}

// TestMetricsDocument holds METRICS.md to the catalog.
func TestMetricsDocument(t *testing.T) {
	t.Parallel()
	golden(t, "METRICS.md", document())
}

// TestGolden: names, labels, HELP and the order in which they stand are for others
// to hold on to.
func TestGolden(t *testing.T) {
	t.Parallel()
	c := startS0(t, func(m *fakekafka.Model) { m.Topic("t").Partitions[2].Shrink(0) })
	r := newRig(t, c, patience, func(o *Options) { o.Version = "test" })
	r.collectNow()
	var kept []string
	for line := range strings.Lines(r.get("/metrics").Body.String()) {
		if !strings.HasPrefix(strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE "), "kafka") {
			continue
		}
		for i, addr := range c.Addrs() {
			line = strings.ReplaceAll(line, addr, fmt.Sprintf("broker-%d", i))
		}
		for _, volatile := range []string{"kafkaops_collection_age", "kafkaops_requests", "kafkaops_build_info"} {
			if strings.HasPrefix(line, volatile) {
				line = line[:strings.LastIndexByte(line, ' ')] + " SOME\n"
			}
		}
		if strings.HasPrefix(line, "kafkaops_build_info") {
			line = "kafkaops_build_info{version=\"test\",goversion=\"GO\"} 1\n"
		}
		kept = append(kept, line)
	}
	golden(t, "testdata/s0.prom", strings.Join(kept, ""))
}

// TestCollector: a registry gives what /metrics gives.
func TestCollector(t *testing.T) {
	t.Parallel()
	r := newRig(t, startS0(t, nil), patience, func(o *Options) { o.ClusterLabel = "blue" })
	collector := r.Collector()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector)
	if _, err := registry.Gather(); err != nil {
		t.Errorf("before anything was observed: %v", err)
	}
	r.collectNow()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	late := prometheus.NewRegistry()
	other := newRig(t, r.cluster, patience, nil)
	other.collectNow()
	late.MustRegister(other.Collector()) // when the collection is shown, and not kept
	for i, want := range []float64{0, 1} {
		all, err := late.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all {
			if f.GetName() == "kafkaops_up" && f.GetMetric()[0].GetGauge().GetValue() != want {
				t.Errorf("a Collector that came late, after %d collections: up is %v, want %v", i, f.GetMetric()[0].GetGauge().GetValue(), want)
			}
		}
		other.collectNow()
	}
	got := map[string]int{}
	for _, f := range families {
		got[f.GetName()] = len(f.GetMetric())
	}
	want := map[string]int{}
	if page := r.get("/metrics").Body.String(); !strings.Contains(page, "\ngo_goroutines{cluster=\"blue\"} ") {
		t.Error("the process's metrics have no cluster")
	}
	for series := range r.scrape() {
		name, _, _ := strings.Cut(series, "{")
		want[name]++
		if !strings.Contains(series, `{cluster="blue"`) {
			t.Errorf("%s has no cluster", series)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-/metrics +registry:\n%s", diff)
	}
}

// TestLint: promlint, which promtool check metrics runs, has nothing to say but of
// names that are inherited.
func TestLint(t *testing.T) {
	t.Parallel()
	r := newRig(t, startS0(t, nil), patience, nil)
	r.collectNow()
	problems, err := promlint.New(r.get("/metrics").Body).Lint()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Metric+": "+p.Text)
	}
	slices.Sort(got)
	const suffix = `: non-histogram and non-summary metrics should not have "_sum" suffix`
	want := []string{"kafka_consumergroup_current_offset_sum" + suffix, "kafka_consumergroup_lag_sum" + suffix}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestCatalogIsWhole: every metric says all that METRICS.md wants of it.
func TestCatalogIsWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	check := func(name, help, unit, absent, use, since string, k kind, labels int) {
		if seen[name] {
			t.Errorf("%s is there twice", name)
		}
		seen[name] = true
		for what, text := range map[string]string{"help": help, "unit": unit, "absent": absent, "use": use, "since": since} {
			if text == "" {
				t.Errorf("%s has no %s", name, what)
			}
		}
		if !strings.HasSuffix(help, ".") || !strings.HasSuffix(use, ".") {
			t.Errorf("%s: help and use are sentences", name)
		}
		if (k == counter) != strings.HasSuffix(name, "_total") {
			t.Errorf("%s: _total is for counters", name)
		}
		if labels > maxLabels {
			t.Errorf("%s has %d labels", name, labels)
		}
	}
	for _, m := range catalog() {
		check(m.name, m.help, m.unit, m.absent, m.use, m.since, m.kind, len(m.labels))
	}
	for _, m := range selfMetrics() {
		check(m.name, m.help, m.unit, m.absent, m.use, m.since, m.kind, len(m.labels))
	}
}
