package controller

import (
	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// CreatePartitions adds partitions to topics. It is answered with a
// [CreatePartitionsReply].
type CreatePartitions struct {
	Topics       []MorePartitions
	ValidateOnly bool
}

// MorePartitions says how many one topic is to have.
type MorePartitions struct {
	Topic       string
	Count       int32     // in all
	Assignments [][]int32 // of the new ones; nil: placed
}

// CreatePartitionsReply has an answer for each topic, in order: the total it has
// now.
type CreatePartitionsReply struct{ Topics []TopicResult }

// decide is ReplicationControlManager.createPartitions.
func (r CreatePartitions) decide(op *operation) (reply CreatePartitionsReply) {
	for _, more := range r.Topics {
		result := TopicResult{Name: more.Topic}
		if topic, ok := op.image.Topic(more.Topic); ok {
			result.ID, result.Err = topic.ID, op.addPartitions(topic, more)
		} else {
			result.Err = errorf(UnknownTopicOrPartition, "there is no topic %q", more.Topic)
		}
		if result.Err == nil {
			result.NumPartitions = more.Count
		}
		reply.Topics = append(reply.Topics, result)
	}
	if r.ValidateOnly {
		op.rollback()
	}
	return reply
}

func (op *operation) addPartitions(topic *metadata.Topic, more MorePartitions) *Error {
	have := int32(topic.Len())
	additional := int(more.Count) - int(have)
	switch {
	case additional <= 0:
		return errorf(InvalidPartitions, "topic %q has %d partitions: %d would not be more", topic.Name, have, more.Count)
	case additional > maxPartitionsPerRequest:
		return errorf(PolicyViolation, "%d partitions in one request: at most %d are allowed", additional, maxPartitionsPerRequest)
	case more.Assignments != nil && len(more.Assignments) != additional:
		return errorf(InvalidReplicaAssignment, "topic %q: %d assignments for %d more partitions", topic.Name, len(more.Assignments), additional)
	}
	first, _ := topic.Partition(0)
	rf := len(first.Replicas)
	var partitions []*kraft.Partition
	var err *Error
	if more.Assignments == nil {
		partitions, err = op.placed(have, additional, rf)
	}
	for i, replicas := range more.Assignments {
		if err = op.validAssignment(replicas, rf); err != nil {
			break
		}
		var p *kraft.Partition
		if p, err = op.newPartition(have+int32(i), replicas, InvalidReplicaAssignment); err != nil {
			break
		}
		partitions = append(partitions, p)
	}
	if err != nil {
		return err
	}
	for _, p := range partitions {
		p.TopicID = topic.ID
		op.write(p)
	}
	return nil
}

// assigned builds the partitions of a manual assignment, which must number them
// from 0 without a gap.
func (op *operation) assigned(t NewTopic) (all []*kraft.Partition, err *Error) {
	rf := 0 // as the first one
	for i := range int32(len(t.Assignments)) {
		replicas, ok := t.Assignments[i]
		if !ok {
			return nil, errorf(InvalidReplicaAssignment, "topic %q: partition %d is not assigned: they must go from 0 without a gap", t.Name, i)
		}
		if err := op.validAssignment(replicas, rf); err != nil {
			return nil, err
		}
		rf = len(replicas)
		p, err := op.newPartition(i, replicas, InvalidReplicaAssignment)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// placed builds partitions from first on, on brokers of the placer's choice.
func (op *operation) placed(first int32, count, rf int) (all []*kraft.Partition, err *Error) {
	assignments, err := op.place(count, rf)
	if err != nil {
		return nil, err
	}
	for i, replicas := range assignments {
		p, err := op.newPartition(first+int32(i), replicas, InvalidReplicationFactor)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// newPartition is one whose ISR are its replicas that are active, of which there
// must be one; the first leads.
func (op *operation) newPartition(id int32, replicas []int32, none Code) (*kraft.Partition, *Error) {
	p := &kraft.Partition{PartitionID: id, Replicas: append([]int32{}, replicas...)}
	for _, b := range replicas {
		p.Directories = append(p.Directories, op.defaultDirectory(b))
		if broker, ok := op.image.Broker(b); ok && broker.Active() {
			p.ISR = append(p.ISR, b)
		}
	}
	if len(p.ISR) == 0 {
		return nil, errorf(none, "partition %d: all its brokers %v are fenced or shutting down", id, replicas)
	}
	p.Leader = p.ISR[0]
	return p, nil
}

// validAssignment is validateManualPartitionAssignment. rf is 0 if any number of
// replicas will do.
func (op *operation) validAssignment(replicas []int32, rf int) *Error {
	switch {
	case len(replicas) == 0:
		return errorf(InvalidReplicaAssignment, "an assignment without any replica")
	case hasDuplicate(replicas):
		return errorf(InvalidReplicaAssignment, "assignment %v has a broker twice", replicas)
	case rf > 0 && len(replicas) != rf:
		return errorf(InvalidReplicaAssignment, "assignment %v has %d replicas, other partitions have %d", replicas, len(replicas), rf)
	}
	for _, id := range replicas {
		if _, ok := op.image.Broker(id); !ok {
			return errorf(InvalidReplicaAssignment, "assignment %v: broker %d is not registered", replicas, id)
		}
	}
	return nil
}
