package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/group"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// groupWorld is a cluster with a topic and a coordinator for the group "g".
type groupWorld struct {
	*world
	t *testing.T
}

func newGroupWorld(t *testing.T, static map[string]string) *groupWorld {
	t.Helper()
	w := &groupWorld{newWorld(t, 3, static), t}
	for _, id := range w.ids() {
		w.start(id)
	}
	if !w.run(5000, w.unfenced) {
		t.Fatal("the brokers do not come up")
	}
	create := kmsg.NewPtrCreateTopicsRequest()
	create.Version, create.TimeoutMillis = 7, 1000
	ct := kmsg.NewCreateTopicsRequestTopic()
	ct.Topic, ct.NumPartitions, ct.ReplicationFactor = "work", 1, 3
	create.Topics = append(create.Topics, ct)
	w.must(1, create)
	w.coordinator("g")
	return w
}

// must asks and waits for the answer, which has to come.
func (w *groupWorld) must(id int32, req kmsg.Request) kmsg.Response {
	w.t.Helper()
	c := w.ask(w.hosts[id], req, func(kmsg.Response) {})
	if !w.run(20_000, func() bool { return c.done }) || c.resp == nil {
		w.t.Fatalf("%T at broker %d: %+v\n%s", req, id, c, w.takeNotes())
	}
	return c.resp
}

// coordinator finds who coordinates, and waits until he does.
func (w *groupWorld) coordinator(id string) int32 {
	w.t.Helper()
	for range 1000 {
		for _, asked := range w.ids() {
			if w.hosts[asked].node == nil {
				continue
			}
			req := kmsg.NewPtrFindCoordinatorRequest()
			req.Version, req.CoordinatorKeys = 4, []string{id}
			found := w.must(asked, req).(*kmsg.FindCoordinatorResponse).Coordinators[0]
			if found.ErrorCode != 0 || w.hosts[found.NodeID].node == nil {
				continue
			}
			if code, _ := w.offset(found.NodeID, id); code == 0 {
				return found.NodeID
			}
		}
		w.run(10, nil)
	}
	w.t.Fatalf("nobody coordinates %s\n%s", id, w.takeNotes())
	return 0
}

func commitOf(id string, at int64, metadata string) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Version, req.Group, req.Generation = 8, id, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = "work"
	p := kmsg.NewOffsetCommitRequestTopicPartition()
	p.Offset, p.Metadata = at, kmsg.StringPtr(metadata)
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	return req
}

func (w *groupWorld) commit(broker int32, id string, at int64) group.Code {
	w.t.Helper()
	resp := w.must(broker, commitOf(id, at, "m")).(*kmsg.OffsetCommitResponse)
	return group.Code(resp.Topics[0].Partitions[0].ErrorCode)
}

func offsetOf(id string) *kmsg.OffsetFetchRequest {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Version = 8
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group = id
	t := kmsg.NewOffsetFetchRequestGroupTopic()
	t.Topic, t.Partitions = "work", []int32{0}
	g.Topics = append(g.Topics, t)
	req.Groups = append(req.Groups, g)
	return req
}

func (w *groupWorld) offset(broker int32, id string) (group.Code, int64) {
	w.t.Helper()
	g := w.must(broker, offsetOf(id)).(*kmsg.OffsetFetchResponse).Groups[0]
	if g.ErrorCode != 0 {
		return group.Code(g.ErrorCode), -1
	}
	return 0, g.Topics[0].Partitions[0].Offset
}

