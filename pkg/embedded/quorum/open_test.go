package quorum

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// A cluster from nothing: a topic is created, a broker that follows the log sees
// what the controller decided, and so does the next life of the controller.
func TestLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions(vfs.NewMem(vfs.MemOptions{})))
	w.brokers(3)
	created := ask[*kmsg.CreateTopicsResponse](w, creation("orders", 4, 3))
	if created.Topics[0].ErrorCode != 0 || created.Topics[0].NumPartitions != 4 || len(created.Topics[0].Configs) == 0 {
		t.Fatalf("%+v", created.Topics[0])
	}
	f := newFollower(w, 1)
	f.catchUp()
	if f.next != w.n.DurableOffset() {
		t.Fatalf("followed to %d of %d", f.next, w.n.DurableOffset())
	}
	sameImage(t, f.image(), w.n.Image())

	before, epoch := w.n.Image(), w.n.epoch
	w.take(w.n.Shutdown(w.now, nil))
	if w.stopped == nil || w.stopped.Err != nil {
		t.Fatalf("stopped: %v", w.stopped)
	}
	w.open()
	if w.n.epoch != epoch+1 {
		t.Fatalf("epoch %d after %d", w.n.epoch, epoch)
	}
	if _, ok := w.n.Image().Topic("orders"); !ok {
		t.Fatal("the topic is gone")
	}
	for _, im := range []metadata.Image{before, w.n.Image()} {
		n := 0
		for range im.Controllers() {
			n++
		}
		if n != 1 {
			t.Fatalf("%d controllers", n)
		}
	}
	f.catchUp() // in the new epoch, from where it was
	sameImage(t, f.image(), w.n.Image())
}

// A reply waits for the disk, and so do records for brokers.
func TestReplyAfterSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions(vfs.NewMem(vfs.MemOptions{})))
	w.brokers(3)
	w.auto = false
	at := w.n.DurableOffset()
	parked := w.send(metadataFetch(1, at, w.n.epoch, w.n.epoch, 500))
	first := w.send(creation("a", 1, 1))
	second := w.send(creation("b", 1, 1))
	third := w.send(creation("b", 1, 1)) // refused for what is not durable
	if len(w.replies) != 0 && w.replies[first].Response != nil || len(w.orders) != 1 {
		t.Fatalf("%d orders", len(w.orders))
	}
	for _, token := range []machine.Token{parked, first, second, third} {
		if _, ok := w.replies[token]; ok {
			t.Fatalf("request %d is answered before the disk is done", token)
		}
	}
	w.runOne()
	if _, ok := w.replies[first]; !ok {
		t.Fatal("the first is durable and not answered")
	}
	resp := w.replies[parked].Response.(*kmsg.FetchResponse).Topics[0].Partitions[0]
	if resp.HighWatermark != w.n.DurableOffset() || len(resp.RecordBatches) == 0 {
		t.Fatalf("fetch: %+v", resp)
	}
	if _, ok := w.replies[third]; ok {
		t.Fatal("the third is answered before the second is durable")
	}
	if _, ok := w.n.Image().Topic("a"); !ok {
		t.Fatal("the image is without what is durable")
	}
	if _, ok := w.n.Image().Topic("b"); ok {
		t.Fatal("the image has what is not durable")
	}
	w.runOne() // both others in one
	if w.replies[third].Response.(*kmsg.CreateTopicsResponse).Topics[0].ErrorCode != 36 {
		t.Fatal("TOPIC_ALREADY_EXISTS expected")
	}
}

// The same where each decision is one record, so that one is just behind the other.
func TestReplyAfterItsOwnRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions(vfs.NewMem(vfs.MemOptions{})))
	w.auto = false
	first, second := w.send(registration(1)), w.send(registration(2))
	w.runOne()
	if _, ok := w.replies[first]; !ok || len(w.replies) != 1 {
		t.Fatalf("%d answers", len(w.replies))
	}
	w.runOne()
	if _, ok := w.replies[second]; !ok {
		t.Fatal("no second answer")
	}
}

// Whoever has hung up does not keep a Fetch waiting.
func TestClosedConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testOptions(vfs.NewMem(vfs.MemOptions{})))
	for conn := range uint64(2) {
		w.step(machine.Request{Token: machine.Token(100 + conn), Conn: conn, Body: metadataFetch(1, w.n.durable, w.n.epoch, w.n.epoch, 500)})
	}
	w.step(machine.Closed{Conn: 1})
	if _, ok := w.replies[101]; !ok || len(w.n.parked) != 1 || len(w.replies) != 1 {
		t.Fatalf("%d wait, %d are answered", len(w.n.parked), len(w.replies))
	}
}

// An operation that is larger than a segment is one batch all the same.
func TestLargeOperation(t *testing.T) {
	t.Parallel()
	opts := testOptions(vfs.NewMem(vfs.MemOptions{}))
	opts.SegmentBytes = 1000
	w := newWorld(t, opts)
	w.brokers(3)
	at := w.n.durable
	if r := ask[*kmsg.CreateTopicsResponse](w, creation("orders", 500, 3)).Topics[0]; r.ErrorCode != 0 {
		t.Fatalf("error %d", r.ErrorCode)
	}
	resp := ask[*kmsg.FetchResponse](w, metadataFetch(1, at, w.n.epoch, w.n.epoch, 0))
	if b := record.Batch(resp.Topics[0].Partitions[0].RecordBatches); b.BaseOffset() != at || b.Count() != 501 {
		t.Fatalf("a batch of %d records at %d", b.Count(), b.BaseOffset())
	}
	before := w.n.Image()
	w.n.Abandon()
	w.open()
	if !equalRecords(normal(t, w.n.Image()), normal(t, before)) {
		t.Fatal("another image after a restart")
	}
}

