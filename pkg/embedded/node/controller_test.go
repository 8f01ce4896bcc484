package node

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// testController is the rules of package controller behind the requests that a
// broker makes, with a log in memory that is durable at once.
type testController struct {
	t   testing.TB
	c   *controller.Controller
	log []byte
	// at is where each batch of log begins, by its base offset.
	bases []int64
	at    []int
	// waiting are fetches that found nothing.
	waiting []waitingFetch
	// snapshotAt: what lies below is to be had as a snapshot only; 0: nothing.
	snapshotAt int64
	snapshot   []byte
	// held: nothing is answered to fetches of these brokers.
	held map[int32]bool
	// refuse is the top-level error of the next AlterPartition, refuseDirs that of the
	// next AssignReplicasToDirs.
	refuse, refuseDirs int16
	// refuseLives is how many registrations are refused next.
	refuseLives int
	// holdAlter keeps AlterPartitions in alters until it is released.
	holdAlter bool
	alters    []func()
	assigns   int // how many AssignReplicasToDirs came
}

type waitingFetch struct {
	req      *kmsg.FetchRequest
	deadline int64
	reply    func(kmsg.Response)
}

const testEpoch = 7 // the controller's

func newTestController(t testing.TB, seed uint64, static map[string]string) *testController {
	c := &testController{t: t, held: map[int32]bool{}}
	opts := controller.DefaultOptions(100, "cluster", rand.New(rand.NewPCG(seed, 1)))
	opts.LeaderImbalanceCheckMs, opts.Static = 0, static
	replay := metadata.NewReplay(metadata.Empty())
	bootstrap := controller.Bootstrap(nil)
	for _, rec := range bootstrap {
		if err := replay.Apply(rec); err != nil {
			t.Fatal(err)
		}
	}
	c.c = controller.New(opts, replay.Image(), int64(len(bootstrap)), 0)
	c.append(controller.Batch{Records: bootstrap})
	return c
}

func (c *testController) append(b controller.Batch) {
	if len(b.Records) == 0 {
		return
	}
	builder := record.NewBuilder(record.Options{BaseOffset: b.Base, LeaderEpoch: testEpoch})
	for _, rec := range b.Records {
		c.add(builder, rec)
	}
	c.bases, c.at = append(c.bases, b.Base), append(c.at, len(c.log))
	var err error
	if c.log, err = builder.AppendTo(c.log, nil); err != nil {
		c.t.Fatal(err)
	}
}