// TestOffsetsTopic: who looks for a coordinator first makes the topic as Kafka does.
func TestOffsetsTopic(t *testing.T) {
	t.Parallel()
	w := newGroupWorld(t, nil)
	topic, ok := w.ctl.c.Image().Topic(offsetsTopic)
	if !ok || topic.Len() != 8 {
		t.Fatalf("%+v, want 8 partitions", topic)
	}
	for _, p := range topic.Partitions() {
		if len(p.Replicas) != 3 {
			t.Errorf("partition %d has %d replicas, want 3", p.PartitionID, len(p.Replicas))
		}
	}
	for key, want := range map[string]string{"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": "104857600"} {
		if got := w.configOf(offsetsTopic, key); got != want {
			t.Errorf("%s=%s, want %s", key, got, want)
		}
	}
	produce := kmsg.NewPtrProduceRequest()
	produce.Version, produce.Acks, produce.TimeoutMillis = 9, -1, 1000
	pt := kmsg.NewProduceRequestTopic()
	pt.Topic = offsetsTopic
	pp := kmsg.NewProduceRequestTopicPartition()
	pp.Records = []byte{}
	pt.Partitions = append(pt.Partitions, pp)
	produce.Topics = append(produce.Topics, pt)
	leader, _ := topic.Partition(0)
	if code := w.must(leader.Leader, produce).(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != int16(invalidTopic) {
		t.Errorf("a client's write to it: error %d, want %d", code, invalidTopic)
	}
}

func (w *groupWorld) configOf(topic, key string) string {
	for _, h := range w.hosts {
		for k, v := range h.node.Image().Configs(metadata.Resource{Type: kraft.ResourceTopic, Name: topic}) {
			if k == key {
				return v
			}
		}
		break
	}
	return ""
}

// TestGroupsMove is case E11: while the coordinator dies and others load, an
// acknowledged offset is told, or that one should ask again.
func TestGroupsMove(t *testing.T) {
	t.Parallel()
	w := newGroupWorld(t, nil)
	told := map[group.Code]int{}
	for at := int64(1); at <= 5; at++ {
		id := w.coordinator("g")
		if code := w.commit(id, "g", at); code != group.None {
			t.Fatalf("commit: %d", code)
		}
		w.kill(id, false)
		seen := false
		for range 30_000 {
			for _, other := range w.ids() {
				if w.hosts[other].node == nil {
					continue
				}
				code, got := w.offset(other, "g")
				told[code]++
				switch {
				case code == group.NotCoordinator, code == group.CoordinatorLoadInProgress:
				case code != group.None || got != at:
					t.Fatalf("broker %d: error %d, offset %d; want %d", other, code, got, at)
				default:
					seen = true
				}
			}
			if seen {
				break
			}
			w.run(1, nil)
		}
		w.start(id)
		if !w.run(20_000, w.unfenced) {
			t.Fatal("the broker does not come back")
		}
		w.run(3000, nil) // it is in the ISR again
		// The leadership moves back, from one that lives.
		tp := controller.TopicPartition{Topic: offsetsTopic, Partition: group.PartitionOf("g", 8)}
		decide(w.ctl, w.nowMs, controller.ElectLeaders{Type: controller.PreferredElection, Partitions: []controller.TopicPartition{tp}})
		w.ctl.tick(w.nowMs)
		w.run(100, nil)
	}
	if told[group.NotCoordinator] == 0 || told[group.CoordinatorLoadInProgress] == 0 {
		t.Errorf("answers by error: %v, want some that say to ask again", told)
	}
}

// TestCommitWaitsForFollowers: a commit is answered when it is on all of the ISR, or
// after offsets.commit.timeout.ms with that it is not known.
func TestCommitWaitsForFollowers(t *testing.T) {
	t.Parallel()
	w := newGroupWorld(t, nil)
	id := w.coordinator("g")
	for _, other := range w.ids() {
		if other != id {
			w.hosts[other].holds = func(o machine.Order) bool { _, ok := o.(*appendOrder); return ok }
		}
	}
	c := w.ask(w.hosts[id], commitOf("g", 7, "m"), func(kmsg.Response) {})
	w.run(4900, nil)
	if c.done {
		t.Fatalf("answered while no follower has it: %+v", c.resp)
	}
	if _, got := w.offset(id, "g"); got != -1 {
		t.Errorf("offset %d is shown before it is committed", got)
	}
	w.run(200, nil)
	if !c.done {
		t.Fatal("not answered after offsets.commit.timeout.ms")
	}
	if code := group.Code(c.resp.(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode); code != group.CoordinatorNotAvailable {
		t.Errorf("error %d, want %d", code, group.CoordinatorNotAvailable)
	}
	for _, other := range w.ids() {
		w.release(w.hosts[other])
	}
	w.run(1000, nil)
	if _, got := w.offset(id, "g"); got != 7 {
		t.Errorf("offset %d, want 7: it was committed after all", got)
	}
}

// TestLoadedIsCommitted: what a new coordinator finds in its log it does not tell before
// it is committed: it could still be lost with that broker.
func TestLoadedIsCommitted(t *testing.T) {
	t.Parallel()
	w := newGroupWorld(t, nil)
	id := w.coordinator("g")
	if code := w.commit(id, "g", 1); code != group.None {
		t.Fatalf("commit: %d", code)
	}
	topic, _ := w.ctl.c.Image().Topic(offsetsTopic)
	part, _ := topic.Partition(group.PartitionOf("g", int32(topic.Len())))
	var others []int32
	for _, r := range part.Replicas {
		if r != id {
			others = append(others, r)
		}
	}
	next, slow := others[0], w.hosts[others[1]]
	slow.holds = func(o machine.Order) bool { _, ok := o.(*appendOrder); return ok }
	w.ask(w.hosts[id], commitOf("g", 2, "m"), func(kmsg.Response) {})
	w.run(100, nil)
	w.kill(id, false)
	loading := 0
	for range 20_000 {
		switch code, at := w.offset(next, "g"); code {
		case group.CoordinatorLoadInProgress:
			loading++
		case group.NotCoordinator:
		default:
			t.Fatalf("error %d, offset %d, while broker %d has not got it", code, at, slow.id)
		}
		if loading == 1000 {
			break
		}
		w.run(1, nil)
	}
	if loading == 0 {
		t.Fatalf("broker %d never loaded", next)
	}
	w.release(slow)
	w.run(3000, nil)
	if code, at := w.offset(next, "g"); code != 0 || at != 2 {
		t.Errorf("error %d, offset %d; want 2, which is committed now", code, at)
	}
}

// TestLoadCompressed: batches that are inflated into one buffer, one after the other.
func TestLoadCompressed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1, nil)
	w.start(1)
	n := w.hosts[1].node
	c := &coordinator{shard: group.New(&group.Config{MaxSize: 10}, w.rnd)}
	for _, id := range []string{"first", "later"} {
		protocol := "range"
		v := kmsg.GroupMetadataValue{Version: 3, ProtocolType: "consumer", Generation: 1, Protocol: &protocol, Leader: &id}
		m := kmsg.NewGroupMetadataValueMember()
		m.MemberID, m.SessionTimeoutMillis, m.Assignment = id, 10_000, []byte("share of "+id)
		v.Members = append(v.Members, m)
		b := record.NewBuilder(record.Options{Codec: record.Gzip})
		key := kmsg.GroupMetadataKey{Version: 2, Group: id}
		if err := b.Add(record.Entry{Key: key.AppendTo(nil), Value: v.AppendTo(nil)}); err != nil {
			t.Fatal(err)
		}
		batch, err := b.AppendTo(nil, &record.Deflater{})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.loadBatch(c, batch); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"first", "later"} {
		if got := string(c.shard.Describe(id, 5).Members[0].MemberAssignment); got != "share of "+id {
			t.Errorf("%s has %q", id, got)
		}
	}
}