// A directory that was formatted with voters that can change (KIP-853) and at older
// levels: the log begins with those voters, and snapshots keep them.
func TestFormattedWithVoters(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	opts := testOptions(disk)
	opts.SnapshotMs = 5000
	dir := kraft.UUID{3: 3}
	voters := &record.KRaftVoters{Voters: []record.VoterNode{{
		Voter: record.Voter{ID: opts.Controller.NodeID, DirectoryID: dir}, MaxVersion: 1,
		Endpoints: []record.Endpoint{{Name: "CONTROLLER", Host: "localhost", Port: 9093}},
	}}}
	format := &snapshotOrder{
		fs: disk, dir: "__cluster_metadata-0", voters: voters, level: 25,
		recs: func() []kraft.Record {
			return []kraft.Record{&kraft.FeatureLevel{Name: metadataVersion, FeatureLevel: 25}}
		},
	}
	must(t, disk.MkdirAll(format.dir))
	format.Run()
	must(t, format.err)
	w := newWorld(t, opts)
	if v := w.n.Image().MetadataVersion(); v != 25 || w.n.Image().Feature("eligible.leader.replicas.version") != 0 {
		t.Fatalf("metadata.version %d", v)
	}
	first := newReplay()
	must(t, first.batch(record.Batch(w.n.tail.batches[0].bytes), 0))
	if !reflect.DeepEqual(first.voters, voters) || first.leader.LeaderID != opts.Controller.NodeID {
		t.Fatalf("the log begins with %+v, %+v", first.leader, first.voters)
	}
	// What is written obeys the level that was decided last, durable or not.
	w.auto = false
	update := kmsg.NewPtrUpdateFeaturesRequest()
	update.Version = 2
	update.FeatureUpdates = []kmsg.UpdateFeaturesRequestFeatureUpdate{{Feature: metadataVersion, MaxVersionLevel: 33, UpgradeType: 1}}
	w.send(registration(1))
	w.send(update)
	w.send(registration(2))
	w.auto = true
	w.take(nil)
	var versions []byte
	for _, b := range w.n.tail.batches[len(w.n.tail.batches)-3:] {
		rs, err := record.Batch(b.bytes).Records(nil)
		must(t, err)
		rs.Next()
		versions = append(versions, rs.Record().Value[2])
	}
	if string(versions) != "\x03\x00\x04" {
		t.Fatalf("RegisterBroker, FeatureLevel, RegisterBroker in versions %v", versions)
	}
	w.advance(6000)
	w.n.Abandon()
	w.open()
	if !reflect.DeepEqual(w.n.voters, voters) || w.n.newestSnapshot().bootstrap() {
		t.Fatalf("%+v", w.n.voters)
	}
	state, err := readQuorumState(disk, w.n.log.Path(quorumStateFile))
	must(t, err)
	if state.DataVersion != 1 || state.LeaderEpoch != 2 || state.CurrentVoters != nil {
		t.Fatalf("%+v", state)
	}
	infos := kmsg.NewPtrDescribeQuorumRequest()
	infos.Version = 2
	infos.Topics = []kmsg.DescribeQuorumRequestTopic{{Topic: metadataTopic, Partitions: []kmsg.DescribeQuorumRequestTopicPartition{{}}}}
	if got := ask[*kmsg.DescribeQuorumResponse](w, infos).Topics[0].Partitions[0].CurrentVoters; len(got) != 1 || got[0].ReplicaDirectoryID != dir {
		t.Fatalf("%+v", got)
	}
}

// TestDamagedLog: a log whose middle does not read ends there. Somebody is told, and
// what is whole behind the damage is kept beside it; a torn tail is told and dropped.
func TestDamagedLog(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{true, false} {
		mem := vfs.NewMem(vfs.MemOptions{})
		w := newWorld(t, testOptions(mem))
		w.brokers(3)
		ask[*kmsg.CreateTopicsResponse](w, creation("orders", 4, 3))
		middle := w.n.log.SizeBytes()
		ask[*kmsg.CreateTopicsResponse](w, creation("payments", 4, 3))
		if kept {
			ask[*kmsg.CreateTopicsResponse](w, creation("clicks", 4, 3))
		}
		name := w.n.log.Path("00000000000000000000.log")
		w.take(w.n.Shutdown(w.now, nil))
		f, err := mem.Open(name, vfs.ReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("rust"), middle+70); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}

		w.open()
		w.step(machine.Tick{})
		for topic, want := range map[string]bool{"orders": true, "payments": false, "clicks": false} {
			if _, ok := w.n.Image().Topic(topic); ok != want {
				t.Errorf("kept %v: topic %s is there: %v", kept, topic, ok)
			}
		}
		if len(w.notes) != 1 || !strings.Contains(w.notes[0], name) || strings.Contains(w.notes[0], "kept in") != kept {
			t.Errorf("kept %v: told %q", kept, w.notes)
		}
		infos, err := mem.ReadDir(w.n.log.Path(""))
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(infos, func(in vfs.Info) bool { return strings.HasSuffix(in.Name, ".corrupt") }); got != kept {
			t.Errorf("kept %v: %v", kept, infos)
		}
	}
}
