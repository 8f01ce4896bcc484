package tuning

import "fmt"

// AcksEvidence is what a topic shows of how its producers write. From the broker's side
// that is one thing only: while the ISR is below its minimum a leader refuses acks=all
// and appends nothing (Partition.appendRecordsToLeader), so that what is appended then
// was written with acks=0 or acks=1.
type AcksEvidence struct {
	Topic    string
	WindowMs int64
	// UnderMinISRMs is for how long a partition that had a leader was under its minimum,
	// AppendedUnderMinISR how many records came meanwhile: only those that certainly
	// came after the leader knew of it, as in history.Stall.
	UnderMinISRMs, AppendedUnderMinISR int64
	// Canary is what was measured by writing; nil where nothing was.
	Canary *Canary
}

// Canary is how long writes to a topic took with acks=1 and with acks=all, side by side.
type Canary struct {
	Topic    string
	One, All Latency
}

// Latency is that of records from when they were due to their acknowledgement, ms.
type Latency struct {
	// Records were acknowledged, Failed were not.
	Records, Failed int
	P50Ms, P99Ms    float64
}

func (l *Latency) text(acks string) string {
	if l.Records == 0 {
		return fmt.Sprintf("with acks=%s none of %d were acknowledged", acks, l.Failed)
	}
	s := fmt.Sprintf("with acks=%s half took at most %.3g ms and 99 %% at most %.3g ms", acks, l.P50Ms, l.P99Ms)
	if l.Failed > 0 {
		s += fmt.Sprintf(" (%d of %d failed)", l.Failed, l.Records+l.Failed)
	}
	return s
}

func (l *Latency) figures(acks string) []Figure {
	return []Figure{
		{"canaryRecords" + acks, float64(l.Records)},
		{"canaryFailed" + acks, float64(l.Failed)},
		{"canaryP50Ms" + acks, l.P50Ms},
		{"canaryP99Ms" + acks, l.P99Ms},
	}
}

// notObservable says that producers are not known, and what acks=all costs where that
// was measured.
func (e *AcksEvidence) notObservable() string {
	const why = "not observable: acks shows only while an ISR is below min.insync.replicas, and none was. Ask the producers' owners, or look at their configs"
	if e.Canary == nil {
		return why
	}
	return fmt.Sprintf("writes to %s: %s, %s. That is what acks=all costs here. What producers use cannot be seen from the brokers but while an ISR is below min.insync.replicas",
		e.Canary.Topic, e.Canary.One.text("1"), e.Canary.All.text("all"))
}

// AdviseAcks advises acks. Without a time below the minimum the producers' acks cannot
// be seen, and nothing is said of them.
func AdviseAcks(e AcksEvidence) Advice {
	a := Advice{
		Setting: "acks", Scope: Scope{Kind: ScopeClient},
		Evidence: Evidence{WindowMs: e.WindowMs, Figures: []Figure{
			{"underMinIsrMs", float64(e.UnderMinISRMs)}, {"appendedUnderMinIsr", float64(e.AppendedUnderMinISR)},
		}},
	}
	if c := e.Canary; c != nil {
		a.Evidence.N = c.One.Records + c.All.Records
		a.Evidence.Figures = append(append(a.Evidence.Figures, c.One.figures("AtAcks1")...), c.All.figures("AtAcksAll")...)
	}
	switch {
	case e.AppendedUnderMinISR > 0:
		a.Evidence.N = 1
		a.Recommended = "all"
		a.Why = fmt.Sprintf("some producer of %s writes with acks=0 or acks=1: %d records were appended while its ISR was below min.insync.replicas, where acks=all is refused. "+
			"They were acknowledged without the copies that the topic asks for, and are lost where their leader is", e.Topic, e.AppendedUnderMinISR)
		a.Bound.Text = "a proof: one such record is enough. It does not tell which producer, nor how many"
		a.Cost = []Cost{CostRestart}
		a.Apply = []string{"in each producer of " + e.Topic + ": acks=all (Kafka's default since 3.0)", "restart the producers"}
		a.Undo = []string{"in those producers: acks as it was", "restart the producers"}
	case e.UnderMinISRMs > 0:
		a.Why = fmt.Sprintf("nobody wrote to %s in the %s in which its ISR was below min.insync.replicas: had there been producers without acks=all just then, their records would show. "+
			"At other times acks cannot be seen from the brokers", e.Topic, duration(e.UnderMinISRMs))
	default:
		a.Why = e.notObservable()
	}
	return a
}
