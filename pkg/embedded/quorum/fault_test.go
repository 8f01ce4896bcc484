package quorum

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

func faulty(disk vfs.FS) *vfs.Faults {
	return vfs.NewFaults(disk, rand.New(rand.NewPCG(3, 3)), &vfs.Noted{})
}

// A disk that fails ends the node, and what was not durable was not told.
func TestDiskFails(t *testing.T) {
	t.Parallel()
	for name, rule := range map[string]vfs.Rule{
		"write": {Name: "*.log", Ops: vfs.OpWrite, Err: vfs.ErrIO, Short: true},
		"full":  {Name: "*.log", Ops: vfs.OpWrite, Err: vfs.ErrNoSpace},
		"sync":  {Name: "*.log", Ops: vfs.OpSync, Err: vfs.ErrIO, LoseUnsynced: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := vfs.NewMem(vfs.MemOptions{})
			fsys := faulty(disk)
			w := newWorld(t, testOptions(fsys))
			w.brokers(3)
			ask[*kmsg.CreateTopicsResponse](w, creation("durable", 1, 3))
			before := w.n.Image()
			fsys.Add(rule)
			token := w.send(creation("lost", 1, 3))
			if w.stopped == nil || !errors.Is(w.stopped.Err, rule.Err) {
				t.Fatalf("stopped: %+v", w.stopped)
			}
			if _, ok := w.replies[token]; ok {
				t.Fatal("told what is not durable")
			}
			if out := w.n.Step(w.now, machine.Tick{}, nil); len(out) != 0 || w.n.NextDeadline() != machine.Never {
				t.Fatalf("a node that has stopped does %v", out)
			}
			w.n.Abandon()
			fsys.Clear()
			w.open()
			if _, ok := w.n.Image().Topic("durable"); !ok {
				t.Fatal("what was durable is gone")
			}
			if _, ok := w.n.Image().Topic("lost"); !ok && !equalRecords(normal(t, w.n.Image()), normal(t, before)) {
				t.Fatal("neither before nor after")
			}
		})
	}
}

// A snapshot that cannot be written is told and does no harm; the next one is.
func TestSnapshotFails(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	fsys := faulty(disk)
	opts := testOptions(fsys)
	opts.SnapshotMs = 10_000
	w := newWorld(t, opts)
	fsys.Add(vfs.Rule{Name: "*.part", Ops: vfs.OpSync, Err: vfs.ErrNoSpace, Times: 1})
	w.advance(9_900)
	if len(w.n.snapshots) != 1 || len(w.notes) != 0 {
		t.Fatalf("%v, %v", w.n.snapshots, w.notes)
	}
	w.advance(200)
	if len(w.n.snapshots) != 1 || len(w.notes) != 1 {
		t.Fatalf("%v, %v", w.n.snapshots, w.notes)
	}
	w.advance(10_000)
	if len(w.n.snapshots) != 2 || len(w.notes) != 1 || w.stopped != nil {
		t.Fatalf("%v, %v", w.n.snapshots, w.notes)
	}
	// What the first one left does not stay.
	w.n.Abandon()
	w.open()
	infos, err := disk.ReadDir("__cluster_metadata-0")
	must(t, err)
	for _, in := range infos {
		if len(in.Name) > 5 && in.Name[len(in.Name)-5:] == partSuffix {
			t.Fatal(in.Name)
		}
	}
}

// A snapshot that is not whole is not used, as long as there is another way.
func TestDamagedSnapshot(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	opts := testOptions(disk)
	opts.SnapshotMs, opts.RetainBytes = 5000, 1<<30
	w := newWorld(t, opts)
	w.brokers(2)
	ask[*kmsg.CreateTopicsResponse](w, creation("orders", 3, 2))
	w.advance(11_000)
	before := w.n.Image()
	snapshots := w.n.snapshots
	w.take(w.n.Shutdown(w.now, nil))
	newest := w.n.log.Path(snapshots[2].file())
	data, err := vfs.ReadFile(disk, newest)
	must(t, err)
	for name, damaged := range map[string][]byte{
		"footer": data[:len(data)-70],
		"bit":    append(append([]byte{}, data[:200]...), append([]byte{data[200] ^ 1}, data[201:]...)...),
		"empty":  {},
		"torn":   data[:len(data)-3],
	} {
		must(t, vfs.WriteFile(disk, newest, damaged))
		w.open()
		if !equalRecords(normal(t, w.n.Image()), normal(t, before)) || len(w.n.snapshots) != 2 {
			t.Fatalf("%s: snapshots %v", name, w.n.snapshots)
		}
		w.step(machine.Tick{})
		if len(w.notes) != 1 {
			t.Fatalf("%s: %v", name, w.notes)
		}
		w.notes = nil
		w.n.Abandon()
	}
	// The log is lost and the newest snapshot is not: it begins there.
	must(t, vfs.WriteFile(disk, newest, data))
	must(t, disk.Rename(w.n.log.Path("00000000000000000000.log"), "aside"))
	w.open()
	if !equalRecords(normal(t, w.n.Image()), normal(t, before)) || w.n.durable != snapshots[2].offset+2 || w.n.epoch <= snapshots[2].epoch {
		t.Fatalf("offset %d, epoch %d after %+v", w.n.durable, w.n.epoch, snapshots[2])
	}
	w.n.Abandon()
	// The log begins behind the newest snapshot: what was between is gone.
	w2 := w.n.log.Path(fmt.Sprintf("%020d.log", snapshots[2].offset))
	must(t, disk.Rename(w2, w.n.log.Path("00000000000000000999.log")))
	if _, err := Open(opts, w.now); err == nil || !strings.Contains(err.Error(), "what was between is gone") {
		t.Fatal(err)
	}
	// And without any: nothing says what was before.
	must(t, disk.Remove(w.n.log.Path("00000000000000000999.log")))
	must(t, disk.Rename("aside", w.n.log.Path("00000000000000000000.log")))
	must(t, disk.Remove(newest))
	must(t, disk.Remove(w.n.log.Path(snapshots[1].file())))
	must(t, disk.Remove(w.n.log.Path(snapshots[0].file())))
	must(t, disk.Rename(w.n.log.Path("00000000000000000000.log"), w.n.log.Path("00000000000000000099.log")))
	if _, err := Open(opts, w.now); err == nil || !strings.Contains(err.Error(), "no snapshot says") {
		t.Fatal(err)
	}
}

