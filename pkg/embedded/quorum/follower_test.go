package quorum

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// follower reads the log as a broker does: snapshots, records, epochs.
type follower struct {
	w           *world
	id          int32
	maxBytes    int32
	next        int64
	epoch, last int32
	replay      *metadata.Replay
	snapshots   int // that it took
}

func newFollower(w *world, id int32) *follower {
	return &follower{w: w, id: id, maxBytes: 1 << 20, replay: metadata.NewReplay(metadata.Empty())}
}

func (f *follower) image() metadata.Image { return f.replay.Image() }

// catchUp follows to the end.
func (f *follower) catchUp() {
	for f.step() {
	}
}

// step makes one Fetch, and reports whether it found anything.
func (f *follower) step() bool {
	tb := f.w.tb
	tb.Helper()
	req := metadataFetch(f.id, f.next, f.epoch, f.last, 0)
	req.MaxBytes = f.maxBytes
	p := ask[*kmsg.FetchResponse](f.w, req).Topics[0].Partitions[0]
	switch {
	case p.ErrorCode == codeFencedLeaderEpoch:
		f.epoch = p.CurrentLeader.LeaderEpoch
		return true
	case p.ErrorCode != 0 || p.DivergingEpoch.EndOffset >= 0:
		tb.Fatalf("fetch at %d: %+v", f.next, p)
	case p.SnapshotID.EndOffset >= 0:
		f.restore(p.SnapshotID.EndOffset, p.SnapshotID.Epoch)
		return true
	case len(p.RecordBatches) == 0:
		if p.HighWatermark != f.next {
			tb.Fatalf("nothing at %d, HW %d", f.next, p.HighWatermark)
		}
		return false
	}
	f.apply(p.RecordBatches, f.next)
	if f.next > p.HighWatermark {
		tb.Fatalf("got records to %d, HW %d", f.next, p.HighWatermark)
	}
	return true
}

func (f *follower) restore(offset int64, epoch int32) {
	f.w.tb.Helper()
	var data []byte
	for {
		req := kmsg.NewPtrFetchSnapshotRequest()
		req.Version, req.ReplicaID, req.MaxBytes = 1, f.id, f.maxBytes
		t, p := kmsg.NewFetchSnapshotRequestTopic(), kmsg.NewFetchSnapshotRequestTopicPartition()
		p.CurrentLeaderEpoch, p.Position = f.epoch, int64(len(data))
		p.SnapshotID.EndOffset, p.SnapshotID.Epoch = offset, epoch
		t.Topic, t.Partitions = metadataTopic, append(t.Partitions, p)
		req.Topics = append(req.Topics, t)
		resp := ask[*kmsg.FetchSnapshotResponse](f.w, req)
		got := resp.Topics[0].Partitions[0]
		if got.ErrorCode != 0 || got.Position != int64(len(data)) {
			f.w.tb.Fatalf("snapshot %d-%d at %d: %+v", offset, epoch, len(data), got)
		}
		if data = append(data, got.Bytes...); int64(len(data)) >= got.Size {
			break
		}
	}
	f.replay = metadata.NewReplay(metadata.Empty())
	must(f.w.tb, frame(data))
	f.apply(data, 0)
	f.next, f.last = offset, epoch
	f.snapshots++
}

func (f *follower) apply(data []byte, from int64) {
	tb := f.w.tb
	tb.Helper()
	s := record.Scan(data)
	for s.Next() {
		b := s.Batch()
		f.next, f.last = b.NextOffset(), b.LeaderEpoch()
		if b.Control() {
			continue
		}
		rs, err := b.Records(nil)
		must(tb, err)
		for rs.Next() {
			if rs.Record().Offset < from {
				continue
			}
			rec, err := kraft.Decode(rs.Record().Value)
			must(tb, err)
			must(tb, f.replay.Apply(rec))
		}
	}
	must(tb, s.Err())
}

