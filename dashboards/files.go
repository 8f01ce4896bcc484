package dashboards

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

//go:embed grafana/*.json rules/*.rules.yml
var files embed.FS

// All stands for all names.
const All = "all"

// Dashboards returns the names of the dashboards, Rules those of the rules, sorted.
func Dashboards() []string { return names("grafana", ".json") }

// Rules returns the names of the rule files, sorted.
func Rules() []string { return names("rules", ".rules.yml") }

// Dashboard returns one of them as Grafana imports and provisions it: JSON, in Grafana's
// classic schema. [All] is an array of all. An error names those that there are.
func Dashboard(name string) ([]byte, error) {
	if name != All {
		return read("grafana", ".json", name)
	}
	var all [][]byte
	for _, name := range Dashboards() {
		text, err := read("grafana", ".json", name)
		if err != nil {
			return nil, err
		}
		all = append(all, bytes.TrimSpace(text))
	}
	return slices.Concat([]byte("[\n"), bytes.Join(all, []byte(",\n")), []byte("\n]\n")), nil
}

// RuleFile returns one of them as Prometheus' rule_files take it, YAML. [All] is one file
// of all groups.
func RuleFile(name string) ([]byte, error) {
	if name != All {
		return read("rules", ".rules.yml", name)
	}
	out := []byte("groups:\n")
	for _, name := range Rules() {
		text, err := read("rules", ".rules.yml", name)
		if err != nil {
			return nil, err
		}
		// Each file is a comment, and groups.
		comment, groups, ok := bytes.Cut(text, []byte("groups:\n"))
		if !ok {
			return nil, fmt.Errorf("rules/%s.rules.yml has no groups", name)
		}
		out = slices.Concat(out, comment, groups)
	}
	return out, nil
}

func names(dir, ending string) []string {
	entries, err := files.ReadDir(dir)
	if err != nil {
		panic(err) // it is built in
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(e.Name(), ending))
	}
	return out
}

func read(dir, ending, name string) ([]byte, error) {
	text, err := files.ReadFile(path.Join(dir, name+ending))
	if err != nil {
		return nil, fmt.Errorf("there is no %q: %s, or %s", name, strings.Join(names(dir, ending), ", "), All)
	}
	return text, nil
}
