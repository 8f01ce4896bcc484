package sim

import (
	"encoding/binary"

	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// checkEveryUs is how often everything is checked, beside what each event touches.
const checkEveryUs = 3 * sec

// checkAll holds all that is alive to all invariants.
func (w *World) checkAll() {
	for _, p := range w.brokers() {
		if p.node == nil || w.err != nil {
			continue
		}
		w.checkImage(p)
		for _, s := range p.shadow {
			if s == nil || s.r == nil || w.err != nil {
				continue
			}
			w.checkEpochs(s)
			w.checkBytes(s)
			w.checkAgreement(s)
		}
	}
	for _, x := range w.model.parts {
		w.checkStrongISR(x)
	}
}

// ackedRecord is a record whose acknowledgement has reached its producer.
type ackedRecord struct {
	id     uint64
	offset Offset
	again  bool
}

// acked notes what a producer was told with acks=all.
func (m *model) acked(f *flight, b *outBatch, base Offset) {
	x := m.part(f.seen.id, b.lane.index)
	if x == nil {
		return
	}
	for i, id := range b.ids {
		if len(b.tombstones) > 0 && b.tombstones[i] {
			continue // it has no value to be known by
		}
		x.acked = append(x.acked, ackedRecord{id, base + Offset(i), b.again})
	}
}

// refused notes what was refused before it was appended: it is in no log.
func (m *model) refused(b *outBatch) {
	for _, id := range b.ids {
		m.refusedIDs[id] = true
	}
}

// checkProducerID: nobody gets a producer id that another one has.
func (w *World) checkProducerID(pid int64) {
	if w.model.pids[pid] {
		w.fail("I11", "producer id %d is given out twice", pid)
	}
	w.model.pids[pid] = true
}

// checkRecords reads the log of each leader record by record: what was acknowledged
// is where it was said to be, what was refused is nowhere, and what an idempotent
// producer sent once is there once (I5, I6, I11); every record is of this topic
// (I16).
func (w *World) checkRecords(s *shadow) {
	x := s.part
	at := map[uint64]Offset{}
	for o := s.log.Start(); o < s.end; {
		buf, err := s.log.Read(nil, fetchAll(o, s.end))
		if err == nil && len(buf) == 0 && w.restVanished(s, o) {
			break
		}
		if err != nil || len(buf) == 0 {
			w.fail("I17", "%s %s-%d: reading at %d gives %d bytes, %v", s.p.name, x.topic, x.index, o, len(buf), err)
			return
		}
		for scan := record.Scan(buf); scan.Next(); {
			rb := scan.Batch()
			records, err := rb.Records(nil)
			if err != nil {
				w.fail("I17", "%s %s-%d: the records at %d: %v", s.p.name, x.topic, x.index, rb.BaseOffset(), err)
				return
			}
			for records.Next() {
				w.checkRecord(s, records.Record(), at)
			}
			o = Offset(rb.NextOffset())
		}
	}
	if x.void {
		return
	}
	for _, a := range x.acked {
		got, ok := at[a.id]
		if r := x.recordAt(s.batches, a.offset); !ok && r != nil && w.removable(x, r) {
			continue // compacted
		}
		if a.offset >= s.log.Start() && (!ok || got != a.offset && !a.again) {
			w.fail("I5", "%s %s-%d: record %d was acknowledged at %d, and is at %d (%t)", s.p.name, x.topic, x.index, a.id, a.offset, got, ok)
			return
		}
	}
}

func (w *World) checkRecord(s *shadow, r record.Record, at map[uint64]Offset) {
	if w.byHand || len(r.Value) < 12 {
		return // a scenario's own
	}
	id := binary.BigEndian.Uint64(r.Value)
	if w.model.refusedIDs[id] {
		w.fail("I6", "%s %s-%d: record %d at %d was refused with NOT_ENOUGH_REPLICAS", s.p.name, s.part.topic, s.part.index, id, r.Offset)
	}
	if tag := [4]byte(r.Value[8:12]); tag != [4]byte{} && tag != [4]byte(s.part.id[:4]) {
		w.fail("I16", "%s %s-%d: record %d at %d was sent to another topic id", s.p.name, s.part.topic, s.part.index, id, r.Offset)
	}
	at[id] = Offset(r.Offset)
}

// checkAtRest is checked when all is over: nothing is under way any more.
func (w *World) checkAtRest() {
	w.checkAll()
	for _, f := range w.net.serving {
		if f == nil || f.servedAt > w.now-100*sec {
			continue
		}
		if p := w.procs[f.c.to]; p.life == f.c.toLife && f.servedAt > w.calmUs {
			w.fail("L4", "%s does not answer since %d ms: %s", p.name, (w.now-f.servedAt)/ms, describe(f.req))
		}
	}
	for _, p := range w.brokers() {
		for _, s := range p.shadow {
			if s != nil && s.r != nil && w.err == nil && s.status.Role == replica.Leader && s.part.exists && s.part.reg.Leader == p.id {
				w.checkRecords(s)
			}
		}
	}
}
