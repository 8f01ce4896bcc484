package history

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

var start = time.Date(2026, 11, 29, 20, 0, 0, 0, time.UTC)

// look is what one sample shows of partition t-0, its replicas being 1, 2, 3 and
// led by 1 unless said otherwise. An offset of no (-1) was not answered.
type look struct {
	sec    int64
	leader inspect.BrokerID // 0: broker 1
	epoch  inspect.Epoch
	l      inspect.Offset // LEOBefore
	hw     inspect.Offset
	f      []inspect.Offset // LEOs of the followers, in assignment order
	isr    int              // its size; 0: three
	minISR int32            // 0: unknown
	id     string           // topic id; "-": unknown
	noPart bool             // the partition is not in the sample
}

const no = inspect.Offset(-1)

func opt(o inspect.Offset) inspect.Opt[inspect.Offset] {
	if o == no {
		return inspect.Unknown[inspect.Offset]()
	}
	return inspect.Known(o)
}

func (k look) snapshot() *inspect.Snapshot {
	s := &inspect.Snapshot{TakenAt: start.Add(time.Duration(k.sec) * time.Second), Asked: inspect.PartOffsets}
	if k.noPart {
		return s
	}
	p := inspect.Partition{
		Topic: "t", Leader: 1, LeaderEpoch: inspect.Known(k.epoch),
		Replicas: []inspect.BrokerID{1, 2, 3},
		Offsets:  &inspect.Offsets{LEOBefore: opt(k.l), HW: opt(k.hw)},
	}
	if k.leader != 0 {
		p.Leader = k.leader
	}
	if k.isr == 0 {
		k.isr = 3
	}
	p.ISR = p.Replicas[:k.isr]
	if k.minISR > 0 {
		p.MinInsyncReplicas = inspect.Known(k.minISR)
	}
	rest := k.f
	for _, id := range p.Replicas {
		if id == p.Leader {
			continue
		}
		f := inspect.FollowerOffset{Broker: id}
		if len(rest) > 0 {
			f.LEO, rest = opt(rest[0]), rest[1:]
		}
		p.Offsets.Followers = append(p.Offsets.Followers, f)
	}
	topic := inspect.Topic{Name: "t", ID: inspect.Known("id" + k.id), Partitions: []inspect.Partition{p}}
	if k.id == "-" {
		topic.ID = inspect.Unknown[string]()
	}
	s.Topics = []inspect.Topic{topic}
	return s
}

func historyOf(looks ...look) *History {
	h := New(0)
	for _, k := range looks {
		h.Add(k.snapshot())
	}
	return h
}

func offsets(o ...inspect.Offset) []inspect.Offset { return o }

