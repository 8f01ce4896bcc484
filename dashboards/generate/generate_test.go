package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpToDate: the files are what go generate would write.
func TestUpToDate(t *testing.T) {
	t.Parallel()
	l, err := metricLabels("../../pkg/exporter/METRICS.md")
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]bool{}
	for _, b := range boards() {
		want, err := b.json(l)
		if err != nil {
			t.Fatalf("%s: %v", b.name, err)
		}
		made[b.name+".json"] = true
		got, err := os.ReadFile(filepath.Join("..", "grafana", b.name+".json"))
		if err != nil || string(got) != string(want) {
			t.Errorf("grafana/%s.json is not up to date (%v): go generate ./dashboards", b.name, err)
		}
	}
	entries, err := os.ReadDir("../grafana")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !made[e.Name()] {
			t.Errorf("grafana/%s: nothing makes it", e.Name())
		}
	}
}

func TestScoped(t *testing.T) {
	t.Parallel()
	l := labels{"kafka_broker_up": {"broker"}, "kafka_brokers": {""}, "kafka_x": {"topic", "partition", "broker"}}
	for _, tt := range []struct{ expr, want string }{
		{"sum(kafka_brokers)", `sum(kafka_brokers{instance=~"$instance",cluster=~"$cluster"})`},
		{"rate(kafka_x[5m]) / kafka_broker_up", `rate(kafka_x{instance=~"$instance",cluster=~"$cluster",topic=~"$topic",broker=~"$broker"}[5m]) / kafka_broker_up{instance=~"$instance",cluster=~"$cluster",broker=~"$broker"}`},
		{`kafka_x{partition="0"}`, `kafka_x{instance=~"$instance",cluster=~"$cluster",topic=~"$topic",broker=~"$broker",partition="0"}`},
		{`ALERTS{alertname=~"Kafka.+"}`, `ALERTS{alertname=~"Kafka.+"}`},
	} {
		got, err := l.scoped(tt.expr)
		if err != nil || got != tt.want {
			t.Errorf("%s: got\n\t%s, %v, want\n\t%s", tt.expr, got, err, tt.want)
		}
	}
	if _, err := l.scoped("kafka_no_such"); err == nil || !strings.Contains(err.Error(), "kafka_no_such") {
		t.Errorf("of a metric that there is not: %v", err)
	}
}