// A snapshot that is in use survives a power loss.
func TestSnapshotIsDurable(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	opts := testOptions(disk)
	opts.SnapshotMs = 5000
	w := newWorld(t, opts)
	w.advance(5000)
	name := w.n.log.Path(w.n.snapshots[1].file())
	rng := rand.New(rand.NewPCG(4, 4))
	for range 50 {
		must(t, newReplay().snapshot(disk.CrashClone(rng), name))
	}
}

// A batch of which a snapshot has the beginning is replayed from there on.
func TestReplaysRestOfBatch(t *testing.T) {
	t.Parallel()
	bytes, err := encode(&record.Builder{}, record.Options{BaseOffset: 10}, 1, 33, []kraft.Record{
		&kraft.Topic{Name: "before", TopicID: kraft.UUID{1}}, &kraft.Topic{Name: "after", TopicID: kraft.UUID{2}},
	})
	must(t, err)
	r := newReplay()
	must(t, r.batch(bytes, 11))
	_, before := r.Image().Topic("before")
	if _, after := r.Image().Topic("after"); before || !after {
		t.Fatal(before, after)
	}
}

// A transaction that the log ends in is aborted: nothing of it takes effect.
func TestAbortsOpenTransaction(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	w := newWorld(t, testOptions(disk))
	before := w.n.Image()
	n := w.n
	name := "half"
	must(t, n.writeRecords(w.now, controller.Batch{Base: n.c.NextOffset(), Records: []kraft.Record{
		&kraft.BeginTransaction{Name: &name}, &kraft.Topic{Name: "half", TopicID: kraft.UUID{5: 5}},
	}}, n.image))
	o := n.newAppend(w.now)
	o.Run()
	must(t, o.err)
	n.Abandon()
	w.open()
	if !equalRecords(normal(t, w.n.Image()), normal(t, before)) {
		t.Fatal("it took effect")
	}
	w.brokers(1)
	f := newFollower(w, 1)
	f.catchUp()
	sameImage(t, f.image(), w.n.Image())
	w.n.Abandon()
	w.open()
	f.catchUp()
	sameImage(t, f.image(), w.n.Image())
}

// Of a log with what an image does not keep no snapshot is written, so nothing of
// it is lost.
func TestKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(vfs.MemOptions{})
	opts := testOptions(disk)
	opts.SnapshotBytes, opts.RetainBytes = 100, 1000
	w := newWorld(t, opts)
	w.advance(1000)
	taken := w.n.newestSnapshot()
	n := w.n
	must(t, n.writeRecords(w.now, controller.Batch{Base: n.c.NextOffset(), Records: []kraft.Record{
		&kraft.AccessControlEntry{ID: kraft.UUID{1: 1}, Principal: "User:alice", Host: "*"},
	}}, n.image))
	o := n.newAppend(w.now)
	o.Run()
	must(t, o.err)
	n.Abandon()
	w.open()
	end := w.n.DurableOffset()
	w.advance(20_000)
	if len(w.notes) != 1 || w.n.newestSnapshot() != taken {
		t.Fatalf("%v, snapshots %v", w.notes, w.n.snapshots)
	}
	if w.n.DurableOffset() < end+30 {
		t.Fatal("nothing happened")
	}
}

// The hook sees every batch of records before it is durable.
func TestObserve(t *testing.T) {
	t.Parallel()
	var n *Node
	opts := testOptions(vfs.NewMem(vfs.MemOptions{}))
	replay := metadata.NewReplay(metadata.Empty())
	seen := 0
	opts.Observe = func(b controller.Batch, after metadata.Image) {
		for _, rec := range b.Records {
			must(t, replay.Apply(rec))
		}
		sameImage(t, after, replay.Image())
		if n != nil && n.DurableOffset() >= b.End() {
			t.Errorf("durable before it was seen: %d", b.Base)
		}
		seen++
	}
	w := newWorld(t, opts)
	n = w.n
	w.brokers(3)
	ask[*kmsg.CreateTopicsResponse](w, creation("orders", 3, 3))
	w.advance(15_000)
	if sameImage(t, w.n.Image(), replay.Image()); seen < 15 {
		t.Fatalf("%d batches", seen)
	}
}
