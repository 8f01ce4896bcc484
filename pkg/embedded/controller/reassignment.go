package controller

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// AlterPartitionReassignments moves replicas to other brokers, or stops such a
// move (KIP-455). It is answered with an [AlterPartitionReassignmentsReply].
type AlterPartitionReassignments struct {
	Partitions []Reassignment
	// AllowReplicationFactorChange: a move may also change how many replicas there
	// are (KIP-860). Kafka's tools ask for it.
	AllowReplicationFactorChange bool
}

// Reassignment is the target of one partition.
type Reassignment struct {
	Topic     string
	Partition int32
	Replicas  []int32 // the first is the preferred leader; nil: cancel what is going on
}

// AlterPartitionReassignmentsReply has an answer for each partition asked about,
// in order: that the move has begun, not that it is done.
type AlterPartitionReassignmentsReply struct{ Partitions []PartitionResult }

// PartitionResult answers for one partition.
type PartitionResult struct {
	Topic     string
	Partition int32
	Err       *Error
}

func (r AlterPartitionReassignments) decide(op *operation) (reply AlterPartitionReassignmentsReply) {
	for _, target := range r.Partitions {
		err := op.reassign(target, r.AllowReplicationFactorChange)
		reply.Partitions = append(reply.Partitions, PartitionResult{target.Topic, target.Partition, err})
	}
	return reply
}

func (op *operation) reassign(target Reassignment, allowRF bool) *Error {
	p, err := op.partition(target.Topic, target.Partition)
	if err != nil {
		return err
	}
	topic, _ := op.image.Topic(target.Topic)
	if target.Replicas == nil {
		return op.cancelReassignment(topic, p)
	}
	if err := op.validAssignment(target.Replicas, 0); err != nil {
		return err
	}
	// As of the end of a move that is going on.
	if rf := len(without(p.Replicas, p.RemovingReplicas...)); !allowRF && rf != len(target.Replicas) {
		return errorf(InvalidReplicationFactor, "the replication factor would change from %d to %d, which the request does not allow", rf, len(target.Replicas))
	}
	ch := op.change(topic, p)
	ch.startReassignment(target.Replicas)
	op.apply(ch)
	return nil
}

// startReassignment sets the lists of a move (PartitionReassignmentReplicas): the
// target first, then what goes when it is reached. If that is at once, record
// finishes it in the same change. A list that comes out empty leaves the one of
// an older move, as in Kafka.
func (ch *change) startReassignment(target []int32) {
	removing, adding := without(ch.old.Replicas, target...), without(target, ch.old.Replicas...)
	slices.Sort(removing)
	slices.Sort(adding)
	ch.replicas = append(slices.Clone(target), removing...)
	if len(removing) > 0 {
		ch.removing = removing
	}
	if len(adding) > 0 {
		ch.adding = adding
	}
}

// completeReassignment ends a move if the ISR allows it
// (maybeCompleteReassignment of 4.4.0): it holds every new replica and at least
// one that stays, and all that stay if the move makes them fewer.
func (ch *change) completeReassignment() {
	if len(ch.removing) == 0 && len(ch.adding) == 0 {
		return
	}
	isr, replicas := without(ch.isr, ch.removing...), without(ch.replicas, ch.removing...)
	shrinks := len(ch.adding) < len(ch.removing)
	switch {
	case len(isr) == 0:
	case len(without(ch.adding, isr...)) > 0:
	case shrinks && len(without(replicas, isr...)) > 0:
	default:
		ch.isr, ch.replicas, ch.removing, ch.adding = isr, replicas, nil, nil
	}
}

// cancelReassignment goes back to the replicas from before
// (cancelPartitionReassignment, PartitionReassignmentRevert).
func (op *operation) cancelReassignment(topic *metadata.Topic, p *kraft.Partition) *Error {
	if len(p.AddingReplicas) == 0 && len(p.RemovingReplicas) == 0 {
		return errorf(NoReassignmentInProgress, "no reassignment of %s-%d is going on", topic.Name, p.PartitionID)
	}
	ch := op.change(topic, p)
	if op.uncleanAllowed(topic.Name) {
		ch.election = electUnclean
	}
	ch.replicas, ch.isr = without(p.Replicas, p.AddingReplicas...), without(p.ISR, p.AddingReplicas...)
	ch.removing, ch.adding = nil, nil
	if len(ch.replicas) == 0 {
		return errorf(InvalidReplicaAssignment, "%s-%d has no replicas but those being added: it cannot go back", topic.Name, p.PartitionID)
	}
	if len(ch.isr) == 0 {
		// Only new replicas are in sync: going back would lose records.
		if ch.election != electUnclean {
			return errorf(InvalidReplicaAssignment, "only added replicas of %s-%d are in sync: to go back needs an unclean leader election, which the topic does not allow", topic.Name, p.PartitionID)
		}
		ch.isr = ch.replicas[:1:1]
	}
	op.apply(ch)
	return nil
}
