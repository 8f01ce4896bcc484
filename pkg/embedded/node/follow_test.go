package node

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// scripted is a node whose controller is the test: it takes the requests one by one
// and answers them by hand.
type scripted struct {
	t     *testing.T
	n     *Node
	nowMs int64
	sends []machine.Send
	stop  *machine.Stop
	notes []string
}

func newScripted(t *testing.T) *scripted {
	s := &scripted{t: t}
	n, err := Open(Options{
		ID: 1, ClusterID: "cluster", FS: vfs.NewMem(vfs.MemOptions{}), Rand: rand.New(rand.NewPCG(1, 1)),
		EndPoints: []kraft.Endpoint{{Name: "PLAINTEXT", Host: "b1", Port: 9092}},
	}, machine.Time{Wall: wallMs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Abandon)
	s.n = n
	s.step(machine.Tick{})
	return s
}

func (s *scripted) step(in machine.Input) {
	s.t.Helper()
	for _, e := range s.n.Step(machine.Time{Mono: s.nowMs, Wall: wallMs + s.nowMs}, in, nil) {
		switch e := e.(type) {
		case machine.Send:
			s.sends = append(s.sends, e)
		case machine.Run:
			e.Order.Run()
			s.step(machine.Ran{Order: e.Order})
		case machine.Note:
			s.notes = append(s.notes, e.Text)
		case machine.Stop:
			s.stop = &e
			return
		}
	}
}

// wait lets time pass until something is due.
func (s *scripted) wait() int64 {
	s.t.Helper()
	before := s.nowMs
	s.nowMs = max(s.n.NextDeadline(), s.nowMs)
	s.step(machine.Tick{})
	return s.nowMs - before
}

// taken is the oldest request of a type that is not answered.
func taken[Req kmsg.Request](s *scripted) (Req, machine.Token) {
	s.t.Helper()
	for i, send := range s.sends {
		if req, ok := send.Request.(Req); ok {
			s.sends = append(s.sends[:i:i], s.sends[i+1:]...)
			return req, send.Token
		}
	}
	var none Req
	s.t.Fatalf("no %T among %d requests", none, len(s.sends))
	return none, 0
}

// register gives the broker an epoch.
func (s *scripted) register(epoch int64) kraft.UUID {
	s.t.Helper()
	req, token := taken[*kmsg.BrokerRegistrationRequest](s)
	resp := req.ResponseKind().(*kmsg.BrokerRegistrationResponse)
	resp.BrokerEpoch = epoch
	s.step(machine.Response{Token: token, Body: resp})
	return req.IncarnationID
}

// answerFetch answers the fetch of the metadata log.
func (s *scripted) answerFetch(change func(p *kmsg.FetchResponseTopicPartition)) *kmsg.FetchRequestTopicPartition {
	s.t.Helper()
	req, token := taken[*kmsg.FetchRequest](s)
	resp := req.ResponseKind().(*kmsg.FetchResponse)
	t := kmsg.NewFetchResponseTopic()
	t.TopicID = metadataTopicID
	p := kmsg.NewFetchResponseTopicPartition()
	p.CurrentLeader.LeaderEpoch = 3
	change(&p)
	t.Partitions = append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	s.step(machine.Response{Token: token, Body: resp})
	return &req.Topics[0].Partitions[0]
}

// batchOf writes records as a batch.
func (s *scripted) batchOf(base int64, records ...kraft.Record) []byte {
	s.t.Helper()
	b := record.NewBuilder(record.Options{BaseOffset: base, LeaderEpoch: 3})
	for _, rec := range records {
		value, err := kraft.Append(nil, rec, kraft.MetadataVersion(33).RecordVersion(rec))
		if err == nil {
			err = b.Add(record.Entry{Value: value})
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	batch, err := b.AppendTo(nil, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return batch
}

func records(batch []byte, hw int64) func(p *kmsg.FetchResponseTopicPartition) {
	return func(p *kmsg.FetchResponseTopicPartition) { p.RecordBatches, p.HighWatermark = batch, hw }
}

// orders is a topic that this broker leads, of the given id.
func orders(id byte) []kraft.Record {
	return []kraft.Record{
		&kraft.Topic{Name: "orders", TopicID: kraft.UUID{id}},
		&kraft.Partition{TopicID: kraft.UUID{id}, Replicas: []int32{1}, ISR: []int32{1}, Leader: 1, Directories: []kraft.UUID{{9}}},
	}
}

func (s *scripted) hosted() kraft.UUID {
	for _, p := range s.n.parts {
		return p.id.topic
	}
	return kraft.UUID{}
}

// TestFollowEpoch: the controller's epoch is learned from its refusal.
func TestFollowEpoch(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	first := s.answerFetch(func(p *kmsg.FetchResponseTopicPartition) { p.ErrorCode = 74 })
	if first.CurrentLeaderEpoch != 0 || first.LastFetchedEpoch != 0 || first.FetchOffset != 0 {
		t.Errorf("the first fetch asks for %+v", first)
	}
	if next := s.answerFetch(records(nil, 0)); next.CurrentLeaderEpoch != 3 {
		t.Errorf("the next one has epoch %d, want 3", next.CurrentLeaderEpoch)
	}
}

// TestFollowBackoff: errors and lost connections are followed by growing pauses.
func TestFollowBackoff(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	s.register(5)
	var pauses []int64
	for range 8 {
		_, token := taken[*kmsg.FetchRequest](s)
		began := s.nowMs
		s.step(machine.Response{Token: token})
		for len(s.sends) == 0 || !isFetch(s.sends[len(s.sends)-1]) {
			s.wait()
		}
		pauses = append(pauses, s.nowMs-began)
	}
	for i, want := range []int64{20, 40, 80, 160, 320, 640, 1000, 1000} {
		if pauses[i] != want {
			t.Fatalf("pauses %v: want 20, 40, … and at most 1000", pauses)
		}
	}
}

func isFetch(s machine.Send) bool {
	_, ok := s.Request.(*kmsg.FetchRequest)
	return ok
}

// TestObeyAfterRegistration: what the log said before this life's registration is
// not for this life.
func TestObeyAfterRegistration(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	incarnation := s.register(5)
	s.answerFetch(records(s.batchOf(0, orders(1)...), 2))
	if s.n.MetadataOffset() != 2 || s.hosted() != (kraft.UUID{}) {
		t.Fatalf("at offset %d it hosts %s", s.n.MetadataOffset(), s.hosted())
	}
	// That of another life does not count.
	s.answerFetch(records(s.batchOf(2, &kraft.RegisterBroker{BrokerID: 1, BrokerEpoch: 5}), 3))
	if s.hosted() != (kraft.UUID{}) {
		t.Fatal("it obeys another life's registration")
	}
	s.answerFetch(records(s.batchOf(3, &kraft.RegisterBroker{BrokerID: 1, BrokerEpoch: 5, IncarnationID: incarnation}), 4))
	if s.hosted() != (kraft.UUID{1}) {
		t.Fatal("it does not obey its own")
	}
	heartbeat, token := taken[*kmsg.BrokerHeartbeatRequest](s)
	if !heartbeat.WantFence || heartbeat.CurrentMetadataOffset != -1 {
		t.Errorf("the first heartbeat is %+v", heartbeat)
	}
	s.step(machine.Response{Token: token, Body: heartbeat.ResponseKind()})
	s.wait()
	if heartbeat, _ = taken[*kmsg.BrokerHeartbeatRequest](s); !heartbeat.WantFence || heartbeat.CurrentMetadataOffset != 3 {
		t.Errorf("after 4 records the heartbeat is %+v", heartbeat)
	}
	if r, _ := s.n.Replica("orders", 0); r == nil || r.Role() != "leader" {
		t.Error("it does not lead")
	}
}

// TestFollowBelowHW: records are obeyed when they are committed.
func TestFollowBelowHW(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	both := append(s.batchOf(0, orders(1)...), s.batchOf(2, &kraft.RemoveTopic{TopicID: kraft.UUID{1}})...)
	s.answerFetch(records(both, 2))
	if _, ok := s.n.Image().Topic("orders"); !ok || s.n.MetadataOffset() != 2 {
		t.Errorf("at offset %d, topic there: %v", s.n.MetadataOffset(), ok)
	}
}

// TestFollowAnotherLog: where the log parts from what was read of it, what there
// is now is obeyed once it is read to its high watermark.
func TestFollowAnotherLog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		says func(p *kmsg.FetchResponseTopicPartition)
	}{
		{"diverging", func(p *kmsg.FetchResponseTopicPartition) { p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = 2, 1 }},
		{"out of range", func(p *kmsg.FetchResponseTopicPartition) { p.ErrorCode = 1 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t)
			incarnation := s.register(5)
			self := &kraft.RegisterBroker{BrokerID: 1, BrokerEpoch: 5, IncarnationID: incarnation}
			s.answerFetch(records(s.batchOf(0, append([]kraft.Record{self}, orders(1)...)...), 3))
			if s.hosted() != (kraft.UUID{1}) {
				t.Fatal("it does not host the topic")
			}
			s.answerFetch(tt.says)
			for len(s.sends) == 0 || !isFetch(s.sends[len(s.sends)-1]) {
				s.wait()
			}
			if asked := s.answerFetch(records(s.batchOf(0, self), 3)); asked.FetchOffset != 0 {
				t.Fatalf("it asks for offset %d, want 0", asked.FetchOffset)
			}
			if s.hosted() != (kraft.UUID{1}) {
				t.Error("it obeys a part of the log")
			}
			// The same end as before, another topic.
			s.answerFetch(records(s.batchOf(1, orders(2)...), 3))
			if s.hosted() != (kraft.UUID{2}) {
				t.Errorf("it hosts %s", s.hosted())
			}
		})
	}
}

// TestDamagedLog: a metadata log that cannot be right ends the broker.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		batch  func(s *scripted) []byte
		reason string
	}{
		{"bits", func(s *scripted) []byte {
			b := s.batchOf(0, orders(1)...)
			b[len(b)-1] ^= 1
			return b
		}, "CRC"},
		{"a partition of no topic", func(s *scripted) []byte { return s.batchOf(0, orders(1)[1]) }, "there is no topic"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newScripted(t)
			s.answerFetch(records(tt.batch(s), 9))
			if s.stop == nil || s.stop.Err == nil || !strings.Contains(s.stop.Err.Error(), tt.reason) {
				t.Errorf("got %+v, want an error with %q", s.stop, tt.reason)
			}
		})
	}
}