// TestLoadInPieces: a large log is loaded in many steps, and others are served
// meanwhile.
func TestLoadInPieces(t *testing.T) {
	t.Parallel()
	w := newGroupWorld(t, nil)
	id := w.coordinator("g")
	text := strings.Repeat("m", 4000)
	const commits = 600
	for i := range int64(commits) {
		if code := group.Code(w.must(id, commitOf("g", i, text)).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode); code != 0 {
			t.Fatalf("commit %d: %d", i, code)
		}
	}
	w.kill(id, false)
	loading := map[int64]bool{}
	var beat *kmsg.HeartbeatResponse
	for range 30_000 {
		next := int32(0)
		for _, other := range w.ids() {
			if w.hosts[other].node == nil {
				continue
			}
			switch code, got := w.offset(other, "g"); {
			case code == group.CoordinatorLoadInProgress:
				loading[w.nowMs] = true
				req := kmsg.NewPtrHeartbeatRequest()
				req.Group, req.MemberID = "g", "m"
				beat = w.must(other, req).(*kmsg.HeartbeatResponse)
			case code == 0 && got == commits-1:
				next = other
			case code != group.NotCoordinator:
				t.Fatalf("error %d, offset %d", code, got)
			}
		}
		if next != 0 {
			break
		}
		w.run(1, nil)
	}
	t.Logf("loading was seen in %d ms", len(loading))
	if most := 512 << 10; groupLoadBytes > most {
		t.Errorf("a step reads %d bytes: others wait for it, so want %d at most", groupLoadBytes, most)
	}
	if least := commits * 4000 / groupLoadBytes; len(loading) < least {
		t.Errorf("loaded in %d ms, want a step for each %d bytes, %d and more", len(loading), groupLoadBytes, least)
	}
	if beat == nil || beat.ErrorCode != 0 {
		t.Errorf("heartbeat while it loads: %+v, want no error", beat)
	}
}

