package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// labels are those of each metric.
type labels map[string][]string

var headingRE = regexp.MustCompile("(?m)^### `([a-z_]+)(?:\\{([a-z,]+)\\})?`$")

// metricLabels reads the exporter's catalog.
func metricLabels(file string) (labels, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := labels{}
	for _, m := range headingRE.FindAllStringSubmatch(string(text), -1) {
		all[m[1]] = strings.Split(m[2], ",")
	}
	return all, nil
}

// choices are what the viewer can choose, by the label that it is chosen by.
var choices = []struct{ label, variable string }{
	{"topic", "topic"}, {"broker", "broker"}, {"consumergroup", "group"},
}

// metricRE is a metric with the matchers that it has already.
var metricRE = regexp.MustCompile(`\bkafka(?:ops)?_[a-z_]+\b(\{[^}]*\})?`)

// scoped puts what the viewer has chosen into an expression. ALERTS, which Prometheus makes
// of the rules, stays as it is: some alerts are of what is absent, and have no exporter.
func (l labels) scoped(expr string) (string, error) {
	var unknown error
	out := metricRE.ReplaceAllStringFunc(expr, func(found string) string {
		name, own, _ := strings.Cut(strings.TrimSuffix(found, "}"), "{")
		has, ok := l[name]
		if !ok {
			unknown = fmt.Errorf("METRICS.md has no %s", name)
		}
		matchers := []string{`instance=~"$instance"`, `cluster=~"$cluster"`}
		for _, c := range choices {
			if slices.Contains(has, c.label) {
				matchers = append(matchers, c.label+`=~"$`+c.variable+`"`)
			}
		}
		if own != "" {
			matchers = append(matchers, own)
		}
		return name + "{" + strings.Join(matchers, ",") + "}"
	})
	return out, unknown
}
