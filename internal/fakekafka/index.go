package fakekafka

import (
	"cmp"
	"slices"
)

// index finds things in a model of any size without a search. It is made anew
// after each change of the model.
type index struct {
	brokers map[int32]*Broker
	// live are the brokers that are not fenced, by id.
	live   []*Broker
	topics map[string]*Topic
	groups map[string]*Group
	ids    map[[16]byte]*Topic
	// sorted are the topics by name.
	sorted []*Topic
	// moving says that some partition has AppendPerRead: only then does reading
	// offsets write to the model.
	moving bool
}

// newIndex also fills in what the model leaves to defaults.
func newIndex(m *Model) *index {
	ix := &index{
		brokers: make(map[int32]*Broker, len(m.Brokers)),
		topics:  make(map[string]*Topic, len(m.Topics)),
		groups:  make(map[string]*Group, len(m.Groups)),
		ids:     make(map[[16]byte]*Topic, len(m.Topics)),
		sorted:  slices.Clone(m.Topics),
	}
	for _, b := range m.Brokers {
		if len(b.LogDirs) == 0 {
			b.LogDirs = []LogDir{{Path: "/var/lib/kafka/data", TotalBytes: 1 << 40, UsableBytes: 1 << 39}}
		}
		ix.brokers[b.ID] = b
		if !b.Fenced {
			ix.live = append(ix.live, b)
		}
	}
	slices.SortFunc(ix.live, func(a, b *Broker) int { return cmp.Compare(a.ID, b.ID) })
	for _, g := range m.Groups {
		ix.groups[g.Name] = g
	}
	for _, t := range m.Topics {
		if t.ID == [16]byte{} {
			t.ID = topicID(t.Name)
		}
		ix.topics[t.Name] = t
		ix.ids[t.ID] = t
		ix.moving = ix.moving || slices.ContainsFunc(t.Partitions, func(p *Partition) bool { return p.AppendPerRead != 0 })
	}
	slices.SortFunc(ix.sorted, func(a, b *Topic) int { return cmp.Compare(a.Name, b.Name) })
	return ix
}

// partition returns nil for a partition that does not exist.
func (ix *index) partition(topic string, partition int32) *Partition {
	t := ix.topics[topic]
	if t == nil || partition < 0 || int(partition) >= len(t.Partitions) {
		return nil
	}
	return t.Partitions[partition]
}
