package diagnose

import (
	"fmt"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// What is said of partitions that refuse clients.
const (
	// NoLeader: nothing can be written to or read from them.
	NoLeader ID = "no-leader"
	// WritesRefused: they refuse writes with acks=all.
	WritesRefused ID = "writes-refused"
)

// findRefused names partitions that refuse clients now.
func findRefused(c *Case) []Finding {
	leaderless, refused := replicaSet{}, replicaSet{}
	waits := map[inspect.BrokerID]bool{}
	for p := range c.last.Partitions {
		h := p.Health()
		switch {
		case p.Leader == inspect.NoBroker:
			// Whoever of these comes back may lead again.
			who := p.ELR.Or(p.ISR)
			if len(who) == 0 {
				who = p.Replicas
			}
			leaderless.add(p, who...)
			for _, id := range who {
				waits[id] = true
			}
		case h.Headroom.Or(0) < 0:
			refused.add(p, h.OutOfSync...)
		}
	}
	var out []Finding
	if n := leaderless.partitions(); n > 0 {
		var ids []inspect.BrokerID
		for id := range waits {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		out = append(out, Finding{
			ID: NoLeader, Severity: SeverityCritical, Topics: leaderless.topics(),
			Title:       fmt.Sprintf("%s without a leader: nothing can be written or read", partitions(n)),
			Evidence:    []Figure{{"partitions", float64(n)}},
			Explanation: fmt.Sprintf("Who has all that was committed to them is not there: they wait for %s", brokers(ids)),
			Remedy:      fmt.Sprintf("Start %s. An unclean election makes them available at once and loses what others lack: the last resort", brokers(ids)),
			Next:        []string{"kafkaops describe topics --unavailable", "kafkaops isr --since 1h"},
			class:       classWrites, about: leaderless, reach: leaderless,
		})
	}
	if n := refused.partitions(); n > 0 {
		out = append(out, Finding{
			ID: WritesRefused, Severity: SeverityCritical, Topics: refused.topics(),
			Title:       fmt.Sprintf("%s refuse writes with acks=all: fewer in sync than min.insync.replicas", partitions(n)),
			Evidence:    []Figure{{"partitions", float64(n)}},
			Explanation: "Their leaders answer NOT_ENOUGH_REPLICAS. What producers with acks=0 or 1 write is not committed, and no consumer sees it until the ISR is large enough again",
			Remedy:      "Bring the replicas back that are out. Lowering min.insync.replicas opens them at the price of what it protects from",
			Next:        []string{"kafkaops describe topics --under-min-isr", "kafkaops lag --samples 5 --top 10"},
			class:       classWrites, about: refused, reach: refused,
		})
	}
	return out
}