func TestTimeLagAndBehind(t *testing.T) {
	t.Parallel()
	unknownLag := Lag{State: LagUnknown}
	known := func(ms, overMs int64) Lag { return Lag{LagKnown, ms, overMs} }
	atLeast := func(ms int64) Lag { return Lag{LagAtLeast, ms, ms} }
	for _, tt := range []struct {
		name        string
		looks       []look
		lag, behind Lag // of broker 2
	}{
		{"no sample", nil, unknownLag, unknownLag},
		{"one sample, caught up", []look{{l: 10, f: offsets(10)}}, known(0, 0), known(0, 0)},
		{"one sample, ahead of L0", []look{{l: 10, f: offsets(12)}}, known(0, 0), known(0, 0)},
		{"one sample, behind", []look{{l: 10, f: offsets(9)}}, unknownLag, unknownLag},
		{"stopped", []look{
			{sec: 0, l: 10, f: offsets(10)}, {sec: 1, l: 20, f: offsets(15)}, {sec: 2, l: 30, f: offsets(15)},
		}, known(2000, 1000), known(2000, 1000)},
		{"trails by a constant time", []look{
			{sec: 0, l: 10, f: offsets(10)}, {sec: 1, l: 20, f: offsets(10)}, {sec: 2, l: 30, f: offsets(20)},
		}, known(1000, 0), known(2000, 1000)},
		{"behind since before the first sample", []look{
			{sec: 0, l: 10, f: offsets(5)}, {sec: 1, l: 20, f: offsets(6)},
		}, atLeast(1000), atLeast(1000)},
		{"an idle partition is no older than its records", []look{
			{sec: 0, l: 10, f: offsets(10)}, {sec: 3600, l: 10, f: offsets(10)}, {sec: 3601, l: 11, f: offsets(10)},
		}, known(1000, 0), known(1000, 0)},
		{"behind an idle leader", []look{
			{sec: 0, l: 10, f: offsets(8)},
			{sec: 1, l: 12, f: offsets(10)},
			{sec: 2, l: 12, f: offsets(10)},
			{sec: 3, l: 12, f: offsets(10)},
		}, known(3000, 2000), atLeast(3000)},
		{"it did not answer", []look{{sec: 0, l: 10, f: offsets(10)}, {sec: 1, l: 20, f: offsets(no)}}, unknownLag, unknownLag},
		{"its leader did not answer", []look{{sec: 0, l: 10, f: offsets(10)}, {sec: 1, l: no, f: offsets(10)}}, unknownLag, unknownLag},
		{"no leader", []look{
			{sec: 0, l: 10, f: offsets(10)}, {sec: 1, leader: inspect.NoBroker, l: no, f: offsets(10, 10, 10)},
		}, unknownLag, unknownLag},
		{"unknown in between", []look{
			{sec: 0, l: 10, f: offsets(10)}, {sec: 1, l: no, f: offsets(no)}, {sec: 2, l: 20, f: offsets(12)},
		}, known(2000, 0), known(2000, 0)},
		{"missing in between", []look{
			{sec: 0, l: 10, f: offsets(10)}, {sec: 1, noPart: true}, {sec: 2, l: 20, f: offsets(12)},
		}, known(2000, 0), known(2000, 0)},
		{"missing now", []look{{sec: 0, l: 10, f: offsets(10)}, {sec: 1, noPart: true}}, unknownLag, unknownLag},
		{"another leader with a shorter log", []look{
			{sec: 0, l: 100, f: offsets(40)},
			{sec: 1, leader: 3, epoch: 1, l: 40, f: offsets(40, 40)},
			{sec: 2, leader: 3, epoch: 1, l: 60, f: offsets(60, 50)},
		}, known(1000, 0), known(1000, 0)},
		{"it was the leader", []look{
			{sec: 0, leader: 2, l: 100, f: offsets(90, 90)}, {sec: 1, leader: 1, epoch: 1, l: 110, f: offsets(100)},
		}, known(1000, 0), known(1000, 0)},
		{"created anew", []look{
			{sec: 0, l: 100, f: offsets(100)}, {sec: 1, l: 5, f: offsets(3), id: "2"},
		}, unknownLag, unknownLag},
		{"created anew, without topic ids", []look{
			{sec: 0, l: 100, f: offsets(90), id: "-"}, {sec: 1, l: 5, f: offsets(3), id: "-"},
		}, unknownLag, unknownLag},
		{"the id was not told once", []look{
			{sec: 0, l: 10, f: offsets(10)}, {sec: 1, l: 20, f: offsets(10), id: "-"}, {sec: 2, l: 30, f: offsets(10)},
		}, known(2000, 1000), known(2000, 1000)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := historyOf(tt.looks...)
			if diff := cmp.Diff(tt.lag, h.TimeLag("t", 0, 2)); diff != "" {
				t.Errorf("TimeLag, -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tt.behind, h.Behind("t", 0, 2)); diff != "" {
				t.Errorf("Behind, -want +got:\n%s", diff)
			}
		})
	}
}

func TestLagOfLeaderAndStrangers(t *testing.T) {
	t.Parallel()
	h := historyOf(look{sec: 0, l: 10, f: offsets(9)}, look{sec: 1, l: 20, f: offsets(9)})
	if got, want := h.TimeLag("t", 0, 1), (Lag{State: LagKnown}); got != want {
		t.Errorf("leader: %+v, want %+v", got, want)
	}
	for _, got := range []Lag{
		h.TimeLag("t", 0, 9), h.TimeLag("t", 1, 2), h.TimeLag("u", 0, 2), h.Behind("t", 0, 9), h.Behind("u", 0, 2),
	} {
		if got.State != LagUnknown {
			t.Errorf("a stranger: %+v, want unknown", got)
		}
	}
}

func TestLagKnown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		lag  Lag
		want string
	}{
		{Lag{LagKnown, 7, 3}, "7"},
		{Lag{LagAtLeast, 7, 7}, "-"},
		{Lag{State: LagUnknown}, "-"},
		{Lag{}, "-"},
	} {
		if got := tt.lag.Known().String(); got != tt.want {
			t.Errorf("%+v: Known = %s, want %s", tt.lag, got, tt.want)
		}
	}
}

