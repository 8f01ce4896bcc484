package controller

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

// AlterPartition is how leaders ask for another ISR (KIP-497). It is answered
// with an [AlterPartitionReply].
type AlterPartition struct {
	BrokerID    int32
	BrokerEpoch int64
	Partitions  []ISRChange
}

// ISRChange is what a leader wants for one partition. The two epochs are those
// that it knows: it decided on that state and no other.
type ISRChange struct {
	TopicID        kraft.UUID
	Partition      int32
	LeaderEpoch    int32
	PartitionEpoch int32
	ISR            []ISRMember
	// LeaderRecoveryState is Recovered once the leader is done with the consequences
	// of an unclean election (KIP-704).
	LeaderRecoveryState kraft.RecoveryState
}

// ISRMember is a replica in the life in which its leader saw it (KIP-903).
type ISRMember struct {
	BrokerID    int32
	BrokerEpoch int64 // -1: not known, and not checked
}

// AlterPartitionReply has an answer for each partition asked about, in order.
type AlterPartitionReply struct {
	Err        *Error // for all: nothing was looked at
	Partitions []ISRResult
}

// ISRResult answers for one partition. NewLeaderElected is the one error with
// which the change was made all the same.
type ISRResult struct {
	TopicID   kraft.UUID
	Partition int32
	Err       *Error
	State     *kraft.Partition // now; nil with an error. Read-only
}

func (r AlterPartition) decide(op *operation) (reply AlterPartitionReply) {
	if _, err := op.broker(r.BrokerID, r.BrokerEpoch); err != nil {
		return AlterPartitionReply{Err: err}
	}
	for _, want := range r.Partitions {
		state, err := op.alterISR(r.BrokerID, want)
		reply.Partitions = append(reply.Partitions, ISRResult{want.TopicID, want.Partition, err, state})
	}
	return reply
}

// alterISR is Kafka's ReplicationControlManager.alterPartition for one partition.
func (op *operation) alterISR(sender int32, want ISRChange) (*kraft.Partition, *Error) {
	topic, ok := op.image.TopicByID(want.TopicID)
	if !ok {
		return nil, errorf(UnknownTopicID, "there is no topic with id %s", want.TopicID)
	}
	p, ok := topic.Partition(want.Partition)
	if !ok {
		return nil, errorf(UnknownTopicOrPartition, "there is no partition %s-%d", topic.Name, want.Partition)
	}
	if err := op.validISR(sender, p, want); err != nil {
		return nil, err
	}
	ch := op.change(topic, p)
	if op.uncleanAllowed(topic.Name) {
		ch.election = electUnclean
	}
	ch.isr, ch.recovery = memberIDs(want.ISR), want.LeaderRecoveryState
	op.apply(ch)
	after, _ := op.partition(topic.Name, want.Partition)
	if after.Leader != sender {
		// The change completed a reassignment that takes the leader away. The sender
		// must wait for metadata rather than go on as the leader of this state.
		return nil, errorf(NewLeaderElected, "the change ended a reassignment and with it the leadership of broker %d: %d leads now", sender, after.Leader)
	}
	return after, nil
}

// validISR is validateAlterPartitionData: its checks, in its order.
func (op *operation) validISR(sender int32, p *kraft.Partition, want ISRChange) *Error {
	isr := memberIDs(want.ISR)
	switch {
	case want.LeaderEpoch > p.LeaderEpoch, want.PartitionEpoch > p.PartitionEpoch:
		// The leader knows more than we do: somebody else is controller.
		return errorf(NotController, "leader epoch %d and partition epoch %d are ahead of %d and %d", want.LeaderEpoch, want.PartitionEpoch, p.LeaderEpoch, p.PartitionEpoch)
	case want.LeaderEpoch < p.LeaderEpoch:
		return errorf(FencedLeaderEpoch, "leader epoch is %d, not %d", p.LeaderEpoch, want.LeaderEpoch)
	case sender != p.Leader:
		return errorf(InvalidRequest, "broker %d leads, not broker %d", p.Leader, sender)
	case want.PartitionEpoch < p.PartitionEpoch: // compare and swap (KIP-497)
		return errorf(InvalidUpdateVersion, "partition epoch is %d, not %d", p.PartitionEpoch, want.PartitionEpoch)
	case len(isr) == 0 || hasDuplicate(isr) || len(without(isr, p.Replicas...)) > 0:
		return errorf(InvalidRequest, "ISR %v is not a set of some of the replicas %v", isr, p.Replicas)
	case !slices.Contains(isr, p.Leader):
		return errorf(InvalidRequest, "ISR %v is without the leader %d", isr, p.Leader)
	case want.LeaderRecoveryState != kraft.Recovered && want.LeaderRecoveryState != kraft.Recovering:
		return errorf(InvalidRequest, "leader recovery state %d: want 0 or 1", want.LeaderRecoveryState)
	case want.LeaderRecoveryState == kraft.Recovering && len(isr) > 1: // KIP-704
		return errorf(InvalidRequest, "ISR %v has others than a leader that is still recovering", isr)
	case p.LeaderRecoveryState == kraft.Recovered && want.LeaderRecoveryState == kraft.Recovering:
		return errorf(InvalidRequest, "a leader that has recovered cannot be recovering again")
	}
	return op.eligibleForISR(want.ISR)
}

// eligibleForISR is ineligibleReplicasForIsr: a broker that is fenced or about to
// stop may not enter (KIP-841), and neither may one that restarted since the
// leader saw it, for it may have lost what the leader knows it had (KIP-903).
func (op *operation) eligibleForISR(members []ISRMember) *Error {
	for _, m := range members {
		b, ok := op.image.Broker(m.BrokerID)
		switch {
		case !ok:
			return errorf(IneligibleReplica, "broker %d is not registered", m.BrokerID)
		case b.InControlledShutdown:
			return errorf(IneligibleReplica, "broker %d is shutting down", m.BrokerID)
		case b.Fenced:
			return errorf(IneligibleReplica, "broker %d is fenced", m.BrokerID)
		case m.BrokerEpoch != -1 && m.BrokerEpoch != b.BrokerEpoch:
			return errorf(IneligibleReplica, "broker %d has epoch %d: it restarted since the leader saw it with %d", m.BrokerID, b.BrokerEpoch, m.BrokerEpoch)
		}
	}
	return nil
}

func memberIDs(members []ISRMember) (ids []int32) {
	for _, m := range members {
		ids = append(ids, m.BrokerID)
	}
	return ids
}

func hasDuplicate(ids []int32) bool {
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	return len(slices.Compact(sorted)) < len(ids)
}
