package diagnose

import (
	"fmt"
	"slices"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/history"
)

// What is said of replicas that are out of the ISR.
const (
	// ReplicaOut: out, and why is not known.
	ReplicaOut ID = "replica-out"
	// CatchingUp: out, and on its way back.
	CatchingUp ID = "catching-up"
	// CannotCatchUp: out, and what it takes in is less than what is written.
	CannotCatchUp ID = "cannot-catch-up"
)

// outReplica is a replica that is out of the ISR, with how it moves.
type outReplica struct {
	p      *inspect.Partition
	lag    inspect.Opt[int64]
	move   history.CatchUp
	append inspect.Opt[float64]
}

// findOut looks at each broker's replicas that are out of their ISRs: whether they come
// back, when, or whether they never will.
func findOut(c *Case) []Finding {
	by := map[inspect.BrokerID][]outReplica{}
	for p := range c.last.Partitions {
		h := p.Health()
		if len(h.OutOfSync) == 0 {
			continue
		}
		lag := p.Lag()
		for _, id := range h.OutOfSync {
			o := outReplica{p: p, move: c.past.CatchUp(p.Topic, p.Index, id, 0), append: c.past.Rates(p.Topic, p.Index, 0).AppendPerSec}
			for i := range lag.Replicas {
				if lag.Replicas[i].Broker == id {
					o.lag = lag.Replicas[i].Lag
				}
			}
			by[id] = append(by[id], o)
		}
	}
	var out []Finding
	for id, all := range by {
		var back, never, rest []outReplica
		for _, o := range all {
			switch {
			case o.never():
				never = append(never, o)
			case o.comesBack():
				back = append(back, o)
			default:
				rest = append(rest, o)
			}
		}
		if len(never) > 0 {
			out = append(out, c.cannotCatchUp(id, never))
		}
		if len(back) > 0 {
			out = append(out, c.catchingUp(id, back))
		}
		if len(rest) > 0 {
			out = append(out, c.replicaOut(id, rest))
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return a.compare(&b) })
	return out
}

// never: it takes in less than is written, so that its lag grows for as long as that is so.
func (o *outReplica) never() bool {
	fetch, ok := o.move.FetchPerSec.Get()
	wrote, known := o.append.Get()
	return ok && known && wrote > 0 && fetch < wrote && o.move.Trend == history.TrendGrowing
}

func (o *outReplica) comesBack() bool {
	return o.move.Trend == history.TrendDraining && o.move.RemainingMs.IsKnown() || o.move.Trend == history.TrendCaughtUp
}

func setOf(id inspect.BrokerID, all []outReplica) replicaSet {
	s := replicaSet{}
	for _, o := range all {
		s.add(o.p, id)
	}
	return s
}

// least is what the smallest ISR of the partitions means.
func severityOf(all []outReplica) Severity {
	for _, o := range all {
		if h := o.p.Health(); o.p.OneCopyLeft() || h.Headroom.Or(0) < 0 {
			return SeverityCritical
		}
	}
	return SeverityWarning
}

func (c *Case) cannotCatchUp(id inspect.BrokerID, all []outReplica) Finding {
	about := setOf(id, all)
	var lag int64
	var fetch, wrote float64
	for _, o := range all {
		lag, fetch, wrote = lag+o.lag.Or(0), fetch+o.move.FetchPerSec.Or(0), wrote+o.append.Or(0)
	}
	return Finding{
		ID: CannotCatchUp, Severity: severityOf(all), Broker: inspect.Known(id), Topics: about.topics(),
		Title: fmt.Sprintf("broker %d will not catch up on %s: it takes in %s, and %s are written", id, partitions(len(all)), perSecond(fetch), perSecond(wrote)),
		Evidence: []Figure{
			{"replicas", float64(len(about))},
			{"records", float64(lag)},
			{"takenInPerSecond", round(fetch)},
			{"writtenPerSecond", round(wrote)},
			{"windowMs", float64(c.window().Milliseconds())},
		},
		Explanation: fmt.Sprintf("They are out of the ISR, %d records behind, and get further behind for as long as it goes on like this", lag),
		Remedy:      "Look for a replication throttle that was left, and whether more fetchers would help; then at the broker's disk and network",
		Next:        []string{"kafkaops describe configs", "kafkaops describe reassignments", fmt.Sprintf("on broker %d: iostat -x 1", id)},
		class:       classReplica, about: about, reach: about,
	}
}

func (c *Case) catchingUp(id inspect.BrokerID, all []outReplica) Finding {
	about := setOf(id, all)
	var lag, remaining int64
	for _, o := range all {
		lag, remaining = lag+o.lag.Or(0), max(remaining, o.move.RemainingMs.Or(0))
	}
	return Finding{
		ID: CatchingUp, Severity: SeverityInfo, Broker: inspect.Known(id), Topics: about.topics(),
		Title: fmt.Sprintf("broker %d is catching up on %s: %s at this rate", id, partitions(len(all)), lasting(time.Duration(remaining)*time.Millisecond)),
		Evidence: []Figure{
			{"replicas", float64(len(about))}, {"records", float64(lag)}, {"remainingMs", float64(remaining)},
		},
		Explanation: "They are out of the ISR and take in more than is written: they will be back by themselves",
		Remedy:      "Wait. Restart no other broker until they are back",
		Next:        []string{"kafkaops lag --watch"},
		class:       classReplica, about: about, reach: about,
	}
}

func (c *Case) replicaOut(id inspect.BrokerID, all []outReplica) Finding {
	about := setOf(id, all)
	return Finding{
		ID: ReplicaOut, Severity: severityOf(all), Broker: inspect.Known(id), Topics: about.topics(),
		Title:       fmt.Sprintf("broker %d is out of the ISR of %s", id, partitions(len(all))),
		Evidence:    []Figure{{"replicas", float64(len(about))}},
		Explanation: "Each of them has one copy less than it was given",
		Remedy:      "See since when and why, and whether it catches up",
		Next:        []string{fmt.Sprintf("kafkaops isr --broker %d --since 1h", id), "kafkaops lag --samples 5 --top 10"},
		class:       classReplica, about: about, reach: about,
	}
}
