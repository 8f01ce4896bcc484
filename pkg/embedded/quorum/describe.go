package quorum

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// describe is KafkaRaftClient.handleDescribeQuorumRequest.
func (n *Node) describe(now machine.Time, req *kmsg.DescribeQuorumRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeQuorumResponse)
	resp.ErrorMessage = kmsg.StringPtr("")
	resp.Topics, resp.Nodes = []kmsg.DescribeQuorumResponseTopic{}, []kmsg.DescribeQuorumResponseNode{}
	if n.closing {
		resp.ErrorCode = codeNotLeaderOrFollower
		return resp
	}
	ours := len(req.Topics) == 1 && req.Topics[0].Topic == metadataTopic && len(req.Topics[0].Partitions) == 1 &&
		req.Topics[0].Partitions[0].Partition == 0
	for _, t := range req.Topics {
		topic := kmsg.NewDescribeQuorumResponseTopic()
		topic.Topic, topic.Partitions = t.Topic, []kmsg.DescribeQuorumResponseTopicPartition{}
		for _, p := range t.Partitions {
			one := kmsg.NewDescribeQuorumResponseTopicPartition()
			one.Partition, one.ErrorMessage = p.Partition, kmsg.StringPtr("")
			one.CurrentVoters, one.Observers = []kmsg.DescribeQuorumResponseTopicPartitionReplicaState{}, []kmsg.DescribeQuorumResponseTopicPartitionReplicaState{}
			if ours {
				n.describeLog(now, &one)
			} else {
				err := errorf(controller.UnknownTopicOrPartition, "only %s-0 has a quorum", metadataTopic)
				one.ErrorCode, one.ErrorMessage = codeOf(err), messageOf(err)
			}
			topic.Partitions = append(topic.Partitions, one)
		}
		resp.Topics = append(resp.Topics, topic)
	}
	if ours {
		resp.Nodes = append(resp.Nodes, n.describeNode())
	}
	return resp
}

func (n *Node) describeLog(now machine.Time, p *kmsg.DescribeQuorumResponseTopicPartition) {
	p.LeaderID, p.LeaderEpoch = n.leader()
	p.HighWatermark = n.durable
	leader := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
	leader.ReplicaID, leader.LogEndOffset = p.LeaderID, n.durable
	leader.LastFetchTimestamp, leader.LastCaughtUpTimestamp = now.Wall, now.Wall
	if n.voters != nil {
		for _, v := range n.voters.Voters {
			leader.ReplicaDirectoryID = v.DirectoryID
		}
	}
	p.CurrentVoters = append(p.CurrentVoters, leader)
	for _, o := range n.presentObservers(now) {
		s := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
		s.ReplicaID, s.ReplicaDirectoryID, s.LogEndOffset = o.id, o.dir, o.offset
		s.LastFetchTimestamp, s.LastCaughtUpTimestamp = o.fetchMs, o.caughtUpMs
		p.Observers = append(p.Observers, s)
	}
}

func (n *Node) describeNode() kmsg.DescribeQuorumResponseNode {
	node := kmsg.NewDescribeQuorumResponseNode()
	node.NodeID, node.Listeners = n.opts.Controller.NodeID, []kmsg.DescribeQuorumResponseNodeListener{}
	for _, e := range n.opts.EndPoints {
		l := kmsg.NewDescribeQuorumResponseNodeListener()
		l.Name, l.Host, l.Port = e.Name, e.Host, e.Port
		node.Listeners = append(node.Listeners, l)
	}
	return node
}
