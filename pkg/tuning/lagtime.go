package tuning

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// What a recommendation of a lag time needs at least.
const (
	// minEpisodes is how many independent episodes: below it a quantile of them is
	// anybody's guess.
	minEpisodes = 20
	// minLooks is how many looks fit a lag time. An age is known to one of them; and
	// short of one and a half, the pieces of a backlog look like whole answers over a
	// long link. With four, one pattern in 24 was not predicted well.
	minLooks = 5
	// maxLost is the share of excursions that were not seen to their end, above which
	// those that were may be the short ones.
	maxLost = 0.2
)

// marginPercent is how much the value is raised above the least that would have been
// within the budget, for what the future has and the window had not.
const marginPercent = 20

// Settings are those in force that have to do with the lag time. 0 is unknown.
type Settings struct {
	LagTimeMaxMs int64 // replica.lag.time.max.ms
	FetchWaitMs  int64 // replica.fetch.wait.max.ms
	// SessionTimeoutMs and HeartbeatMs are broker.session.timeout.ms and
	// broker.heartbeat.interval.ms, or zookeeper.session.timeout.ms and a third of it.
	SessionTimeoutMs, HeartbeatMs int64
}

// floorMs is the least lag time that makes sense. A broker that died is fenced after
// its session; a lag time below that would call it slow first, and the leader cannot
// tell whether it is the follower or itself that is cut off (KIP-537). Kafka refuses to
// start with less than the fetch wait.
func (s Settings) floorMs() (ms int64, assumed bool) {
	session, heartbeat, wait := s.SessionTimeoutMs, s.HeartbeatMs, s.FetchWaitMs
	if session == 0 || heartbeat == 0 {
		session, heartbeat, assumed = 9000, 2000, true
	}
	if wait == 0 {
		wait = 500
	}
	return max(session+heartbeat, 2*wait), assumed
}

// AdviseLagTime advises replica.lag.time.max.ms: the smallest candidate that keeps
// removals within the budget, with a margin, lies above the session timeout, and does
// not stall writes for longer than the budget allows.
func AdviseLagTime(r *LagResult, s Settings, g Goal, b Budget) Advice {
	a := Advice{
		Setting: "replica.lag.time.max.ms", Scope: Scope{Kind: ScopeCluster}, Current: millis(s.LagTimeMaxMs),
		Evidence: lagEvidence(r), Cost: []Cost{CostRestart},
	}
	floor, assumed := s.floorMs()
	c := chooser{r: r, floorMs: max(floor, minLooks*r.IntervalMs), ceilingMs: b.StallMs * 2 / 3, perWeek: b.RemovalsPerWeek}
	if why := c.missing(s); why != "" {
		a.Why = why
		a.StartingPoint = millis(c.startingPoint(g))
		a.Why += fmt.Sprintf(". To begin with, %s is what goal %s asks for, and not below %s: a broker that died has to be fenced before it counts as slow",
			a.StartingPoint, g, duration(c.floorMs))
		return a
	}
	chosen := c.choose(asCounted)
	if chosen < 0 {
		a.Why = c.impossible()
		return a
	}
	o := r.Candidates[chosen]
	a.Recommended = millis(o.LagTimeMaxMs)
	a.Why = c.why(o, assumed)
	a.Bound = c.bound(o)
	a.Expected = expected(r, o)
	a.Apply, a.Undo = restartSteps(a.Setting, a.Recommended), restartSteps(a.Setting, a.Current)
	if a.Recommended == a.Current {
		a.Cost, a.Apply, a.Undo = nil, nil, nil
	}
	return a
}

func millis(ms int64) string {
	if ms == 0 {
		return ""
	}
	return strconv.FormatInt(ms, 10)
}

func lagEvidence(r *LagResult) Evidence {
	e := Evidence{N: r.Episodes, WindowMs: r.ToMs - r.FromMs, Figures: []Figure{
		{"excursions", float64(r.Excursions)},
		{"excursionsBrief", float64(r.Brief)},
		{"excursionsCutOff", float64(r.CutOff)},
		{"excursionsUnhealed", float64(r.Unhealed)},
		{"longestMs", float64(r.LongestMs)},
		{"busyMs", float64(r.BusyMs)},
		{"looks", float64(r.Looks)},
		{"looksMissed", float64(r.Missed)},
		{"removalsObserved", float64(r.ObservedRemovals)},
	}}
	for _, o := range r.Candidates {
		at := "At" + millis(o.LagTimeMaxMs)
		e.Figures = append(e.Figures, Figure{"removals" + at, round(o.Removals)}, Figure{"episodes" + at, round(o.Episodes)},
			Figure{"outMs" + at, math.Round(o.OutMs)})
	}
	return e
}

