package diagnose

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// What is said of the controllers.
const (
	// NoController: nobody leads the quorum.
	NoController ID = "no-controller"
	// QuorumAtRisk: the next loss, or this one, leaves no majority.
	QuorumAtRisk ID = "quorum-at-risk"
	// VoterLost: a voter is missing, and another may be lost.
	VoterLost ID = "voter-lost"
	// ControllerMoves: the active controller changed while it was looked.
	ControllerMoves ID = "controller-moves"
	// ClockSkew: the controller's clock is another one than this machine's.
	ClockSkew ID = "clock-skew"
)

// findController looks at the quorum.
func findController(c *Case) []Finding {
	q, ok := c.last.Quorum.Get()
	if !ok {
		return nil
	}
	f := Finding{class: classRoot, Next: []string{"kafkaops describe quorum", "kafkaops describe quorum --controller HOST:PORT"}}
	if q.Leader == inspect.NoBroker {
		f.ID, f.Severity = NoController, SeverityCritical
		f.Title = "no active controller answers: no leader can be elected and no ISR can change"
		f.Evidence = []Figure{{"brokersAsked", float64(len(q.Silent))}}
		f.Explanation = "Brokers go on with the leaders that they have. Whoever fails now is not replaced, and whoever catches up does not come back into the ISR"
		f.Remedy = "Bring a majority of the controllers up. Their own listener tells who is left"
		f.reach = c.undecided()
		return []Finding{f}
	}
	var out []Finding
	if missing := missingVoters(&q); len(missing) > 0 {
		left, known := q.Tolerates().Get()
		f.Evidence = []Figure{{"voters", float64(len(q.Voters))}, {"missing", float64(len(missing))}}
		f.Explanation = strings.Join(missing, "; ")
		f.Remedy = "Start it, or see on its host why it does not fetch"
		switch {
		case !known:
		case left > 0:
			f.ID, f.Severity = VoterLost, SeverityWarning
			f.Title = fmt.Sprintf("the controller quorum has lost %d of %d voters, and can lose %d more", len(missing), len(q.Voters), left)
		default:
			f.ID, f.Severity = QuorumAtRisk, SeverityCritical
			f.Title = fmt.Sprintf("the controller quorum has lost %d of %d voters: after the next loss no leader can be elected", len(missing), len(q.Voters))
			if left < 0 {
				f.Title = fmt.Sprintf("the controller quorum has lost %d of %d voters, which leaves no majority", len(missing), len(q.Voters))
			}
		}
		if f.ID != "" {
			out = append(out, f)
		}
	}
	return append(out, append(c.controllerMoves(), c.clockSkew()...)...)
}

// undecided are replicas for which something would be decided: who has caught up comes
// back, and who can lead leads.
func (c *Case) undecided() replicaSet {
	out := replicaSet{}
	for p := range c.last.Partitions {
		if p.Leader == inspect.NoBroker {
			out.add(p, p.Replicas...)
		}
		for _, r := range p.Lag().Replicas {
			if !r.InSync && r.CaughtUp.Or(false) {
				out.add(p, r.Broker)
			}
		}
	}
	return out
}

// missingVoters says of each that the quorum cannot count on what is wrong with it.
func missingVoters(q *inspect.Quorum) []string {
	var out []string
	for i := range q.Voters {
		v := &q.Voters[i]
		switch q.State(v) {
		case inspect.VoterLost:
			if age, ok := q.Age(v.LastFetch).Get(); ok {
				out = append(out, fmt.Sprintf("Controller %d has not fetched for %s", v.ID, lasting(age)))
			} else {
				out = append(out, fmt.Sprintf("Controller %d has not fetched once since %d leads", v.ID, q.Leader))
			}
		case inspect.VoterBehind:
			out = append(out, fmt.Sprintf("Controller %d is %d records behind", v.ID, q.Lag(v).Or(0)))
		}
	}
	return out
}

func (c *Case) controllerMoves() []Finding {
	n := c.quorum.moves
	if n == 0 {
		return nil
	}
	severity := SeverityWarning
	if n == 1 {
		severity = SeverityInfo // a restart, say
	}
	return []Finding{{
		ID: ControllerMoves, Severity: severity, class: classRoot,
		Title:       fmt.Sprintf("the active controller changed %s in %s", count(n, "time", "times"), lasting(c.window())),
		Evidence:    []Figure{{"changes", float64(n)}, {"windowMs", float64(c.window().Milliseconds())}},
		Explanation: "While there is none, no leader is elected and no ISR changes. A controller that loses its quorum again and again has a slow disk or network, or pauses",
		Remedy:      "Look at the controllers' logs for why they resign, and at their disks: every decision waits for an fsync (controller.quorum.fetch.timeout.ms, controller.quorum.election.timeout.ms)",
		Next:        []string{"kafkaops describe quorum --watch"},
	}}
}

// leastSkew is what is not taken for the time that an answer takes.
const leastSkew = 5 * time.Second

func (c *Case) clockSkew() []Finding {
	skew, ok := c.quorum.skew.Get()
	if !ok || skew.Abs() < leastSkew {
		return nil
	}
	way := "ahead of"
	if skew < 0 {
		way = "behind"
	}
	id := c.quorum.leader
	return []Finding{{
		ID: ClockSkew, Severity: SeverityWarning, Broker: inspect.Known(id), class: classRoot,
		Title:       fmt.Sprintf("the clock of controller %d is %s %s this machine's", id, lasting(skew.Abs()), way),
		Evidence:    []Figure{{"skewMs", float64(skew.Milliseconds())}},
		Explanation: "One of the two is wrong. Times in the ISR's history are the controller's; brokers whose clocks are wrong delete records too early or too late, and refuse tokens and certificates that are valid",
		Remedy:      "See which is wrong (chronyc tracking, timedatectl) on both, and on the brokers",
		Next:        []string{"on controller " + strconv.Itoa(int(id)) + ": chronyc tracking"},
	}}
}

func (c *Case) quorumMissing() string {
	if c.last.Quorum.IsKnown() {
		return ""
	}
	if slices.ContainsFunc(c.last.Failures, func(f inspect.Failure) bool { return f.Request == "DescribeQuorum" }) {
		return "DescribeQuorum was not answered"
	}
	return "the cluster has none that can be asked, or it was not asked"
}
