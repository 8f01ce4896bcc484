package node

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// orders makes a topic of so many partitions on all brokers, led in turns.
func (w *world) makeTopic(topic string, partitions int32) kraft.UUID {
	w.t.Helper()
	ids := w.ids()
	t := controller.NewTopic{Name: topic, NumPartitions: -1, ReplicationFactor: -1, Assignments: map[int32][]int32{}}
	for i := range partitions {
		var replicas []int32
		for j := range ids {
			replicas = append(replicas, ids[(int(i)+j)%len(ids)])
		}
		t.Assignments[i] = replicas
	}
	decide(w.ctl, w.nowMs, controller.CreateTopics{Topics: []controller.NewTopic{t}})
	w.ctl.tick(w.nowMs)
	w.run(1000, nil)
	made, ok := w.ctl.c.Image().Topic(topic)
	if !ok {
		w.t.Fatalf("topic %s was not made", topic)
	}
	return made.ID
}

func startWorld(t testing.TB, brokers int, static map[string]string) *world {
	w := newWorld(t, brokers, static)
	for _, id := range w.ids() {
		w.start(id)
	}
	if !w.run(10_000, w.unfenced) {
		t.Fatal("not unfenced")
	}
	return w
}

// sessionReader is a consumer that reads broker 1 in a session.
type sessionReader struct {
	w     *world
	topic string
	id    kraft.UUID
	byID  bool
	// req has the id and the epoch of its next request.
	req      kmsg.FetchRequest
	maxBytes int32
}

func newSessionReader(w *world, id kraft.UUID, byID bool) *sessionReader {
	s := &sessionReader{w: w, topic: "orders", id: id, byID: byID, req: kmsg.NewFetchRequest(), maxBytes: 1 << 20}
	s.req.SessionEpoch = initialSessionEpoch
	return s
}

func (s *sessionReader) topics(offsets map[int32]int64) []kmsg.FetchRequestTopic {
	var indexes []int32
	for i := range offsets {
		indexes = append(indexes, i)
	}
	slices.Sort(indexes)
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = s.topic, s.id
	for _, i := range indexes {
		p := kmsg.NewFetchRequestTopicPartition()
		p.Partition, p.FetchOffset, p.PartitionMaxBytes = i, offsets[i], 1<<20
		t.Partitions = append(t.Partitions, p)
	}
	if len(indexes) == 0 {
		return nil
	}
	return []kmsg.FetchRequestTopic{t}
}

// fetch asks, and tells the answer in a line; id and epoch go on as a client's do.
func (s *sessionReader) fetch(offsets map[int32]int64, forget ...int32) string {
	s.w.t.Helper()
	req := kmsg.NewPtrFetchRequest()
	req.SessionID, req.SessionEpoch = s.req.SessionID, s.req.SessionEpoch
	req.Version, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 12, 100, 1, s.maxBytes
	if s.byID {
		req.Version = 13
	}
	req.Topics = s.topics(offsets)
	if len(forget) > 0 {
		f := kmsg.NewFetchRequestForgottenTopic()
		f.Topic, f.TopicID, f.Partitions = s.topic, s.id, forget
		req.ForgottenTopics = append(req.ForgottenTopics, f)
	}
	began := s.w.nowMs
	c := s.w.ask(s.w.hosts[1], req, func(kmsg.Response) {})
	if !s.w.run(5000, func() bool { return c.done }) {
		return "no reply"
	}
	resp := c.resp.(*kmsg.FetchResponse)
	var b strings.Builder
	if resp.ErrorCode != 0 {
		fmt.Fprintf(&b, "error %d", resp.ErrorCode)
		return b.String()
	}
	if resp.SessionID == 0 {
		b.WriteString("no session")
	} else {
		fmt.Fprintf(&b, "after %d ms", c.atMs-began)
		if s.req.SessionID != 0 && s.req.SessionID != resp.SessionID {
			b.WriteString(" another session")
		}
	}
	s.req.SessionID, s.req.SessionEpoch = resp.SessionID, nextSessionEpoch(s.req.SessionEpoch)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			fmt.Fprintf(&b, ", %d:", p.Partition)
			if p.ErrorCode != 0 {
				fmt.Fprintf(&b, " error %d", p.ErrorCode)
				continue
			}
			fmt.Fprintf(&b, " HW %d", p.HighWatermark)
			for sc := record.Scan(p.RecordBatches); sc.Next(); {
				fmt.Fprintf(&b, " [%d-%d]", sc.Batch().BaseOffset(), sc.Batch().LastOffset())
			}
		}
	}
	return b.String()
}

