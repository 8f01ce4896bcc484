package node

import (
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// pair is a leader and its follower, whose messages and orders are carried out at
// once.
type pair struct {
	nodes  [3]*Node
	nowMs  int64
	out    []machine.Effect
	queue  []pairInput
	waits  map[machine.Token]pairWait
	token  machine.Token
	reply  kmsg.Response
	client machine.Token
}

type pairInput struct {
	to int32
	in machine.Input
}

type pairWait struct {
	from  int32
	token machine.Token
}

// newPair takes two brokers of a world that leads and follows orders-0.
func newPair(tb testing.TB) *pair {
	t := &testing.T{}
	w := newWorld(t, 2, map[string]string{"replica.high.watermark.checkpoint.interval.ms": "1000000000"})
	w.start(1)
	w.start(2)
	if !w.run(10_000, w.unfenced) {
		tb.Fatal("not unfenced")
	}
	decide(w.ctl, w.nowMs, controller.CreateTopics{Topics: []controller.NewTopic{{
		Name: "orders", NumPartitions: -1, ReplicationFactor: -1, Assignments: map[int32][]int32{0: {1, 2}},
	}}})
	w.ctl.tick(w.nowMs)
	w.run(1000, nil)
	p := &pair{waits: map[machine.Token]pairWait{}, nowMs: w.nowMs, token: 1 << 32}
	p.nodes[1], p.nodes[2] = w.hosts[1].node, w.hosts[2].node
	if _, l := p.nodes[2].Replica("orders", 0); l == nil {
		tb.Fatal("no replica")
	}
	// The fetch that is parked at the leader is the world's: its end is told by hand.
	for token, e := range p.nodes[2].sends {
		if _, ok := e.(*fetcher); ok {
			p.step(2, machine.Response{Token: token})
		}
	}
	p.nowMs += 2000
	p.step(2, machine.Tick{})
	p.run()
	return p
}

func (p *pair) step(id int32, in machine.Input) {
	p.out = p.nodes[id].Step(machine.Time{Mono: p.nowMs, Wall: wallMs + p.nowMs}, in, p.out[:0])
	for _, e := range p.out {
		switch e := e.(type) {
		case machine.Run:
			e.Order.Run()
			p.queue = append(p.queue, pairInput{id, machine.Ran{Order: e.Order}})
		case machine.Send:
			if e.To > 0 {
				p.token++
				p.waits[p.token] = pairWait{id, e.Token}
				p.queue = append(p.queue, pairInput{int32(e.To), machine.Request{Token: p.token, Body: e.Request}})
			}
		case machine.Reply:
			if w, ok := p.waits[e.Token]; ok {
				delete(p.waits, e.Token)
				p.queue = append(p.queue, pairInput{w.from, machine.Response{Token: w.token, Body: e.Response}})
			} else if e.Token == p.client {
				p.reply = e.Response
			}
		}
	}
}

func (p *pair) run() {
	for i := 0; i < len(p.queue); i++ {
		p.step(p.queue[i].to, p.queue[i].in)
	}
	p.queue = p.queue[:0]
}

func (p *pair) ask(id int32, req kmsg.Request) kmsg.Response {
	p.token++
	p.client, p.reply = p.token, nil
	p.step(id, machine.Request{Token: p.token, Body: req})
	p.run()
	return p.reply
}

func benchBatch(tb testing.TB, records int) []byte {
	b := record.NewBuilder(record.Options{LeaderEpoch: -1})
	for range records {
		if err := b.Add(record.Entry{TimestampMs: wallMs, Value: make([]byte, 100)}); err != nil {
			tb.Fatal(err)
		}
	}
	batch, err := b.AppendTo(nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return batch
}

func produceOf(batch []byte, acks int16) *kmsg.ProduceRequest {
	req := kmsg.NewPtrProduceRequest()
	req.Version, req.Acks, req.TimeoutMillis = 9, acks, 30_000
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: "orders", Partitions: []kmsg.ProduceRequestTopicPartition{{Records: batch}}}}
	return req
}

// BenchmarkProduce is a Produce with acks=all, its replication to one follower,
// and the follower's next fetch, which tells.
func BenchmarkProduce(b *testing.B) {
	for _, tt := range []struct {
		name    string
		records int
	}{{"one record", 1}, {"100 records", 100}} {
		b.Run(tt.name, func(b *testing.B) {
			p := newPair(b)
			batch := benchBatch(b, tt.records)
			b.SetBytes(int64(len(batch)))
			b.ReportAllocs()
			for b.Loop() {
				resp := p.ask(1, produceOf(append([]byte(nil), batch...), -1))
				if resp == nil || resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode != 0 {
					b.Fatalf("not acknowledged: %+v", resp)
				}
			}
		})
	}
}

// BenchmarkFetch is a consumer's Fetch of 64 KiB.
func BenchmarkFetch(b *testing.B) {
	p := newPair(b)
	batch := benchBatch(b, 100)
	for range 100 {
		p.ask(1, produceOf(append([]byte(nil), batch...), -1))
	}
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 12, 0, 1, 1<<20
	req.Topics = []kmsg.FetchRequestTopic{{Topic: "orders", Partitions: []kmsg.FetchRequestTopicPartition{{
		PartitionMaxBytes: 64 << 10, CurrentLeaderEpoch: -1, LastFetchedEpoch: -1,
	}}}}
	b.ReportAllocs()
	for b.Loop() {
		resp, ok := p.ask(1, req).(*kmsg.FetchResponse)
		if !ok || len(resp.Topics[0].Partitions[0].RecordBatches) == 0 {
			b.Fatalf("no records: %+v", resp)
		}
	}
}

// TestNoAllocationPerRecord: what a record costs is bytes, whatever their number.
func TestNoAllocationPerRecord(t *testing.T) {
	p := newPair(t)
	allocs := func(records int) float64 {
		batch := benchBatch(t, records)
		return testing.AllocsPerRun(100, func() {
			if p.ask(1, produceOf(append([]byte(nil), batch...), -1)) == nil {
				t.Fatal("not acknowledged")
			}
		})
	}
	allocs(1) // buffers grow
	// The disk in memory takes a page for each 4 KiB, on both brokers.
	if one, many := allocs(1), allocs(500); many > one+100 {
		t.Errorf("%v allocations for a record, %v for 500", one, many)
	}
}

// TestAnyRequest: whatever a request holds, it is answered or its connection
// closed, and the broker goes on.
func TestAnyRequest(t *testing.T) {
	t.Parallel()
	p := newPair(t)
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
