package node

import (
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
)

// TestAnyRequest: whatever a request holds, it is answered or its connection
// closed, and the broker goes on.
func TestAnyRequest(t *testing.T) {
	t.Parallel()
	p := newPair(t, 1)
	topic, _ := p.nodes[1].Image().Topic("orders")
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		req := randomRequest(rnd, topic.ID)
		p.token++
		p.client = p.token
		p.step(1, machine.Request{Token: p.token, Body: req})
		p.run()
		p.nowMs++
		if p.nodes[1].NextDeadline() <= p.nowMs {
			p.step(1, machine.Tick{})
			p.run()
		}
		if p.nodes[1].stopped {
			t.Fatalf("%T v%d stopped the broker: %+v", req, req.GetVersion(), req)
		}
	}
	if p.ask(1, produceOf(benchBatch(t, 1), 1)) == nil {
		t.Error("the broker does not go on")
	}
}

// randomRequest is one of those served, with odd numbers in it.
func randomRequest(rnd *rand.Rand, id kraft.UUID) kmsg.Request {
	number := func() int64 {
		return [...]int64{0, 1, -1, -2, -3, 5, 1 << 20, 1<<31 - 1, -1 << 31, 1<<63 - 1, -1 << 63}[rnd.IntN(11)]
	}
	n32 := func() int32 { return int32(number()) }
	name := func() string { return [...]string{"orders", "", "none"}[rnd.IntN(3)] }
	topicID := func() [16]byte { return [...][16]byte{id, {}, {1}}[rnd.IntN(3)] }
	index := func() int32 { return [...]int32{0, 0, 0, n32()}[rnd.IntN(4)] }
	bytes := func() []byte {
		b := make([]byte, rnd.IntN(100))
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
		return [...][]byte{nil, b, b[:0]}[rnd.IntN(3)]
	}
	var req kmsg.Request
	switch rnd.IntN(8) {
	case 0:
		r := kmsg.NewPtrProduceRequest()
		r.Acks, r.TimeoutMillis = int16(rnd.IntN(5)-2), n32()
		for range rnd.IntN(3) {
			t := kmsg.ProduceRequestTopic{Topic: name(), TopicID: topicID()}
			for range rnd.IntN(3) {
				t.Partitions = append(t.Partitions, kmsg.ProduceRequestTopicPartition{Partition: index(), Records: bytes()})
			}
			r.Topics = append(r.Topics, t)
		}
		req = r
	case 1, 2:
		r := kmsg.NewPtrFetchRequest()
		r.ReplicaID, r.ReplicaState.ID, r.ReplicaState.Epoch = n32(), n32(), number()
		r.MaxWaitMillis, r.MinBytes, r.MaxBytes = n32(), n32(), n32()
		r.IsolationLevel, r.SessionID, r.SessionEpoch = int8(rnd.IntN(4)-1), n32(), int32(rnd.IntN(3)-1)
		for range rnd.IntN(3) {
			t := kmsg.FetchRequestTopic{Topic: name(), TopicID: topicID()}
			for range rnd.IntN(3) {
				t.Partitions = append(t.Partitions, kmsg.FetchRequestTopicPartition{
					Partition: index(), FetchOffset: number(), CurrentLeaderEpoch: n32(), LastFetchedEpoch: n32(),
					LogStartOffset: number(), PartitionMaxBytes: n32(),
				})
			}
			r.Topics = append(r.Topics, t)
		}
		req = r
	case 3:
		r := kmsg.NewPtrListOffsetsRequest()
		r.ReplicaID, r.IsolationLevel = n32(), int8(rnd.IntN(4)-1)
		t := kmsg.ListOffsetsRequestTopic{Topic: name()}
		for range rnd.IntN(3) {
			t.Partitions = append(t.Partitions, kmsg.ListOffsetsRequestTopicPartition{Partition: index(), CurrentLeaderEpoch: n32(), Timestamp: number()})
		}
		r.Topics = append(r.Topics, t)
		req = r
	case 4:
		r := kmsg.NewPtrOffsetForLeaderEpochRequest()
		t := kmsg.OffsetForLeaderEpochRequestTopic{Topic: name()}
		for range rnd.IntN(3) {
			t.Partitions = append(t.Partitions, kmsg.OffsetForLeaderEpochRequestTopicPartition{Partition: index(), CurrentLeaderEpoch: n32(), LeaderEpoch: n32()})
		}
		r.Topics = append(r.Topics, t)
		req = r
	case 5:
		r := kmsg.NewPtrDeleteRecordsRequest()
		r.TimeoutMillis = n32()
		t := kmsg.DeleteRecordsRequestTopic{Topic: name()}
		for range rnd.IntN(3) {
			t.Partitions = append(t.Partitions, kmsg.DeleteRecordsRequestTopicPartition{Partition: index(), Offset: number()})
		}
		r.Topics = append(r.Topics, t)
		req = r
	case 6:
		r := kmsg.NewPtrMetadataRequest()
		for range rnd.IntN(3) {
			t := kmsg.MetadataRequestTopic{TopicID: topicID()}
			if rnd.IntN(2) == 0 {
				t.Topic = kmsg.StringPtr(name())
			}
			r.Topics = append(r.Topics, t)
		}
		req = r
	default:
		r := kmsg.NewPtrInitProducerIDRequest()
		r.ProducerID, r.ProducerEpoch = number(), int16(n32())
		if rnd.IntN(2) == 0 {
			r.TransactionalID = kmsg.StringPtr(name())
		}
		req = r
	}
	req.SetVersion(int16(rnd.IntN(20)))
	return req
}
