package diagnose

import (
	"fmt"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// What is said of where leaders are.
const (
	// LeadersAway: they are not the preferred ones, which could lead.
	LeadersAway ID = "leaders-not-preferred"
	// HotBroker: one broker has most of the work.
	HotBroker ID = "hot-broker"
)

// manyAway is the share of partitions with another leader from which on it matters.
const manyAway = 0.1

// findLeaders looks at where leaders are, and what that means for the load.
func findLeaders(c *Case) []Finding {
	return append(c.leadersAway(), c.hotBrokers()...)
}

func (c *Case) leadersAway() []Finding {
	about, reach := replicaSet{}, replicaSet{}
	all := 0
	for p := range c.last.Partitions {
		all++
		preferred := p.PreferredLeader()
		if p.Leader == inspect.NoBroker || p.Leader == preferred || !slices.Contains(p.ISR, preferred) {
			continue
		}
		about.add(p, preferred)
		reach.add(p, p.Leader)
	}
	n := len(about)
	if n == 0 || float64(n) < manyAway*float64(all) {
		return nil
	}
	f := Finding{
		ID: LeadersAway, Severity: SeverityInfo, Topics: about.topics(),
		Title:       fmt.Sprintf("%s of %d are led by another than the preferred leader", partitions(n), all),
		Evidence:    []Figure{{"partitions", float64(n)}, {"ofPartitions", float64(all)}},
		Explanation: "Brokers that were away get their leaders back when the controller looks for that (leader.imbalance.check.interval.seconds" + c.setting("leader.imbalance.check.interval.seconds") + ")",
		Remedy:      "Wait, or elect the preferred leaders now",
		Next:        []string{"kafkaops describe brokers", "kafka-leader-election.sh --bootstrap-server HOST:PORT --election-type preferred --all-topic-partitions"},
		class:       classLeaders, about: about, reach: reach,
	}
	if auto, ok := c.anyConfig("auto.leader.rebalance.enable"); ok && auto == "false" {
		f.Severity = SeverityWarning
		f.Explanation = "auto.leader.rebalance.enable is false, so that nobody moves them back: after each restart the others keep what it led"
		f.Remedy = "Elect the preferred leaders, in a quiet hour if there are many. To have it done each time set auto.leader.rebalance.enable=true on the controllers"
	}
	return []Finding{f}
}

// What makes a broker hot: so many times its fair share, of a traffic that is worth it.
const (
	hotShare      = 2.0
	leastTraffic  = 50 // records a second
	leastHotPeers = 3  // brokers, below which there is no fair share to be exceeded
)

// hotBrokers are those with most of what is written, because they lead most.
func (c *Case) hotBrokers() []Finding {
	rates, leads := map[inspect.BrokerID]float64{}, map[inspect.BrokerID]int{}
	var rate float64
	led := 0
	for p := range c.last.Partitions {
		if p.Leader == inspect.NoBroker {
			continue
		}
		r := c.past.Rates(p.Topic, p.Index, 0).AppendPerSec.Or(0)
		rates[p.Leader], rate = rates[p.Leader]+r, rate+r
		leads[p.Leader]++
		led++
	}
	alive := 0
	for i := range c.last.Brokers {
		if b := &c.last.Brokers[i]; !b.Fenced.Or(false) && b.Reachable.Or(true) {
			alive++
		}
	}
	if alive < leastHotPeers || rate < leastTraffic || led < 2*alive {
		return nil
	}
	var out []Finding
	for id, r := range rates {
		share, ofLeaders := r/rate, float64(leads[id])/float64(led)
		if share*float64(alive) < hotShare {
			continue
		}
		_, reach := c.hosted(id)
		about := c.excess(id, led/alive)
		f := Finding{
			ID: HotBroker, Severity: SeverityInfo, Broker: inspect.Known(id), Topics: about.topics(),
			Title: fmt.Sprintf("broker %d takes %.0f %% of what is written, with %.0f %% of the leaders", id, 100*share, 100*ofLeaders),
			Evidence: []Figure{
				{"shareOfWrites", round(100*share) / 100}, {"shareOfLeaders", round(100*ofLeaders) / 100}, {"writtenPerSecond", round(r)}, {"brokers", float64(alive)},
			},
			Explanation: "A few partitions take most of the traffic: leaders are spread, the load is not",
			Remedy:      "More partitions for the topic that is written to most, or keys that spread",
			Next:        []string{"kafkaops lag --samples 5 --top 10", "kafkaops describe brokers"},
			class:       classLoad, about: about, reach: reach,
		}
		if ofLeaders*float64(alive) >= hotShare {
			f.Severity = SeverityWarning
			f.Explanation = fmt.Sprintf("With %d brokers that is %.1f times its fair share of the leaders: its disk and network do the work of others, which follow it", alive, ofLeaders*float64(alive))
			f.Remedy = "Elect the preferred leaders; where they are on one broker themselves, reassign so that they are spread"
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Finding) int { return a.compare(&b) })
	return out
}

// excess are the partitions for which a broker leads more than is fair: those that it leads
// for others, if it would not without them, else all.
func (c *Case) excess(id inspect.BrokerID, fair int) replicaSet {
	all, others := replicaSet{}, replicaSet{}
	for p := range c.last.Partitions {
		if p.Leader != id {
			continue
		}
		all.add(p, id)
		if p.PreferredLeader() != id {
			others.add(p, id)
		}
	}
	if len(others) > 0 && float64(len(all)-len(others)) < hotShare*float64(fair) {
		return others
	}
	return all
}
