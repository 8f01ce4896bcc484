package replica

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// TestRandomHistories steps three replicas through whatever a network, slow
// disks, kills and a controller can do to them, short of losing records, and
// holds them to check's invariants after each step; then all faults end and all
// must agree (L2). Elections are clean, so no acknowledged record may be lost (I5).
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var d *driver
		d = newDriver(rt, func(format string, args ...any) {
			rt.Helper()
			// The end of the history says what led here.
			lines := strings.Split(d.w.trace.String(), "\n")
			rt.Logf("%s", strings.Join(lines[max(0, len(lines)-60):], "\n"))
			rt.Fatalf(format, args...)
		})
		for i := range rapid.IntRange(10, 150).Draw(rt, "steps") {
			d.op(fmt.Sprint(i))
		}
		d.heal()
	})
}

// TestSameInputsSameEffects runs a history twice.
func TestSameInputsSameEffects(t *testing.T) {
	t.Parallel()
	var first string
	for i := range 2 {
		ex := rapid.Custom(func(rt *rapid.T) string {
			d := newDriver(rt, t.Fatalf)
			for i := range 300 {
				d.op(fmt.Sprint(i))
			}
			d.heal()
			return d.w.trace.String()
		}).Example(7)
		if i == 0 {
			first = ex
			continue
		}
		if diff := cmp.Diff(first, ex); diff != "" {
			t.Errorf("-first +second:\n%s", diff)
		}
		if len(first) < 1000 {
			t.Errorf("the trace has only %d bytes", len(first))
		}
	}
}

type driver struct {
	rt *rapid.T
	w  *world
	// sent is what each producer sent.
	sent map[int64][]record
	// deleted is the highest log start so far.
	deleted Offset
}

func newDriver(rt *rapid.T, fail func(string, ...any)) *driver {
	w := newWorld(3, Settings{
		MinISR:        rapid.IntRange(1, 3).Draw(rt, "min ISR"),
		FlushMessages: rapid.SampledFrom([]int64{0, 0, 1, 3}).Draw(rt, "flush"),
	})
	w.fail = fail
	w.elect(1, slices.Clone(w.ids), w.ids)
	return &driver{rt: rt, w: w, sent: map[int64][]record{}}
}

func (d *driver) pick(name string) *node {
	return d.w.nodes[rapid.SampledFrom(d.w.ids).Draw(d.rt, name)]
}

// op draws one thing that happens.
func (d *driver) op(i string) {
	w := d.w
	ops := []struct {
		weight int
		do     func(n *node)
	}{
		{8, func(n *node) { d.produce(n, i) }},
		{10, func(n *node) { w.fetch(n) }},
		{6, func(n *node) {
			if w.send(n) && rapid.Bool().Draw(d.rt, "at once"+i) {
				w.arrive(n)
			}
		}},
		{4, func(n *node) {
			if n.request != nil {
				w.arrive(n)
			}
		}},
		{4, func(n *node) { w.deliver(n) }},
		{1, func(n *node) { n.request, n.answer, n.awaited = nil, nil, 0 }},
		{2, func(n *node) { n.hold = !n.hold }},
		{4, func(n *node) {
			if n.order != nil {
				w.diskDone(n)
			}
		}},
		{4, func(n *node) { w.answerISR(n.id, None) }},
		{1, func(n *node) {
			w.answerISR(n.id, rapid.SampledFrom([]Code{
				NotController, OperationNotAttempted, InvalidUpdateVersion, IneligibleReplica, FencedLeaderEpoch,
			}).Draw(d.rt, "error"+i))
		}},
		{3, func(n *node) { w.tell([]BrokerID{n.id}) }},
		{2, func(n *node) { d.pass(rapid.Int64Range(1, 50_000).Draw(d.rt, "ms"+i)) }},
		{1, func(n *node) { d.elect(i) }},
		{1, func(n *node) { d.drop(n) }},
		{1, func(n *node) { d.restart(n) }},
		{1, func(n *node) {
			b := w.registry[n.id]
			b.ShuttingDown = !b.ShuttingDown
			w.registry[n.id] = b
		}},
		{1, func(n *node) {
			w.step(n, DeleteRecords{
				Token: w.token("delete"), TimeoutMs: 1000,
				Before: Offset(rapid.Int64Range(-1, int64(n.end())).Draw(d.rt, "before"+i)),
			})
		}},
	}
	total := 0
	for _, o := range ops {
		total += o.weight
	}
	draw := rapid.IntRange(0, total-1).Draw(d.rt, "op"+i)
	for _, o := range ops {
		if draw < o.weight {
			o.do(d.pick("broker" + i))
			break
		}
		draw -= o.weight
	}
	d.checkAcked()
}

