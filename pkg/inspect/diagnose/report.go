package diagnose

import (
	"fmt"
	"slices"
)

// Report is what a Case comes to.
type Report struct {
	// Findings are ranked: the worst first, then those that account for most.
	Findings []Finding
	// Checks are all that was looked for, in a fixed order.
	Checks []Check
}

// Check is something that was looked for.
type Check struct {
	// What is in a few words, such as "slow followers, leaders and links".
	What string
	// Missing says why it could not be, or not fully; empty where it was.
	Missing string
}

// Healthy reports whether there is no warning, and nothing critical.
func (r *Report) Healthy() bool {
	return !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Severity != SeverityInfo })
}

// rule is one way in which a cluster may be ill.
type rule struct {
	// what names it in the report.
	what string
	// missing says why it cannot tell, or is empty.
	missing func(c *Case) string
	find    func(c *Case) []Finding
}

// rules are all of them, in the order in which the report lists them.
var rules = []rule{
	{"brokers that are down, or silent", (*Case).reachabilityMissing, findDown},
	{"the controllers", (*Case).quorumMissing, findController},
	{"disks that are full or have failed", (*Case).logDirsMissing, findDisk},
	{"brokers that come and go", (*Case).eventsMissing, findFlapping},
	{"leaders that are not where they were meant to be, and hot brokers", (*Case).partitionsMissing, findLeaders},
	{"slow followers, leaders and links", (*Case).lagsMissing, findSlow},
	{"request handlers, network threads and flushes", (*Case).loadsMissing, findLoaded},
	{"replicas that are out of the ISR", (*Case).partitionsMissing, findOut},
	{"partitions without a leader, and writes that are refused", (*Case).minISRMissing, findRefused},
	{"high watermarks that stand still", (*Case).lagsMissing, findFrozen},
	{"reassignments and throttles", (*Case).movesMissing, findMoves},
	{"transactions that hang", (*Case).transactionsMissing, findHanging},
	{"brokers' settings and versions", (*Case).configsMissing, findDiffering},
}

// Diagnose applies all rules. others are findings that somebody else made of the same
// looks, see [BuiltIn].
func (c *Case) Diagnose(others ...Finding) Report {
	var r Report
	if c.last == nil {
		return r
	}
	var all []Finding
	for _, rule := range rules {
		r.Checks = append(r.Checks, Check{rule.what, rule.missing(c)})
		all = append(all, rule.find(c)...)
	}
	c.addLoads(all)
	c.addHosts(all)
	r.Findings = correlate(append(all, others...))
	return r
}

func (c *Case) partitionsMissing() string {
	if len(c.last.Topics) == 0 {
		return "there is no topic"
	}
	return ""
}

func (c *Case) minISRMissing() string {
	for p := range c.last.Partitions {
		if !p.MinInsyncReplicas.IsKnown() {
			return "min.insync.replicas is unknown"
		}
	}
	return c.partitionsMissing()
}

// leastLooks is how many looks at offsets it takes for anything that has to do with time.
const leastLooks = leastSamples + 1

func (c *Case) lagsMissing() string {
	switch {
	case c.offsets < leastLooks:
		return "it takes a few looks at the offsets: use --for"
	case len(c.Links()) == 0:
		return "nothing was written while it was looked"
	}
	return ""
}

func (c *Case) eventsMissing() string {
	if c.known {
		return ""
	}
	return "the ISR's history was not read, so only what these looks saw"
}

func (c *Case) movesMissing() string {
	for p := range c.last.Partitions {
		if !p.Adding.IsKnown() {
			return "reassignments are unknown"
		}
	}
	return c.configsMissing()
}

func (c *Case) transactionsMissing() string {
	if !c.last.Transactions.IsKnown() {
		return "they were not asked for, or cannot be had"
	}
	return ""
}

func (c *Case) configsMissing() string {
	for i := range c.last.Brokers {
		if b := &c.last.Brokers[i]; !b.Configs.IsKnown() && !b.Fenced.Or(false) {
			return fmt.Sprintf("broker %d did not tell its settings", b.ID)
		}
	}
	return ""
}

func (c *Case) reachabilityMissing() string {
	for i := range c.last.Brokers {
		if !c.last.Brokers[i].Reachable.IsKnown() && !c.last.Brokers[i].Fenced.Or(false) {
			return "brokers were not asked"
		}
	}
	return ""
}
