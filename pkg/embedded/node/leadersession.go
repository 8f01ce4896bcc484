package node

import (
	"bytes"
	"cmp"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// leaderSession is a follower's side of its fetch session at a leader (KIP-227,
// FetchSessionHandler). Its zero value is that there is none yet.
//
//	full        -> incremental  the leader has named a session
//	incremental -> full         it does not know it, or it may have missed a request
type leaderSession struct {
	// id and epoch are what the next request says: epoch 0 asks in full, and ends
	// what goes by the id.
	id, epoch int32
	// told is what the leader has been told to fetch, with the request in flight.
	told map[partitionID]told
}

// told is what can change of a partition in a session.
type told struct {
	position replica.FetchPosition
	logStart replica.Offset
}

func (s *leaderSession) full() bool { return s.epoch == initialSessionEpoch }

// ended takes the end of a request, nil where the connection was lost, and says
// whether it is a reason to pause.
func (s *leaderSession) ended(resp *kmsg.FetchResponse) (pause bool) {
	switch {
	case resp == nil:
		// It may have been carried out or not.
		s.epoch = initialSessionEpoch
		return true
	case replica.Code(resp.ErrorCode) == fetchSessionIDNotFound:
		s.id, s.epoch = noSession, initialSessionEpoch
		return false
	case resp.ErrorCode != 0:
		s.epoch = initialSessionEpoch
		return replica.Code(resp.ErrorCode) != invalidFetchSessionEpoch
	case resp.SessionID == noSession:
		s.id, s.epoch = noSession, initialSessionEpoch
	default:
		s.id, s.epoch = resp.SessionID, nextSessionEpoch(s.epoch)
	}
	return false
}

func comparePartitionIDs(a, b partitionID) int {
	return cmp.Or(bytes.Compare(a.topic[:], b.topic[:]), cmp.Compare(a.index, b.index))
}