// produce sends a new batch to a broker that may or may not lead, or one again.
func (d *driver) produce(n *node, i string) {
	acks := rapid.SampledFrom([]int16{acksAll, acksAll, 1, 0}).Draw(d.rt, "acks"+i)
	b := Batch{ProducerID: rapid.Int64Range(-1, 1).Draw(d.rt, "producer"+i), LastOffset: Offset(rapid.IntRange(0, 2).Draw(d.rt, "records"+i))}
	value := "v" + i
	if b.ProducerID != logstate.NoProducerID {
		sent := d.sent[b.ProducerID]
		again := rapid.IntRange(0, min(len(sent), 7)).Draw(d.rt, "again"+i)
		if again > 0 {
			rec := sent[len(sent)-again]
			b, value = rec.batch, rec.value
		} else {
			if k := len(sent); k > 0 {
				b.BaseSequence = sent[k-1].batch.LastSequence() + 1
			}
			d.sent[b.ProducerID] = append(sent, record{value: value, batch: b})
		}
	}
	d.w.produce(n, record{value: value, batch: b}, acks, rapid.Int64Range(0, 30_000).Draw(d.rt, "timeout"+i))
}

func (d *driver) pass(ms int64) {
	end := d.w.nowMs + ms
	for d.w.nowMs < end {
		next := end
		for _, id := range d.w.ids {
			if due, ok := d.w.nodes[id].r.NextDeadline(); ok {
				next = min(next, max(due, d.w.nowMs+1))
			}
		}
		d.w.nowMs = next
		for _, id := range d.w.ids {
			d.w.step(d.w.nodes[id], Tick{})
		}
	}
}

// elect is clean: the leader is of the ISR, which may lose others.
func (d *driver) elect(i string) {
	isr := d.w.quorum.ISR
	leader := rapid.SampledFrom(isr).Draw(d.rt, "leader"+i)
	kept := slices.Clone(isr)
	if len(isr) > 1 && rapid.Bool().Draw(d.rt, "shrink"+i) {
		out := rapid.SampledFrom(isr).Draw(d.rt, "out"+i)
		kept = slices.DeleteFunc(kept, func(id BrokerID) bool { return id == out && id != leader })
	}
	d.w.elect(leader, kept, nil)
}

// drop is a member that the controller takes out of the ISR, being fenced.
func (d *driver) drop(n *node) {
	q := &d.w.quorum
	if n.id != q.Leader && slices.Contains(q.ISR, n.id) {
		d.w.changeISR(without(q.ISR, []BrokerID{n.id}), nil)
	}
}

// restart is a kill: the page cache is kept, what is in flight is not, and the
// HW is that of a checkpoint.
func (d *driver) restart(n *node) {
	w := d.w
	checkpoint := n.r.log.hw
	if n.order != nil || n.r.role == Offline {
		// The order was given and is carried out by the kernel.
		n.hold = false
	}
	if n.order != nil {
		return
	}
	b := w.registry[n.id]
	b.Epoch += 100
	w.registry[n.id] = b
	w.restart(n, false, checkpoint)
	w.tell([]BrokerID{n.id})
}

func (d *driver) checkAcked() {
	n := d.w.nodes[d.w.quorum.Leader]
	if s := n.r.Status(); s.Role == Leader && s.LeaderEpoch == d.w.quorum.LeaderEpoch && n.order == nil {
		d.w.checkAcked(n)
	}
	d.checkProducers()
}

// checkProducers: in each log the sequences of a producer are without gap and
// repetition (I11). A broker whose log starts later may have forgotten a producer,
// and takes any sequence of it (KIP-360).
func (d *driver) checkProducers() {
	for _, id := range d.w.ids {
		d.deleted = max(d.deleted, d.w.nodes[id].start)
	}
	for _, id := range d.w.ids {
		last := map[int64]int32{}
		for _, rec := range d.w.nodes[id].log {
			pid := rec.batch.ProducerID
			if rec.batch.LastOffset < d.deleted {
				continue
			}
			if before, ok := last[pid]; ok && pid != logstate.NoProducerID && rec.batch.BaseSequence != before+1 {
				d.w.fail("%d: producer %d has sequence %d after %d", id, pid, rec.batch.BaseSequence, before)
			}
			last[pid] = rec.batch.LastSequence()
		}
	}
}

// heal ends all faults: everyone learns all, and everyone has all in the end.
func (d *driver) heal() {
	w := d.w
	for _, id := range w.ids {
		b := w.registry[id]
		b.ShuttingDown = false
		w.registry[id] = b
		n := w.nodes[id]
		n.hold, n.request, n.answer, n.awaited = false, nil, nil, 0
		if n.order != nil {
			w.diskDone(n)
		}
	}
	w.changeISR(w.quorum.ISR, w.ids) // ends proposals that were refused for newer metadata
	for range 20 {
		w.tell(w.ids)
		for _, id := range w.ids {
			w.fetch(w.nodes[id])
			w.answerISR(id, None)
		}
		d.pass(100)
		d.checkAcked()
	}
	leader := w.nodes[w.quorum.Leader]
	for _, id := range w.ids {
		n := w.nodes[id]
		if s := n.r.Status(); s.HW != leader.end() || s.LEO != leader.end() {
			w.fail("healed, and %d has HW %d, LEO %d; the leader's log ends at %d", id, s.HW, s.LEO, leader.end())
		}
	}
	if len(w.quorum.ISR) != len(w.ids) {
		w.fail("healed, and the ISR is %v", w.quorum.ISR)
	}
	d.pass(100_000)
	for t, p := range w.asked {
		if w.nodes[p.by].up {
			w.fail("%q was never answered", w.names[t])
		}
	}
}