func TestReassignmentKeepsTheRest(t *testing.T) {
	t.Parallel()
	h := historyOf(look{sec: 0, l: 10, f: offsets(10, 10)})
	s := look{sec: 1, l: 20, f: offsets(10, 20)}.snapshot()
	p := &s.Topics[0].Partitions[0]
	p.Replicas = []inspect.BrokerID{4, 2, 1}
	p.Offsets.Followers[1].Broker = 4
	h.Add(s)
	if got, want := h.TimeLag("t", 0, 2), (Lag{LagKnown, 1000, 0}); got != want {
		t.Errorf("a replica that stayed: %+v, want %+v", got, want)
	}
	if got, want := h.TimeLag("t", 0, 4), (Lag{State: LagKnown}); got != want {
		t.Errorf("a replica that came: %+v, want %+v", got, want)
	}
	if got := h.TimeLag("t", 0, 3); got.State != LagUnknown {
		t.Errorf("a replica that left: %+v, want unknown", got)
	}
}

func TestAddOrder(t *testing.T) {
	t.Parallel()
	lag := func(looks ...look) Lag {
		return historyOf(looks...).TimeLag("t", 0, 2)
	}
	first, second := look{sec: 100, l: 10, f: offsets(10)}, look{sec: 101, l: 20, f: offsets(10)}
	want := Lag{LagKnown, 1000, 0}
	if got := lag(first, second, second); got != want {
		t.Errorf("the same twice: %+v, want %+v", got, want)
	}
	if got := lag(first, second, first); got != want {
		t.Errorf("late: %+v, want %+v", got, want)
	}
	// An hour back: the clock was set, and what it said before is on no common scale.
	reset := look{sec: -3500, l: 30, f: offsets(10)}
	if got := lag(first, second, reset); got.State != LagUnknown {
		t.Errorf("clock set back: %+v, want unknown", got)
	}
	if got := lag(first, second, reset, look{sec: -3499, l: 40, f: offsets(30)}); got != want {
		t.Errorf("clock set back, then a second sample: %+v, want %+v", got, want)
	}

	h := historyOf(first)
	without := look{sec: 101, l: 20}.snapshot()
	without.Asked = inspect.PartELR
	h.Add(without)
	if got := h.TimeLag("t", 0, 2); got.State != LagKnown {
		t.Errorf("a Snapshot without offsets: %+v, want it passed over", got)
	}
}

func TestAnotherCluster(t *testing.T) {
	t.Parallel()
	h := New(0)
	for i, id := range []string{"a", "b"} {
		s := look{sec: int64(i), l: inspect.Offset(10 + 10*i), f: offsets(10)}.snapshot()
		s.ClusterID = inspect.Known(id)
		h.Add(s)
	}
	if got := h.TimeLag("t", 0, 2); got.State != LagUnknown {
		t.Errorf("%+v, want unknown", got)
	}
}

func TestRing(t *testing.T) {
	t.Parallel()
	const size = 4
	h := New(size)
	add := func(sec int64, l inspect.Offset) {
		h.Add(look{sec: sec, l: l, f: offsets(0, l)}.snapshot())
	}
	for sec := range int64(10) {
		add(sec, inspect.Offset(100+sec))
	}
	if got, want := h.TimeLag("t", 0, 2), (Lag{LagAtLeast, 3000, 3000}); got != want {
		t.Errorf("full ring: %+v, want %+v", got, want)
	}
	// Samples that repeat the one before take no room.
	for sec := range int64(1000) {
		add(10+sec, 109)
	}
	if got, want := h.TimeLag("t", 0, 2), (Lag{LagAtLeast, 1_003_000, 1_003_000}); got != want {
		t.Errorf("after an idle time: %+v, want %+v", got, want)
	}
	if got := len((*h.topics["t"].partitions.At(0)).spans); got != size {
		t.Errorf("%d entries, want %d", got, size)
	}
}

// TestAnotherLeaderIsAnotherEntry: metadata that is torn, with a new leader and
// the old epoch, must not move one leader's LEO to another's past.
func TestAnotherLeaderIsAnotherEntry(t *testing.T) {
	t.Parallel()
	h := historyOf(look{sec: 0, leader: 1, l: 10, f: offsets(10, 10)}, look{sec: 1, leader: 2, l: 10, f: offsets(10, 10)})
	if got := len((*h.topics["t"].partitions.At(0)).spans); got != 2 {
		t.Errorf("%d entries, want 2", got)
	}
}

