package fakekafka

import (
	"slices"
	"sort"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The replica ids that are not brokers.
const (
	consumerReplica  int32 = -1
	debuggingReplica int32 = -2
)

// The timestamps that are not times, with the version that brought each.
const (
	latest                int64 = -1
	earliest              int64 = -2
	maxTimestamp          int64 = -3 // v7
	earliestLocal         int64 = -4 // v8
	latestTiered          int64 = -5 // v9
	earliestPendingUpload int64 = -6 // v11
)

const readCommitted int8 = 1

type topicPartition struct {
	topic     string
	partition int32
}

func (v *view) listOffsets(req *kmsg.ListOffsetsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ListOffsetsResponse)
	resp.Topics = make([]kmsg.ListOffsetsResponseTopic, 0, len(req.Topics))
	replica := req.ReplicaID
	if replica == debuggingReplica && v.replicaReads == ReplicaReadsAsConsumer {
		replica = consumerReplica
	}
	twice := duplicates(req)
	for _, rt := range req.Topics {
		out := kmsg.NewListOffsetsResponseTopic()
		out.Topic = rt.Topic
		out.Partitions = make([]kmsg.ListOffsetsResponseTopicPartition, len(rt.Partitions))
		t := v.index.topics[rt.Topic]
		hidden := v.hidden(kmsg.ListOffsets, t)
		for i := range rt.Partitions {
			asked, rp := &rt.Partitions[i], &out.Partitions[i]
			rp.Default()
			rp.Partition, rp.OldStyleOffsets = asked.Partition, []int64{}
			switch {
			case hidden:
				rp.ErrorCode = topicAuthorizationFailed
			case twice[topicPartition{rt.Topic, asked.Partition}],
				req.ReplicaID == debuggingReplica && v.replicaReads == ReplicaReadsInvalid:
				rp.ErrorCode = invalidRequest
			case !supportedTimestamp(asked.Timestamp, req.Version):
				rp.ErrorCode = unsupportedVersion
			default:
				v.listOffset(rp, t, asked, offsetQuery{replica, req.IsolationLevel, req.Version})
			}
		}
		resp.Topics = append(resp.Topics, out)
	}
	return resp
}

// offsetQuery is what a request asks the same for all of its partitions.
type offsetQuery struct {
	replica   int32
	isolation int8
	version   int16
}

// listOffset answers for one partition, in the order of Kafka's own checks
// (Partition.fetchOffsetForTimestamp).
func (v *view) listOffset(
	rp *kmsg.ListOffsetsResponseTopicPartition, t *Topic, asked *kmsg.ListOffsetsRequestTopicPartition, q offsetQuery,
) {
	if t == nil || asked.Partition < 0 || int(asked.Partition) >= len(t.Partitions) {
		rp.ErrorCode = unknownTopicOrPartition
		return
	}
	p := t.Partitions[asked.Partition]
	isLeader := p.Leader == v.self.ID
	switch {
	case !slices.Contains(p.Replicas, v.self.ID):
		rp.ErrorCode = notLeaderOrFollower
	case v.self.dirOf(p).Offline:
		rp.ErrorCode = kafkaStorageError
	case asked.CurrentLeaderEpoch >= 0 && asked.CurrentLeaderEpoch < p.LeaderEpoch:
		rp.ErrorCode = fencedLeaderEpoch
	case asked.CurrentLeaderEpoch > p.LeaderEpoch:
		rp.ErrorCode = unknownLeaderEpoch
	case q.replica != debuggingReplica && !isLeader:
		rp.ErrorCode = notLeaderOrFollower
	case q.replica == consumerReplica && p.HWUnknown && asked.Timestamp == latest:
		rp.ErrorCode = offsetNotAvailable
		if q.version < 5 {
			rp.ErrorCode = leaderNotAvailable
		}
	default:
		rp.Offset, rp.Timestamp = p.offsetFor(asked.Timestamp, p.bound(v.self.ID, q), p.LogEnd(v.self.ID))
		if rp.Offset >= 0 {
			rp.LeaderEpoch = p.LeaderEpoch
		}
	}
}

// bound is the offset that the client may see up to: a consumer the HW, or the
// LSO, everyone else that replica's LEO.
func (p *Partition) bound(broker int32, q offsetQuery) int64 {
	switch {
	case q.replica != consumerReplica:
		return p.LogEnd(broker)
	case q.isolation == readCommitted:
		return p.lastStable()
	default:
		return p.HW
	}
}

// offsetFor resolves a timestamp to an offset and the timestamp found there; −1
// and −1 say that there is none below the bound.
func (p *Partition) offsetFor(timestamp, bound, leo int64) (offset, found int64) {
	switch timestamp {
	case latest:
		return bound, -1
	case earliest, earliestLocal:
		return p.LogStart, -1
	case latestTiered, earliestPendingUpload:
		return -1, -1 // nothing is tiered
	}
	if p.TimestampMs == nil || leo <= p.LogStart {
		return -1, -1
	}
	if timestamp == maxTimestamp {
		offset = leo - 1
	} else {
		offset = p.LogStart + int64(sort.Search(int(leo-p.LogStart), func(i int) bool {
			return p.TimestampMs(p.LogStart+int64(i)) >= timestamp
		}))
	}
	if offset >= bound {
		return -1, -1
	}
	return offset, p.TimestampMs(offset)
}

// duplicates are the partitions that a request names more than once: nil, and so
// cheap to ask, if there are none.
func duplicates(req *kmsg.ListOffsetsRequest) map[topicPartition]bool {
	n := 0
	for _, rt := range req.Topics {
		n += len(rt.Partitions)
	}
	seen := make(map[topicPartition]struct{}, n)
	var twice map[topicPartition]bool
	for _, rt := range req.Topics {
		for i := range rt.Partitions {
			tp := topicPartition{rt.Topic, rt.Partitions[i].Partition}
			if _, ok := seen[tp]; ok {
				if twice == nil {
					twice = make(map[topicPartition]bool)
				}
				twice[tp] = true
			}
			seen[tp] = struct{}{}
		}
	}
	return twice
}

func supportedTimestamp(timestamp int64, version int16) bool {
	switch timestamp {
	case maxTimestamp:
		return version >= 7
	case earliestLocal:
		return version >= 8
	case latestTiered:
		return version >= 9
	case earliestPendingUpload:
		return version >= 11
	default:
		return timestamp >= earliest
	}
}
