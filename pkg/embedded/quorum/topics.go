package quorum

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
)

// once counts names that a request may have once only. In Kafka such checks are
// those of ControllerApis.
func once[T any, K comparable](all []T, key func(T) K) (count map[K]int) {
	count = make(map[K]int, len(all))
	for _, one := range all {
		count[key(one)]++
	}
	return count
}

func (c *call) createTopics(req *kmsg.CreateTopicsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
	resp.Topics = make([]kmsg.CreateTopicsResponseTopic, 0, len(req.Topics))
	r := controller.CreateTopics{ValidateOnly: req.ValidateOnly}
	var refused []controller.TopicResult
	for _, t := range req.Topics {
		topic, err := newTopic(t)
		if err != nil {
			refused = append(refused, controller.TopicResult{Name: t.Topic, Err: err})
			continue
		}
		r.Topics = append(r.Topics, topic)
	}
	for _, result := range append(handle(c, r).Topics, refused...) {
		t := kmsg.NewCreateTopicsResponseTopic()
		t.Topic, t.TopicID, t.ErrorCode, t.ErrorMessage = result.Name, result.ID, codeOf(result.Err), messageOf(result.Err)
		t.NumPartitions, t.ReplicationFactor, t.Configs = -1, -1, []kmsg.CreateTopicsResponseTopicConfig{}
		if result.Err == nil {
			t.NumPartitions, t.ReplicationFactor = result.NumPartitions, result.ReplicationFactor
			if req.Version >= 5 {
				t.Configs = c.topicConfigs(given(r.Topics, result.Name))
			}
		}
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

func newTopic(t kmsg.CreateTopicsRequestTopic) (controller.NewTopic, *controller.Error) {
	topic := controller.NewTopic{Name: t.Topic, NumPartitions: t.NumPartitions, ReplicationFactor: t.ReplicationFactor}
	if t.Topic == metadataTopic {
		return topic, errorf(topicAuthorizationFailed, "the metadata log is no topic that can be created")
	}
	for _, a := range t.ReplicaAssignment {
		if topic.Assignments == nil {
			topic.Assignments = map[int32][]int32{}
		}
		if _, twice := topic.Assignments[a.Partition]; twice {
			return topic, errorf(controller.InvalidReplicaAssignment, "a partition is assigned more than once")
		}
		topic.Assignments[a.Partition] = a.Replicas
	}
	for _, cfg := range t.Configs {
		topic.Configs = append(topic.Configs, controller.ConfigValue{Key: cfg.Name, Value: cfg.Value})
	}
	return topic, nil
}

func given(topics []controller.NewTopic, name string) []controller.ConfigValue {
	for _, t := range topics {
		if t.Name == name {
			return t.Configs
		}
	}
	return nil
}

func (c *call) createPartitions(req *kmsg.CreatePartitionsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.CreatePartitionsResponse)
	resp.Topics = make([]kmsg.CreatePartitionsResponseTopic, 0, len(req.Topics))
	count := once(req.Topics, func(t kmsg.CreatePartitionsRequestTopic) string { return t.Topic })
	r := controller.CreatePartitions{ValidateOnly: req.ValidateOnly}
	var refused []controller.TopicResult
	for _, t := range req.Topics {
		switch {
		case count[t.Topic] == 0:
			continue // answered
		case count[t.Topic] > 1:
			refused = append(refused, controller.TopicResult{Name: t.Topic, Err: errorf(controller.InvalidRequest, "the topic is in the request more than once")})
			count[t.Topic] = 0
			continue
		}
		more := controller.MorePartitions{Topic: t.Topic, Count: t.Count}
		if t.Assignment != nil {
			more.Assignments = make([][]int32, 0, len(t.Assignment))
		}
		for _, a := range t.Assignment {
			more.Assignments = append(more.Assignments, a.Replicas)
		}
		r.Topics = append(r.Topics, more)
	}
	for _, result := range append(handle(c, r).Topics, refused...) {
		t := kmsg.NewCreatePartitionsResponseTopic()
		t.Topic, t.ErrorCode, t.ErrorMessage = result.Name, codeOf(result.Err), messageOf(result.Err)
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

// deletion is one topic that a request names, by name or by id.
type deletion struct {
	name *string
	id   kraft.UUID
	err  *controller.Error
}

func (c *call) deleteTopics(req *kmsg.DeleteTopicsRequest) kmsg.Response {
	var all []*deletion
	for _, name := range req.TopicNames {
		all = append(all, &deletion{name: &name})
	}
	if req.Version >= 6 {
		all = nil
		for _, t := range req.Topics {
			all = append(all, &deletion{name: t.Topic, id: t.TopicID})
		}
	}
	c.resolve(all)
	r := controller.DeleteTopics{}
	for _, d := range all {
		if d.err == nil {
			r.IDs = append(r.IDs, d.id)
		}
	}
	results := handle(c, r).Topics
	resp := req.ResponseKind().(*kmsg.DeleteTopicsResponse)
	resp.Topics = make([]kmsg.DeleteTopicsResponseTopic, 0, len(all))
	for _, d := range all {
		if d.err == nil {
			d.err, results = results[0].Err, results[1:]
		}
		t := kmsg.NewDeleteTopicsResponseTopic()
		t.Topic, t.TopicID, t.ErrorCode, t.ErrorMessage = d.name, d.id, codeOf(d.err), messageOf(d.err)
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

// resolve finds names and ids (ControllerApis.deleteTopics): which topic a name
// means is decided before any is deleted.
func (c *call) resolve(all []*deletion) {
	byID := map[kraft.UUID][]*deletion{}
	for _, d := range all {
		switch {
		case d.name != nil && d.id != (kraft.UUID{}):
			d.err = errorf(controller.InvalidRequest, "a topic is named by its name or by its id, not by both")
		case d.name != nil:
			if t, ok := c.n.c.Image().Topic(*d.name); ok {
				d.id = t.ID
			} else {
				d.err = errorf(controller.UnknownTopicOrPartition, "there is no topic of that name")
			}
		case d.id != (kraft.UUID{}):
			if t, ok := c.n.c.Image().TopicByID(d.id); ok {
				d.name = &t.Name
			} else {
				d.err = errorf(controller.UnknownTopicID, "there is no topic with that id")
			}
		default:
			d.err = errorf(controller.InvalidRequest, "neither a name nor an id")
		}
		if d.err == nil {
			byID[d.id] = append(byID[d.id], d)
		}
	}
	for _, d := range all {
		if len(byID[d.id]) > 1 && d.err == nil {
			d.err = errorf(controller.InvalidRequest, "the topic is in the request more than once")
		}
	}
}
