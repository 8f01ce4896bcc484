package kraft

// Topic is a topic without its partitions, which follow as [Partition] records.
type Topic struct {
	Name    string
	TopicID UUID
}

// Type returns [TypeTopic].
func (*Topic) Type() Type { return TypeTopic }

func (r *Topic) fields() []field {
	return []field{plain("Name", text{&r.Name}), plain("TopicId", fixed(&r.TopicID))}
}

// RemoveTopic deletes a topic, and by itself its partitions and its configs: no
// records about those follow.
type RemoveTopic struct {
	TopicID UUID
}

// Type returns [TypeRemoveTopic].
func (*RemoveTopic) Type() Type { return TypeRemoveTopic }

func (r *RemoveTopic) fields() []field {
	return []field{plain("TopicId", fixed(&r.TopicID))}
}

// ClearELR empties ELR and last known ELR of a topic's partitions, or of all,
// when min.insync.replicas changes (KIP-966). The partition epoch grows by one
// for those partitions only in which there was something to empty.
type ClearELR struct {
	TopicName string // "": all topics
}

// Type returns [TypeClearELR].
func (*ClearELR) Type() Type { return TypeClearELR }

func (r *ClearELR) fields() []field {
	return []field{plain("TopicName", text{&r.TopicName})}
}
