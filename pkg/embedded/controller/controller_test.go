package controller

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// TestCodes compares names and numbers with those of a client.
func TestCodes(t *testing.T) {
	t.Parallel()
	for code, name := range codeNames {
		if code == NotLeaderOrFollower {
			name = "NOT_LEADER_FOR_PARTITION" // before Kafka 2.6
		}
		if want := kerr.TypedErrorForCode(int16(code)); want == nil || want.Message != name {
			t.Errorf("code %d: got %s, want %v", code, name, want)
		}
	}
	if got := Code(9999).String(); got != "error 9999" {
		t.Errorf("got %q", got)
	}
	var err error = errorf(InvalidRequest, "why %d", 1)
	if got, want := err.Error(), "INVALID_REQUEST: why 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// newCluster is a controller with that many brokers that are alive at 0 ms.
func newCluster(t testing.TB, brokers int32, set func(*Options)) *Controller {
	t.Helper()
	opts := DefaultOptions(100, "c", rand.New(rand.NewPCG(1, 2)))
	if set != nil {
		set(&opts)
	}
	replay := metadata.NewReplay(metadata.Empty())
	log := Bootstrap(nil, kraft.FeatureLevel{Name: featureELR, FeatureLevel: 1})
	for _, rec := range log {
		if err := replay.Apply(rec); err != nil {
			t.Fatal(err)
		}
	}
	c := New(opts, replay.Image(), int64(len(log)), 0)
	for id := int32(1); id <= brokers; id++ {
		reply, _ := Handle(c, 0, RegisterBroker{
			ClusterID: "c", BrokerID: id, IncarnationID: kraft.UUID{0: byte(id)}, Features: opts.Features,
			LogDirs: []kraft.UUID{{0: byte(id)}}, PreviousBrokerEpoch: -1,
		})
		if reply.Err != nil {
			t.Fatal(reply.Err)
		}
		beatAt(c, 0, id)
	}
	return c
}

func beatAt(c *Controller, nowMs int64, id int32) HeartbeatReply {
	b, _ := c.Image().Broker(id)
	reply, _ := Handle(c, nowMs, Heartbeat{BrokerID: id, BrokerEpoch: b.BrokerEpoch, CurrentMetadataOffset: c.NextOffset() - 1})
	return reply
}

// TestRounds: what one round may write is bounded, and the rest comes at once.
func TestRounds(t *testing.T) {
	t.Parallel()
	const partitions = 2_500
	for _, c := range []struct {
		name    string
		configs []ConfigValue
		// before the round, broker 1 is away, and back if it is to lead again.
		back bool
	}{
		{"balance", nil, true},
		{"unclean", []ConfigValue{{uncleanElectionKey, new("true")}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			rounds(t, partitions, c.configs, c.back)
		})
	}
}

func rounds(t *testing.T, partitions int, configs []ConfigValue, back bool) {
	ctl := newCluster(t, 2, func(o *Options) { o.MaxIdleMs = 0 })
	topic := NewTopic{Name: "t", NumPartitions: -1, ReplicationFactor: -1, Assignments: map[int32][]int32{}}
	for i := range partitions {
		topic.Assignments[int32(i)] = []int32{1, 2}
	}
	if reply, _ := Handle(ctl, 0, CreateTopics{Topics: []NewTopic{topic}}); reply.Topics[0].Err != nil {
		t.Fatal(reply.Topics[0].Err)
	}
	if back {
		// 2 leads all; 1 is in sync with all.
		op := ctl.begin(0)
		for id, p := range onlyTopic(ctl).Partitions() {
			rec := kraft.NewPartitionChange(p.TopicID, id)
			rec.Leader = 2
			op.write(rec)
		}
		op.commit()
	} else {
		// Nobody leads, and 2 is the only one alive and not in sync.
		op := ctl.begin(0)
		for id, p := range onlyTopic(ctl).Partitions() {
			rec := kraft.NewPartitionChange(p.TopicID, id)
			rec.Leader, rec.ISR, rec.EligibleLeaderReplicas = kraft.NoLeader, []int32{}, []int32{1}
			op.write(rec)
		}
		b, _ := op.image.Broker(1)
		op.fence(b)
		op.commit()
		change := ResourceChange{Resource: metadata.Resource{Type: kraft.ResourceTopic, Name: "t"}}
		for _, c := range configs {
			change.Changes = append(change.Changes, ConfigChange{Key: c.Key, Value: c.Value})
		}
		Handle(ctl, 0, AlterConfigs{Resources: []ResourceChange{change}})
	}
	// Just before the round is due, both brokers are heard of.
	const due = 300_000
	beatAt(ctl, due, 2)
	b, _ := ctl.Image().Broker(1)
	Handle(ctl, due, Heartbeat{BrokerID: 1, BrokerEpoch: b.BrokerEpoch, WantFence: !back})
	var sizes []int
	for ctl.NextDeadline() <= due {
		if n := len(ctl.Tick(due).Records); n > 0 {
			sizes = append(sizes, n)
		}
	}
	if diff := cmp.Diff([]int{1000, 1000, 500}, sizes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if next := ctl.NextDeadline(); next <= due {
		t.Errorf("next deadline %d: want later", next)
	}
}

func onlyTopic(c *Controller) *metadata.Topic {
	for _, topic := range c.Image().Topics() {
		return topic
	}
	return nil
}

// TestIdle: a NoOp record every 500 ms, or never; a cluster without brokers has
// no other deadline than the rounds.
func TestIdle(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 0, nil)
	for _, now := range []int64{500, 1000} {
		if got := c.NextDeadline(); got != now {
			t.Fatalf("deadline %d, want %d", got, now)
		}
		batch := c.Tick(now)
		if len(batch.Records) != 1 || batch.Records[0].Type() != kraft.TypeNoOp || c.NextOffset() != batch.End() {
			t.Errorf("%d ms: %+v", now, batch)
		}
	}
	off := newCluster(t, 0, func(o *Options) { o.MaxIdleMs, o.LeaderImbalanceCheckMs, o.UncleanElectionCheckMs = 0, 0, 0 })
	if got := off.NextDeadline(); got != math.MaxInt64 {
		t.Errorf("deadline %d, want never", got)
	}
	if batch := off.Tick(1 << 40); len(batch.Records) > 0 {
		t.Errorf("%+v", batch)
	}
}

// TestProducerIDsRunOut at the largest number.
func TestProducerIDsRunOut(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, nil)
	op := c.begin(0)
	op.write(&kraft.ProducerIDs{NextProducerID: math.MaxInt64 - 1000})
	op.commit()
	b, _ := c.Image().Broker(1)
	for _, want := range []*Error{nil, {Code: UnknownServerError}} {
		reply, _ := Handle(c, 0, AllocateProducerIDs{1, b.BrokerEpoch})
		if (reply.Err == nil) != (want == nil) || want != nil && reply.Err.Code != want.Code {
			t.Errorf("got %+v, want %v", reply, want)
		}
	}
}

