package quorum

import (
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// Each lane has a goroutine of its own, as in a server, and the node steps beside
// both: the race detector has nothing to say, and everything is answered.
func TestLanesBesideSteps(t *testing.T) {
	t.Parallel()
	opts := testOptions(vfs.NewMem(vfs.MemOptions{}))
	opts.SnapshotBytes, opts.SegmentBytes, opts.RetainBytes = 2000, 2000, 8000
	w := newWorld(t, opts)
	w.brokers(3)
	w.auto = false

	ran := make(chan machine.Ran, 1000)
	lanes := map[uint64]chan machine.Order{laneLog: make(chan machine.Order, 1000), laneSnapshot: make(chan machine.Order, 1000)}
	for _, lane := range lanes {
		t.Cleanup(func() { close(lane) })
		go func() {
			for o := range lane {
				o.Run()
				ran <- machine.Ran{Order: o}
			}
		}()
	}
	hand := func() {
		for _, o := range w.orders {
			lanes[o.Lane] <- o.Order
		}
		w.orders = nil
	}
	sent := 0
	hang := time.After(5 * time.Minute)
	// A lane may be behind the other: what the snapshots' has done comes in its own time.
	cut := func() bool { return w.n.logStart > 0 && !w.n.newestSnapshot().bootstrap() }
	for w.stopped == nil && (len(w.replies) < 1000 || sent < 1000 || !cut()) {
		select {
		case r := <-ran:
			w.step(r)
		case <-hang:
			t.Fatalf("%d of %d answered, log starts at %d, newest snapshot %+v", len(w.replies), sent, w.n.logStart, w.n.newestSnapshot())
		default:
			if sent >= 1000 {
				time.Sleep(time.Millisecond)
				break
			}
			sent++
			switch sent % 4 {
			case 0:
				w.send(creation(fmt.Sprint("topic-", sent), 1, 1))
			case 1:
				req := kmsg.NewPtrDeleteTopicsRequest()
				req.Version, req.TopicNames = 5, []string{fmt.Sprint("topic-", sent-5)}
				w.send(req)
			case 2:
				w.send(metadataFetch(1, w.n.logStart+1, w.n.epoch, w.n.epoch, 0))
			case 3:
				req := kmsg.NewPtrFetchSnapshotRequest()
				req.Version = 1
				s, p := w.n.newestSnapshot(), kmsg.NewFetchSnapshotRequestTopicPartition()
				p.CurrentLeaderEpoch, p.SnapshotID.EndOffset, p.SnapshotID.Epoch = w.n.epoch, s.offset, s.epoch
				req.Topics = []kmsg.FetchSnapshotRequestTopic{{Topic: metadataTopic, Partitions: []kmsg.FetchSnapshotRequestTopicPartition{p}}}
				w.send(req)
			}
		}
		hand()
	}
	if w.stopped != nil {
		t.Fatalf("stopped: %v", w.stopped)
	}
}
