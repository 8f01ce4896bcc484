package fakekafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// view is what one broker sees of the model while it answers one request. Its
// answers are pure: they change nothing, and they share the model's slices, so
// they must be encoded before the model changes again.
type view struct {
	model *Model
	index *index
	self  *Broker
	// replicaReads is how the broker treats replica id −2.
	replicaReads ReplicaReads
}

// answer is the broker's answer to req, nil for an API that is not served here.
func (v *view) answer(req kmsg.Request) kmsg.Response {
	switch req := req.(type) {
	case *kmsg.ListOffsetsRequest:
		return v.listOffsets(req)
	case *kmsg.MetadataRequest:
		return v.metadata(req)
	case *kmsg.OffsetFetchRequest:
		return v.offsetFetch(req)
	case *kmsg.DescribeGroupsRequest:
		return v.describeGroups(req)
	case *kmsg.ListGroupsRequest:
		return v.listGroups(req)
	case *kmsg.ConsumerGroupDescribeRequest:
		return v.consumerGroupDescribe(req)
	case *kmsg.FindCoordinatorRequest:
		return v.findCoordinator(req)
	case *kmsg.ApiVersionsRequest:
		return v.apiVersions(req)
	case *kmsg.DescribeConfigsRequest:
		return v.describeConfigs(req)
	case *kmsg.DescribeLogDirsRequest:
		return v.describeLogDirs(req)
	case *kmsg.ListPartitionReassignmentsRequest:
		return v.listPartitionReassignments(req)
	case *kmsg.DescribeQuorumRequest:
		return v.describeQuorum(req)
	case *kmsg.DescribeClusterRequest:
		return v.describeCluster(req)
	case *kmsg.DescribeTopicPartitionsRequest:
		return v.describeTopicPartitions(req)
	case *kmsg.DescribeProducersRequest:
		return v.describeProducers(req)
	case *kmsg.DescribeTransactionsRequest:
		return v.describeTransactions(req)
	case *kmsg.ListTransactionsRequest:
		return v.listTransactions(req)
	}
	return nil
}

// denied says whether the client lacks the permission for a whole API.
func (v *view) denied(key Key) bool { return slices.Contains(v.model.Deny, key) }

// hidden says whether a topic must not be disclosed to the client of that API.
func (v *view) hidden(key Key, t *Topic) bool {
	return v.denied(key) || t != nil && t.DenyDescribe
}

// controllerID is what brokers tell clients: not the controller but a live
// broker, which passes requests on. Kafka picks it at random, this takes the first.
func (v *view) controllerID() int32 {
	if len(v.index.live) == 0 {
		return -1
	}
	return v.index.live[0].ID
}

// offline lists a partition's offline replicas, in assignment order: as Kafka's
// isReplicaOffline has it, and those that the test named.
func (v *view) offline(p *Partition) []int32 {
	offline := []int32{}
	for _, id := range p.Replicas {
		b := v.index.brokers[id]
		if b == nil || b.Fenced || b.dirOf(p).Offline || slices.Contains(p.Offline, id) {
			offline = append(offline, id)
		}
	}
	return offline
}

// leader is a partition's leader as clients are told it: none, if no broker of
// that id is registered.
func (v *view) leader(p *Partition) int32 {
	if v.index.brokers[p.Leader] == nil {
		return NoLeader
	}
	return p.Leader
}

// dirOf is the log directory that holds the broker's replica of p.
func (b *Broker) dirOf(p *Partition) *LogDir {
	if path, ok := p.Dirs[b.ID]; ok {
		for i := range b.LogDirs {
			if b.LogDirs[i].Path == path {
				return &b.LogDirs[i]
			}
		}
	}
	return &b.LogDirs[0]
}

// list makes nil an empty list. Kafka's lists of replicas are never null, and its
// own tools fall over a null one.
func list(ids []int32) []int32 {
	if ids == nil {
		return []int32{}
	}
	return ids
}

// validTopicName is Kafka's rule for names (Topic.validate).
func validTopicName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > 249 {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
