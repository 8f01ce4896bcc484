package fakekafka

import "github.com/twmb/franz-go/pkg/kmsg"

// Quorum is the controllers' state as the active one tells it. To play a cluster
// whose controllers have no leader let every broker hang on the requests that it
// would pass on (Faults.HangOn): Kafka's brokers hold them.
type Quorum struct {
	Leader, Epoch     int32
	HW                int64
	Voters, Observers []QuorumReplica
	// ClockMs is the leader's time, which it gives as its own times.
	ClockMs int64
}

// QuorumReplica is a node's copy of the metadata log.
type QuorumReplica struct {
	ID        int32
	Directory [16]byte
	LEO       int64
	// LastFetchMs and LastCaughtUpMs are by the leader's clock; −1 is never.
	LastFetchMs, LastCaughtUpMs int64
	// Host and Port are where a voter listens; none without a Host.
	Host string
	Port uint16
}

// NewQuorum has voters 101 to 100+n, the first of which leads, and the given
// brokers as observers. All of them have everything.
func NewQuorum(voters int, observers ...int32) *Quorum {
	const clockMs, leo = 1_796_000_000_000, 1000
	q := &Quorum{Leader: 101, Epoch: 3, HW: leo, ClockMs: clockMs}
	add := func(to *[]QuorumReplica, id int32) {
		*to = append(*to, QuorumReplica{ID: id, LEO: leo, LastFetchMs: clockMs - 100, LastCaughtUpMs: clockMs - 100})
	}
	for i := range voters {
		add(&q.Voters, 101+int32(i))
	}
	for _, id := range observers {
		add(&q.Observers, id)
	}
	return q
}

// Voter returns the voter with that id, nil if there is none.
func (q *Quorum) Voter(id int32) *QuorumReplica {
	for i := range q.Voters {
		if q.Voters[i].ID == id {
			return &q.Voters[i]
		}
	}
	return nil
}

// describeQuorum answers as a broker does that passes the request on, or as a
// controller, which does not.
func (v *view) describeQuorum(req *kmsg.DescribeQuorumRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeQuorumResponse)
	resp.Topics, resp.Nodes = []kmsg.DescribeQuorumResponseTopic{}, []kmsg.DescribeQuorumResponseNode{}
	resp.ErrorMessage = new("")
	if v.denied(kmsg.DescribeQuorum) {
		resp.ErrorCode, resp.ErrorMessage = clusterAuthorization, new("Cluster authorization failed.")
		return resp
	}
	q := v.quorum()
	for i := range req.Topics {
		asked := &req.Topics[i]
		rt := kmsg.NewDescribeQuorumResponseTopic()
		rt.Topic, rt.Partitions = asked.Topic, []kmsg.DescribeQuorumResponseTopicPartition{}
		for _, ap := range asked.Partitions {
			rp := kmsg.NewDescribeQuorumResponseTopicPartition()
			rp.Partition, rp.ErrorMessage = ap.Partition, new("")
			rp.CurrentVoters = []kmsg.DescribeQuorumResponseTopicPartitionReplicaState{}
			rp.Observers = []kmsg.DescribeQuorumResponseTopicPartitionReplicaState{}
			switch {
			case asked.Topic != "__cluster_metadata" || ap.Partition != 0:
				rp.ErrorCode = unknownTopicOrPartition
			case v.standsBy():
				rp.ErrorCode = notLeaderOrFollower // as 4.4.0: and not a word of who leads
			default:
				rp.LeaderID, rp.LeaderEpoch, rp.HighWatermark = q.Leader, q.Epoch, q.HW
				rp.CurrentVoters = q.states(q.Voters, req.Version)
				rp.Observers = q.states(q.Observers, req.Version)
			}
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	for i := range q.Voters {
		if r := &q.Voters[i]; !v.standsBy() && r.Host != "" {
			n := kmsg.NewDescribeQuorumResponseNode()
			n.NodeID = r.ID
			n.Listeners = []kmsg.DescribeQuorumResponseNodeListener{{Name: "CONTROLLER", Host: r.Host, Port: r.Port}}
			resp.Nodes = append(resp.Nodes, n)
		}
	}
	return resp
}

func (v *view) quorum() *Quorum {
	if v.model.Quorum != nil {
		return v.model.Quorum
	}
	ids := make([]int32, 0, len(v.index.live))
	for _, b := range v.index.live {
		ids = append(ids, b.ID)
	}
	return NewQuorum(3, ids...)
}

func (q *Quorum) states(replicas []QuorumReplica, version int16) []kmsg.DescribeQuorumResponseTopicPartitionReplicaState {
	out := make([]kmsg.DescribeQuorumResponseTopicPartitionReplicaState, 0, len(replicas))
	for i := range replicas {
		r := &replicas[i]
		s := kmsg.NewDescribeQuorumResponseTopicPartitionReplicaState()
		s.ReplicaID, s.ReplicaDirectoryID, s.LogEndOffset = r.ID, r.Directory, r.LEO
		if version >= 1 {
			s.LastFetchTimestamp, s.LastCaughtUpTimestamp = r.LastFetchMs, r.LastCaughtUpMs
			if r.ID == q.Leader {
				s.LastFetchTimestamp, s.LastCaughtUpTimestamp = q.ClockMs, q.ClockMs
			}
		}
		out = append(out, s)
	}
	return out
}
