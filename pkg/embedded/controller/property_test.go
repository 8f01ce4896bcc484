package controller

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
)

// TestProperties lets a cluster live at random and holds every record to the
// rules. A second controller that is asked the same must say the same.
func TestProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		elr := rapid.Int16Range(0, 1).Draw(t, "elr")
		l := &life{t: t, log: Bootstrap(nil, kraft.FeatureLevel{Name: featureELR, FeatureLevel: elr})}
		replay := metadata.NewReplay(metadata.Empty())
		for _, rec := range l.log {
			if err := replay.Apply(rec); err != nil {
				t.Fatal(err)
			}
		}
		l.image = replay.Image()
		opts := func() Options {
			o := DefaultOptions(100, "", rand.New(rand.NewPCG(7, 7)))
			o.MaxIdleMs, o.LeaderImbalanceCheckMs, o.UncleanElectionCheckMs = 0, 60_000, 60_000
			return o
		}
		l.c, l.twin = New(opts(), l.image, int64(len(l.log)), 0), New(opts(), l.image, int64(len(l.log)), 0)
		for id := range int32(4) {
			l.register(id + 1)
			l.beat(id+1, false, false)
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			l.step()
		}
		if err := checkLog(l.log, l.c.Image()); err != nil {
			t.Fatal(err)
		}
	})
}

func must(im metadata.Image, err error) metadata.Image {
	if err != nil {
		panic(err)
	}
	return im
}

// life is a cluster, its log and the image that the log replays to.
type life struct {
	t       *rapid.T
	c, twin *Controller
	nowMs   int64
	log     []kraft.Record
	image   metadata.Image
	starts  byte
	topics  int
}

func (l *life) step() {
	t := l.t
	id := rapid.Int32Range(1, 4).Draw(t, "broker")
	switch rapid.SampledFrom([]string{
		"isr", "isr", "isr", "beat", "beat", "wait", "wait", "register", "stop", "fence", "create", "reassign", "elect", "config", "directory", "unregister",
	}).Draw(t, "what") {
	case "isr":
		l.isr()
	case "beat":
		l.beat(id, false, false)
	case "fence":
		l.beat(id, true, false)
	case "stop":
		l.beat(id, false, true)
	case "wait":
		l.wait(rapid.Int64Range(0, 9_500).Draw(t, "ms"))
	case "register":
		l.register(id)
	case "unregister":
		ask(l, UnregisterBroker{id})
	case "create":
		l.create()
	case "reassign":
		l.reassign()
	case "elect":
		ask(l, ElectLeaders{Type: rapid.SampledFrom([]ElectionType{PreferredElection, UncleanElection}).Draw(t, "type")})
	case "config":
		l.config()
	case "directory":
		l.fail(id)
	}
}

// ask asks both controllers and checks each record of the answer.
func ask[Reply any](l *life, req Request[Reply]) Reply {
	reply, batch := Handle(l.c, l.nowMs, req)
	twinReply, twinBatch := Handle(l.twin, l.nowMs, req)
	if !reflect.DeepEqual(reply, twinReply) || !reflect.DeepEqual(batch, twinBatch) {
		l.t.Fatalf("%+v: two controllers, two answers:\n%+v %+v\n%+v %+v", req, reply, batch, twinReply, twinBatch)
	}
	l.append(batch)
	return reply
}

func (l *life) append(batch Batch) {
	if batch.Base != int64(len(l.log)) {
		l.t.Fatalf("batch at %d, log ends at %d", batch.Base, len(l.log))
	}
	for _, rec := range batch.Records {
		before := l.image
		l.image = must(l.image.Apply(rec))
		l.log = append(l.log, rec)
		if err := checkEpochs(before, l.image); err != nil {
			l.t.Fatal(err)
		}
		if change, ok := rec.(*kraft.PartitionChange); ok {
			if err := l.rules(before, change); err != nil {
				l.t.Fatalf("offset %d:%s: %v", len(l.log)-1, formatChange(change), err)
			}
		}
	}
	if err := checkState(l.image); err != nil {
		l.t.Fatal(err)
	}
	l.everyoneElected()
}

