package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// What is said of brokers that come and go.
const (
	// Flapping: the controller fences it again and again, and it was there all the time.
	Flapping ID = "flapping"
	// Restarting: it ends and is started, again and again.
	Restarting ID = "restarting"
)

// absence is a time for which a broker was fenced.
type absence struct {
	since time.Time
	// back: it has come back, and alive that it was the same process; lasted is then how
	// long it was fenced.
	back, alive bool
	lasted      time.Duration
}

// leastAbsences is how often it takes: once is an incident, and not a habit.
const leastAbsences = 2

// findFlapping looks for brokers that were fenced again and again.
func findFlapping(c *Case) []Finding {
	by := c.absences()
	for id, b := range c.brokers {
		// What the looks saw counts where the history is not known.
		if len(by[id]) < b.falls && !c.known {
			by[id] = make([]absence, b.falls)
		}
	}
	var out []Finding
	for id, all := range by {
		alive := 0
		for _, a := range all {
			if a.alive {
				alive++
			}
		}
		if len(all) >= leastAbsences {
			out = append(out, c.flapping(id, all, alive))
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return a.compare(&b) })
	return out
}

// absences are those that the history tells of. A broker that is fenced leaves all its ISRs
// at once, and comes back to each when it has caught up with it.
func (c *Case) absences() map[inspect.BrokerID][]absence {
	out := map[inspect.BrokerID][]absence{}
	leave := func(id inspect.BrokerID, at time.Time) {
		all := out[id]
		if n := len(all); n > 0 && !all[n-1].back {
			return // another partition of it
		}
		out[id] = append(all, absence{since: at})
	}
	for i := range c.events {
		e := &c.events[i]
		switch {
		case len(e.Brokers) == 0:
		case e.Cause == inspect.CauseBrokerFenced && e.Type == inspect.IsrShrink:
			for _, id := range e.Brokers {
				leave(id, e.Time)
			}
		case e.Cause == inspect.CauseBrokerFenced && e.Type == inspect.IsrLeader:
			leave(e.Brokers[0], e.Time) // who led before
		case e.Type == inspect.IsrExpand, e.Type == inspect.IsrLeader && e.Cause == inspect.CauseBrokerReturned:
			for _, id := range e.Brokers {
				all := out[id]
				if n := len(all); n > 0 && !all[n-1].back {
					a := &all[n-1]
					a.back = true
					a.lasted, a.alive = e.FencedFor.Get()
				}
			}
		}
	}
	return out
}

func (c *Case) flapping(id inspect.BrokerID, all []absence, alive int) Finding {
	hosted, led := c.hosted(id)
	window := c.window()
	if c.known {
		window = c.until.Sub(c.since)
	}
	moves := 0
	for _, of := range c.partitions {
		for _, p := range of.All {
			moves += p.moves
		}
	}
	f := Finding{
		ID: Flapping, Severity: SeverityWarning, Broker: inspect.Known(id), Topics: hosted.topics(),
		Title:    fmt.Sprintf("broker %d was fenced %s in %s, and was there all the time", id, count(len(all), "time", "times"), lasting(window)),
		Evidence: []Figure{{"fencings", float64(len(all))}, {"sameProcess", float64(alive)}, {"leaderChanges", float64(moves)}, {"windowMs", float64(window.Milliseconds())}},
		Explanation: fmt.Sprintf("The controller heard no heartbeat from it for broker.session.timeout.ms%s, took its leaders away, and let it in again: it pauses, or the way to the controller is slow, or the session is too short for either",
			c.setting("broker.session.timeout.ms")),
		Remedy: "Look for pauses (its GC log) and at the network between it and the controllers. If neither can be mended, a longer session bears it: kafkaops tune says how long",
		Next:   []string{fmt.Sprintf("kafkaops isr --broker %d --since 1h", id), "kafkaops tune --for 5m"},
		class:  classRoot, about: hosted, reach: hosted.with(led),
	}
	var longest time.Duration
	for _, a := range all {
		longest = max(longest, a.lasted)
	}
	if longest > 0 {
		f.Evidence = append(f.Evidence, Figure{"longestMs", float64(longest.Milliseconds())})
	}
	switch {
	case c.known && alive == 0:
		f.ID = Restarting
		f.Title = fmt.Sprintf("broker %d went away %s in %s, and came back as a new process", id, count(len(all), "time", "times"), lasting(window))
		f.Explanation = "It ends without saying so and is started again: a crash, the kernel's OOM killer, a supervisor's probe that is too strict"
		f.Remedy = "Find out from its log and its host (dmesg, journalctl) why it ends"
		f.Next = []string{fmt.Sprintf("on broker %d: journalctl -u kafka --since -1h; dmesg -T | grep -i kill", id), fmt.Sprintf("kafkaops isr --broker %d --since 1h", id)}
	case !c.known:
		f.Title = fmt.Sprintf("broker %d went away %s in %s and came back", id, count(len(all), "time", "times"), lasting(window))
		f.Explanation += ". Whether it was started again in between is not to be seen without the ISR's history"
	}
	return f
}
