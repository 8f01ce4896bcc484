package diagnose

import (
	"fmt"
	"slices"
	"strings"
)

// What is said of brokers that are not like each other.
const (
	// ConfigsDiffer: brokers disagree on settings that should be one.
	ConfigsDiffer ID = "configs-differ"
	// VersionsDiffer: brokers are of several releases.
	VersionsDiffer ID = "versions-differ"
)

// oneForAll are settings that say when a replica is in sync, what a leader takes and what
// its followers can take over: where they differ, who leads decides what happens.
var oneForAll = []string{
	"auto.leader.rebalance.enable", "broker.session.timeout.ms", "default.replication.factor", "message.max.bytes", "min.insync.replicas",
	"replica.fetch.max.bytes", "replica.fetch.response.max.bytes", "replica.lag.time.max.ms", "unclean.leader.election.enable",
}

// findDiffering compares the brokers.
func findDiffering(c *Case) []Finding {
	return append(c.configsDiffer(), c.versionsDiffer()...)
}

func (c *Case) configsDiffer() []Finding {
	values := map[string][]string{}
	for _, r := range c.last.Configs() {
		if r.Disagree {
			values[r.Name] = append(values[r.Name], fmt.Sprintf("%s on broker %s", r.Value, r.Entity))
		}
	}
	if len(values) == 0 {
		return nil
	}
	severity := SeverityInfo
	var names, words []string
	for name := range values {
		names = append(names, name)
		if slices.Contains(oneForAll, name) {
			severity = SeverityWarning
		}
	}
	slices.Sort(names)
	for _, name := range names {
		words = append(words, name+" is "+strings.Join(values[name], ", "))
	}
	return []Finding{{
		ID: ConfigsDiffer, Severity: severity, class: classBuiltIn,
		Title:       fmt.Sprintf("brokers disagree on %s: %s", count(len(names), "setting", "settings"), strings.Join(names, ", ")),
		Evidence:    []Figure{{"settings", float64(len(names))}},
		Explanation: capital(strings.Join(words, "; ")) + ". What happens to a partition then depends on who leads it",
		Remedy:      "Set them alike, unless a change is being rolled out just now",
		Next:        []string{"kafkaops describe configs"},
	}}
}

func (c *Case) versionsDiffer() []Finding {
	by := map[string][]string{}
	for i := range c.last.Brokers {
		b := &c.last.Brokers[i]
		if v, ok := b.VersionRange.Get(); ok {
			by[v] = append(by[v], fmt.Sprint(b.ID))
		}
	}
	if len(by) < 2 {
		return nil
	}
	var versions, words []string
	for v := range by {
		versions = append(versions, v)
	}
	slices.Sort(versions)
	for _, v := range versions {
		words = append(words, v+" on "+strings.Join(by[v], ", "))
	}
	return []Finding{{
		ID: VersionsDiffer, Severity: SeverityInfo, class: classBuiltIn,
		Title:       "brokers are of several releases: " + strings.Join(words, "; "),
		Evidence:    []Figure{{"releases", float64(len(versions))}},
		Explanation: "As in the middle of an upgrade. Features of the newer release wait for the last broker",
		Remedy:      "Finish the upgrade, then raise metadata.version",
		Next:        []string{"kafkaops describe brokers", "kafkaops describe features"},
	}}
}
