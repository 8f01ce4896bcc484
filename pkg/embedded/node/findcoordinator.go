package node

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/group"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

const (
	coordinatorNotAvailable replica.Code = 15
	// groupKeyType is FindCoordinator's key type of groups.
	groupKeyType int8 = 0
	// createTimeoutMs is how long making the offsets topic may take
	// (AutoTopicCreationManager: request.timeout.ms).
	createTimeoutMs = 30_000
	// offsetsReplicas is offsets.topic.replication.factor.
	offsetsReplicas = 3
)

// findCoordinator is KafkaApis.handleFindCoordinatorRequest.
func (n *Node) findCoordinator(token machine.Token, req *kmsg.FindCoordinatorRequest) {
	resp := req.ResponseKind().(*kmsg.FindCoordinatorResponse)
	resp.Coordinators = []kmsg.FindCoordinatorResponseCoordinator{}
	if req.Version < 4 {
		c := n.findOne(req.CoordinatorType, req.CoordinatorKey)
		resp.ErrorCode, resp.NodeID, resp.Host, resp.Port = c.ErrorCode, c.NodeID, c.Host, c.Port
		resp.ErrorMessage = kmsg.StringPtr(findMessage(replica.Code(c.ErrorCode)))
		n.reply(token, resp)
		return
	}
	for _, key := range req.CoordinatorKeys {
		resp.Coordinators = append(resp.Coordinators, n.findOne(req.CoordinatorType, key))
	}
	n.reply(token, resp)
}

// findMessage is what Kafka says with an error (Errors.message); to a success, too.
func findMessage(code replica.Code) string {
	switch code {
	case replica.None:
		return "NONE"
	case coordinatorNotAvailable:
		return "The coordinator is not available."
	}
	return "This most likely occurs because of a request being malformed by the client library or the message was sent to an incompatible broker. See the broker logs for more details."
}

// findOne finds who leads the partition that a group is in (KafkaApis.getCoordinator).
// Who asks first makes the topic.
func (n *Node) findOne(keyType int8, key string) kmsg.FindCoordinatorResponseCoordinator {
	out := kmsg.NewFindCoordinatorResponseCoordinator()
	out.Key, out.NodeID, out.Host, out.Port = key, -1, "", -1
	refuse := func(code replica.Code) kmsg.FindCoordinatorResponseCoordinator {
		out.ErrorCode, out.ErrorMessage = int16(code), kmsg.StringPtr(findMessage(code))
		return out
	}
	if keyType != groupKeyType {
		// Transactions and share groups have no coordinators here.
		return refuse(replica.InvalidRequest)
	}
	t, ok := n.follow.image.Topic(offsetsTopic)
	if !ok {
		n.createOffsetsTopic()
		return refuse(coordinatorNotAvailable)
	}
	part, ok := t.Partition(group.PartitionOf(key, int32(t.Len())))
	if !ok {
		return refuse(coordinatorNotAvailable)
	}
	e, _, alive := n.endpoint(part.Leader)
	if !alive {
		return refuse(coordinatorNotAvailable)
	}
	out.NodeID, out.Host, out.Port, out.ErrorMessage = part.Leader, e.Host, int32(e.Port), kmsg.StringPtr("")
	return out
}

// createOffsetsTopic asks the controller for the topic, with the configs that Kafka
// gives it (AutoTopicCreationManager, GroupCoordinatorService.groupMetadataTopicConfigs).
// Where offsets.topic.replication.factor is not set and there are fewer than three
// brokers, each gets a replica; Kafka would wait for a third one.
func (n *Node) createOffsetsTopic() {
	if n.groups.creating {
		return
	}
	n.groups.creating = true
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version = req.MaxVersion()
	req.TimeoutMillis = createTimeoutMs
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = offsetsTopic, n.cfg.offsetsPartitions, n.cfg.offsetsReplicas
	if t.ReplicationFactor == 0 {
		for range n.follow.image.Brokers() {
			t.ReplicationFactor = min(t.ReplicationFactor+1, offsetsReplicas)
		}
	}
	for _, c := range [][2]string{
		{"cleanup.policy", "compact"},
		{"compression.type", "producer"},
		{"segment.bytes", strconv.Itoa(int(n.cfg.offsetsSegmentBytes))},
	} {
		config := kmsg.NewCreateTopicsRequestTopicConfig()
		config.Name, config.Value = c[0], kmsg.StringPtr(c[1])
		t.Configs = append(t.Configs, config)
	}
	t.ReplicaAssignment = []kmsg.CreateTopicsRequestTopicReplicaAssignment{}
	req.Topics = append(req.Topics, t)
	n.send(machine.Controller, req, offsetsTopicCreation{})
}

// offsetsTopicCreation is the end of that request. Whoever needs the topic asks again.
type offsetsTopicCreation struct{}

// ended is ender's.
func (offsetsTopicCreation) ended(n *Node, body kmsg.Response) {
	n.groups.creating = false
	resp, ok := body.(*kmsg.CreateTopicsResponse)
	if !ok {
		return
	}
	for i := range resp.Topics {
		const topicAlreadyExists = 36
		if t := &resp.Topics[i]; t.ErrorCode != 0 && t.ErrorCode != topicAlreadyExists {
			message := ""
			if t.ErrorMessage != nil {
				message = ": " + *t.ErrorMessage
			}
			n.notef("%s cannot be created: error %d%s", offsetsTopic, t.ErrorCode, message)
		}
	}
}
