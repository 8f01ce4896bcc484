package tuning

import (
	"fmt"
	"strconv"
)

// minHistoryMs is for how long ISRs have to be known before their replay counts: less
// has not even seen a day's load.
const minHistoryMs = 24 * 3_600_000

// TopicSettings are a topic's, as they are in force.
type TopicSettings struct {
	Topic string
	// MinISR is min.insync.replicas, 0 where it is unknown. OfTopic is set where it is
	// the topic's own and not the cluster's.
	MinISR  int
	OfTopic bool
	// Unclean is unclean.leader.election.enable.
	Unclean bool
	// ELR is set where eligible leader replicas are in use (KIP-966).
	ELR bool
}

// AdviseMinISR advises min.insync.replicas of a topic: the greatest value below the
// replication factor whose refusals stay within the budget.
func AdviseMinISR(h *ISRHistory, s TopicSettings, b Budget) Advice {
	r := h.Replay()
	a := Advice{
		Setting: "min.insync.replicas", Scope: Scope{Kind: ScopeTopic, Name: s.Topic},
		Evidence: minISREvidence(&r), Cost: []Cost{CostDynamic},
	}
	if s.MinISR > 0 {
		a.Current = strconv.Itoa(s.MinISR)
	}
	if s.ELR {
		a.Cost = append(a.Cost, CostClearsELR)
	}
	switch {
	case r.Partitions == 0:
		a.Why = "not enough evidence: no partition of it was seen"
		return a
	case r.MinRF < 2:
		a.Why = "with one replica there is nothing to be in sync with: whatever the value, it counts as 1. Raise the replication factor first"
		return a
	case r.KnownMs < minHistoryMs:
		a.Why = fmt.Sprintf("not enough evidence: its ISRs are known for %s, and a day is needed. To begin with, one less than the replicas: one broker may be down",
			duration(r.KnownMs))
		a.StartingPoint = strconv.Itoa(max(1, r.MinRF-1))
		return a
	}
	chosen := r.choose(b)
	if chosen == 0 {
		a.Why = r.refuses(b)
		return a
	}
	a.Recommended = strconv.Itoa(chosen)
	o := r.ByMinISR[chosen-1]
	a.Why = fmt.Sprintf("a write that was acknowledged with acks=all is on %s. Writes would have been refused for %s in %s, as %s",
		copies(chosen), duration(o.RefusedMs), duration(r.KnownMs), r.whatHappened())
	if r.MinRF == 2 {
		a.Why += ". With two replicas 2 would stop writes whenever one of them is out, and 1 leaves a single copy then: three replicas allow for both"
	}
	if r.AssignedRacks > 0 && r.AssignedRacks < chosen {
		a.Why += fmt.Sprintf(". Some partition's replicas are in %d racks only, so that these copies may be lost together", r.AssignedRacks)
	}
	a.Bound = Bound{Low: a.Recommended, High: a.Recommended, Text: fmt.Sprintf("refused at most %.2g times a week at 95 %%: %d times in %s",
		atMost(float64(o.Refusals))*week/float64(r.KnownMs), o.Refusals, duration(r.KnownMs))}
	a.Expected = []Figure{{"refusedMsPerWeek", perWeek(o.RefusedMs, r.KnownMs)}, {"copiesOfAcknowledged", float64(chosen)}}
	if a.Recommended == a.Current {
		a.Cost = nil
		return a
	}
	a.Apply = []string{alterTopic(s.Topic, "--add-config min.insync.replicas="+a.Recommended)}
	if s.OfTopic {
		a.Undo = []string{alterTopic(s.Topic, "--add-config min.insync.replicas="+a.Current)}
	} else {
		a.Undo = []string{alterTopic(s.Topic, "--delete-config min.insync.replicas")}
	}
	return a
}

// choose returns the value, 0 where none will do.
func (r *ISRReplay) choose(b Budget) int {
	for m := r.MinRF - 1; m >= 2; m-- {
		if perWeek(r.ByMinISR[m-1].RefusedMs, r.KnownMs) <= float64(b.RefusedMsPerWeek) {
			return m
		}
	}
	if r.MinRF == 2 {
		return 1
	}
	return 0
}

func (r *ISRReplay) refuses(b Budget) string {
	o := r.ByMinISR[1]
	return fmt.Sprintf("no value will do: 2 would have refused writes for %s in %s, more than %s a week, and 1 leaves acknowledged writes on a single copy. "+
		"Mend the brokers that leave ISRs together first, or allow longer refusals", duration(o.RefusedMs), duration(r.KnownMs), duration(b.RefusedMsPerWeek))
}

func (r *ISRReplay) whatHappened() string {
	return fmt.Sprintf("%d times an ISR shrank, at most %d replicas of a partition were out at once, and some partition had one copy for %s",
		r.Shrinks, r.WorstLoss, duration(r.OneCopyMs))
}

func copies(n int) string {
	if n == 1 {
		return "one copy at least"
	}
	return fmt.Sprintf("%d copies at least", n)
}

func perWeek(ms, windowMs int64) float64 {
	return round(float64(ms) * week / float64(max(windowMs, 1)))
}

func minISREvidence(r *ISRReplay) Evidence {
	e := Evidence{N: r.Shrinks, WindowMs: r.KnownMs, Figures: []Figure{
		{"partitions", float64(r.Partitions)},
		{"oneCopyMs", float64(r.OneCopyMs)},
		{"leaderlessMs", float64(r.LeaderlessMs)},
		{"worstLoss", float64(r.WorstLoss)},
		{"racksInSync", float64(r.MinRacks)},
		{"racksAssigned", float64(r.AssignedRacks)},
	}}
	for _, o := range r.ByMinISR {
		at := "At" + strconv.Itoa(o.MinISR)
		e.Figures = append(e.Figures, Figure{"refusedMs" + at, float64(o.RefusedMs)}, Figure{"partitionRefusedMs" + at, float64(o.PartitionRefusedMs)},
			Figure{"refusals" + at, float64(o.Refusals)})
	}
	return e
}

func alterTopic(topic, change string) string {
	return "kafka-configs.sh --bootstrap-server HOST:PORT --alter --topic " + topic + " " + change
}
