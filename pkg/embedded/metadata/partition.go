package metadata

import (
	"fmt"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

func (im Image) setPartition(rec *kraft.Partition) (Image, error) {
	t, ok := im.TopicByID(rec.TopicID)
	if !ok {
		return im, fmt.Errorf("partition %d: there is no topic with id %s", rec.PartitionID, rec.TopicID)
	}
	p := *rec
	if err := complete(&p); err != nil {
		return im, fmt.Errorf("%s-%d: %w", t.Name, p.PartitionID, err)
	}
	im.topics = im.topics.with(t.Name, t.with(&p))
	return im, nil
}

func (im Image) changePartition(rec *kraft.PartitionChange) (Image, error) {
	t, ok := im.TopicByID(rec.TopicID)
	if !ok {
		return im, fmt.Errorf("partition %d: there is no topic with id %s", rec.PartitionID, rec.TopicID)
	}
	old, ok := t.Partition(rec.PartitionID)
	if !ok {
		return im, fmt.Errorf("there is no partition %s-%d", t.Name, rec.PartitionID)
	}
	p, err := merge(old, rec)
	if err != nil {
		return im, fmt.Errorf("%s-%d: %w", t.Name, rec.PartitionID, err)
	}
	im.topics = im.topics.with(t.Name, t.with(p))
	return im, nil
}

// merge is Kafka's PartitionRegistration.merge. Two epochs tell apart what is new:
// the partition epoch grows with every record, the leader epoch only if the
// record names a leader, which may be the old one.
func merge(old *kraft.Partition, rec *kraft.PartitionChange) (*kraft.Partition, error) {
	p := *old
	p.PartitionEpoch++
	if rec.Leader != kraft.NoLeaderChange {
		p.Leader = rec.Leader
		p.LeaderEpoch++
	}
	switch rec.LeaderRecoveryState {
	case kraft.RecoveryNoChange:
	case kraft.Recovered, kraft.Recovering:
		p.LeaderRecoveryState = rec.LeaderRecoveryState
	default:
		return nil, fmt.Errorf("leaderRecoveryState=%d: want -1, 0 or 1", rec.LeaderRecoveryState)
	}
	for _, list := range []struct {
		state  *[]int32
		change []int32
	}{
		{&p.ISR, rec.ISR},
		{&p.Replicas, rec.Replicas},
		{&p.RemovingReplicas, rec.RemovingReplicas},
		{&p.AddingReplicas, rec.AddingReplicas},
		{&p.EligibleLeaderReplicas, rec.EligibleLeaderReplicas},
		{&p.LastKnownELR, rec.LastKnownELR},
	} {
		if list.change != nil {
			*list.state = list.change
		}
	}
	if rec.Directories != nil {
		p.Directories = rec.Directories
	}
	return &p, complete(&p)
}

// complete brings a partition to the one form it has in an image: no lists that
// are empty and not nil, and one directory for each replica.
func complete(p *kraft.Partition) error {
	for _, list := range []*[]int32{&p.ISR, &p.RemovingReplicas, &p.AddingReplicas, &p.EligibleLeaderReplicas, &p.LastKnownELR} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	if len(p.Directories) == 0 {
		// Older than directories (KIP-858): kraft.MigratingDirectory, all zeros.
		p.Directories = make([]kraft.UUID, len(p.Replicas))
	}
	if len(p.Directories) != len(p.Replicas) {
		return fmt.Errorf("%d directories for %d replicas", len(p.Directories), len(p.Replicas))
	}
	return nil
}

// clearELR forgets the ELR of a topic's partitions, or of all. It is a change of
// those partitions only that had one (Kafka's TopicDelta.maybeClearElr).
func (im Image) clearELR(rec *kraft.ClearELR) (Image, error) {
	if rec.TopicName == "" {
		for _, t := range im.Topics() {
			im.topics = im.topics.with(t.Name, withoutELR(t))
		}
		return im, nil
	}
	t, ok := im.topics.get(rec.TopicName)
	if !ok {
		return im, fmt.Errorf("there is no topic %q", rec.TopicName)
	}
	im.topics = im.topics.with(t.Name, withoutELR(t))
	return im, nil
}

func withoutELR(t *Topic) *Topic {
	for _, old := range t.Partitions() {
		if old.EligibleLeaderReplicas == nil && old.LastKnownELR == nil {
			continue
		}
		p := *old
		p.EligibleLeaderReplicas, p.LastKnownELR = nil, nil
		p.PartitionEpoch++
		t = t.with(&p)
	}
	return t
}