// TestRegisterController replaces the older life.
func TestRegisterController(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 0, nil)
	for incarnation := range byte(2) {
		_, batch := Handle(c, 0, RegisterController{kraft.RegisterController{ControllerID: 100, IncarnationID: kraft.UUID{incarnation}}})
		if len(batch.Records) != 1 {
			t.Errorf("%+v", batch)
		}
	}
	for id, rec := range c.Image().Controllers() {
		if id != 100 || rec.IncarnationID != (kraft.UUID{1}) {
			t.Errorf("%d: %+v", id, rec)
		}
	}
}

// TestWriteNonsense: a record that contradicts the image is this package's bug.
func TestWriteNonsense(t *testing.T) {
	t.Parallel()
	defer func() {
		if msg := fmt.Sprint(recover()); !strings.Contains(msg, "offset 5") {
			t.Errorf("got %q", msg)
		}
	}()
	op := newCluster(t, 0, nil).begin(0)
	op.write(&kraft.RemoveTopic{TopicID: kraft.UUID{1}})
}

// TestELRNeedsMetadataVersion of Kafka 4.0; and both can be raised in one request.
func TestELRNeedsMetadataVersion(t *testing.T) {
	t.Parallel()
	opts := DefaultOptions(100, "c", rand.New(rand.NewPCG(1, 2)))
	opts.Features[0].MinSupportedVersion = 7
	image := metadata.Empty()
	image, err := image.Apply(&kraft.FeatureLevel{Name: featureMetadataVersion, FeatureLevel: 17})
	if err != nil {
		t.Fatal(err)
	}
	c := New(opts, image, 1, 0)
	elr := FeatureUpdate{featureELR, 1, Upgrade}
	reply, batch := Handle(c, 0, UpdateFeatures{Updates: []FeatureUpdate{elr}})
	if reply.Err == nil || reply.Err.Code != InvalidUpdateVersion || len(batch.Records) > 0 {
		t.Errorf("%+v %+v", reply, batch)
	}
	reply, batch = Handle(c, 0, UpdateFeatures{Updates: []FeatureUpdate{elr, {featureMetadataVersion, 33, Upgrade}}})
	if reply.Err != nil || len(batch.Records) != 3 {
		t.Errorf("%+v %+v", reply, batch)
	}
}

