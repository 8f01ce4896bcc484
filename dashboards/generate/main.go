// Command generate writes the Grafana dashboards of ../grafana, from what the files of
// this package say of each:
//
//	go generate ./dashboards
//
// A dashboard is a [board]: rows of panels, each a question with the expressions that
// answer it, and the section of RUNBOOK.md that says what to do about the answer.
// Expressions name metrics alone; what of them the viewer has chosen (exporter, cluster,
// topic, broker, group) is put in by the labels that METRICS.md says they have.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

// run writes the dashboards below dir, the directory dashboards.
func run(dir string) error {
	labels, err := metricLabels(filepath.Join(dir, "..", "pkg", "exporter", "METRICS.md"))
	if err != nil {
		return err
	}
	for _, b := range boards() {
		text, err := b.json(labels)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "grafana", b.name+".json"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// boards are all dashboards, in the order in which they are read in an incident.
func boards() []board {
	return []board{clusterBoard(), replicationBoard(), brokersBoard(), groupsBoard()}
}