func (s *sessionReader) produce(index int32) {
	s.w.t.Helper()
	req := produceOf(benchBatch(s.w.t, 1), -1)
	req.Topics[0].Topic, req.Topics[0].Partitions[0].Partition = s.topic, index
	c := s.w.ask(s.w.hosts[1], req, func(kmsg.Response) {})
	if !s.w.run(5000, func() bool { return c.done }) || c.resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode != 0 {
		s.w.t.Fatalf("not produced: %+v", c.resp)
	}
}

// TestFetchSession tells a consumer's session step by step (KIP-227), once by names and
// once by ids.
func TestFetchSession(t *testing.T) {
	t.Parallel()
	for _, byID := range []bool{false, true} {
		t.Run(fmt.Sprintf("by id %t", byID), func(t *testing.T) {
			t.Parallel()
			w := startWorld(t, 1, nil)
			s := newSessionReader(w, w.makeTopic("orders", 4), byID)
			want := func(what, got, want string) {
				t.Helper()
				if got != want {
					t.Fatalf("%s:\n got %s\nwant %s", what, got, want)
				}
			}
			s.produce(0)
			want("all at first", s.fetch(map[int32]int64{0: 0, 1: 0, 2: 0}), "after 0 ms, 0: HW 1 [0-0], 1: HW 0, 2: HW 0")
			want("the next in partition 0", s.fetch(map[int32]int64{0: 1}), "after 100 ms")
			if open, loud := w.hosts[1].node.sessions.counts(); open != 1 || loud != 0 {
				t.Fatalf("%d sessions, %d loud partitions; want 1 and 0", open, loud)
			}
			want("nothing new", s.fetch(nil), "after 100 ms")
			s.produce(2)
			s.produce(1)
			want("two have news", s.fetch(nil), "after 0 ms, 2: HW 1 [0-0], 1: HW 1 [0-0]")
			want("not read on: again", s.fetch(map[int32]int64{2: 1}), "after 0 ms, 1: HW 1 [0-0]")
			s.maxBytes = 1
			want("one at a time", s.fetch(map[int32]int64{2: 0}), "after 0 ms, 1: HW 1 [0-0]")
			want("the other one", s.fetch(nil), "after 0 ms, 2: HW 1 [0-0]")
			want("in turns", s.fetch(nil), "after 0 ms, 1: HW 1 [0-0]")
			s.maxBytes = 1 << 20
			s.fetch(map[int32]int64{2: 1})
			want("read on", s.fetch(map[int32]int64{1: 1}), "after 100 ms")
			want("one more", s.fetch(map[int32]int64{3: 0}), "after 100 ms, 3: HW 0")
			want("forgotten", s.fetch(nil, 1), "after 100 ms")
			s.produce(1)
			want("forgotten and changed", s.fetch(nil), "after 100 ms")
			want("out of range", s.fetch(map[int32]int64{3: 9}), "after 0 ms, 3: error 1")
			want("still out of range", s.fetch(nil), "after 0 ms, 3: error 1")
			want("in range again: told though the HW is the same", s.fetch(map[int32]int64{3: 0}), "after 100 ms, 3: HW 0")
			absent := "after 100 ms, 9: error 3"
			want("not there", s.fetch(map[int32]int64{9: 0}), absent)
			want("still not there", s.fetch(nil), absent)
			decide(w.ctl, w.nowMs, controller.CreatePartitions{Topics: []controller.MorePartitions{{Topic: "orders", Count: 10}}})
			w.ctl.tick(w.nowMs)
			w.run(100, nil)
			want("it is there", s.fetch(nil), "after 100 ms, 9: HW 0")
			want("nothing new", s.fetch(nil), "after 100 ms")

			old := s.req
			s.req.SessionEpoch++
			want("another epoch", s.fetch(nil), "error 71")
			s.req.SessionEpoch, s.byID = old.SessionEpoch, !byID
			want("names and ids", s.fetch(nil), "error 106")
			s.req, s.byID = old, byID
			want("the epoch is as it was", s.fetch(nil), "after 100 ms")
			want("the last is forgotten", s.fetch(nil, 0, 2, 3, 9), "no session")
			s.req.SessionID, s.req.SessionEpoch = old.SessionID, old.SessionEpoch+2
			want("gone with it", s.fetch(nil), "error 70")
			s.req.SessionID, s.req.SessionEpoch = 0, -1
			want("none wanted", s.fetch(map[int32]int64{3: 0}), "no session, 3: HW 0")
			if open, _ := w.hosts[1].node.sessions.counts(); open != 0 {
				t.Fatalf("%d sessions, want none", open)
			}
		})
	}
}

