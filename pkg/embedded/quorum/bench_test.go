package quorum

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// BenchmarkIdle is what a cluster costs its controller while nothing happens: a
// NoOp every 500 ms, three brokers that follow, and their heartbeats.
func BenchmarkIdle(b *testing.B) {
	w := newWorld(b, testOptions(vfs.NewMem(vfs.MemOptions{})))
	epochs := w.brokers(3)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for id := int32(1); id <= 3; id++ {
			w.send(metadataFetch(id, w.n.DurableOffset(), w.n.epoch, w.n.epoch, 500))
			if i%4 == 0 {
				w.send(heartbeat(id, epochs[id], w.n.DurableOffset()))
			}
		}
		w.now.Mono += 500
		w.now.Wall += 500
		w.step(machine.Tick{})
		clear(w.replies)
	}
}

// BenchmarkOpen is a start on a log of 100,000 records.
func BenchmarkOpen(b *testing.B) {
	disk := vfs.NewMem(vfs.MemOptions{})
	opts := testOptions(disk)
	opts.SnapshotBytes, opts.SnapshotMs = -1, -1
	w := newWorld(b, opts)
	w.brokers(3)
	for w.n.DurableOffset() < 100_000 {
		w.send(creation("orders", 100, 3))
		req := kmsg.NewPtrDeleteTopicsRequest()
		req.Version, req.TopicNames = 5, []string{"orders"}
		w.send(req)
		clear(w.replies)
	}
	w.n.Abandon()
	b.ReportAllocs()
	for b.Loop() {
		n, err := Open(opts, w.now)
		if err != nil {
			b.Fatal(err)
		}
		n.Abandon()
	}
}