// rules holds one change of a partition to KIP-966 and I10.
func (l *life) rules(before metadata.Image, rec *kraft.PartitionChange) error {
	topic, _ := before.TopicByID(rec.TopicID)
	old, _ := topic.Partition(rec.PartitionID)
	after, _ := l.image.TopicByID(rec.TopicID)
	p, _ := after.Partition(rec.PartitionID)
	op := l.c.begin(l.nowMs)
	op.image = before
	// A cancellation that loses records makes the first replica the ISR, alive or
	// not, as in Kafka.
	cancelled := (rec.RemovingReplicas != nil || rec.AddingReplicas != nil) && slices.Equal(p.ISR, p.Replicas[:1])
	for _, id := range without(p.ISR, old.ISR...) {
		if cancelled {
			break
		}
		if b, ok := before.Broker(id); !ok || !b.Active() {
			return fmt.Errorf("broker %d is not active and enters ISR %v", id, p.ISR)
		}
	}
	// Who is elected from the ELR makes the ISR, and the rest stays eligible even if
	// one is min ISR, as in Kafka.
	fromELR := slices.Contains(old.EligibleLeaderReplicas, rec.Leader) && len(p.ISR) == 1
	onlyDirectories := rec.ISR == nil && rec.Leader == kraft.NoLeaderChange && rec.Directories != nil && rec.Replicas == nil
	switch {
	case onlyDirectories:
	case !op.elrEnabled():
		if len(p.ISR) == 0 || len(p.EligibleLeaderReplicas) > 0 {
			return fmt.Errorf("without ELRs: ISR %v, ELR %v", p.ISR, p.EligibleLeaderReplicas)
		}
	case len(p.ISR) >= op.effectiveMinISR(topic) && !fromELR:
		if len(p.EligibleLeaderReplicas) > 0 {
			return fmt.Errorf("ISR %v is min ISR, and ELR %v", p.ISR, p.EligibleLeaderReplicas)
		}
	default:
		if strangers := without(p.EligibleLeaderReplicas, append(slices.Clone(old.EligibleLeaderReplicas), old.ISR...)...); len(strangers) > 0 {
			return fmt.Errorf("%v in the ELR come from nowhere", strangers)
		}
	}
	clean := rec.Leader >= 0 && rec.Leader != old.Leader && rec.LeaderRecoveryState != kraft.Recovering && old.LeaderRecoveryState != kraft.Recovering
	if clean && rec.Replicas == nil && !slices.Contains(append(slices.Clone(old.ISR), old.EligibleLeaderReplicas...), rec.Leader) {
		return fmt.Errorf("leader %d comes from neither ISR %v nor ELR %v", rec.Leader, old.ISR, old.EligibleLeaderReplicas)
	}
	return nil
}

// everyoneElected is L1: no partition is without a leader that could have a clean
// one.
func (l *life) everyoneElected() {
	op := l.c.begin(l.nowMs)
	for name, topic := range l.image.Topics() {
		for id, p := range topic.Partitions() {
			ch := op.change(topic, p)
			if i := slices.IndexFunc(p.Replicas, ch.valid); leaderless(p) && i >= 0 {
				l.t.Fatalf("%s-%d has no leader, and broker %d could lead: %+v", name, id, p.Replicas[i], p)
			}
		}
	}
}

func (l *life) register(id int32) {
	previous := int64(-1)
	if b, ok := l.image.Broker(id); ok && rapid.Bool().Draw(l.t, "clean") {
		previous = b.BrokerEpoch
	}
	l.starts++
	ask(l, RegisterBroker{
		BrokerID: id, IncarnationID: kraft.UUID{0: l.starts, 1: 1}, LogDirs: []kraft.UUID{directory(id, 1), directory(id, 2)},
		Features: l.c.opts.Features, PreviousBrokerEpoch: previous,
	})
}

func (l *life) beat(id int32, fence, stop bool) {
	b, ok := l.image.Broker(id)
	if !ok {
		return
	}
	ask(l, Heartbeat{BrokerID: id, BrokerEpoch: b.BrokerEpoch, CurrentMetadataOffset: int64(len(l.log)) - 1, WantFence: fence, WantShutDown: stop})
}

func (l *life) wait(ms int64) {
	l.nowMs += ms
	for l.c.NextDeadline() <= l.nowMs {
		batch, twin := l.c.Tick(l.nowMs), l.twin.Tick(l.nowMs)
		if !reflect.DeepEqual(batch, twin) {
			l.t.Fatalf("two controllers, two ticks:\n%+v\n%+v", batch, twin)
		}
		l.append(batch)
	}
}

