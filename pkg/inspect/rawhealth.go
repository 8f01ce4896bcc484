package inspect

import "slices"

// RawHealth judges the partition by the rules of kafka-topics.sh --describe
// (TopicCommand.PartitionDescription), for those who compare with it: replicas
// count by number, the minimum is the configured one, and a leaderless partition
// is under it whatever its ISR. Words that the tool does not have (wrong-leader,
// reassigning) are those of [Partition.Health].
//
// live says which brokers the cluster lists; the tool calls a partition
// unavailable when its leader is not among them.
func (p *Partition) RawHealth(live func(BrokerID) bool) Health {
	h := p.Health()
	rf := len(p.Replicas)
	if p.rawReassigning() {
		rf -= len(p.Adding.Or(nil))
	}
	isr := int32(len(p.ISR))
	configured, minKnown := p.MinInsyncReplicas.Get()
	is := map[Status]bool{
		StatusOffline:         p.Leader == NoBroker || !live(p.Leader),
		StatusUnderMinISR:     p.Leader == NoBroker || minKnown && isr < configured,
		StatusAtMinISR:        minKnown && isr == configured,
		StatusUnderReplicated: rf-int(isr) > 0,
		StatusUnknown:         h.Has(StatusUnknown),
		StatusWrongLeader:     h.Has(StatusWrongLeader),
		StatusReassigning:     h.Has(StatusReassigning),
	}
	h.EffectiveMinISR = p.MinInsyncReplicas
	h.Headroom = Unknown[int32]()
	if minKnown {
		h.Headroom = Known(isr - configured)
	}
	h.Status = nil
	for _, s := range statusOrder {
		if is[s] {
			h.Status = append(h.Status, s)
		}
	}
	if len(h.Status) == 0 {
		h.Status = []Status{StatusOK}
	}
	return h
}

// statusOrder is the order of the words, worst first. It is a function of the
// constants above and never changes.
var statusOrder = [...]Status{
	StatusOffline, StatusUnderMinISR, StatusAtMinISR, StatusUnderReplicated,
	StatusUnknown, StatusWrongLeader, StatusReassigning,
}

// rawReassigning is TopicCommand.isReassignmentInProgress: any replica that is
// being added or removed is still in the assignment.
func (p *Partition) rawReassigning() bool {
	for _, id := range slices.Concat(p.Adding.Or(nil), p.Removing.Or(nil)) {
		if slices.Contains(p.Replicas, id) {
			return true
		}
	}
	return false
}
