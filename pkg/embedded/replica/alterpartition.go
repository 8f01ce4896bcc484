package replica

import "slices"

// proposal is an AlterPartition without answer.
type proposal struct {
	AlterPartition
	// joins is who expands the ISR, NoBroker in a shrink.
	joins BrokerID
}

// propose asks the controller for this ISR (Partition.prepareIsrExpand,
// prepareIsrShrink). Kafka's comes out of a set whose order is that of the ids, as long
// as they are below 16.
func (r *Replica) propose(ids []BrokerID, joins BrokerID) {
	r.proposals++
	p := &proposal{joins: joins, AlterPartition: AlterPartition{
		Proposal: r.proposals, LeaderEpoch: r.leaderEpoch, PartitionEpoch: r.partitionEpoch, ISR: make([]Member, len(ids)),
	}}
	for i, id := range slices.Sorted(slices.Values(ids)) {
		p.ISR[i] = Member{ID: id, BrokerEpoch: r.brokerEpoch(id)}
	}
	r.leader.isr.pending = p
	r.emit(p.AlterPartition)
}

// brokerEpoch is Partition.addBrokerEpochToIsr.
func (r *Replica) brokerEpoch(id BrokerID) int64 {
	if f := r.leader.remote(id); f != nil {
		return max(f.brokerEpoch, NoBrokerEpoch)
	}
	b, ok := r.cfg.Brokers.Broker(id)
	if id != r.cfg.Self || !ok {
		return NoBrokerEpoch
	}
	return b.Epoch
}

// alterPartitionResponse is what follows from the answer
// (Partition.handleAlterPartitionUpdate, handleAlterPartitionError). An answer to
// a proposal that newer metadata has overtaken is ignored.
func (r *Replica) alterPartitionResponse(in AlterPartitionResponse) {
	if r.leader == nil || !r.leader.isr.inFlight() || r.leader.isr.pending.Proposal != in.Proposal {
		return
	}
	s := &r.leader.isr
	if in.Err != None {
		r.emit(ISRChanged{What: ISRFailed})
	}
	switch in.Err {
	case None:
		r.isrAnswered(in)
	case OperationNotAttempted, IneligibleReplica:
		// Nothing has changed, and asking the same again would not help.
		s.commit(s.committed, r.nowMs)
	case UnknownTopicID, UnknownTopicOrPartition, FencedLeaderEpoch, InvalidUpdateVersion, InvalidRequest,
		NewLeaderElected:
		// The controller knows something newer. Until the metadata says what, the
		// proposal might yet be in force: stay pending.
	default:
		r.emit(s.pending.AlterPartition)
	}
}

func (r *Replica) isrAnswered(in AlterPartitionResponse) {
	s := &r.leader.isr
	if in.LeaderEpoch != r.leaderEpoch || in.PartitionEpoch < r.partitionEpoch {
		r.emit(ISRChanged{What: ISRFailed})
		return
	}
	what := ISRShrunk
	if s.pending.joins != NoBroker {
		what = ISRExpanded
	}
	r.partitionEpoch = in.PartitionEpoch
	s.commit(in.ISR, r.nowMs)
	r.emit(ISRChanged{What: what})
	// A shrink lets the HW go on without those who lagged; so may an expansion,
	// where it lifts the ISR to the minimum.
	r.maybeAdvanceHW()
}
