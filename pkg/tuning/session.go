package tuning

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// The limits of what is said of sessions.
const (
	// flapMs is how soon after it was fenced a broker must be back for its silence to
	// count as one that a longer session would have borne.
	flapMs = 2 * 60_000
	// minSessionHistoryMs is for how long fencings have to be known.
	minSessionHistoryMs = 24 * 3_600_000
)

// Fencing is a broker that the controller heard nothing of for a whole session.
type Fencing struct {
	Broker int32
	// AtMs is when it was fenced, BackMs when it was unfenced, 0 where it was not.
	AtMs, BackMs int64
	// Restarted is set where it came back as another incarnation, with a new broker
	// epoch: then it was down, and no session is long enough for that.
	Restarted bool
	// RestartUnknown is set where nobody knows that. Then it counts for nothing.
	RestartUnknown bool
}

// FencingHistory is all that was fenced in [FromMs, ToMs).
type FencingHistory struct {
	FromMs, ToMs int64
	Fencings     []Fencing
	// SessionTimeoutMs is what was in force.
	SessionTimeoutMs int64
	// Setting is its name, "" for broker.session.timeout.ms.
	Setting string
}

// AdviseSession advises broker.session.timeout.ms: the smallest value, from the one in
// force on, with which brokers that only stalled would have been fenced as rarely as
// the budget wants. A shorter one cannot be judged: silences that did not last a
// session leave no trace in the metadata.
func AdviseSession(h *FencingHistory, b Budget) Advice {
	a := Advice{
		Setting: cmp.Or(h.Setting, "broker.session.timeout.ms"), Scope: Scope{Kind: ScopeCluster}, Current: millis(h.SessionTimeoutMs),
	}
	silences, worst := h.silences()
	windowMs := max(h.ToMs-h.FromMs, 1)
	unclear := 0
	for _, f := range h.Fencings {
		if f.RestartUnknown {
			unclear++
		}
	}
	a.Evidence = Evidence{N: len(silences), WindowMs: windowMs, Figures: []Figure{
		{"fencings", float64(len(h.Fencings))}, {"fencingsUnclear", float64(unclear)}, {"silentMsLongest", float64(longest(silences))},
	}}
	switch {
	case unclear > 0:
		a.Why = fmt.Sprintf("not enough evidence: %d times a broker was fenced or gone for a while, and only the metadata log tells one that stalled from one that was started again. "+
			"Record with credentials that may read it: kafkaops record FILE --for 24h", unclear)
		return a
	case h.SessionTimeoutMs == 0:
		a.Why = "not enough evidence: the value in force is unknown, and so is how long who was fenced had been silent"
		return a
	case windowMs < minSessionHistoryMs:
		a.Why = fmt.Sprintf("not enough evidence: fencings are known for %s, and a day is needed: kafkaops record FILE --for 24h", duration(windowMs))
		return a
	}
	weekly := func(sessionMs int64) float64 {
		n := 0
		for _, ms := range silences {
			if ms >= sessionMs {
				n++
			}
		}
		return float64(n) * week / float64(windowMs)
	}
	for _, ms := range sessionCandidates(h.SessionTimeoutMs) {
		if weekly(ms) > b.RemovalsPerWeek {
			continue
		}
		a.Recommended = strconv.FormatInt(ms, 10)
		a.Why = fmt.Sprintf("brokers that stalled, and were back within %s, would have been fenced %.2g times a week (budget %.4g); with %s they were %.2g times",
			duration(flapMs), weekly(ms), b.RemovalsPerWeek, a.Current, weekly(h.SessionTimeoutMs))
		a.Expected = []Figure{{"fencingsPerWeek", round(weekly(ms))}, {"leaderlessMs", float64(ms)}}
		a.Bound.Text = fmt.Sprintf("at most %.2g times a week at 95 %%", atMost(weekly(ms)*float64(windowMs)/week)*week/float64(windowMs))
		if a.Recommended != a.Current {
			a.Why += fmt.Sprintf(". A broker that died leads nothing only after %s: writes to its partitions wait that long. Keep replica.lag.time.max.ms above it", duration(ms))
			a.Cost = []Cost{CostRestart}
			a.Apply, a.Undo = sessionSteps(a.Setting, a.Recommended), sessionSteps(a.Setting, a.Current)
		}
		return a
	}
	a.Why = fmt.Sprintf("no value will do: brokers fall silent for longer than %s, more often than %.4g times a week. Broker %d does so most: mend it first "+
		"(garbage collection, a disk that stalls, a machine that is swapped or migrated)", duration(maxSessionMs), b.RemovalsPerWeek, worst)
	return a
}

// silences are how long those were silent that only stalled, at the least, and which
// broker was so most often.
func (h *FencingHistory) silences() (ms []int64, worst int32) {
	times := map[int32]int{}
	worst = Unknown
	for _, f := range h.Fencings {
		if f.Restarted || f.RestartUnknown || f.BackMs == 0 || f.BackMs-f.AtMs > flapMs {
			continue
		}
		ms = append(ms, h.SessionTimeoutMs+f.BackMs-f.AtMs)
		times[f.Broker]++
		if n := times[f.Broker]; worst == Unknown || n > times[worst] || n == times[worst] && f.Broker < worst {
			worst = f.Broker
		}
	}
	slices.Sort(ms)
	return ms, worst
}

func longest(sorted []int64) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[len(sorted)-1]
}

// maxSessionMs is the longest session that is advised: beyond it a broker that died
// takes its partitions with it for too long.
const maxSessionMs = 45_000

func sessionCandidates(current int64) []int64 {
	out := []int64{current}
	for _, ms := range []int64{6000, 9000, 12_000, 15_000, 18_000, 24_000, 30_000, 36_000, maxSessionMs} {
		if ms > current {
			out = append(out, ms)
		}
	}
	return out
}

// zkSession is the name where ZooKeeper keeps the sessions, and each broker asks for its own.
const zkSession = "zookeeper.session.timeout.ms"

func sessionSteps(setting, value string) []string {
	if setting == zkSession {
		return restartSteps(setting, value)
	}
	return []string{
		"in each controller's properties file: " + setting + "=" + value,
		"restart the controllers one by one, the active one last",
	}
}
