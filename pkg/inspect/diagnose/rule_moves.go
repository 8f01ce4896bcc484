package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// What is said of reassignments and throttles.
const (
	// ReassignmentStuck: a replica that is being added gets nothing.
	ReassignmentStuck ID = "reassignment-stuck"
	// ThrottleLeft: replicas are throttled that nobody moves.
	ThrottleLeft ID = "throttle-left"
)

// findMoves looks at reassignments that do not go on, and throttles that outlived theirs.
func findMoves(c *Case) []Finding { return append(c.stuckMoves(), c.throttles()...) }

func (c *Case) stuckMoves() []Finding {
	if c.offsets < leastLooks {
		return nil
	}
	about := replicaSet{}
	var records int64
	for p := range c.last.Partitions {
		if !p.Reassigning() {
			continue
		}
		for _, id := range p.Adding.Or(nil) {
			if slices.Contains(p.ISR, id) {
				continue
			}
			fetch, ok := c.past.CatchUp(p.Topic, p.Index, id, 0).FetchPerSec.Get()
			if !ok || fetch > 0 {
				continue
			}
			about.add(p, id)
			for _, r := range p.Lag().Replicas {
				if r.Broker == id {
					records += r.Lag.Or(0)
				}
			}
		}
	}
	n := about.partitions()
	if n == 0 {
		return nil
	}
	return []Finding{{
		ID: ReassignmentStuck, Severity: SeverityWarning, Topics: about.topics(),
		Title:       fmt.Sprintf("the reassignment of %s stands still: not one record was copied in %s", partitions(n), lasting(c.window())),
		Evidence:    []Figure{{"partitions", float64(n)}, {"records", float64(records)}, {"windowMs", float64(c.window().Milliseconds())}},
		Explanation: "A replica that is being added takes nothing in. A throttle below what is written, or a broker that does not fetch, holds it",
		Remedy:      "Look at the throttle (it has to be above what is written to the partitions), and at the target broker. A reassignment can be cancelled",
		Next:        []string{"kafkaops describe reassignments --samples 3", "kafkaops describe configs"},
		class:       classPace, about: about, reach: about,
	}}
}

func (c *Case) throttles() []Finding {
	about := replicaSet{}
	var topics []string
	rate, limited := "", false
	for _, r := range c.last.Configs() {
		switch {
		case r.Scope == inspect.ScopeTopic && strings.HasSuffix(r.Name, ".replication.throttled.replicas") && len(r.Notes) > 0:
			if !slices.Contains(topics, r.Entity) {
				topics = append(topics, r.Entity)
			}
		case r.Scope == inspect.ScopeBroker && strings.HasSuffix(r.Name, ".replication.throttled.rate") && r.Deviates():
			limited, rate = true, r.Value.Or("")
		}
	}
	if len(topics) == 0 {
		return nil
	}
	for p := range c.last.Partitions {
		if h := p.Health(); slices.Contains(topics, p.Topic) {
			// Only replicas out of sync are throttled (shouldLeaderThrottle).
			about.add(p, h.OutOfSync...)
		}
	}
	slices.Sort(topics)
	f := Finding{
		ID: ThrottleLeft, Severity: SeverityInfo, Topics: topics,
		Title:       fmt.Sprintf("replicas of %s are still listed as throttled, and none is being reassigned", count(len(topics), "topic", "topics")),
		Evidence:    []Figure{{"topics", float64(len(topics))}},
		Explanation: "No broker has a rate, so that nothing is held back now; the next rate that somebody sets will",
		Remedy:      "Remove the lists: kafka-reassign-partitions.sh --verify of the last plan does, or delete the two settings of the topics",
		Next: []string{
			"kafkaops describe configs " + topics[0],
			"kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type topics --entity-name " + topics[0] + " --delete-config leader.replication.throttled.replicas,follower.replication.throttled.replicas",
		},
		class: classRoot,
	}
	if limited {
		f.Severity, f.about, f.reach = SeverityWarning, about, about
		f.Title = fmt.Sprintf("a replication throttle was left on %s: %s bytes/s, and nothing is being reassigned", count(len(topics), "topic", "topics"), rate)
		f.Explanation = "Whoever falls out of the ISR of these topics comes back at this rate at most, or never where more is written"
		f.Evidence = append(f.Evidence, Figure{"replicas", float64(len(about))})
	}
	return []Finding{f}
}