// partition draws one.
func (l *life) partition() (string, *kraft.Partition) {
	var names []string
	for name := range l.image.Topics() {
		names = append(names, name)
	}
	if names == nil {
		return "", nil
	}
	name := rapid.SampledFrom(names).Draw(l.t, "topic")
	topic, _ := l.image.Topic(name)
	p, _ := topic.Partition(rapid.Int32Range(0, int32(topic.Len())-1).Draw(l.t, "partition"))
	return name, p
}

func (l *life) brokers(label string, n int) []int32 {
	return rapid.SliceOfNDistinct(rapid.Int32Range(1, 4), 1, n, rapid.ID[int32]).Draw(l.t, label)
}

func (l *life) isr() {
	_, p := l.partition()
	if p == nil || leaderless(p) {
		return
	}
	leader, _ := l.image.Broker(p.Leader)
	req := AlterPartition{BrokerID: p.Leader, BrokerEpoch: leader.BrokerEpoch}
	want := ISRChange{TopicID: p.TopicID, Partition: p.PartitionID, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch}
	ids := append([]int32{p.Leader}, without(l.brokers("isr", 4), p.Leader)...)
	for _, id := range ids {
		want.ISR = append(want.ISR, ISRMember{id, -1})
	}
	req.Partitions = []ISRChange{want}
	ask(l, req)
}

func (l *life) create() {
	if l.topics++; l.topics > 4 {
		return
	}
	minISR := strconv.Itoa(rapid.IntRange(1, 3).Draw(l.t, "min ISR"))
	topic := NewTopic{
		Name: "t" + strconv.Itoa(l.topics), NumPartitions: rapid.Int32Range(1, 3).Draw(l.t, "partitions"),
		ReplicationFactor: int16(rapid.IntRange(1, 3).Draw(l.t, "rf")), Configs: []ConfigValue{{minISRKey, &minISR}},
	}
	if rapid.Bool().Draw(l.t, "unclean") {
		yes := "true"
		topic.Configs = append(topic.Configs, ConfigValue{uncleanElectionKey, &yes})
	}
	ask(l, CreateTopics{Topics: []NewTopic{topic}})
}

func (l *life) reassign() {
	name, p := l.partition()
	if p == nil {
		return
	}
	target := Reassignment{Topic: name, Partition: p.PartitionID}
	if rapid.Bool().Draw(l.t, "target") {
		target.Replicas = l.brokers("replicas", 3)
	}
	ask(l, AlterPartitionReassignments{Partitions: []Reassignment{target}, AllowReplicationFactorChange: true})
}

func (l *life) config() {
	name, p := l.partition()
	if p == nil {
		return
	}
	value := strconv.Itoa(rapid.IntRange(1, 3).Draw(l.t, "min ISR"))
	ask(l, AlterConfigs{Resources: []ResourceChange{{
		Resource: metadata.Resource{Type: kraft.ResourceTopic, Name: name},
		Changes:  []ConfigChange{{Key: minISRKey, Value: &value}},
	}}})
}

// fail tells where a replica lies, and sometimes that the directory failed.
func (l *life) fail(id int32) {
	_, p := l.partition()
	b, ok := l.image.Broker(id)
	if p == nil || !ok {
		return
	}
	dir := directory(id, rapid.IntRange(1, 2).Draw(l.t, "directory"))
	// A replica that moved out of a failed directory could lead again, and nobody
	// would ask: brokers do not do that.
	if i := slices.Index(p.Replicas, id); i >= 0 && reserved(p.Directories[i]) {
		ask(l, AssignReplicasToDirs{id, b.BrokerEpoch, []DirAssignment{{p.TopicID, p.PartitionID, dir}}})
	}
	if rapid.IntRange(0, 3).Draw(l.t, "fails") == 0 && len(b.LogDirs) > 1 {
		ask(l, Heartbeat{
			BrokerID: id, BrokerEpoch: b.BrokerEpoch, CurrentMetadataOffset: int64(len(l.log)) - 1, WantFence: b.Fenced,
			Directories: Directories{OfflineLogDirs: []kraft.UUID{dir}},
		})
	}
}
