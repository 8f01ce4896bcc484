// Package dashboards holds what watches a cluster beside kafkaops export: Grafana's
// dashboards, Prometheus' alerting and recording rules, and the RUNBOOK.md that both
// point to.
//
// The dashboards of grafana/ are generated from generate/; the rules of rules/ are written
// by hand. Tests hold all of them to the exporter's catalog, and to a real Prometheus that
// scrapes kafkaops export while faults are injected.
package dashboards

//go:generate go run ./generate
