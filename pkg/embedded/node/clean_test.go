package node

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/controller"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
	"github.com/kafkaops/kafkaops/pkg/embedded/vfs"
)

// TestCompactedTopic: a compacted topic's logs lose what was superseded, on leaders and
// followers; a consumer reads the last value of each key, and so does a broker that lost
// its disk, whose log has the same holes.
func TestCompactedTopic(t *testing.T) {
	t.Parallel()
	w := startWorld(t, 3, map[string]string{"log.cleaner.backoff.ms": "200", "log.cleaner.min.cleanable.ratio": "0.01"})
	topic := controller.NewTopic{
		Name: "orders", NumPartitions: -1, ReplicationFactor: -1, Assignments: map[int32][]int32{0: {1, 2, 3}},
	}
	for _, c := range [][2]string{{"cleanup.policy", "compact"}, {"internal.segment.bytes", "500"}} {
		topic.Configs = append(topic.Configs, controller.ConfigValue{Key: c[0], Value: &c[1]})
	}
	decide(w.ctl, w.nowMs, controller.CreateTopics{Topics: []controller.NewTopic{topic}})
	w.ctl.tick(w.nowMs)
	w.run(500, nil)
	const keys = 5
	values := map[string]string{}
	write := func(n int) {
		t.Helper()
		for i := range n {
			b := record.NewBuilder(record.Options{LeaderEpoch: -1})
			key, value := fmt.Sprint("k", i%keys), fmt.Sprint("v", i, "-", w.nowMs)
			values[key] = value
			if err := b.Add(record.Entry{TimestampMs: wallMs + w.nowMs, Key: []byte(key), Value: []byte(value)}); err != nil {
				t.Fatal(err)
			}
			batch, err := b.AppendTo(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := w.ask(w.hosts[1], produceOf(batch, -1), func(kmsg.Response) {})
			if !w.run(5000, func() bool { return c.done }) || c.resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode != 0 {
				t.Fatalf("not produced: %+v", c.resp)
			}
		}
	}
	check := func(when string, end storage.Offset) {
		t.Helper()
		for _, id := range w.ids() {
			r, l := w.hosts[id].node.Replica("orders", 0)
			if start, hw, leo := r.Bounds(); start != 0 || hw != end || leo != end || l.End() != end {
				t.Fatalf("%s: broker %d has [%d, %d), HW %d, its log ends at %d; want the end %d", when, id, start, leo, hw, l.End(), end)
			}
			read, n := map[string]string{}, 0
			for o := l.Start(); o < l.End(); {
				buf, err := l.Read(nil, storage.Fetch{From: o, UpTo: l.End(), MaxBytes: 1 << 20, MinOne: true})
				if err != nil || len(buf) == 0 {
					t.Fatalf("%s: broker %d reads %d bytes at %d: %v", when, id, len(buf), o, err)
				}
				for s := record.Scan(buf); s.Next(); {
					rs, err := s.Batch().Records(nil)
					if err != nil {
						t.Fatal(err)
					}
					for rs.Next() {
						read[string(rs.Record().Key)] = string(rs.Record().Value)
						n++
					}
					o = storage.Offset(s.Batch().NextOffset())
				}
			}
			for key, want := range values {
				if read[key] != want {
					t.Fatalf("%s: broker %d has %q for %s, want %q", when, id, read[key], key, want)
				}
			}
			// Besides the last ones there is what is in the active segment, and one more.
			if n > 3*keys {
				t.Fatalf("%s: broker %d has %d records of %d keys, cleaned to %d of %d", when, id, n, keys, l.CleanedTo(), l.End())
			}
		}
	}
	write(60)
	w.run(2000, nil)
	check("cleaned", 60)
	write(60)
	w.run(2000, nil)
	check("cleaned again", 120)
	for _, id := range w.ids() {
		w.kill(id, id == 2)
	}
	for _, id := range w.ids() {
		w.start(id)
	}
	w.run(20_000, nil)
	check("after a kill", 120)
	w.kill(3, false)
	w.hosts[3].mem = vfs.NewMem(vfs.MemOptions{})
	w.start(3)
	w.run(15_000, nil)
	check("on an empty disk", 120)
	if notes := w.takeNotes(); strings.Contains(notes, "corrupt") || strings.Contains(notes, "stop") {
		t.Error(notes)
	}
}