// TestGroupsOfSeveralCoordinators: requests about many groups are put together.
func TestGroupsOfSeveralCoordinators(t *testing.T) {
	t.Parallel()
	w := newGroupWorld(t, nil)
	var here, elsewhere []string
	const broker = 2
	for i := range 40 {
		id := fmt.Sprintf("group-%d", i)
		if at := w.coordinator(id); at == broker {
			here = append(here, id)
			if code := w.commit(at, id, int64(i)); code != 0 {
				t.Fatalf("commit of %s: %d", id, code)
			}
		} else {
			elsewhere = append(elsewhere, id)
		}
	}
	if len(here) < 2 || len(elsewhere) < 2 {
		t.Fatalf("groups are not spread: %v, %v", here, elsewhere)
	}
	ids := []string{here[0], elsewhere[0], here[1], "none"}
	describe := kmsg.NewPtrDescribeGroupsRequest()
	describe.Version, describe.Groups = 5, ids
	for i, g := range w.must(broker, describe).(*kmsg.DescribeGroupsResponse).Groups {
		want := group.None
		if slices.Contains(elsewhere, g.Group) {
			want = group.NotCoordinator
		}
		if g.Group != ids[i] || g.Group != "none" && group.Code(g.ErrorCode) != want {
			t.Errorf("describe %s: error %d of %s", ids[i], g.ErrorCode, g.Group)
		}
	}
	list := kmsg.NewPtrListGroupsRequest()
	list.Version = 4
	var listed []string
	for _, g := range w.must(broker, list).(*kmsg.ListGroupsResponse).Groups {
		listed = append(listed, g.Group)
	}
	slices.Sort(listed)
	slices.Sort(here)
	if !slices.Equal(listed, here) {
		t.Errorf("listed %v, want %v", listed, here)
	}
	fetch := offsetOf(here[0])
	fetch.Groups = append(fetch.Groups, offsetOf(elsewhere[0]).Groups[0], offsetOf(here[1]).Groups[0])
	got := w.must(broker, fetch).(*kmsg.OffsetFetchResponse).Groups
	if len(got) != 3 || got[0].ErrorCode != 0 || group.Code(got[1].ErrorCode) != group.NotCoordinator || got[2].Group != here[1] {
		t.Errorf("fetched %+v", got)
	}
	remove := kmsg.NewPtrDeleteGroupsRequest()
	remove.Version, remove.Groups = 2, []string{here[0], elsewhere[0], here[1], here[0]}
	codes := map[string]group.Code{}
	for _, g := range w.must(broker, remove).(*kmsg.DeleteGroupsResponse).Groups {
		codes[g.Group] = group.Code(g.ErrorCode)
	}
	if len(codes) != 3 || codes[here[0]] != 0 || codes[here[1]] != 0 || codes[elsewhere[0]] != group.NotCoordinator {
		t.Errorf("deleted: %v", codes)
	}
	if code, at := w.offset(broker, here[0]); code != 0 || at != -1 {
		t.Errorf("a deleted group has offset %d (error %d)", at, code)
	}
}
