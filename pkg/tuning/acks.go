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
		a.Why = "not observable: acks shows only while an ISR is below min.insync.replicas, and none was. Ask the producers' owners, or look at their configs"
	}
	return a
}