// TestSnapshotInParts: a snapshot comes in chunks, and may be gone in between.
func TestSnapshotInParts(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	snapshot := s.batchOf(0, orders(1)...)
	named := func(p *kmsg.FetchResponseTopicPartition) { p.SnapshotID.EndOffset, p.SnapshotID.Epoch = 20, 2 }
	s.answerFetch(named)
	s.answerSnapshot(snapshot[:30], 0, len(snapshot), 0)
	s.answerSnapshot(nil, 30, len(snapshot), 98)
	s.wait()
	s.answerFetch(named)
	s.answerSnapshot(snapshot[:50], 0, len(snapshot), 0)
	s.answerSnapshot(snapshot[50:], 50, len(snapshot), 0)
	asked := s.answerFetch(records(nil, 20))
	if asked.FetchOffset != 20 || asked.LastFetchedEpoch != 2 {
		t.Errorf("after the snapshot it asks for %+v", asked)
	}
	if _, ok := s.n.Image().Topic("orders"); !ok || s.n.MetadataOffset() != 20 {
		t.Errorf("at offset %d, topic there: %v", s.n.MetadataOffset(), ok)
	}
}

func (s *scripted) answerSnapshot(part []byte, position int64, size int, code int16) {
	s.t.Helper()
	req, token := taken[*kmsg.FetchSnapshotRequest](s)
	if got := req.Topics[0].Partitions[0].Position; got != position {
		s.t.Fatalf("it asks for position %d, want %d", got, position)
	}
	resp := req.ResponseKind().(*kmsg.FetchSnapshotResponse)
	t := kmsg.NewFetchSnapshotResponseTopic()
	p := kmsg.NewFetchSnapshotResponseTopicPartition()
	p.ErrorCode, p.Size, p.Position, p.Bytes = code, int64(size), position, part
	t.Partitions = append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	s.step(machine.Response{Token: token, Body: resp})
}