// TestSessionOfTopicMadeAnew: a session by name reads the new topic, one by id is told
// that its topic is gone.
func TestSessionOfTopicMadeAnew(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		byID  bool
		first string
		then  string
	}{
		{false, ", 0: error 3", ", 0: HW 0"},
		{true, ", 0: error 100", ", 0: error 100"},
	} {
		w := startWorld(t, 1, nil)
		s := newSessionReader(w, w.makeTopic("orders", 1), tt.byID)
		s.fetch(map[int32]int64{0: 0})
		decide(w.ctl, w.nowMs, controller.DeleteTopics{IDs: []kraft.UUID{s.id}})
		w.ctl.tick(w.nowMs)
		w.run(100, nil)
		if got := s.fetch(nil); !strings.HasSuffix(got, tt.first) {
			t.Errorf("by id %t, deleted: got %s, want %s", tt.byID, got, tt.first)
		}
		w.makeTopic("orders", 1)
		if got := s.fetch(nil); !strings.HasSuffix(got, tt.then) {
			t.Errorf("by id %t, made anew: got %s, want %s", tt.byID, got, tt.then)
		}
	}
}

// TestSessionClosedByFullRequest: a full request ends the session whose id it has, and
// whoever waits in it is answered.
func TestSessionClosedByFullRequest(t *testing.T) {
	t.Parallel()
	w := startWorld(t, 1, nil)
	s := newSessionReader(w, w.makeTopic("orders", 2), true)
	s.fetch(map[int32]int64{0: 0, 1: 0})
	waits := kmsg.NewPtrFetchRequest()
	*waits = s.req
	waits.Version, waits.MaxWaitMillis, waits.MinBytes, waits.MaxBytes = 13, 60_000, 1, 1<<20
	c := w.ask(w.hosts[1], waits, func(kmsg.Response) {})
	old := s.req.SessionID
	s.req.SessionEpoch = 0
	if got := s.fetch(map[int32]int64{0: 0}); got != "after 100 ms another session, 0: HW 0" {
		t.Errorf("got %s", got)
	}
	if !c.done || c.resp.(*kmsg.FetchResponse).SessionID != old {
		t.Errorf("who waited got %+v", c.resp)
	}
	// And one that goes on in the session takes the place of one that waits.
	*waits = s.req
	waits.Version, waits.MaxWaitMillis, waits.MinBytes, waits.MaxBytes = 13, 60_000, 1, 1<<20
	c = w.ask(w.hosts[1], waits, func(kmsg.Response) {})
	s.req.SessionEpoch++
	if got := s.fetch(nil); got != "after 100 ms" {
		t.Errorf("got %s", got)
	}
	if !c.done || c.resp.(*kmsg.FetchResponse).ErrorCode != 71 {
		t.Errorf("who was overtaken got %+v", c.resp)
	}
}