func TestDeletedTopicsAreEvicted(t *testing.T) {
	t.Parallel()
	h := New(3)
	h.Add(look{sec: 0, l: 10}.snapshot())
	for sec := range int64(2) {
		h.Add(look{sec: 1 + sec, noPart: true}.snapshot())
		if len(h.topics) != 1 {
			t.Fatalf("forgotten after %d samples", 1+sec)
		}
	}
	h.Add(look{sec: 3, noPart: true}.snapshot())
	if len(h.topics) != 0 {
		t.Errorf("%d topics left, want none", len(h.topics))
	}
}

// TestMemory holds what DefaultSamples says: 50,000 partitions with three
// replicas stay in the tens of MiB for a few samples. Not parallel: it measures
// the heap.
func TestMemory(t *testing.T) {
	const topics, partitions, samples, limitMiB = 100, 100, 8, 8
	s := &inspect.Snapshot{Asked: inspect.PartOffsets}
	for i := range topics {
		topic := inspect.Topic{Name: fmt.Sprintf("topic-%d", i), ID: inspect.Known("NXNzw7EGSKu-yzzzhD-KFA")}
		for p := range partitions {
			topic.Partitions = append(topic.Partitions, inspect.Partition{
				Index: int32(p), Leader: 1, Replicas: []inspect.BrokerID{1, 2, 3},
				Offsets: &inspect.Offsets{Followers: []inspect.FollowerOffset{{Broker: 2}, {Broker: 3}}},
			})
		}
		s.Topics = append(s.Topics, topic)
	}
	before := heapMiB()
	h := New(0)
	for n := range inspect.Offset(samples) {
		s.TakenAt = start.Add(time.Duration(n) * time.Second)
		for p := range s.Partitions {
			at := inspect.Known(1000*n + inspect.Offset(p.Index))
			p.Offsets.LEOBefore, p.Offsets.HW = at, at
			p.Offsets.Followers[0].LEO, p.Offsets.Followers[1].LEO = at, at
		}
		h.Add(s)
	}
	used := heapMiB() - before
	t.Logf("%d samples of %d partitions: %.1f MiB", samples, topics*partitions, used)
	if used > limitMiB {
		t.Errorf("%.1f MiB, want at most %d", used, limitMiB)
	}
	runtime.KeepAlive(s)
	runtime.KeepAlive(h)
}

func heapMiB() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

// TestReadLag is a group that stands at one position while the HW moves on.
func TestReadLag(t *testing.T) {
	t.Parallel()
	unknownLag := Lag{State: LagUnknown}
	known := func(ms, overMs int64) Lag { return Lag{LagKnown, ms, overMs} }
	for _, tt := range []struct {
		name  string
		looks []look
		at    inspect.Offset
		want  Lag
	}{
		{"no sample", nil, 5, unknownLag},
		{"at the end", []look{{l: 20, hw: 10}}, 10, known(0, 0)},
		{"ahead", []look{{l: 20, hw: 10}}, 15, known(0, 0)},
		{"one sample, behind", []look{{l: 20, hw: 10}}, 9, unknownLag},
		{"behind since the second", []look{
			{sec: 0, l: 10, hw: 10}, {sec: 1, l: 20, hw: 20}, {sec: 2, l: 30, hw: 30},
		}, 15, known(2000, 1000)},
		{"behind in every sample", []look{
			{sec: 0, l: 10, hw: 10}, {sec: 3, l: 20, hw: 20},
		}, 5, Lag{LagAtLeast, 3000, 3000}},
		// Records above the HW are nobody's lag: the LEO moves, the HW does not.
		{"a frozen HW", []look{{sec: 0, l: 10, hw: 10}, {sec: 1, l: 90, hw: 10}}, 10, known(0, 0)},
		{"idle, then one record", []look{
			{sec: 0, l: 10, hw: 10}, {sec: 3600, l: 10, hw: 10}, {sec: 3601, l: 11, hw: 11},
		}, 10, known(1000, 0)},
		{"no answer in the newest", []look{{sec: 0, l: 10, hw: 10}, {sec: 1, l: 10, hw: no}}, 5, unknownLag},
		{"no answer between", []look{
			{sec: 0, l: 10, hw: 10}, {sec: 1, l: 20, hw: no}, {sec: 2, l: 30, hw: 30},
		}, 15, known(2000, 0)},
	} {
		if got := historyOf(tt.looks...).ReadLag("t", 0, tt.at); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