// round keeps what 32 phases can tell apart from what they cannot.
func round(x float64) float64 { return math.Round(x*100) / 100 }

// chooser looks for a lag time.
type chooser struct {
	r         *LagResult
	floorMs   int64
	ceilingMs int64 // 0: none
	perWeek   float64
}

func (c *chooser) windowMs() int64 { return max(c.r.ToMs-c.r.FromMs, 1) }

func (c *chooser) weekly(n float64) float64 { return n * week / float64(c.windowMs()) }

// missing says what evidence there is not, "" where there is enough.
func (c *chooser) missing(s Settings) string {
	r := c.r
	lost := r.CutOff + r.Unhealed
	switch {
	case r.Episodes < minEpisodes:
		return fmt.Sprintf("not enough evidence: %d independent episodes in which a follower fell behind and caught up again, in %s; "+
			"%d are needed. %s", r.Episodes, duration(c.windowMs()), minEpisodes, c.howLong())
	case float64(lost) > maxLost*float64(lost+r.Excursions):
		return fmt.Sprintf("not enough evidence: %d of %d excursions were not seen to their end, and those are likely the long ones. "+
			"Find out why brokers do not answer, then record again", lost, lost+r.Excursions)
	}
	// A replay that does not tell what happened does not tell what will.
	for _, o := range r.Candidates {
		seen := float64(r.ObservedRemovals)
		if o.LagTimeMaxMs == s.LagTimeMaxMs && math.Abs(seen-o.Removals) > max(3, max(seen, o.Removals)/2) {
			return fmt.Sprintf("not enough evidence: with the value in force the replay removes %.1f replicas, and %d left the ISR. "+
				"The looks do not explain what the leaders did: take them more often than each %s", o.Removals, r.ObservedRemovals, duration(r.IntervalMs))
		}
	}
	return ""
}

// howLong says for how long to record.
func (c *chooser) howLong() string {
	if c.r.Episodes == 0 {
		// By the rule of three there may be up to three in such a window; and less than a
		// day has not seen a day's load.
		return fmt.Sprintf("Record for at least %s, under the usual load", duration(max(c.windowMs()*minEpisodes/3, minHistoryMs)))
	}
	return fmt.Sprintf("Record for about %s, under the usual load", duration(c.windowMs()*minEpisodes/int64(c.r.Episodes)))
}

// asCounted takes a count of episodes for what it is.
func asCounted(n float64) float64 { return n }

// choose returns the index of the smallest candidate that will do, -1 where there is
// none. count says what to make of the number of episodes with removals.
func (c *chooser) choose(count func(float64) float64) int {
	enough := slices.IndexFunc(c.r.Candidates, func(o LagOutcome) bool { return c.weekly(count(o.Episodes)) <= c.perWeek })
	if enough < 0 {
		return -1
	}
	// Where nothing came near the candidate, the margin is above what came nearest.
	least := min(c.r.Candidates[enough].LagTimeMaxMs, c.r.LongestMs) * (100 + marginPercent) / 100
	least = max(least, c.r.Candidates[enough].LagTimeMaxMs, c.floorMs)
	chosen := slices.IndexFunc(c.r.Candidates, func(o LagOutcome) bool { return o.LagTimeMaxMs >= least })
	if chosen >= 0 && c.ceilingMs > 0 && c.r.Candidates[chosen].LagTimeMaxMs > c.ceilingMs {
		return -1
	}
	return chosen
}

// startingPoint is the goal's, raised to what makes sense here.
func (c *chooser) startingPoint(g Goal) int64 {
	ms := int64(30_000)
	switch g {
	case GoalDurable, GoalLatency:
		ms = 10_000
	case GoalThroughput:
		ms = 45_000
	}
	for _, candidate := range CandidatesMs() {
		if candidate >= max(ms, c.floorMs) {
			return candidate
		}
	}
	return max(ms, c.floorMs)
}

