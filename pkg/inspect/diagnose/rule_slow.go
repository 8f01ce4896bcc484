package diagnose

import (
	"fmt"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// What is said of brokers and links that are slow.
const (
	// SlowFollower: slow with all that it follows.
	SlowFollower ID = "slow-follower"
	// SlowLeader: slow for all that follow it.
	SlowLeader ID = "slow-leader"
	// SlowBroker: both.
	SlowBroker ID = "slow-broker"
	// SlowLink: slow from one broker to one other.
	SlowLink ID = "slow-link"
	// SlowAll: replication lags everywhere.
	SlowAll ID = "slow-all"
)

// findSlow splits the lags in time by leader and follower. What drains is left to who
// looks at replicas that catch up.
func findSlow(c *Case) []Finding {
	down := c.absent() // what was seen before has another cause
	links := slices.DeleteFunc(c.Links(), func(l Link) bool {
		return l.Draining || slices.Contains(down, l.Leader) || slices.Contains(down, l.Follower)
	})
	b := blameFor(links, c.slowFrom())
	var out []Finding
	for _, f := range b.brokers {
		out = append(out, c.slowBroker(f))
	}
	for _, f := range b.followers {
		out = append(out, c.slowFollower(f))
	}
	for _, l := range b.leaders {
		out = append(out, c.slowLeader(l))
	}
	for i, l := range b.links {
		back := slices.IndexFunc(b.links, func(o Link) bool { return o.Leader == l.Follower && o.Follower == l.Leader })
		switch {
		case back < 0:
			out = append(out, c.slowLink(l))
		case back > i:
			out = append(out, c.slowPair(l, b.links[back]))
		}
	}
	if b.background > 0 {
		out = append(out, c.slowAll(b.background, links))
	}
	return out
}

// over are the replicas on these links, by the assignment as it is now: those that lag,
// and all.
func (c *Case) over(links []Link) (lag, all replicaSet) {
	lag, all = replicaSet{}, replicaSet{}
	for p := range c.last.Partitions {
		for i := range links {
			l := &links[i]
			if p.Leader != l.Leader || !slices.Contains(p.Replicas, l.Follower) {
				continue
			}
			all.add(p, l.Follower)
			if p.Offsets != nil && c.past.Behind(p.Topic, p.Index, l.Follower).Ms > 0 {
				lag.add(p, l.Follower)
			}
		}
	}
	if len(lag) == 0 {
		lag = all // just now all have caught up
	}
	return lag, all
}

func (c *Case) slowEvidence(lagMs int64, links []Link, lag replicaSet) []Figure {
	var records int64
	var took, wrote float64
	for _, l := range links {
		records, took, wrote = records+l.Records, took+l.RecordsPerSecond, wrote+l.WrittenPerSecond
	}
	return []Figure{
		{"lagMs", float64(lagMs)},
		{"replicas", float64(len(lag))},
		{"records", float64(records)},
		{"takenInPerSecond", round(took)},
		{"writtenPerSecond", round(wrote)},
		{"windowMs", float64(c.window().Milliseconds())},
	}
}

func round(f float64) float64 { return float64(int64(f*10+0.5)) / 10 }

func (c *Case) slowFollower(s share) Finding {
	lag, all := c.over(s.links)
	f := Finding{
		ID: SlowFollower, Severity: SeverityWarning, Broker: inspect.Known(s.broker), Topics: lag.topics(),
		Title:    fmt.Sprintf("broker %d is slow as a follower: %s behind on %s", s.broker, millis(s.lagMs), partitions(lag.partitions())),
		Evidence: c.slowEvidence(s.lagMs, s.links, lag),
		Remedy: fmt.Sprintf("Look at the disk of broker %d first (iostat -x 1: await, %%util), then at its network (nstat, ss -ti) and its garbage collection. "+
			"A replica that cannot follow holds up writes with acks=all until it has left the ISR: stopping the broker cleanly ends that at once", s.broker),
		Next:  []string{fmt.Sprintf("on broker %d: iostat -x 1", s.broker), "kafkaops lag --samples 5 --top 10", fmt.Sprintf("kafkaops isr --broker %d --since 1h", s.broker)},
		class: classPace, about: lag, reach: all,
	}
	if c.judged(func(l Link) bool { return l.Leader == s.broker && l.LagMs == 0 }) == 0 {
		// What holds it up may well hold up what it leads, of which nothing is known, or
		// which lags by less than it takes to be called slow.
		_, led := c.hosted(s.broker)
		f.reach = all.with(led)
	}
	switch leader := s.links[0].Leader; {
	case len(s.links) > 1:
		f.Explanation = fmt.Sprintf("It lags behind each of %s that it follows, and nobody else lags like that: it is neither one of them nor one link", brokers(leadersOf(s.links)))
	case c.judged(func(l Link) bool { return l.Leader == leader }) > 1:
		f.Explanation = fmt.Sprintf("It lags behind broker %d, while who else follows that does not. No other partitions that it follows were written to, so that it may be the link between the two, too", leader)
	default:
		f.Explanation = fmt.Sprintf("It lags behind broker %d. No other link of the two could be judged, so that it may be broker %d as a leader, or the link between them, too", leader, leader)
	}
	return f
}

// judged counts the links that are so.
func (c *Case) judged(is func(Link) bool) int {
	n := 0
	for _, l := range c.Links() {
		if is(l) {
			n++
		}
	}
	return n
}

func leadersOf(links []Link) (out []inspect.BrokerID) {
	for _, l := range links {
		out = append(out, l.Leader)
	}
	return out
}

func followersOf(links []Link) (out []inspect.BrokerID) {
	for _, l := range links {
		out = append(out, l.Follower)
	}
	return out
}

func (c *Case) slowLeader(s share) Finding {
	lag, all := c.over(s.links)
	f := Finding{
		ID: SlowLeader, Severity: SeverityWarning, Broker: inspect.Known(s.broker), Topics: lag.topics(),
		Title:    fmt.Sprintf("broker %d is slow as a leader: who follows it is %s behind on %s", s.broker, millis(s.lagMs), partitions(lag.partitions())),
		Evidence: c.slowEvidence(s.lagMs, s.links, lag),
		Explanation: fmt.Sprintf("%s lag behind it and not behind others: it serves their fetches late. It will drop them from the ISR, "+
			"though the fault is its own", capital(brokers(followersOf(s.links)))),
		Remedy: fmt.Sprintf("Look at broker %d: its disk (iostat -x 1), its network's throughput, its request handlers (RequestHandlerAvgIdlePercent). "+
			"Move leaders away from it until it is well", s.broker),
		Next:  []string{fmt.Sprintf("on broker %d: iostat -x 1", s.broker), "kafkaops describe brokers", "kafkaops lag --samples 5 --top 10"},
		class: classPace, about: lag, reach: all,
	}
	switch {
	case c.judged(func(l Link) bool { return l.Leader != s.broker }) == 0:
		f.Explanation = fmt.Sprintf("%s lag behind it. Nobody else leads anything that is written to, so that it is this broker, or more than all of them can replicate", capital(brokers(followersOf(s.links))))
	case len(s.links) == 1:
		f.Explanation = fmt.Sprintf("Broker %d lags behind it and not behind others. No other broker that follows it could be judged, so that it may be the link between the two, too", s.links[0].Follower)
	}
	return f
}

func (c *Case) slowBroker(s share) Finding {
	lag, all := c.over(s.links)
	var follows, leads []Link
	for _, l := range s.links {
		if l.Follower == s.broker {
			follows = append(follows, l)
		} else {
			leads = append(leads, l)
		}
	}
	f := Finding{
		ID: SlowBroker, Severity: SeverityWarning, Broker: inspect.Known(s.broker), Topics: lag.topics(),
		Title:       fmt.Sprintf("broker %d is slow, as a follower and as a leader: lags of %s on %s", s.broker, millis(s.lagMs), partitions(lag.partitions())),
		Evidence:    c.slowEvidence(s.lagMs, s.links, lag),
		Explanation: fmt.Sprintf("It lags behind those that it follows by %s, and those that follow it lag behind it by %s", millis(medianLag(follows)), millis(medianLag(leads))),
		Remedy: fmt.Sprintf("Look at the machine of broker %d: its disk (iostat -x 1: await, %%util), CPU, network, garbage collection. "+
			"Stopping it cleanly moves its leaders away and takes it out of the ISRs", s.broker),
		Next:  []string{fmt.Sprintf("on broker %d: iostat -x 1", s.broker), "kafkaops lag --samples 5 --top 10", fmt.Sprintf("kafkaops isr --broker %d --since 1h", s.broker)},
		class: classPace, about: lag, reach: all,
	}
	if other := s.links[0].Leader + s.links[0].Follower - s.broker; len(c.Links()) > len(s.links) {
		f.Explanation += ". The others keep up with each other. It drops its followers from the ISR though the fault is its own"
	} else if len(s.links) <= 2 {
		f.Explanation += fmt.Sprintf(". No third broker could be compared: it may be broker %d, or the link between the two, as well", other)
	}
	return f
}

func (c *Case) slowLink(l Link) Finding {
	lag, _ := c.over([]Link{l})
	// What is fetched the other way waits for answers, or requests, that come this way.
	_, all := c.over([]Link{l, {Leader: l.Follower, Follower: l.Leader}})
	f := Finding{
		ID: SlowLink, Severity: SeverityWarning, Broker: inspect.Known(l.Follower), Topics: lag.topics(),
		Title: fmt.Sprintf("the link from broker %d to broker %d is slow: %s behind on %s", l.Leader, l.Follower, millis(l.LagMs), partitions(lag.partitions())),
		Evidence: append([]Figure{{"leader", float64(l.Leader)}, {"follower", float64(l.Follower)}},
			c.slowEvidence(l.LagMs, []Link{l}, lag)...),
		Explanation: fmt.Sprintf("Broker %d keeps up with the other leaders, and the other followers of broker %d with it: what is slow lies between these two", l.Follower, l.Leader),
		Remedy:      "Look at the network between the two: loss and retransmissions (ss -ti, nstat), throughput, a firewall or a route that only they have",
		Next: []string{
			fmt.Sprintf("on broker %d: ss -ti dst HOST-OF-BROKER-%d", l.Follower, l.Leader), fmt.Sprintf("on broker %d: %s", l.Leader, nstat), "kafkaops lag --samples 5 --top 10",
		},
		class: classPace, about: lag, reach: all,
	}
	if l.RecordsPerSecond == 0 && l.WrittenPerSecond > 0 {
		f.Title = fmt.Sprintf("nothing comes from broker %d to broker %d: %s behind on %s", l.Leader, l.Follower, millis(l.LagMs), partitions(lag.partitions()))
		f.Explanation += ". Not one record came over it while it was looked: it is cut, or the fetcher of broker " + fmt.Sprint(l.Follower) + " has stopped (its log tells)"
	}
	return f
}

// slowPair is a link that is slow both ways.
func (c *Case) slowPair(l, back Link) Finding {
	both := []Link{l, back}
	lag, all := c.over(both)
	ms := max(l.LagMs, back.LagMs)
	f := c.slowLink(l)
	f.Broker = inspect.Unknown[inspect.BrokerID]()
	f.Topics, f.about, f.reach = lag.topics(), lag, all
	f.Title = fmt.Sprintf("the link between brokers %d and %d is slow, both ways: %s behind on %s", l.Leader, l.Follower, millis(ms), partitions(lag.partitions()))
	if l.RecordsPerSecond+back.RecordsPerSecond == 0 && l.WrittenPerSecond+back.WrittenPerSecond > 0 {
		f.Title = fmt.Sprintf("nothing comes through between brokers %d and %d: %s behind on %s", l.Leader, l.Follower, millis(ms), partitions(lag.partitions()))
	}
	f.Evidence = append([]Figure{{"leader", float64(l.Leader)}, {"follower", float64(l.Follower)}}, c.slowEvidence(ms, both, lag)...)
	return f
}

func (c *Case) slowAll(ms int64, links []Link) Finding {
	lag, all := c.over(links)
	return Finding{
		ID: SlowAll, Severity: SeverityWarning, Topics: lag.topics(),
		Title:    fmt.Sprintf("replication lags everywhere, by %s on %s", millis(ms), partitions(lag.partitions())),
		Evidence: c.slowEvidence(ms, links, lag),
		Explanation: "Followers lag behind all leaders alike: no broker and no link stands out. More is written than the cluster replicates, " +
			"or something that all share is slow (storage, network, a throttle)",
		Remedy: "Compare what is written with what was written before, and look at throttles; then at what the brokers share",
		Next:   []string{"kafkaops lag --samples 5 --top 10", "kafkaops describe configs"},
		class:  classPace, about: lag, reach: all,
	}
}
