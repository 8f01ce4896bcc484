package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// TestFetchPieces: the pieces are what kmsg encodes, in each version, whatever the
// answer holds.
func TestFetchPieces(t *testing.T) {
	t.Parallel()
	var p Pieces // one for all, as a connection has it
	for version := int16(0); version <= kmsg.NewPtrFetchRequest().MaxVersion(); version++ {
		rng := rand.New(rand.NewPCG(1, uint64(version)))
		apart := 0
		for i := range 200 {
			resp := randomFetchResponse(rng, version)
			want := AppendResponse(nil, int32(i), resp)
			p.FetchResponse(int32(i), resp)
			if got := bytes.Join(p.All, nil); !bytes.Equal(got, want) {
				t.Fatalf("version %d, %d: got % x, want % x", version, i, got, want)
			}
			if len(p.Head) < len(want) {
				apart++
			}
			p.Forget()
		}
		if version >= 4 && apart < 20 {
			t.Errorf("version %d: %d of 200 answers have records that were not copied, want more", version, apart)
		}
	}
}

func randomFetchResponse(rng *rand.Rand, version int16) *kmsg.FetchResponse {
	resp := kmsg.NewPtrFetchResponse()
	resp.Version = version
	resp.ThrottleMillis, resp.ErrorCode, resp.SessionID = rng.Int32(), int16(rng.Int32()), rng.Int32()
	for i := range rng.IntN(3) {
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.TopicID = fmt.Sprintf("topic-%d", i), [16]byte{1, byte(i)}
		for range rng.IntN(4) {
			topic.Partitions = append(topic.Partitions, randomPartition(rng))
		}
		resp.Topics = append(resp.Topics, topic)
	}
	if rng.IntN(8) == 0 {
		resp.Brokers = append(resp.Brokers, kmsg.NewFetchResponseBroker())
	}
	return resp
}

func randomPartition(rng *rand.Rand) kmsg.FetchResponseTopicPartition {
	p := kmsg.NewFetchResponseTopicPartition()
	p.Partition, p.ErrorCode = rng.Int32(), int16(rng.Int32())
	p.HighWatermark, p.LastStableOffset, p.LogStartOffset = rng.Int64(), rng.Int64(), -1
	p.PreferredReadReplica = rng.Int32N(3) - 1
	switch rng.IntN(4) {
	case 0: // null
	case 1:
		p.RecordBatches = []byte{}
	case 2:
		p.RecordBatches = bytes.Repeat([]byte{1}, copiedRecords)
	default:
		p.RecordBatches = bytes.Repeat([]byte{2}, copiedRecords+1+rng.IntN(30_000))
	}
	switch rng.IntN(40) {
	case 0:
		p.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{}
	case 1:
		p.AbortedTransactions = []kmsg.FetchResponseTopicPartitionAbortedTransaction{{ProducerID: 1, FirstOffset: 2}}
	case 2:
		p.DivergingEpoch.EndOffset = 5
	case 3:
		p.CurrentLeader.LeaderID = 5
	case 4:
		p.SnapshotID.EndOffset = 5
	}
	return p
}