// TestPreviousEpoch: a broker proves a clean stop by the epoch that it had.
func TestPreviousEpoch(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	live := func(life uint64) *scripted {
		n, err := Open(Options{ID: 1, ClusterID: "cluster", FS: disk, Rand: rand.New(rand.NewPCG(life, 1))}, machine.Time{Wall: wallMs})
		if err != nil {
			t.Fatal(err)
		}
		s := &scripted{t: t, n: n}
		s.step(machine.Tick{})
		return s
	}
	previous := func(s *scripted) int64 {
		req, token := taken[*kmsg.BrokerRegistrationRequest](s)
		resp := req.ResponseKind().(*kmsg.BrokerRegistrationResponse)
		resp.BrokerEpoch = 42
		s.step(machine.Response{Token: token, Body: resp})
		return req.PreviousBrokerEpoch
	}
	s := live(1)
	if got := previous(s); got != -1 {
		t.Errorf("an empty disk: got %d, want -1", got)
	}
	s.sends = nil
	for _, e := range s.n.Shutdown(machine.Time{Mono: s.nowMs}, nil) {
		if send, ok := e.(machine.Send); ok {
			s.sends = append(s.sends, send)
		}
	}
	for s.stop == nil && s.nowMs < 400_000 {
		s.sends = nil
		s.wait()
	}
	if s.stop == nil || s.stop.Err != nil {
		t.Fatalf("got %+v, want a clean stop when nobody answers", s.stop)
	}
	s = live(2)
	if got := previous(s); got != 42 {
		t.Errorf("after a clean stop: got %d, want 42", got)
	}
	s.n.Abandon()
	s = live(3)
	if got := previous(s); got != -1 {
		t.Errorf("after a kill: got %d, want -1", got)
	}
	s.n.Abandon()
}

