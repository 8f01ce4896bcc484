package quorum

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/internal/kraft"
	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// ledger knows what was decided, and what was told.
type ledger struct {
	images map[int64]metadata.Image // by the offset that led to it
	told   int64                    // nothing before it may be lost
}

// crashOptions has everything happen in a short life: several segments, snapshots,
// and a log that is trimmed.
func crashOptions(fsys vfs.FS, seed uint64, l *ledger) Options {
	opts := testOptions(fsys)
	opts.Controller.Rand = rand.New(rand.NewPCG(seed, 77))
	opts.SnapshotBytes, opts.SegmentBytes, opts.RetainBytes = 2500, 2000, 9000
	opts.Observe = func(b controller.Batch, after metadata.Image) {
		if l != nil {
			l.images[b.End()] = after
		}
	}
	return opts
}

// live is a life of a cluster. After each step of it the ledger says what was told.
func live(w *world, l *ledger) {
	tell := func() { l.told = max(l.told, w.n.DurableOffset()) }
	tell()
	epochs := w.brokers(3)
	tell()
	for i := range 6 {
		name := fmt.Sprintf("t%d", i)
		ask[*kmsg.CreateTopicsResponse](w, creation(name, 3, 2))
		tell()
		w.advance(1500)
		tell()
		for id := int32(1); id <= 3; id++ {
			ask[*kmsg.BrokerHeartbeatResponse](w, heartbeat(id, epochs[id], w.n.DurableOffset()))
			tell()
		}
		if i%2 == 1 {
			req := kmsg.NewPtrDeleteTopicsRequest()
			req.Version, req.TopicNames = 5, []string{name}
			ask[*kmsg.DeleteTopicsResponse](w, req)
			tell()
		}
	}
	w.advance(12_000) // all are fenced
	tell()
}

// normal spells an image without the registration of the controller, which each
// life writes anew.
func normal(tb testing.TB, im metadata.Image) (all [][]byte) {
	tb.Helper()
	for _, rec := range im.Records() {
		if rec.Type() == kraft.TypeRegisterController {
			continue
		}
		b, err := kraft.Append(nil, rec, im.MetadataVersion().RecordVersion(rec))
		must(tb, err)
		all = append(all, b)
	}
	return all
}

func equalRecords(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

// After a power loss at any step the node starts again, in a later epoch, with a
// prefix of what was decided that has all that was told; and so it does after a
// power loss while it starts.
func TestCrash(t *testing.T) {
	t.Parallel()
	steps, reopened := 0, 0
	for seed := range uint64(3) {
		disk := vfs.NewMem(vfs.MemOptions{})
		l := &ledger{images: map[int64]metadata.Image{0: metadata.Empty(), 1: metadata.Empty()}}
		rng := rand.New(rand.NewPCG(seed, 5))
		type crash struct {
			disk *vfs.Mem
			told int64
		}
		var crashes []crash
		disk.OnStep(func(vfs.Step) {
			steps++
			if rng.IntN(3) == 0 {
				crashes = append(crashes, crash{disk.CrashClone(rng), l.told})
			}
		})
		w := newWorld(t, crashOptions(disk, seed, l))
		live(w, l)
		w.take(w.n.Shutdown(w.now, nil))
		disk.OnStep(nil)
		for i, c := range crashes {
			last := int32(0)
			var found [][]byte
			for again := range 3 {
				at := fmt.Sprintf("seed %d, crash %d, start %d", seed, i, again)
				var second *vfs.Mem
				c.disk.OnStep(func(vfs.Step) {
					if rng.IntN(8) == 0 {
						second = c.disk.CrashClone(rng)
					}
				})
				n, err := Open(crashOptions(c.disk, seed+100, nil), machine.Time{Mono: 1, Wall: testWallMs})
				c.disk.OnStep(nil)
				if err != nil {
					t.Fatalf("%s: %v", at, err)
				}
				reopened++
				start := n.epochs.Entries()[len(n.epochs.Entries())-1]
				if n.epoch <= last {
					t.Fatalf("%s: epoch %d after %d", at, n.epoch, last)
				}
				if c.told > int64(start.Start) {
					t.Fatalf("%s: the log ended at %d, told was all before %d", at, start.Start, c.told)
				}
				// What it found is what some prefix led to.
				if again == 0 {
					found = normal(t, n.Image())
					want, ok := l.images[int64(start.Start)]
					if !ok || int64(start.Start) > 1 && !equalRecords(found, normal(t, want)) {
						t.Fatalf("%s: the image at %d is not the one that was decided (known: %v)", at, start.Start, ok)
					}
				} else if !equalRecords(normal(t, n.Image()), found) {
					t.Fatalf("%s: another image than the start before", at)
				}
				n.Abandon()
				if second != nil {
					// This start did not come to its end: nobody has seen its epoch.
					c.disk = second
					continue
				}
				last = n.epoch
			}
		}
	}
	if steps < 500 || reopened < 500 {
		t.Fatalf("%d steps, opened %d times", steps, reopened)
	}
	t.Logf("%d steps, opened %d times", steps, reopened)
}
