package node

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// served reports whether the API is served in the request's version: those of
// Kafka 4.4, less what needs a coordinator.
func served(req kmsg.Request) bool {
	lowest, highest := int16(0), req.MaxVersion()
	switch req.(type) {
	case *kmsg.ProduceRequest:
		lowest = 3
	case *kmsg.FetchRequest:
		lowest = 4
	case *kmsg.ListOffsetsRequest:
		lowest = 1
	case *kmsg.OffsetForLeaderEpochRequest:
		lowest = 2
	case *kmsg.MetadataRequest, *kmsg.InitProducerIDRequest, *kmsg.DeleteRecordsRequest, *kmsg.ListPartitionReassignmentsRequest:
	default:
		return controllers(req) && within(req.GetVersion(), 0, highest)
	}
	return within(req.GetVersion(), lowest, highest)
}

// controllers are the requests that only the controller can answer.
func controllers(req kmsg.Request) bool {
	switch req.(type) {
	case *kmsg.CreateTopicsRequest, *kmsg.DeleteTopicsRequest, *kmsg.CreatePartitionsRequest,
		*kmsg.IncrementalAlterConfigsRequest, *kmsg.AlterConfigsRequest, *kmsg.ElectLeadersRequest,
		*kmsg.AlterPartitionAssignmentsRequest, *kmsg.UnregisterBrokerRequest, *kmsg.UpdateFeaturesRequest:
		return true
	}
	return false
}

// request has one line for each API. What is not served, or not in that version,
// ends the connection, as it does in Kafka (SocketServer, InvalidRequestException):
// whoever asks has not looked at ApiVersions.
func (n *Node) request(in machine.Request) {
	if n.life.state == closing || !served(in.Body) {
		n.hangUp(in.Token)
		return
	}
	switch req := in.Body.(type) {
	case *kmsg.ProduceRequest:
		n.produce(in.Token, req)
	case *kmsg.FetchRequest:
		n.handleFetch(in.Token, req)
	case *kmsg.ListOffsetsRequest:
		n.listOffsets(in.Token, req)
	case *kmsg.OffsetForLeaderEpochRequest:
		n.offsetForLeaderEpoch(in.Token, req)
	case *kmsg.MetadataRequest:
		n.metadata(in.Token, req)
	case *kmsg.InitProducerIDRequest:
		n.initProducerID(in.Token, req)
	case *kmsg.DeleteRecordsRequest:
		n.deleteRecords(in.Token, req)
	case *kmsg.ListPartitionReassignmentsRequest:
		n.listReassignments(in.Token, req)
	default:
		n.send(machine.Controller, req, forwarded{in.Token})
	}
}

func within(version, lowest, highest int16) bool { return lowest <= version && version <= highest }

// forwarded is a request that was sent on to the controller as it is (Kafka wraps
// it in an Envelope), and whose answer goes back.
type forwarded struct{ token machine.Token }

// ended is ender's. Where the connection to the controller was lost nobody knows
// what became of the request; the client learns that by losing its own.
func (f forwarded) ended(n *Node, body kmsg.Response) {
	if body == nil {
		n.hangUp(f.token)
		return
	}
	n.reply(f.token, body)
}

// byName finds a partition that is led or followed here, or the reason why not
// (ReplicaManager.getPartitionOrError).
func (n *Node) byName(topic string, index int32) (*partition, replica.Code) {
	p := n.hosted[storage.TopicPartition{Topic: topic, Partition: index}]
	if p.live() {
		return p, replica.None
	}
	t, ok := n.follow.image.Topic(topic)
	if !ok || !has(t, index) {
		return nil, replica.UnknownTopicOrPartition
	}
	return nil, replica.NotLeaderOrFollower
}

// byTopicID is byName for requests that name topics by id (KIP-516).
func (n *Node) byTopicID(id kraft.UUID, index int32) (*partition, replica.Code) {
	p := n.byID[partitionID{id, index}]
	if p.live() {
		return p, replica.None
	}
	t, ok := n.follow.image.TopicByID(id)
	switch {
	case !ok:
		return nil, replica.UnknownTopicID
	case !has(t, index):
		return nil, replica.UnknownTopicOrPartition
	}
	return nil, replica.NotLeaderOrFollower
}

// leftCode is what who waits at a partition is told when this broker lets it go, in
// place of what its replica said. The image is the new one already, so a topic that was
// deleted is unknown (DelayedProduce.tryComplete, ReplicaManager.getPartitionOrError).
func (n *Node) leftCode(p *partition, said replica.Code) replica.Code {
	if said != replica.KafkaStorageError && said != replica.NotLeaderOrFollower {
		return said
	}
	if t, ok := n.follow.image.TopicByID(p.id.topic); ok && has(t, p.id.index) {
		return replica.NotLeaderOrFollower
	}
	return replica.UnknownTopicOrPartition
}

// find is one of the two, by what the version names topics by.
func (n *Node) find(byID bool, topic string, id kraft.UUID, index int32) (*partition, replica.Code) {
	if byID {
		return n.byTopicID(id, index)
	}
	return n.byName(topic, index)
}

// leaderHint is whom the metadata has as the leader, for answers that say it is
// not this broker (KIP-951). ok is false where it says nothing newer.
func (n *Node) leaderHint(p partitionID, topic string) (leader, epoch int32, ok bool) {
	t, found := n.follow.image.TopicByID(p.topic)
	if !found {
		t, found = n.follow.image.Topic(topic)
	}
	if !found {
		return 0, 0, false
	}
	part, found := t.Partition(p.index)
	if !found {
		return 0, 0, false
	}
	return part.Leader, part.LeaderEpoch, true
}

// hinted: the errors that a hint goes with.
func hinted(code replica.Code) bool {
	return code == replica.NotLeaderOrFollower || code == replica.FencedLeaderEpoch
}

// endpoint is where clients find a broker that is alive; ok is false for others.
func (n *Node) endpoint(id int32) (e kraft.Endpoint, rack *string, ok bool) {
	b, ok := n.follow.image.Broker(id)
	if !ok || b.Fenced || len(b.EndPoints) == 0 {
		return kraft.Endpoint{}, nil, false
	}
	return b.EndPoints[0], b.Rack, true
}
