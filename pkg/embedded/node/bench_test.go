package node

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

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
	// bytes: messages go as bytes, which costs what a server's do.
	bytes bool
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
func newPair(tb testing.TB, partitions int32) *pair {
	w := newWorld(tb, 2, map[string]string{
		"replica.high.watermark.checkpoint.interval.ms": "1000000000", "log.retention.check.interval.ms": "1000000000",
		"log.flush.offset.checkpoint.interval.ms": "1000000000", "producer.id.expiration.check.interval.ms": "1000000000",
	})
	w.start(1)
	w.start(2)
	if !w.run(10_000, w.unfenced) {
		tb.Fatal("not unfenced")
	}
	t := controller.NewTopic{Name: "orders", NumPartitions: -1, ReplicationFactor: -1, Assignments: map[int32][]int32{}}
	for i := range partitions {
		t.Assignments[i] = []int32{1, 2}
	}
	decide(w.ctl, w.nowMs, controller.CreateTopics{Topics: []controller.NewTopic{t}})
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
				req := e.Request
				if p.bytes {
					req = readRequest(req)
				}
				p.queue = append(p.queue, pairInput{int32(e.To), machine.Request{Token: p.token, Body: req}})
			}
		case machine.Reply:
			if w, ok := p.waits[e.Token]; ok {
				delete(p.waits, e.Token)
				resp := e.Response
				if p.bytes {
					resp = readResponse(resp)
				}
				p.queue = append(p.queue, pairInput{w.from, machine.Response{Token: w.token, Body: resp}})
			} else if e.Token == p.client {
				p.reply = e.Response
			}
		}
	}
}

func readRequest(req kmsg.Request) kmsg.Request {
	out := kmsg.RequestForKey(req.Key())
	out.SetVersion(req.GetVersion())
	if err := out.ReadFrom(req.AppendTo(nil)); err != nil {
		panic(err)
	}
	return out
}

func readResponse(resp kmsg.Response) kmsg.Response {
	out := kmsg.ResponseForKey(resp.Key())
	out.SetVersion(resp.GetVersion())
	if err := out.ReadFrom(resp.AppendTo(nil)); err != nil {
		panic(err)
	}
	return out
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
			p := newPair(b, 1)
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
	p := newPair(b, 1)
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

// BenchmarkIdleFetch is a round of a follower's fetch that finds nothing new: the request,
// both ways as bytes, and its wait's end, of a leader of so many partitions.
func BenchmarkIdleFetch(b *testing.B) {
	for _, partitions := range []int32{1, 5000} {
		b.Run(fmt.Sprint(partitions), func(b *testing.B) {
			p := newPair(b, partitions)
			p.bytes = true
			p.idle(b) // what came with the last partitions is told
			p.idle(b)
			b.ReportAllocs()
			for b.Loop() {
				p.idle(b)
			}
		})
	}
}

// idle is a round: the leader's answer after the follower's wait, and its next request.
func (p *pair) idle(tb testing.TB) {
	before := p.token
	p.nowMs += 500
	p.step(1, machine.Tick{})
	p.run()
	if p.token == before {
		tb.Fatal("no fetch in a round")
	}
}

// TestNoAllocationPerRecord: what a record costs is bytes, whatever their number.
func TestNoAllocationPerRecord(t *testing.T) {
	p := newPair(t, 1)
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