func (c *testController) add(builder *record.Builder, rec kraft.Record) {
	value, err := kraft.Append(nil, rec, c.c.Image().MetadataVersion().RecordVersion(rec))
	if err == nil {
		err = builder.Add(record.Entry{Value: value})
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// cutLog makes a snapshot of all there is, and forgets the log before it.
func (c *testController) cutLog() {
	builder := record.NewBuilder(record.Options{LeaderEpoch: testEpoch})
	for _, rec := range c.c.Image().Records() {
		c.add(builder, rec)
	}
	var err error
	if c.snapshot, err = builder.AppendTo(nil, nil); err != nil {
		c.t.Fatal(err)
	}
	c.snapshotAt = c.c.NextOffset()
}

// decide carries out one request of package controller.
func decide[Reply any](c *testController, now int64, req controller.Request[Reply]) Reply {
	reply, batch := controller.Handle(c.c, now, req)
	c.append(batch)
	return reply
}

func codeOf(err *controller.Error) int16 {
	if err == nil {
		return 0
	}
	return int16(err.Code)
}

// tick does what is due, and answers fetches.
func (c *testController) tick(now int64) {
	for c.c.NextDeadline() <= now {
		c.append(c.c.Tick(now))
	}
	waiting := c.waiting
	c.waiting = nil
	for _, w := range waiting {
		c.fetch(now, w)
	}
}

// handle answers a request, now or later.
func (c *testController) handle(now int64, body kmsg.Request, reply func(kmsg.Response)) {
	switch req := body.(type) {
	case *kmsg.BrokerRegistrationRequest:
		r := controller.RegisterBroker{
			ClusterID: req.ClusterID, BrokerID: req.BrokerID, IncarnationID: req.IncarnationID, Rack: req.Rack,
			PreviousBrokerEpoch: req.PreviousBrokerEpoch,
		}
		for _, l := range req.Listeners {
			r.EndPoints = append(r.EndPoints, kraft.Endpoint{Name: l.Name, Host: l.Host, Port: l.Port, SecurityProtocol: l.SecurityProtocol})
		}
		for _, f := range req.Features {
			r.Features = append(r.Features, kraft.FeatureRange{Name: f.Name, MinSupportedVersion: f.MinSupportedVersion, MaxSupportedVersion: f.MaxSupportedVersion})
		}
		for _, d := range req.LogDirs {
			r.LogDirs = append(r.LogDirs, d)
		}
		resp := req.ResponseKind().(*kmsg.BrokerRegistrationResponse)
		if c.refuseLives > 0 {
			c.refuseLives--
			resp.ErrorCode = int16(controller.DuplicateBrokerRegistration)
			reply(resp)
			break
		}
		a := decide(c, now, r)
		resp.ErrorCode, resp.BrokerEpoch = codeOf(a.Err), a.BrokerEpoch
		reply(resp)
	case *kmsg.BrokerHeartbeatRequest:
		a := decide(c, now, controller.Heartbeat{
			BrokerID: req.BrokerID, BrokerEpoch: req.BrokerEpoch, CurrentMetadataOffset: req.CurrentMetadataOffset,
			WantFence: req.WantFence, WantShutDown: req.WantShutdown,
		})
		resp := req.ResponseKind().(*kmsg.BrokerHeartbeatResponse)
		resp.ErrorCode, resp.IsCaughtUp, resp.IsFenced, resp.ShouldShutdown = codeOf(a.Err), a.IsCaughtUp, a.IsFenced, a.ShouldShutDown
		reply(resp)
	case *kmsg.AlterPartitionRequest:
		c.alters = append(c.alters, func() { reply(c.alterPartition(now, req)) })
		c.releaseAlters()
	case *kmsg.AllocateProducerIDsRequest:
		a := decide(c, now, controller.AllocateProducerIDs{BrokerID: req.BrokerID, BrokerEpoch: req.BrokerEpoch})
		resp := req.ResponseKind().(*kmsg.AllocateProducerIDsResponse)
		resp.ErrorCode, resp.ProducerIDStart, resp.ProducerIDLen = codeOf(a.Err), a.First, a.Len
		reply(resp)
	case *kmsg.AssignReplicasToDirsRequest:
		reply(c.assign(now, req))
	case *kmsg.FetchRequest:
		c.fetch(now, waitingFetch{req: req, deadline: now + int64(req.MaxWaitMillis), reply: reply})
	case *kmsg.FetchSnapshotRequest:
		reply(c.fetchSnapshot(req))
	case *kmsg.DeleteTopicsRequest:
		resp := req.ResponseKind().(*kmsg.DeleteTopicsResponse)
		for _, asked := range req.Topics {
			a := decide(c, now, controller.DeleteTopics{IDs: []kraft.UUID{asked.TopicID}})
			t := kmsg.NewDeleteTopicsResponseTopic()
			t.TopicID, t.ErrorCode = asked.TopicID, codeOf(a.Topics[0].Err)
			resp.Topics = append(resp.Topics, t)
		}
		reply(resp)
	case *kmsg.CreateTopicsRequest:
		reply(c.createTopics(now, req))
	default:
		c.t.Errorf("the controller was asked for %T", body)
	}
	c.tick(now)
}

func (c *testController) createTopics(now int64, req *kmsg.CreateTopicsRequest) kmsg.Response {
	var r controller.CreateTopics
	for _, t := range req.Topics {
		topic := controller.NewTopic{Name: t.Topic, NumPartitions: t.NumPartitions, ReplicationFactor: t.ReplicationFactor}
		for _, config := range t.Configs {
			topic.Configs = append(topic.Configs, controller.ConfigValue{Key: config.Name, Value: config.Value})
		}
		r.Topics = append(r.Topics, topic)
	}
	resp := req.ResponseKind().(*kmsg.CreateTopicsResponse)
	for _, a := range decide(c, now, r).Topics {
		t := kmsg.NewCreateTopicsResponseTopic()
		t.Topic, t.TopicID, t.ErrorCode = a.Name, a.ID, codeOf(a.Err)
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

// releaseAlters answers the AlterPartitions that wait, unless they are held.
func (c *testController) releaseAlters() {
	if c.holdAlter {
		return
	}
	for _, answer := range c.alters {
		answer()
	}
	c.alters = nil
}

func (c *testController) assign(now int64, req *kmsg.AssignReplicasToDirsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.AssignReplicasToDirsResponse)
	c.assigns++
	if c.refuseDirs != 0 {
		resp.ErrorCode, c.refuseDirs = c.refuseDirs, 0
		return resp
	}
	in := controller.AssignReplicasToDirs{BrokerID: req.BrokerID, BrokerEpoch: req.BrokerEpoch}
	for _, d := range req.Directories {
		for _, t := range d.Topics {
			for _, p := range t.Partitions {
				in.Assignments = append(in.Assignments, controller.DirAssignment{TopicID: t.TopicID, Partition: p.Partition, Directory: d.ID})
			}
		}
	}
	resp.ErrorCode = codeOf(decide(c, now, in).Err)
	return resp
}

func (c *testController) alterPartition(now int64, req *kmsg.AlterPartitionRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.AlterPartitionResponse)
	if c.refuse != 0 {
		resp.ErrorCode, c.refuse = c.refuse, 0
		return resp
	}
	in := controller.AlterPartition{BrokerID: req.BrokerID, BrokerEpoch: req.BrokerEpoch}
	for _, t := range req.Topics {
		for _, p := range t.Partitions {
			change := controller.ISRChange{TopicID: t.TopicID, Partition: p.Partition, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch}
			for _, m := range p.NewEpochISR {
				change.ISR = append(change.ISR, controller.ISRMember{BrokerID: m.BrokerID, BrokerEpoch: m.BrokerEpoch})
			}
			in.Partitions = append(in.Partitions, change)
		}
	}
	a := decide(c, now, in)
	resp.ErrorCode = codeOf(a.Err)
	for _, r := range a.Partitions {
		t := kmsg.NewAlterPartitionResponseTopic()
		t.TopidID = r.TopicID
		p := kmsg.NewAlterPartitionResponseTopicPartition()
		p.Partition, p.ErrorCode = r.Partition, codeOf(r.Err)
		if r.State != nil {
			p.LeaderID, p.LeaderEpoch, p.ISR, p.PartitionEpoch = r.State.Leader, r.State.LeaderEpoch, r.State.ISR, r.State.PartitionEpoch
		}
		t.Partitions = append(t.Partitions, p)
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

// fetch answers as KafkaRaftClient does.
func (c *testController) fetch(now int64, w waitingFetch) {
	in := &w.req.Topics[0].Partitions[0]
	resp := w.req.ResponseKind().(*kmsg.FetchResponse)
	t := kmsg.NewFetchResponseTopic()
	t.TopicID = w.req.Topics[0].TopicID
	p := kmsg.NewFetchResponseTopicPartition()
	p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch = 100, testEpoch
	p.HighWatermark, p.RecordBatches = c.c.NextOffset(), []byte{}
	switch {
	case in.CurrentLeaderEpoch < 0 || in.LastFetchedEpoch < 0 || in.FetchOffset < 0:
		p.ErrorCode = 42
	case in.CurrentLeaderEpoch != testEpoch:
		p.ErrorCode = 74
	case in.FetchOffset < c.snapshotAt:
		p.SnapshotID.EndOffset, p.SnapshotID.Epoch = c.snapshotAt, testEpoch
	case in.FetchOffset > c.c.NextOffset():
		p.DivergingEpoch.Epoch, p.DivergingEpoch.EndOffset = testEpoch, c.c.NextOffset()
	case in.FetchOffset == c.c.NextOffset() && now < w.deadline || c.held[w.req.ReplicaState.ID]:
		c.waiting = append(c.waiting, w)
		return
	case in.FetchOffset < c.c.NextOffset():
		i, _ := slices.BinarySearch(c.bases, in.FetchOffset)
		p.RecordBatches = c.log[c.at[i]:]
	}
	t.Partitions = append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	w.reply(resp)
}

func (c *testController) fetchSnapshot(req *kmsg.FetchSnapshotRequest) kmsg.Response {
	in := &req.Topics[0].Partitions[0]
	resp := req.ResponseKind().(*kmsg.FetchSnapshotResponse)
	t := kmsg.NewFetchSnapshotResponseTopic()
	t.Topic = req.Topics[0].Topic
	p := kmsg.NewFetchSnapshotResponseTopicPartition()
	p.SnapshotID.EndOffset, p.SnapshotID.Epoch = in.SnapshotID.EndOffset, in.SnapshotID.Epoch
	p.Size, p.Position = int64(len(c.snapshot)), in.Position
	if in.SnapshotID.EndOffset != c.snapshotAt {
		p.ErrorCode = 98
	} else {
		p.Bytes = c.snapshot[in.Position:min(in.Position+int64(req.MaxBytes), int64(len(c.snapshot)))]
	}
	t.Partitions = append(t.Partitions, p)
	resp.Topics = append(resp.Topics, t)
	return resp
}