// TestSessionEviction is FetchSessionCacheShard.tryEvict's table.
func TestSessionEviction(t *testing.T) {
	t.Parallel()
	const minute = 60_000
	type old struct {
		follower          bool
		size              int
		madeMs, lastUseMs int64
	}
	now := int64(10 * minute)
	fresh := func(follower bool, size int) old { return old{follower, size, now - 1000, now} }
	aged := func(follower bool, size int) old { return old{follower, size, now - 3*minute, now} }
	for _, tt := range []struct {
		name     string
		there    []old
		follower bool
		size     int
		evicts   int // place, -1 none
	}{
		{"none there", nil, true, 5, -1},
		{"unused for long, whatever it is", []old{fresh(false, 1), {true, 99, 0, now - 3*minute}}, false, 1, 1},
		{"a new one gives way to nobody", []old{fresh(false, 1), fresh(false, 2)}, false, 50, -1},
		{"a consumer's to a follower", []old{fresh(true, 1), fresh(false, 90)}, true, 2, 1},
		{"the smallest of those that had their time", []old{aged(false, 9), aged(false, 3), fresh(false, 1)}, false, 4, 1},
		{"not to one of the same size", []old{aged(false, 4)}, false, 4, -1},
		{"not a follower's to a consumer", []old{aged(true, 4)}, false, 400, -1},
		{"a follower's to a larger one of a follower", []old{aged(true, 4), fresh(true, 1)}, true, 5, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := &Node{sessions: sessions{byID: map[int32]*session{}}}
			for i, o := range tt.there {
				s := &session{id: int32(i + 1), parts: map[sessionKey]*sessionPart{}, reader: reader{replicaID: -1}, creationMs: o.madeMs}
				if o.follower {
					s.reader.replicaID = 2
				}
				for k := range o.size {
					s.parts[sessionKey{index: int32(k)}] = nil
				}
				s.touch(o.lastUseMs)
				n.sessions.byID[s.id], n.sessions.all = s, append(n.sessions.all, s)
			}
			n.now.Mono = now
			got := n.evictSession(tt.follower, tt.size)
			if got != (tt.evicts >= 0) {
				t.Fatalf("evicted: %t", got)
			}
			if got && n.sessions.byID[int32(tt.evicts+1)] != nil {
				t.Errorf("it was another one than %d", tt.evicts)
			}
		})
	}
}

// TestFetcherUsesSessions: an idle follower asks for nothing by name, and asks in full
// when it cannot know what its leader has heard.
func TestFetcherUsesSessions(t *testing.T) {
	t.Parallel()
	w := startWorld(t, 2, nil)
	var last *kmsg.FetchRequest
	w.fetched = func(from int32, req *kmsg.FetchRequest) {
		if from == 2 {
			last = req
		}
	}
	w.makeTopic("orders", 4)
	idle := func(what string) {
		t.Helper()
		w.run(5000, nil)
		if len(last.Topics) > 0 || len(last.ForgottenTopics) > 0 || last.SessionID == 0 || last.SessionEpoch < 2 {
			t.Fatalf("%s: the last fetch of an idle follower is %+v", what, last)
		}
	}
	idle("first")
	id := last.SessionID
	link := [2]machine.Peer{1, 2} // answers are lost
	w.cut[link] = true
	w.run(1000, nil)
	delete(w.cut, link)
	w.run(900, func() bool { return len(last.Topics) > 0 })
	if last.SessionID != id || last.SessionEpoch != 0 || len(last.Topics) != 1 || len(last.Topics[0].Partitions) != 2 {
		t.Fatalf("after a lost answer it asks %+v", last)
	}
	idle("after a lost answer")
	if last.SessionID == id {
		t.Error("it goes on in a session that it has ended")
	}
	if open, _ := w.hosts[1].node.sessions.counts(); open != 1 {
		t.Errorf("%d sessions, want one", open)
	}
	// The leader forgets it, as when it needs the room.
	w.hosts[1].node.closeSession(w.hosts[1].node.sessions.all[0])
	idle("after it was evicted")
}

// counts is how many sessions there are, and how many of their partitions are looked at.
func (ss *sessions) counts() (open, loud int) {
	for _, s := range ss.all {
		loud += len(s.loud)
	}
	return len(ss.all), loud
}