// TestFeatureOfABroker: one broker that is too old is enough to refuse a level.
func TestFeatureOfABroker(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, nil)
	c.opts.Features = append(slices.Clone(c.opts.Features), kraft.FeatureRange{Name: "group.version", MaxSupportedVersion: 1})
	reply, _ := Handle(c, 0, UpdateFeatures{Updates: []FeatureUpdate{{"group.version", 1, Upgrade}}})
	if reply.Err == nil || !strings.Contains(reply.Err.Message, "broker 1") {
		t.Errorf("%+v", reply)
	}
}

// TestTopicIDs have the shape of Kafka's.
func TestTopicIDs(t *testing.T) {
	t.Parallel()
	op := newCluster(t, 0, nil).begin(0)
	seen := map[kraft.UUID]bool{}
	for range 2000 { // one of 64 would begin with a dash
		id := op.newTopicID()
		if seen[id] || id.String()[0] == '-' || id[6]>>4 != 4 || reserved(id) {
			t.Fatalf("%s", id)
		}
		seen[id] = true
	}
}

// TestTopicIDsAfterRestart: with the same random source a new controller gives
// other ids (E22).
func TestTopicIDsAfterRestart(t *testing.T) {
	t.Parallel()
	seen := map[kraft.UUID]bool{}
	c := newCluster(t, 1, nil)
	for range 3 {
		c.opts.Rand = rand.New(rand.NewPCG(1, 2))
		c = New(c.opts, c.Image(), c.NextOffset(), 0)
		created, _ := Handle(c, 0, CreateTopics{Topics: []NewTopic{{Name: "t", NumPartitions: 1, ReplicationFactor: 1}}})
		id := created.Topics[0].ID
		deleted, _ := Handle(c, 0, DeleteTopics{IDs: []kraft.UUID{id}})
		if seen[id] || created.Topics[0].Err != nil || deleted.Topics[0].Err != nil {
			t.Fatalf("%s: %+v %+v", id, created, deleted)
		}
		seen[id] = true
	}
}

// TestConfigKeys holds the table together: each default is a value of its key,
// and no name stands for two.
func TestConfigKeys(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, k := range ConfigKeys() {
		if k.Default != "" && !k.Valid(k.Default) {
			t.Errorf("%+v: default is not valid", k)
		}
		for _, name := range []string{"topic " + k.Name, "broker " + k.Broker} {
			if names[name] && !strings.HasSuffix(name, " ") {
				t.Errorf("%s is there twice", name)
			}
			names[name] = true
		}
	}
	for _, name := range needRestart {
		if names["broker "+name] {
			t.Errorf("%s needs a restart and can change without", name)
		}
	}
	if got := defaultOf("nonsense"); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestBadStaticConfig: a file's nonsense does not stop elections.
func TestBadStaticConfig(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, func(o *Options) { o.Static = map[string]string{"segment.bytes": "x", uncleanElectionKey: " TRUE"} })
	op := c.begin(0)
	if got := op.topicInt("t", "segment.bytes"); got != 1<<30 {
		t.Errorf("got %d", got)
	}
	if !op.uncleanAllowed("t") {
		t.Error("got false, want the file's TRUE")
	}
}

