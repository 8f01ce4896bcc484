package quorum

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
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