// TestSessionsChangeNothing is the clever against the plain: whatever replicas do, they
// do at the same times whether brokers fetch in sessions, where what is quiet is not
// looked at, or in full each time. It is about ISRs above all: a session's fetch counts
// for all of its partitions.
func TestSessionsChangeNothing(t *testing.T) {
	t.Parallel()
	seeds := uint64(8)
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			with, opened := sessionHistory(t, seed, "1000")
			without, none := sessionHistory(t, seed, "0")
			if opened == 0 || none != 0 {
				t.Fatalf("%d sessions with, %d without", opened, none)
			}
			for _, name := range sortedKeys(without) {
				if got, want := with[name], without[name]; got != want {
					t.Errorf("%s:\nin sessions\n%s\nin full\n%s", name, got, want)
					return
				}
			}
		})
	}
}

func sessionHistory(t *testing.T, seed uint64, slots string) (history map[string]string, opened int) {
	rng := rand.New(rand.NewPCG(seed, 7))
	lines := map[string]*strings.Builder{}
	static := map[string]string{
		"max.incremental.fetch.session.cache.slots": slots, "replica.lag.time.max.ms": "2000", "replica.fetch.backoff.ms": "300",
	}
	w := newWorld(t, 3, static)
	w.observe = func(broker int32, p Partition, in replica.Input, out []replica.Effect) {
		for _, e := range out {
			switch e.(type) {
			case replica.AlterPartition, replica.HWMoved, replica.LogStartMoved, replica.RoleChanged, replica.ISRChanged, replica.ProduceReply, replica.LogGrew:
				key := fmt.Sprintf("%s-%d on %d", p.Topic, p.Index, broker)
				if lines[key] == nil {
					lines[key] = &strings.Builder{}
				}
				if r, ok := e.(replica.ProduceReply); ok {
					r.Token = 0
					e = r
				}
				fmt.Fprintf(lines[key], "%d %T%+v\n", w.nowMs, e, e)
			}
		}
	}
	for _, id := range w.ids() {
		w.start(id)
	}
	w.run(10_000, w.unfenced)
	w.makeTopic("orders", 6)
	w.makeTopic("other", 3)
	brokers := []int32{1, 2, 3}
	for range 60 {
		a, b := brokers[rng.IntN(3)], brokers[rng.IntN(3)]
		switch rng.IntN(10) {
		case 0, 1, 2, 3:
			for range 1 + rng.IntN(3) {
				req := produceOf(benchBatch(t, 1+rng.IntN(3)), []int16{1, -1}[rng.IntN(2)])
				req.Topics[0].Partitions[0].Partition = int32(rng.IntN(6))
				if w.hosts[a].node != nil {
					w.ask(w.hosts[a], req, func(kmsg.Response) {})
				}
			}
		case 4:
			w.cut[[2]machine.Peer{machine.Peer(a), machine.Peer(b)}] = true
		case 5, 6:
			clear(w.cut)
		case 7:
			req := kmsg.NewPtrDeleteRecordsRequest()
			req.Version, req.TimeoutMillis = 2, 500
			req.Topics = []kmsg.DeleteRecordsRequestTopic{{Topic: "orders", Partitions: []kmsg.DeleteRecordsRequestTopicPartition{
				{Partition: int32(rng.IntN(6)), Offset: int64(rng.IntN(4))},
			}}}
			w.ask(w.hosts[a], req, func(kmsg.Response) {})
		case 8:
			if rng.IntN(3) == 0 {
				w.kill(a, false)
				w.run(int64(rng.IntN(500)), nil)
				w.start(a)
			}
		}
		w.run(int64(rng.IntN(1500)), nil)
	}
	clear(w.cut)
	w.run(15_000, nil)
	for _, id := range brokers {
		for _, s := range w.hosts[id].node.sessions.all {
			opened++
			// The others are of fetchers that are gone.
			if w.nowMs-s.usedMs < 1000 && len(s.loud) > 0 {
				t.Errorf("broker %d looks at %d partitions of an idle cluster", id, len(s.loud))
			}
		}
	}
	history = map[string]string{}
	for key, b := range lines {
		history[key] = b.String()
	}
	return history, opened
}
