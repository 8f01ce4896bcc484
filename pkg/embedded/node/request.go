package node

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
	"github.com/kafkaops/kafkaops/pkg/embedded/wire"
)

// served reports whether the request is one to answer. Other brokers follow at their
// own version, whatever clients are held to (Options.APIs).
func (n *Node) served(req kmsg.Request) bool {
	apis := n.opts.APIs
	switch req := req.(type) {
	case *kmsg.ApiVersionsRequest:
		return true
	case *kmsg.FetchRequest:
		if req.ReplicaID >= 0 || req.ReplicaState.ID >= 0 {
			apis = wire.APIs{}
		}
	case *kmsg.OffsetForLeaderEpochRequest:
		if req.ReplicaID >= 0 {
			apis = wire.APIs{}
		}
	}
	return apis.Serves(wire.Broker, req.Key(), req.GetVersion())
}

// request has one line for each API. What is not served, or not in that version,
// ends the connection, as it does in Kafka (SocketServer, InvalidRequestException):
// whoever asks has not looked at ApiVersions.
func (n *Node) request(in machine.Request) {
	if n.life.state == closing || !n.served(in.Body) {
		n.hangUp(in.Token)
		return
	}
	switch req := in.Body.(type) {
	case *kmsg.ProduceRequest:
		n.produce(in, req)
	case *kmsg.FetchRequest:
		n.handleFetch(in.Token, req)
	case *kmsg.ListOffsetsRequest:
		n.listOffsets(in.Token, req)
	case *kmsg.OffsetForLeaderEpochRequest:
		n.offsetForLeaderEpoch(in.Token, req)
	case *kmsg.MetadataRequest:
		n.metadata(in.Token, req)
	case *kmsg.ApiVersionsRequest:
		n.reply(in.Token, n.opts.APIs.AnswerApiVersions(wire.Broker, req, n.about()))
	case *kmsg.InitProducerIDRequest:
		n.initProducerID(in.Token, req)
	case *kmsg.DeleteRecordsRequest:
		n.deleteRecords(in.Token, req)
	case *kmsg.FindCoordinatorRequest:
		n.findCoordinator(in.Token, req)
	case *kmsg.JoinGroupRequest, *kmsg.SyncGroupRequest, *kmsg.HeartbeatRequest, *kmsg.LeaveGroupRequest:
		n.askGroup(in, groupOf(req))
	case *kmsg.OffsetCommitRequest:
		n.commitOffsets(in, req)
	case *kmsg.OffsetFetchRequest:
		n.fetchOffsets(in, req)
	case *kmsg.OffsetDeleteRequest:
		n.deleteOffsets(in, req)
	case *kmsg.DescribeGroupsRequest:
		n.describeGroups(in.Token, req)
	case *kmsg.ListGroupsRequest:
		n.listGroups(in.Token, req)
	case *kmsg.DeleteGroupsRequest:
		n.deleteGroups(in.Token, req)
	case *kmsg.ListPartitionReassignmentsRequest:
		n.listReassignments(in.Token, req)
	case *kmsg.DescribeClusterRequest:
		n.describeCluster(in.Token, req)
	case *kmsg.IncrementalAlterConfigsRequest:
		n.incrementalAlterConfigs(in.Token, req)
	case *kmsg.AlterConfigsRequest:
		n.alterConfigs(in.Token, req)
	case *kmsg.DescribeConfigsRequest:
		n.describeConfigs(in.Token, req)
	case *kmsg.DescribeTopicPartitionsRequest:
		n.describeTopicPartitions(in.Token, req)
	case *kmsg.DescribeLogDirsRequest:
		n.describeLogDirs(in.Token, req)
	case *kmsg.DescribeProducersRequest:
		n.describeProducers(in.Token, req)
	case *kmsg.DescribeTransactionsRequest:
		n.describeTransactions(in.Token, req)
	case *kmsg.ListTransactionsRequest:
		n.listTransactions(in.Token, req)
	case *kmsg.DescribeACLsRequest:
		n.describeACLs(in.Token, req)
	case *kmsg.CreateACLsRequest:
		n.createACLs(in.Token, req)
	case *kmsg.DeleteACLsRequest:
		n.deleteACLs(in.Token, req)
	case *kmsg.ListConfigResourcesRequest:
		n.listConfigResources(in.Token, req)
	default:
		// What is served and has no line above, only the controller can answer.
		n.forward(in.Token, req, nil)
	}
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