// impossible says why no candidate will do, and whom to look at instead.
func (c *chooser) impossible() string {
	at := -1
	for i, o := range c.r.Candidates {
		if c.ceilingMs == 0 || o.LagTimeMaxMs <= c.ceilingMs {
			at = i
		}
	}
	if at < 0 || c.r.Candidates[at].LagTimeMaxMs < c.floorMs {
		return fmt.Sprintf("no value will do: a stall of at most %s asks for %s or less, and the session timeout and the sampling for more than %s. "+
			"Allow longer stalls, or shorten broker.session.timeout.ms", duration(c.ceilingMs*3/2), duration(c.ceilingMs), duration(c.floorMs))
	}
	o := c.r.Candidates[at]
	why := fmt.Sprintf("no value will do: with %s, the most that a stall of %s allows, replicas are removed in %.1f episodes a week, and the budget is %.4g",
		millis(o.LagTimeMaxMs), duration(c.ceilingMs*3/2), c.weekly(o.Episodes), c.perWeek)
	worst, most := int32(Unknown), 0.0
	for _, b := range c.r.Brokers {
		if b.Removals[at] > most {
			worst, most = b.Broker, b.Removals[at]
		}
	}
	if worst != Unknown {
		why += fmt.Sprintf(". Broker %d is the follower in %.0f %% of the removals: mend it first", worst, 100*most/o.Removals)
	}
	return why
}

func (c *chooser) why(o LagOutcome, assumed bool) string {
	why := fmt.Sprintf("the smallest value above %s that would have removed replicas in %.2f episodes a week (budget %.4g), with a margin of %d %%. "+
		"Leaders look for lagging followers each half of it, so one that stops is removed %s to %s after it was last caught up; writes with acks=all wait that long",
		duration(c.floorMs), c.weekly(o.Episodes), c.perWeek, marginPercent, duration(o.LagTimeMaxMs), duration(o.LagTimeMaxMs*3/2))
	if o.LagTimeMaxMs*3/2 > requestTimeoutMs {
		why += fmt.Sprintf(", longer than a producer's request.timeout.ms (%s unless it is set): it will ask again, and give up after delivery.timeout.ms (%s)",
			duration(requestTimeoutMs), duration(deliveryTimeoutMs))
	}
	if assumed {
		why += ". The session timeout is unknown: 9 s and a heartbeat each 2 s, the defaults, were taken"
	}
	return why
}

// bound is what the same reasoning comes to where removals are as rare, or as
// frequent, as the evidence allows.
func (c *chooser) bound(o LagOutcome) Bound {
	var b Bound
	if i := c.choose(atLeast); i >= 0 {
		b.Low = millis(c.r.Candidates[i].LagTimeMaxMs)
	}
	if i := c.choose(atMost); i >= 0 {
		b.High = millis(c.r.Candidates[i].LagTimeMaxMs)
	}
	b.Text = fmt.Sprintf("with %s, replicas are removed in at most %.2g episodes a week at 95 %%: %.2f of %d episodes in %s",
		millis(o.LagTimeMaxMs), c.weekly(atMost(o.Episodes)), o.Episodes, c.r.Episodes, duration(c.windowMs()))
	if o.Episodes == 0 {
		b.Text += fmt.Sprintf("; of the episodes at most %.2g %% (3/n)", 100*min(1, 3/float64(max(c.r.Episodes, 1))))
	}
	return b
}

func expected(r *LagResult, o LagOutcome) []Figure {
	weeks := float64(max(r.ToMs-r.FromMs, 1)) / week
	return []Figure{
		{"episodesPerWeek", round(o.Episodes / weeks)},
		{"removalsPerWeek", round(o.Removals / weeks)},
		{"outMsPerWeek", math.Round(o.OutMs / weeks)},
		{"stallMs", float64(o.LagTimeMaxMs * 3 / 2)},
	}
}

// restartSteps are the steps to a static setting.
func restartSteps(setting, value string) []string {
	if value == "" {
		return []string{"put the line for " + setting + " back as it was in each broker's properties file", "restart the brokers one by one"}
	}
	return []string{
		"in each broker's properties file: " + setting + "=" + value,
		"restart the brokers one by one, each when kafkaops check health finds the cluster ok",
	}
}

// duration tells a time in its largest unit that keeps two digits.
func duration(ms int64) string {
	unit := func(of int64, name string) string {
		return strconv.FormatFloat(math.Round(10*float64(ms)/float64(of))/10, 'f', -1, 64) + " " + name
	}
	switch {
	case ms < 1000:
		return unit(1, "ms")
	case ms < 2*60_000:
		return unit(1000, "s")
	case ms < 2*3_600_000:
		return unit(60_000, "min")
	case ms < 2*24*3_600_000:
		return unit(3_600_000, "h")
	default:
		return unit(24*3_600_000, "days")
	}
}