// Followers of every kind see the same: one that always asks, one that asks now
// and then, with a few bytes at a time, and one that starts when the log's
// beginning is long gone; while the controller starts again now and then.
func TestFollowers(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	opts := testOptions(disk)
	opts.SnapshotBytes, opts.SegmentBytes, opts.RetainBytes = 4000, 3000, 12_000
	w := newWorld(t, opts)
	rng := rand.New(rand.NewPCG(8, 8))
	always, slow := newFollower(w, 1), newFollower(w, 2)
	slow.maxBytes = 1
	always.catchUp()
	slow.catchUp()
	w.brokers(3)
	for i := range 150 {
		ask[*kmsg.CreateTopicsResponse](w, creation(fmt.Sprintf("topic-%d", i), 2, 3))
		w.advance(int64(rng.IntN(2000)))
		for id := int32(1); id <= 3; id++ {
			b, _ := w.n.Image().Broker(id)
			ask[*kmsg.BrokerHeartbeatResponse](w, heartbeat(id, b.BrokerEpoch, w.n.DurableOffset()))
		}
		always.catchUp()
		sameImage(t, always.image(), w.n.Image())
		for range rng.IntN(8) {
			slow.step()
		}
		if i%5 == 4 {
			req := kmsg.NewPtrDeleteTopicsRequest()
			req.Version = 5
			for k := range 5 {
				req.TopicNames = append(req.TopicNames, fmt.Sprintf("topic-%d", i-k))
			}
			ask[*kmsg.DeleteTopicsResponse](w, req)
		}
		if i%40 == 39 {
			if i%80 == 39 {
				w.take(w.n.Shutdown(w.now, nil))
			} else {
				w.n.Abandon()
			}
			w.open()
		}
	}
	late := newFollower(w, 3)
	for _, f := range []*follower{always, slow, late} {
		f.catchUp()
		sameImage(t, f.image(), w.n.Image())
	}
	if w.n.logStart == 0 || w.n.log.Start() == 0 || late.snapshots != 1 || slow.snapshots == 0 {
		t.Fatalf("log starts at %d; snapshots taken: %d, %d", w.n.logStart, late.snapshots, slow.snapshots)
	}
	if size := w.n.log.SizeBytes(); size > opts.RetainBytes+int64(opts.SegmentBytes) {
		t.Fatalf("the log has %d bytes", size)
	}
	if len(w.notes) > 0 {
		t.Fatal(w.notes)
	}
	// By name: who asks a controller how its quorum is.
	req := kmsg.NewPtrDescribeQuorumRequest()
	req.Version = 2
	req.Topics = []kmsg.DescribeQuorumRequestTopic{{Topic: metadataTopic, Partitions: []kmsg.DescribeQuorumRequestTopicPartition{{}}}}
	observers := ask[*kmsg.DescribeQuorumResponse](w, req).Topics[0].Partitions[0].Observers
	if len(observers) != 3 {
		t.Fatalf("%+v", observers)
	}
	for i, o := range observers {
		if o.ReplicaID != int32(i+1) || o.LogEndOffset != w.n.DurableOffset() || o.LastCaughtUpTimestamp != w.now.Wall {
			t.Errorf("%+v", o)
		}
	}
}

// When a follower was caught up: now if it has all, else when it last asked if it
// has what there was then.
func TestCaughtUp(t *testing.T) {
	t.Parallel()
	opts := testOptions(vfs.NewMem(vfs.MemOptions{}))
	opts.Controller.MaxIdleMs = 0
	w := newWorld(t, opts)
	seen := func() *observer { return w.n.observers[1] }
	fetch := func(offset int64) {
		ask[*kmsg.FetchResponse](w, metadataFetch(1, offset, w.n.epoch, w.n.epoch, 0))
	}
	fetch(0)
	if seen().caughtUpMs != -1 || seen().fetchMs != w.now.Wall {
		t.Fatalf("%+v", seen())
	}
	end, asked := w.n.durable, w.now.Wall
	w.advance(100)
	w.brokers(1)
	fetch(end)
	if seen().caughtUpMs != asked {
		t.Fatalf("%+v", seen())
	}
	w.advance(100)
	fetch(w.n.durable)
	if seen().caughtUpMs != w.now.Wall {
		t.Fatalf("%+v", seen())
	}
}
