package quorum

import (
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

const (
	testCluster = "abcdefghijklmnopqrstuv"
	testWallMs  = int64(1_700_000_000_000)
)

func testOptions(fsys vfs.FS) Options {
	opts := controller.DefaultOptions(3000, testCluster, rand.New(rand.NewPCG(1, 2)))
	return Options{Controller: opts, FS: fsys, EndPoints: []kraft.Endpoint{{Name: "CONTROLLER", Host: "localhost", Port: 9093}}}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// world drives one node: its disk runs orders when it is told to.
type world struct {
	tb   testing.TB
	opts Options
	n    *Node
	now  machine.Time

	orders  []machine.Run
	replies map[machine.Token]machine.Reply
	token   machine.Token
	stopped *machine.Stop
	notes   []string
	// auto runs orders as they come.
	auto bool
}

func newWorld(tb testing.TB, opts Options) *world {
	tb.Helper()
	w := &world{tb: tb, opts: opts, now: machine.Time{Mono: 1000, Wall: testWallMs}, auto: true}
	w.open()
	return w
}

func (w *world) open() {
	w.tb.Helper()
	n, err := Open(w.opts, w.now)
	must(w.tb, err)
	w.n, w.orders, w.replies, w.stopped = n, nil, map[machine.Token]machine.Reply{}, nil
}

func (w *world) step(in machine.Input) {
	w.tb.Helper()
	w.take(w.n.Step(w.now, in, nil))
}

func (w *world) take(out []machine.Effect) {
	w.tb.Helper()
	for _, e := range out {
		switch e := e.(type) {
		case machine.Reply:
			if _, ok := w.replies[e.Token]; ok {
				w.tb.Fatalf("token %d is answered twice", e.Token)
			}
			w.replies[e.Token] = e
		case machine.Run:
			w.orders = append(w.orders, e)
		case machine.Stop:
			w.stopped = &e
		case machine.Note:
			w.notes = append(w.notes, e.Text)
		default:
			w.tb.Fatalf("effect %T", e)
		}
	}
	for w.auto && len(w.orders) > 0 && w.stopped == nil {
		w.runOne()
	}
}

// runOne runs the oldest order.
func (w *world) runOne() {
	w.tb.Helper()
	o := w.orders[0]
	w.orders = w.orders[1:]
	o.Order.Run()
	w.step(machine.Ran{Order: o.Order})
}

// send sends a request and returns its token.
func (w *world) send(req kmsg.Request) machine.Token {
	w.tb.Helper()
	w.token++
	w.step(machine.Request{Token: w.token, Body: req})
	return w.token
}

// ask sends a request and returns its answer, which must be there at once.
func ask[R kmsg.Response](w *world, req kmsg.Request) R {
	w.tb.Helper()
	t := w.send(req)
	r, ok := w.replies[t]
	if !ok {
		w.tb.Fatalf("no answer to %T", req)
	}
	resp, ok := r.Response.(R)
	if !ok {
		w.tb.Fatalf("answer to %T is %T, close %v", req, r.Response, r.Close)
	}
	return resp
}

// advance lets time pass, ticking at every deadline.
func (w *world) advance(ms int64) {
	w.tb.Helper()
	until := w.now.Mono + ms
	for w.stopped == nil && w.n.NextDeadline() <= until {
		if d := w.n.NextDeadline() - w.now.Mono; d > 0 {
			w.now.Mono += d
			w.now.Wall += d
		}
		w.step(machine.Tick{})
	}
	w.now.Wall += until - w.now.Mono
	w.now.Mono = until
}

func registration(id int32) *kmsg.BrokerRegistrationRequest {
	req := kmsg.NewPtrBrokerRegistrationRequest()
	req.Version = 4
	req.BrokerID, req.ClusterID, req.IncarnationID = id, testCluster, kraft.UUID{0: byte(id), 15: 77}
	req.LogDirs = [][16]byte{{0: byte(id), 15: 99}}
	req.Listeners = []kmsg.BrokerRegistrationRequestListener{{Name: "PLAINTEXT", Host: "localhost", Port: uint16(9000 + id)}}
	req.Features = []kmsg.BrokerRegistrationRequestFeature{
		{Name: "metadata.version", MinSupportedVersion: 23, MaxSupportedVersion: 33},
		{Name: "eligible.leader.replicas.version", MaxSupportedVersion: 1},
	}
	return req
}

func heartbeat(id int32, epoch, offset int64) *kmsg.BrokerHeartbeatRequest {
	req := kmsg.NewPtrBrokerHeartbeatRequest()
	req.Version, req.BrokerID, req.BrokerEpoch, req.CurrentMetadataOffset = 2, id, epoch, offset
	return req
}

// brokers registers and unfences brokers 1 to n and returns their epochs.
func (w *world) brokers(n int32) map[int32]int64 {
	w.tb.Helper()
	epochs := map[int32]int64{}
	for id := int32(1); id <= n; id++ {
		resp := ask[*kmsg.BrokerRegistrationResponse](w, registration(id))
		if resp.ErrorCode != 0 {
			w.tb.Fatalf("registration of %d: error %d", id, resp.ErrorCode)
		}
		epochs[id] = resp.BrokerEpoch
		beat := ask[*kmsg.BrokerHeartbeatResponse](w, heartbeat(id, resp.BrokerEpoch, w.n.DurableOffset()))
		if beat.ErrorCode != 0 || beat.IsFenced {
			w.tb.Fatalf("heartbeat of %d: %+v", id, beat)
		}
	}
	return epochs
}

func creation(name string, partitions int32, rf int16) *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version = 7
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = name, partitions, rf
	req.Topics = append(req.Topics, t)
	return req
}

func metadataFetch(replica int32, offset int64, epoch, lastEpoch int32, waitMs int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxWaitMillis, req.ReplicaState.ID = 18, waitMs, replica
	t := kmsg.NewFetchRequestTopic()
	t.TopicID = metadataTopicID
	p := kmsg.NewFetchRequestTopicPartition()
	p.FetchOffset, p.CurrentLeaderEpoch, p.LastFetchedEpoch = offset, epoch, lastEpoch
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

// sameImage fails if two images do not have the same records.
func sameImage(tb testing.TB, got, want metadata.Image) {
	tb.Helper()
	encode := func(im metadata.Image) (lines []string) {
		for _, rec := range im.Records() {
			b, err := kraft.Append(nil, rec, im.MetadataVersion().RecordVersion(rec))
			must(tb, err)
			lines = append(lines, rec.Type().String()+string(b))
		}
		return lines
	}
	g, w := encode(got), encode(want)
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			tb.Fatalf("images differ at record %d of %d and %d", i, len(g), len(w))
		}
	}
}
