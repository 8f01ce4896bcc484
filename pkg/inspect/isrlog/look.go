package isrlog

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// Look returns the state as a look at the metadata would have it, with what [Diff]
// compares, of the topics that keep lets through. What is held is in it: its events
// have yet to be told.
func (r *Replay) Look(at time.Time, keep func(topic string) bool) *inspect.Snapshot {
	s := &inspect.Snapshot{TakenAt: at}
	for _, id := range slices.Sorted(maps.Keys(r.brokers)) {
		s.Brokers = append(s.Brokers, inspect.Broker{ID: id, Fenced: inspect.Known(r.brokers[id].fenced)})
	}
	for id, t := range r.topics {
		if keep != nil && !keep(t.name) {
			continue
		}
		topic := inspect.Topic{Name: t.name, ID: inspect.Known(id.String()), Partitions: make([]inspect.Partition, 0, len(t.partitions))}
		for i, p := range t.partitions {
			if p == nil {
				continue
			}
			topic.Partitions = append(topic.Partitions, inspect.Partition{
				Topic: t.name, TopicID: topic.ID, Index: int32(i), Leader: p.leader, LeaderEpoch: inspect.Known(p.leaderEpoch),
				Replicas: p.replicas, ISR: p.isr, ELR: inspect.Known(p.elr), LastKnownELR: inspect.Known(p.lastKnown),
				Adding: inspect.Known(p.adding), Removing: inspect.Known(p.removing),
			})
		}
		s.Topics = append(s.Topics, topic)
	}
	slices.SortFunc(s.Topics, func(a, b inspect.Topic) int { return strings.Compare(a.Name, b.Name) })
	return s
}
