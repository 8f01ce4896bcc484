package tuning

import "fmt"

// FindingID names a kind of finding.
type FindingID string

// The findings about replication factors and what goes with them.
const (
	// FindingRFNotAboveMinISR: each replica that is out stops writes with acks=all.
	FindingRFNotAboveMinISR FindingID = "rf-not-above-min-isr"
	// FindingMinISROne: what was acknowledged may be on one copy, of three or more.
	FindingMinISROne FindingID = "min-isr-one"
	// FindingMinISRAboveRF: Kafka takes the replication factor instead.
	FindingMinISRAboveRF FindingID = "min-isr-above-rf"
	// FindingUncleanElection: a replica that lacks records may become leader.
	FindingUncleanElection FindingID = "unclean-election"
	// FindingRacksBelowMinISR: one rack that is lost stops writes.
	FindingRacksBelowMinISR FindingID = "racks-below-min-isr"
)

// Severity says how soon somebody should look.
type Severity string

// The severities.
const (
	SeverityInfo     Severity = "info"
	SeverityWarning  Severity = "warning"
	SeverityCritical Severity = "critical"
)

// Finding is something about a topic's settings that is wrong by itself, whatever was
// observed.
type Finding struct {
	ID          FindingID
	Severity    Severity
	Title       string
	Topic       string
	Explanation string
	Remedy      string
}

// FindTopic says what is wrong with a topic's settings. rf is its replication factor,
// the least of its partitions; racks is over how many racks the replicas of each are
// spread at least, 0 where that is unknown. A MinISR of 0 is unknown, and nothing is
// said of it.
func FindTopic(s TopicSettings, rf, racks int) []Finding {
	var out []Finding
	add := func(id FindingID, severity Severity, title, explanation, remedy string) {
		out = append(out, Finding{id, severity, title, s.Topic, explanation, remedy})
	}
	switch m := s.MinISR; {
	case m > rf && rf > 0:
		add(FindingMinISRAboveRF, SeverityWarning, fmt.Sprintf("min.insync.replicas %d with %d replicas", m, rf),
			fmt.Sprintf("brokers take the smaller one, %d; kafka-topics.sh shows the topic as under its minimum for good", rf),
			fmt.Sprintf("raise the replication factor above %d, or set min.insync.replicas to %d", m, max(1, rf-1)))
	case m == rf && rf > 1:
		add(FindingRFNotAboveMinISR, SeverityWarning, fmt.Sprintf("no replica may be out: min.insync.replicas %d of %d replicas", m, rf),
			"each broker that restarts or falls behind stops writes with acks=all to its partitions",
			fmt.Sprintf("raise the replication factor to %d, or set min.insync.replicas to %d", rf+1, rf-1))
	case m == 1 && rf >= 3:
		add(FindingMinISROne, SeverityWarning, fmt.Sprintf("min.insync.replicas 1 with %d replicas", rf),
			"with acks=all a write is acknowledged once it is on as many copies as are in sync, and that may be the leader's alone",
			fmt.Sprintf("set min.insync.replicas to %d", rf-1))
	}
	if s.Unclean {
		add(FindingUncleanElection, SeverityCritical, "unclean leader elections are allowed",
			"where no replica in sync is left, the first one that lives leads, and what it lacks is lost on all, acknowledged or not",
			"set unclean.leader.election.enable to false, and elect by hand where that is needed")
	}
	if m := min(s.MinISR, rf); racks > 0 && racks < m {
		add(FindingRacksBelowMinISR, SeverityInfo, fmt.Sprintf("replicas in %d racks for min.insync.replicas %d", racks, m),
			"all copies of an acknowledged write may be in fewer racks than copies are asked for, and are lost with them",
			"reassign the partitions so that their replicas are in different racks")
	}
	return out
}
