package dashboards

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/kafkaops/kafkaops/internal/kafkatest/engine"
)

// pictures is where TestPanels draws each panel's data, a page for each dashboard:
//
//	go test ./dashboards -run TestPanels -args -pictures DIR
var pictures = flag.String("pictures", "", "draw the data of all panels, for a person to look at, into this directory")

// TestPanels: a real Prometheus scrapes an exporter on a cluster that is broken and healed,
// and every expression of every dashboard has had data by then, by what is called a series
// in its legend too.
func TestPanels(t *testing.T) {
	needProgram(t, "prometheus")
	c := kafkatest.Start(t, kafkatest.Options{Engine: engine.InDir(t.TempDir()), Brokers: 3, Properties: map[string]string{
		"replica.lag.time.max.ms":      "6000",
		"broker.session.timeout.ms":    "60000", // a paused broker leaves the ISR by its lag, and is back at once
		"broker.heartbeat.interval.ms": "1000",
	}})
	c.CreateTopic(t, "load", [][]int32{{1, 2, 3}, {2, 1, 3}}, map[string]string{"min.insync.replicas": "2"})
	c.CreateTopic(t, "single", [][]int32{{3}}, nil)
	load(t, c, "load")
	consume(t, c, "readers", "load", 100_000)
	consume(t, c, "slow", "load", 20)
	hung := consume(t, c, "hung", "load", 100_000)
	w := watch(t, c)
	w.await("commits", time.Minute, func() error {
		if n := w.query(`count by (consumergroup) (kafka_consumergroup_current_offset)`); len(n) < 3 {
			return fmt.Errorf("of %v", n)
		}
		return nil
	})
	hung.hang()
	c.Pause(t, 3)
	w.await("out of the ISR", time.Minute, func() error {
		if len(w.query(`sum(kafka_broker_out_of_sync_replicas) > 0 and sum(kafka_broker_isr_shrinks_total) > 0`)) == 0 {
			return fmt.Errorf("in the ISR")
		}
		return nil
	})
	c.Resume(t, 3)
	w.await("back in the ISR", time.Minute, func() error {
		if len(w.query(`sum(kafka_broker_isr_expands_total) > 0`)) == 0 {
			return fmt.Errorf("not yet")
		}
		return nil
	})
	instance := w.query("kafkaops_up")[0].labels["instance"]
	has := func(what, expr, legend string) []series {
		var data []series
		w.await(what+": "+expr, 20*time.Second, func() error {
			if data = w.span(substituted(expr, instance), w.began); len(data) == 0 {
				return fmt.Errorf("no data in %s", w.since())
			}
			return nil
		})
		for _, m := range legendRE.FindAllStringSubmatch(legend, -1) {
			if _, ok := data[0].labels[m[1]]; !ok && m[1] != "cluster" {
				t.Errorf("%s: the legend names %s, and the series have %v", what, m[1], data[0].labels)
			}
		}
		return data
	}
	for _, name := range Dashboards() {
		b, _ := readBoard(t, name)
		var drawn []drawing
		for _, p := range b.Panels {
			for _, q := range p.Targets {
				what := b.Title + ", " + p.Title
				drawn = append(drawn, drawing{title: p.Title, unit: p.FieldConfig.Defaults.Unit, legend: q.LegendFormat, data: has(what, q.Expr, q.LegendFormat)})
			}
		}
		if *pictures != "" {
			if err := os.MkdirAll(*pictures, 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(*pictures, name+".html"), page(b.Title, w.began, drawn))
		}
	}
	for _, expr := range overview {
		has("the overview of kafka_exporter", expr, "")
	}
}

// named is a series by a legend's format.
func (s *series) named(legend string) string {
	if legend == "" {
		return fmt.Sprint(s.labels)
	}
	return strings.TrimSpace(legendRE.ReplaceAllStringFunc(legend, func(m string) string { return s.labels[strings.Trim(m, "{}")] }))
}
