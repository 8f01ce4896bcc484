package controller

import (
	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// maxElectionsPerRound bounds what one periodic round writes (Kafka's
// MAX_ELECTIONS_PER_IMBALANCE). If there is more to do, the next comes at once.
const maxElectionsPerRound = 1_000

// ElectionType is what ElectLeaders asks for, in Kafka's numbers.
type ElectionType int8

// The election types (KIP-460).
const (
	PreferredElection ElectionType = 0 // back to the first replica
	UncleanElection   ElectionType = 1 // any replica for partitions without a leader, records lost or not
)

// ElectLeaders elects leaders now. It is answered with an [ElectLeadersReply].
type ElectLeaders struct {
	Type       ElectionType
	Partitions []TopicPartition // nil: all
}

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// ElectLeadersReply has an answer for each partition named, in order; if none was
// named, for all but those that needed no election.
type ElectLeadersReply struct {
	Err        *Error // for all: nothing was looked at
	Partitions []PartitionResult
}

// decide is ReplicationControlManager.electLeaders.
func (r ElectLeaders) decide(op *operation) (reply ElectLeadersReply) {
	if r.Type != PreferredElection && r.Type != UncleanElection {
		return ElectLeadersReply{Err: errorf(InvalidRequest, "election type %d: want 0 (preferred) or 1 (unclean)", r.Type)}
	}
	if r.Partitions == nil {
		for name, topic := range op.image.Topics() {
			for id, p := range topic.Partitions() {
				if err := op.elect(topic, p, r.Type); err == nil || err.Code != ElectionNotNeeded {
					reply.Partitions = append(reply.Partitions, PartitionResult{name, id, err})
				}
			}
		}
		return reply
	}
	for _, tp := range r.Partitions {
		p, err := op.partition(tp.Topic, tp.Partition)
		if err == nil {
			topic, _ := op.image.Topic(tp.Topic)
			err = op.elect(topic, p, r.Type)
		}
		reply.Partitions = append(reply.Partitions, PartitionResult{tp.Topic, tp.Partition, err})
	}
	return reply
}

// elect is ReplicationControlManager.electLeader.
func (op *operation) elect(topic *metadata.Topic, p *kraft.Partition, how ElectionType) *Error {
	if how == PreferredElection && p.Leader == p.Replicas[0] || how == UncleanElection && !leaderless(p) {
		return errorf(ElectionNotNeeded, "%s-%d is led by broker %d", topic.Name, p.PartitionID, p.Leader)
	}
	ch := op.change(topic, p)
	ch.election = electPreferred
	if how == UncleanElection {
		ch.election = electUnclean
	}
	switch {
	case op.apply(ch):
		return nil
	case how == PreferredElection:
		return errorf(PreferredLeaderNotAvailable, "broker %d, the first replica of %s-%d, is not in sync or not alive", p.Replicas[0], topic.Name, p.PartitionID)
	}
	return errorf(EligibleLeadersNotAvailable, "no replica of %s-%d is alive", topic.Name, p.PartitionID)
}

// balance sends leaders home to the first replicas (maybeBalancePartitionLeaders)
// and reports whether there may be more.
func (op *operation) balance() (more bool) {
	return op.electAll(PreferredElection, func(_ *metadata.Topic, p *kraft.Partition) bool { return p.Leader != p.Replicas[0] })
}

// electUncleanLeaders elects where the topic allows it and nobody leads
// (maybeElectUncleanLeaders).
func (op *operation) electUncleanLeaders() (more bool) {
	return op.electAll(UncleanElection, func(topic *metadata.Topic, p *kraft.Partition) bool {
		return leaderless(p) && op.uncleanAllowed(topic.Name)
	})
}

func (op *operation) electAll(how ElectionType, needed func(*metadata.Topic, *kraft.Partition) bool) (more bool) {
	for _, topic := range op.image.Topics() {
		for _, p := range topic.Partitions() {
			if len(op.records) >= maxElectionsPerRound {
				return true
			}
			if needed(topic, p) {
				_ = op.elect(topic, p, how) // those that cannot be: next time
			}
		}
	}
	return len(op.records) >= maxElectionsPerRound
}
