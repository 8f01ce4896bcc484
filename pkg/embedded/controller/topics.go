package controller

import (
	"github.com/kafkaops/kafkaops/internal/kraft"
)

// maxPartitionsPerRequest bounds what one request can make (Kafka's
// MAX_PARTITIONS_PER_BATCH).
const maxPartitionsPerRequest = 10_000

// CreateTopics creates topics, each by itself. It is answered with a
// [CreateTopicsReply].
type CreateTopics struct {
	Topics       []NewTopic
	ValidateOnly bool // answer as if, and create nothing
}

// NewTopic is one to create.
type NewTopic struct {
	Name string
	// NumPartitions and ReplicationFactor: -1 is the node's default, and what must be
	// said with Assignments.
	NumPartitions     int32
	ReplicationFactor int16
	Assignments       map[int32][]int32 // replicas by partition; nil: placed
	Configs           []ConfigValue
}

// ConfigValue is a config at its creation.
type ConfigValue struct {
	Key   string
	Value *string // nil is an error, which Kafka's protocol allows to make
}

// CreateTopicsReply has an answer for each topic, in the request's order, once
// for one that was named twice.
type CreateTopicsReply struct{ Topics []TopicResult }

// TopicResult answers for one topic. Without an error it says what it became.
type TopicResult struct {
	Name              string
	ID                kraft.UUID
	Err               *Error
	NumPartitions     int32
	ReplicationFactor int16
}

// decide is ReplicationControlManager.createTopics.
func (r CreateTopics) decide(op *operation) (reply CreateTopicsReply) {
	total, count := 0, map[string]int{}
	for _, t := range r.Topics {
		count[t.Name]++
		switch {
		case len(t.Assignments) > 0:
			total += len(t.Assignments)
		case t.NumPartitions == -1:
			total += int(op.c.opts.NumPartitions)
		case t.NumPartitions > 0:
			total += int(t.NumPartitions)
		}
	}
	for _, t := range r.Topics {
		result := TopicResult{Name: t.Name}
		switch {
		case count[t.Name] == 0:
			continue // answered
		case count[t.Name] > 1:
			result.Err = errorf(InvalidRequest, "topic %q is in the request more than once", t.Name)
			count[t.Name] = 0
		case total > maxPartitionsPerRequest:
			result.Err = errorf(PolicyViolation, "%d partitions in one request: at most %d are allowed", total, maxPartitionsPerRequest)
		default:
			result = op.createTopic(t)
		}
		reply.Topics = append(reply.Topics, result)
	}
	if r.ValidateOnly {
		op.rollback()
	}
	return reply
}

func (op *operation) createTopic(t NewTopic) TopicResult {
	refused := func(err *Error) TopicResult { return TopicResult{Name: t.Name, Err: err} }
	if err := validTopicName(t.Name); err != nil {
		return refused(err)
	}
	if _, ok := op.image.Topic(t.Name); ok {
		return refused(errorf(TopicAlreadyExists, "topic %q is there already", t.Name))
	}
	if other, ok := op.collidesWith(t.Name); ok {
		return refused(errorf(InvalidTopic, "topic %q collides with topic %q: '.' and '_' are the same in names of metrics", t.Name, other))
	}
	configs, err := op.newTopicConfigs(t)
	if err != nil {
		return refused(err)
	}
	partitions, err := op.newTopicPartitions(t)
	if err != nil {
		return refused(err)
	}
	// The order is Kafka's: topic, configs, partitions.
	id := op.newTopicID()
	op.write(&kraft.Topic{Name: t.Name, TopicID: id})
	for _, rec := range configs {
		op.write(rec)
	}
	op.clearELRs(configs)
	for _, p := range partitions {
		p.TopicID = id
		op.write(p)
	}
	return TopicResult{
		Name: t.Name, ID: id,
		NumPartitions: int32(len(partitions)), ReplicationFactor: int16(len(partitions[0].Replicas)),
	}
}

// newTopicPartitions works out the partitions, by hand or placed.
func (op *operation) newTopicPartitions(t NewTopic) ([]*kraft.Partition, *Error) {
	switch {
	case len(t.Assignments) > 0 && t.ReplicationFactor != -1:
		return nil, errorf(InvalidRequest, "topic %q: a replication factor beside an assignment: want -1", t.Name)
	case len(t.Assignments) > 0 && t.NumPartitions != -1:
		return nil, errorf(InvalidRequest, "topic %q: a number of partitions beside an assignment: want -1", t.Name)
	case len(t.Assignments) > 0:
		return op.assigned(t)
	case t.ReplicationFactor < -1 || t.ReplicationFactor == 0:
		return nil, errorf(InvalidReplicationFactor, "replication factor %d: want more than 0, or -1 for the default", t.ReplicationFactor)
	case t.NumPartitions < -1 || t.NumPartitions == 0:
		return nil, errorf(InvalidPartitions, "%d partitions: want more than 0, or -1 for the default", t.NumPartitions)
	}
	count, rf := t.NumPartitions, t.ReplicationFactor
	if count == -1 {
		count = op.c.opts.NumPartitions
	}
	if rf == -1 {
		rf = op.c.opts.ReplicationFactor
	}
	return op.placed(0, int(count), int(rf))
}

// newTopicID draws an id that no topic has. The log's offset is in it, so that no topic
// ever gets a deleted one's id, and with it what is left of its data, even if a
// controller that starts again has a random source that does too.
func (op *operation) newTopicID() kraft.UUID {
	for {
		id := kraft.DrawUUID(op.c.opts.Rand)
		for i := range 7 { // not those that say the version
			id[15-i] ^= byte(op.end() >> (8 * i))
		}
		if _, taken := op.image.TopicByID(id); !taken {
			return id
		}
	}
}

// DeleteTopics deletes topics by id: a name could by now be another topic's. It is
// answered with a [DeleteTopicsReply].
type DeleteTopics struct{ IDs []kraft.UUID }

// DeleteTopicsReply has an answer for each id, in order.
type DeleteTopicsReply struct{ Topics []TopicResult }

func (r DeleteTopics) decide(op *operation) (reply DeleteTopicsReply) {
	for _, id := range r.IDs {
		result := TopicResult{ID: id}
		if topic, ok := op.image.TopicByID(id); ok {
			result.Name = topic.Name
			op.write(&kraft.RemoveTopic{TopicID: id})
		} else {
			result.Err = errorf(UnknownTopicID, "there is no topic with id %s", id)
		}
		reply.Topics = append(reply.Topics, result)
	}
	return reply
}
