// Package dashboards checks the rules for Prometheus in rules/ and their RUNBOOK.md:
// against the exporter's catalog, against promtool, and against a real Prometheus
// that scrapes kafkaops export on a real Kafka while faults are injected.
//
// There is nothing to import: everything is in tests.
package dashboards
