package sim

import (
	"maps"
	"slices"
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// admin makes topics and changes them.
type admin struct {
	c           *client
	made        bool // the plan's topics were asked for
	outstanding bool
	nextUs      int64
}

func newAdmin(c *client) actor { return &admin{c: c} }

// maxTopics bounds the names.
const maxTopics = 4

func topicName(i int) string { return "t" + strconv.Itoa(i) }

func (a *admin) act() {
	w := a.c.w
	if a.outstanding || w.now < a.nextUs {
		return
	}
	a.nextUs = w.now + 200*ms + w.rng.Int64N(2*sec)
	if len(a.c.topics) < w.plan.Topics && (!a.made || chance(w.rng, 50)) {
		a.made = true
		for i := range w.plan.Topics {
			if !slices.ContainsFunc(a.c.topics, func(t topicView) bool { return t.name == topicName(i) }) {
				a.create(topicName(i), w.plan.Partitions, w.plan.Replicas)
				return
			}
		}
	}
	if w.calm || len(a.c.topics) == 0 {
		a.c.lookAgain()
		return
	}
	t := &a.c.topics[w.rng.IntN(len(a.c.topics))]
	switch w.rng.IntN(14) {
	case 0:
		a.create(topicName(w.rng.IntN(maxTopics)), 1+w.rng.IntN(2), 1+w.rng.IntN(min(3, w.plan.Brokers)))
	case 1:
		if len(a.c.topics) > 1 || chance(w.rng, 30) {
			a.remove(t)
		}
	case 2:
		a.grow(t)
	case 3, 4:
		a.configure(t)
	case 5, 6:
		a.elect(t)
	case 7, 8, 9, 10:
		a.reassign(t)
	case 11, 12:
		a.deleteRecords(t)
	case 13:
		if chance(w.rng, 20) {
			req := kmsg.NewPtrUnregisterBrokerRequest()
			req.BrokerID = a.c.anyBroker()
			a.ask(req)
		}
	}
}

// ask sends a request to any broker, which passes it on.
func (a *admin) ask(req kmsg.Request) {
	a.outstanding = true
	a.c.send(a.c.anyBroker(), req, want{})
}

func (a *admin) create(name string, partitions, replicas int) {
	w := a.c.w
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version, req.TimeoutMillis = 7, 5000
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, int32(partitions), int16(replicas)
	set := func(key, value string) {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = key, &value
		t.Configs = append(t.Configs, c)
	}
	set("min.insync.replicas", strconv.Itoa(w.plan.MinISR))
	for _, key := range slices.Sorted(maps.Keys(w.plan.Topic)) {
		set(key, w.plan.Topic[key])
	}
	req.Topics = append(req.Topics, t)
	a.ask(req)
}

func (a *admin) remove(t *topicView) {
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.Version, req.TimeoutMillis = 6, 5000
	rt := kmsg.NewDeleteTopicsRequestTopic()
	if chance(a.c.w.rng, 50) {
		name := t.name
		rt.Topic = &name
	} else {
		rt.TopicID = t.id
	}
	req.Topics = append(req.Topics, rt)
	a.ask(req)
}

func (a *admin) grow(t *topicView) {
	if len(t.leaders) >= 4 {
		return
	}
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.Version, req.TimeoutMillis = 3, 5000
	rt := kmsg.NewCreatePartitionsRequestTopic()
	rt.Topic, rt.Count = t.name, int32(len(t.leaders)+1)
	req.Topics = append(req.Topics, rt)
	a.ask(req)
}

func (a *admin) configure(t *topicView) {
	w := a.c.w
	key, value := "min.insync.replicas", strconv.Itoa(1+w.rng.IntN(3))
	switch w.rng.IntN(6) {
	case 0:
		key, value = "flush.messages", strconv.Itoa(1+w.rng.IntN(5))
	case 1:
		key, value = "internal.segment.bytes", strconv.Itoa(oneOf(w.rng, 1000, 5000))
	case 2:
		key, value = "retention.bytes", strconv.Itoa(oneOf(w.rng, -1, 3000))
	case 4:
		if w.plan.Keys > 0 {
			key, value = "cleanup.policy", oneOf(w.rng, "compact", "compact,delete", "delete")
		}
	case 3:
		if w.plan.Unclean {
			key, value = "unclean.leader.election.enable", oneOf(w.rng, "true", "false")
		}
	}
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Version = 1
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, t.name
	c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
	c.Name, c.Op, c.Value = key, kmsg.IncrementalAlterConfigOpSet, &value
	r.Configs = append(r.Configs, c)
	req.Resources = append(req.Resources, r)
	a.ask(req)
}

func (a *admin) elect(t *topicView) {
	w := a.c.w
	req := kmsg.NewPtrElectLeadersRequest()
	req.Version, req.TimeoutMillis = 2, 5000
	if w.plan.Unclean && chance(w.rng, 50) {
		req.ElectionType = 1
		w.model.uncleanAsked++
	}
	rt := kmsg.NewElectLeadersRequestTopic()
	rt.Topic = t.name
	for i := range t.leaders {
		rt.Partitions = append(rt.Partitions, int32(i))
	}
	req.Topics = append(req.Topics, rt)
	a.ask(req)
}

func (a *admin) reassign(t *topicView) {
	w := a.c.w
	req := kmsg.NewPtrAlterPartitionAssignmentsRequest()
	req.Version, req.TimeoutMillis, req.AllowReplicationFactorChange = 1, 5000, true
	rt := kmsg.NewAlterPartitionAssignmentsRequestTopic()
	rt.Topic = t.name
	p := kmsg.NewAlterPartitionAssignmentsRequestTopicPartition()
	p.Partition = w.rng.Int32N(int32(max(len(t.leaders), 1)))
	if !chance(w.rng, 30) { // else a move is cancelled
		all := make([]int32, 0, w.plan.Brokers)
		for i := range int32(w.plan.Brokers) {
			all = append(all, i+1)
		}
		w.rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		p.Replicas = all[:min(len(all), oneOf(w.rng, w.plan.Replicas, w.plan.Replicas, 1+w.rng.IntN(w.plan.Brokers)))]
	}
	rt.Partitions = append(rt.Partitions, p)
	req.Topics = append(req.Topics, rt)
	a.ask(req)
}

func (a *admin) deleteRecords(t *topicView) {
	w := a.c.w
	index := w.rng.Int32N(int32(max(len(t.leaders), 1)))
	if int(index) >= len(t.leaders) {
		return
	}
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Version, req.TimeoutMillis = 2, 2000
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = t.name
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = index, -1
	if x := w.model.part(t.id, index); x != nil && chance(w.rng, 90) {
		p.Offset = w.rng.Int64N(int64(x.hw) + 2)
	}
	rt.Partitions = append(rt.Partitions, p)
	req.Topics = append(req.Topics, rt)
	a.outstanding = true
	a.c.send(a.c.leaderOf(t, index), req, want{topic: t.name, index: index})
}

func (a *admin) answered(*flight) {
	a.outstanding = false
	if chance(a.c.w.rng, 70) {
		a.c.lookAgain()
	}
}
