package fakekafka

import "github.com/twmb/franz-go/pkg/kmsg"

// Kafka's defaults for topics that nobody created on purpose.
const (
	autoCreatedPartitions = 1  // num.partitions
	internalPartitions    = 50 // offsets.topic.num.partitions and its like
	internalReplicas      = 3  // offsets.topic.replication.factor and its like
)

// creation is a topic that a request brings into being.
type creation struct {
	topic      string
	internal   bool
	partitions int
	replicas   int
}

// creations are the topics that asking req creates. Kafka creates them after its
// answer, which says that they do not exist yet.
func (v *view) creations(req kmsg.Request) []creation {
	switch req := req.(type) {
	case *kmsg.MetadataRequest:
		return v.autoCreations(req)
	case *kmsg.FindCoordinatorRequest:
		topic := coordinatorTopic(req.CoordinatorType)
		if topic != "" && v.index.topics[topic] == nil && !v.denied(kmsg.FindCoordinator) {
			return []creation{{topic, true, internalPartitions, internalReplicas}}
		}
	}
	return nil
}

func (v *view) autoCreations(req *kmsg.MetadataRequest) []creation {
	// Before version 4 a client had no say in it.
	allowed := req.Version < 4 || req.AllowAutoTopicCreation
	if !allowed || v.model.AutoCreateDisabled || v.denied(kmsg.Metadata) || asksAll(req) {
		return nil
	}
	var missing []creation
	for _, rt := range req.Topics {
		if rt.Topic != nil && validTopicName(*rt.Topic) && v.index.topics[*rt.Topic] == nil {
			missing = append(missing, creation{*rt.Topic, false, autoCreatedPartitions, 1})
		}
	}
	return missing
}

// create adds the topics to the model and remembers that it did. The caller holds
// the lock for writing.
func (c *Cluster) create(missing []creation) {
	for _, n := range missing {
		if c.index.topics[n.topic] != nil {
			continue // asked for twice, or by two clients at once
		}
		t := c.model.AddTopic(n.topic, n.partitions, min(n.replicas, len(c.model.Brokers)))
		t.Internal = n.internal
		c.index = newIndex(c.model)
		c.created = append(c.created, n.topic)
	}
}

// Created names the topics that came into being because a client asked about
// them: by Metadata with auto-creation allowed, or by FindCoordinator.
func (c *Cluster) Created() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return append([]string{}, c.created...)
}
