package replica

import (
	"testing"
	"unsafe"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// BenchmarkProduceAcksAll is a leader's hot path: a produce with acks=all is
// appended, two followers fetch it and fetch on, and it is answered. One op is
// all of that, six steps.
func BenchmarkProduceAcksAll(b *testing.B) {
	w := newWorld(3, Settings{MinISR: 2})
	w.fail = b.Fatalf
	w.elect(1, w.ids, w.ids)
	for range 2 {
		w.fetch(w.nodes[2])
		w.fetch(w.nodes[3])
	}
	r := w.nodes[1].r
	out := make([]Effect, 0, 8)
	produce := Produce{Acks: acksAll, TimeoutMs: 30_000, Batch: Batch{ProducerID: 9, LastOffset: 9}}
	fetch := FollowerFetch{BrokerEpoch: NoBrokerEpoch, Position: FetchPosition{LeaderEpoch: 0, LastFetchedEpoch: NoEpoch}}
	var end Offset
	b.ReportAllocs()
	for i := range b.N {
		now := w.nowMs + int64(i)
		produce.Token++
		out = r.Step(now, produce, out[:0])
		out = r.Step(now, Appended{}, out[:0])
		produce.Batch.BaseSequence = produce.Batch.LastSequence() + 1
		for _, offset := range []Offset{end, end + 10} {
			for _, id := range []BrokerID{2, 3} {
				fetch.From, fetch.Position.Offset = id, offset
				out = r.Step(now, fetch, out[:0])
			}
		}
		end += 10
	}
	if got := r.Status(); got.HW != end || got.Waiting != 0 {
		b.Fatalf("HW %d with %d waiting, want %d and none", got.HW, got.Waiting, end)
	}
}

// BenchmarkIdleFetch is a follower's fetch that brings no news.
func BenchmarkIdleFetch(b *testing.B) {
	w := newWorld(3, Settings{MinISR: 2})
	w.elect(1, w.ids, w.ids)
	r := w.nodes[1].r
	fetch := FollowerFetch{From: 2, BrokerEpoch: NoBrokerEpoch, Position: FetchPosition{LastFetchedEpoch: NoEpoch}}
	out := make([]Effect, 0, 8)
	b.ReportAllocs()
	for i := range b.N {
		out = r.Step(int64(i), fetch, out[:0])
	}
}

// BenchmarkConsumerFetch is a question: it may not allocate at all.
func BenchmarkConsumerFetch(b *testing.B) {
	r := New(&Config{}, Settings{}, Log{End: 10, HW: 10})
	r.Step(0, Partition{Leader: 1, Replicas: []BrokerID{0, 1}}, nil)
	b.ReportAllocs()
	for range b.N {
		r.Fetch(Fetch{Position: FetchPosition{LeaderEpoch: NoEpoch, LastFetchedEpoch: NoEpoch}, Isolation: ReadUncommitted})
	}
}

// TestAllocations: a step allocates its effects and nothing else.
func TestAllocations(t *testing.T) {
	w := newWorld(3, Settings{MinISR: 2})
	w.fail = t.Fatalf
	w.elect(1, w.ids, w.ids)
	w.fetch(w.nodes[2])
	w.fetch(w.nodes[3])
	r := w.nodes[1].r
	out := make([]Effect, 0, 16)
	var effects int
	step := func(in Input) {
		out = r.Step(w.nowMs, in, out[:0])
		effects += len(out)
	}
	var end Offset
	round := func() {
		step(Produce{Acks: acksAll, TimeoutMs: 1000, Batch: Batch{ProducerID: logstate.NoProducerID}})
		step(Appended{})
		end++
		for _, id := range []BrokerID{2, 3} {
			step(FollowerFetch{From: id, BrokerEpoch: NoBrokerEpoch, Position: FetchPosition{Offset: end, LeaderEpoch: 0, LastFetchedEpoch: 0}})
		}
		r.NextDeadline()
	}
	for range 300 { // a number below 256 needs no memory in an interface
		round()
	}
	effects = 0
	const rounds = 100
	perRound := testing.AllocsPerRun(rounds, round)
	// AllocsPerRun runs once more to warm up.
	if limit := float64(effects) / (rounds + 1); perRound > limit {
		t.Errorf("%v allocations a round, %v effects", perRound, limit)
	}
}

// TestSize: a node has thousands of replicas, most of them idle.
func TestSize(t *testing.T) {
	t.Parallel()
	if got, limit := unsafe.Sizeof(Replica{})+unsafe.Sizeof(follower{}), uintptr(768); got > limit {
		t.Errorf("a follower takes %d bytes, want no more than %d", got, limit)
	}
	if got, limit := unsafe.Sizeof(Replica{})+unsafe.Sizeof(leader{})+2*unsafe.Sizeof(remote{}), uintptr(1024); got > limit {
		t.Errorf("a leader of three takes %d bytes, want no more than %d", got, limit)
	}
}