// TestAssignmentAgain: an assignment of a replica to its directory that was not
// taken is repeated, after a pause.
func TestAssignmentAgain(t *testing.T) {
	t.Parallel()
	s := newScripted(t)
	self := &kraft.RegisterBroker{BrokerID: 1, BrokerEpoch: 5, IncarnationID: s.register(5)}
	s.answerFetch(records(s.batchOf(0, append([]kraft.Record{self}, orders(1)...)...), 3))
	for _, lost := range []bool{false, true} {
		req, token := taken[*kmsg.AssignReplicasToDirsRequest](s)
		if got := req.Directories[0]; got.ID != s.n.life.directory || got.Topics[0].TopicID != [16]byte{1} {
			t.Fatalf("it assigns %+v", got)
		}
		resp := req.ResponseKind().(*kmsg.AssignReplicasToDirsResponse)
		resp.ErrorCode = int16(staleBrokerEpoch)
		began := s.nowMs
		if lost {
			s.step(machine.Response{Token: token})
		} else {
			s.step(machine.Response{Token: token, Body: resp})
		}
		for !s.asked(new(kmsg.AssignReplicasToDirsRequest).Key()) && s.nowMs < began+1000 {
			s.wait()
		}
		if paused := s.nowMs - began; paused < 100 || paused > 200 {
			t.Errorf("asked again after %d ms, want 100 or 200", paused)
		}
	}
}

// asked reports whether there is a request of that key.
func (s *scripted) asked(key int16) bool {
	for _, send := range s.sends {
		if send.Request.Key() == key {
			return true
		}
	}
	return false
}