// TestOlderThanDirectories: a broker and its replicas that know nothing of
// directories (before KIP-858) can lead.
func TestOlderThanDirectories(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, nil)
	op := c.begin(0)
	b, _ := op.image.Broker(1)
	old := b.RegisterBroker
	old.LogDirs = nil
	op.write(&old)
	if got := op.defaultDirectory(1); got != kraft.MigratingDirectory {
		t.Errorf("got %s", got)
	}
	if got := op.defaultDirectory(2); got != kraft.UnassignedDirectory {
		t.Errorf("got %s", got)
	}
	b, _ = op.image.Broker(1)
	for dir, want := range map[kraft.UUID]bool{
		kraft.MigratingDirectory: true, kraft.UnassignedDirectory: true, kraft.LostDirectory: false, {5}: true,
	} {
		if got := online(b, dir); got != want {
			t.Errorf("online(%s) = %t, want %t", dir, got, want)
		}
	}
}

// TestCancelFromNothing: a partition that has only replicas being added has
// nothing to go back to. Requests cannot make one, old logs might hold one.
func TestCancelFromNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 1, nil)
	op := c.begin(0)
	op.write(&kraft.Topic{Name: "t", TopicID: kraft.UUID{9}})
	op.write(&kraft.Partition{TopicID: kraft.UUID{9}, Replicas: []int32{1}, AddingReplicas: []int32{1}, ISR: []int32{1}, Leader: 1})
	op.commit()
	reply, batch := Handle(c, 0, AlterPartitionReassignments{Partitions: []Reassignment{{Topic: "t"}}})
	if err := reply.Partitions[0].Err; err == nil || err.Code != InvalidReplicaAssignment || len(batch.Records) > 0 {
		t.Errorf("%+v %+v", reply, batch)
	}
}

// TestPlacementSpreads: over many partitions every broker leads about as often,
// and no partition has two replicas in a rack while there are enough racks.
func TestPlacementSpreads(t *testing.T) {
	t.Parallel()
	image := metadata.Empty()
	for id := range int32(9) {
		rack := string('a' + id%3)
		var err error
		if image, err = image.Apply(&kraft.RegisterBroker{BrokerID: id, Rack: &rack}); err != nil {
			t.Fatal(err)
		}
	}
	racks := newRacks(image, rand.New(rand.NewPCG(3, 4)))
	leads := map[int32]int{}
	const partitions = 900
	for range partitions {
		replicas := racks.place(3)
		leads[replicas[0]]++
		seen := map[int32]bool{}
		for _, b := range replicas {
			seen[b%3] = true
		}
		if len(seen) != 3 {
			t.Fatalf("%v: two in one rack", replicas)
		}
	}
	for id := range int32(9) {
		if leads[id] < partitions/9/2 || leads[id] > partitions/9*2 {
			t.Errorf("broker %d leads %d of %d", id, leads[id], partitions)
		}
	}
}

// TestTwoChangesInOneRequest: the second is decided on what the first did.
func TestTwoChangesInOneRequest(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, nil)
	Handle(c, 0, CreateTopics{Topics: []NewTopic{{Name: "t", NumPartitions: -1, ReplicationFactor: -1, Assignments: map[int32][]int32{0: {1, 2}}}}})
	b, _ := c.Image().Broker(1)
	want := ISRChange{TopicID: onlyTopic(c).ID, ISR: []ISRMember{{1, -1}}}
	reply, batch := Handle(c, 0, AlterPartition{1, b.BrokerEpoch, []ISRChange{want, want}})
	second := reply.Partitions[1].Err
	if len(batch.Records) != 1 || reply.Partitions[0].Err != nil || second == nil || second.Code != InvalidUpdateVersion {
		t.Fatalf("%+v %+v", reply, batch)
	}
	if got := reply.Partitions[0].State; got.PartitionEpoch != 1 || !slices.Equal(got.ISR, []int32{1}) {
		t.Errorf("%+v", got)
	}
}
