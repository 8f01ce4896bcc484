package sim

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
)

// I19: compaction keeps the last committed record of each key, offsets and their order,
// and removes nothing else; up to where a log says that it is clean, no key is there
// twice; and no log is cleaned beyond what is committed.
//
// Each replica compacts for itself, so what lies on a disk is held to what was written: a
// shadow's batches are those that leaders appended, also where compaction has removed them
// or records of them. All other invariants are about those.

// rec is a record of a batch, as it was written.
type rec struct {
	offset    Offset
	key       hash
	tombstone bool
	ms        int64
	sum       hash // of time, key and value
}

// recordsIn are the records of a batch.
func recordsIn(b record.Batch) (all []rec, err error) {
	rs, err := b.Records(nil)
	if err != nil {
		return nil, err
	}
	for rs.Next() {
		r := rs.Record()
		k := fnvOffset
		k.bytes(r.Key)
		sum := k
		sum.add(r.TimestampMs)
		sum.bytes(r.Value)
		all = append(all, rec{Offset(r.Offset), k, r.Value == nil, r.TimestampMs, sum})
	}
	return all, rs.Err()
}

// removable reports whether compaction may remove a record: the key has a later one that is
// committed, or it is a tombstone whose time may be over.
func (w *World) removable(x *part, r *rec) bool {
	return x.void || x.lastOf[r.key] > r.offset || r.tombstone && w.plan.BriefTombstones
}

// mustStay is the first record of a batch, from an offset on, that compaction may not
// remove; nil if there is none.
func (w *World) mustStay(x *part, b *batch, from Offset) *rec {
	rs := x.recs[batchKey{b.epoch, b.base}]
	i := slices.IndexFunc(rs, func(r rec) bool { return r.offset >= from && !w.removable(x, &r) })
	if i < 0 {
		return nil
	}
	return &rs[i]
}

// left says what is wrong with a batch that is read where another one was written, as what
// compaction has left of that: "" if nothing is.
func (w *World) left(x *part, rb record.Batch, b *batch) string {
	if w.plan.Keys == 0 || Offset(rb.LastOffset()) != b.last || rb.ProducerID() != b.pid || rb.ProducerEpoch() != b.pepoch || rb.BaseSequence() != b.seq {
		return "another batch was written there"
	}
	rs, err := recordsIn(rb)
	if err != nil {
		return err.Error()
	}
	for _, r := range x.recs[batchKey{b.epoch, b.base}] {
		switch {
		case len(rs) > 0 && rs[0] == r:
			rs = rs[1:]
		case !w.removable(x, &r):
			return "the last record of its key is not there"
		}
	}
	if len(rs) > 0 {
		return "a record that nobody wrote is there"
	}
	return ""
}

// fillHole takes batches for read that a log has no more, from its end to a base: all
// are committed, for nothing else is compacted. It returns true if what was committed is
// not known any more, and they are left out.
func (w *World) fillHole(s *shadow, base Offset) (leftOut bool) {
	x := s.part
	if base <= s.end {
		return false
	}
	if x.void {
		s.end = base
		return true
	}
	for i := at(x.committed, s.end); i >= 0 && i < len(x.committed) && x.committed[i].last < base; i++ {
		b := x.committed[i]
		if n := len(s.batches); n > 0 {
			b.chain = s.batches[n-1].chain.with(&b)
		}
		b.gone = true
		if r := w.mustStay(x, &b, s.log.Start()); r != nil {
			w.fail("I19", "%s %s-%d: the record at %d is not there, and is the last of its key", s.p.name, x.topic, x.index, r.offset)
			return false
		}
		s.batches = append(s.batches, b)
		s.end = b.last + 1
		w.stats.Removed++
	}
	return false
}

// hole reports whether what is read may go on at to where from was due.
func (w *World) hole(x *part, from, to Offset) bool {
	if w.plan.Keys == 0 || to <= from {
		return false
	}
	if x.void {
		return true
	}
	for i := at(x.committed, from); i >= 0 && i < len(x.committed) && from < to; i++ {
		b := &x.committed[i]
		if b.base > from || w.mustStay(x, b, from) != nil {
			return false
		}
		from = b.last + 1
	}
	return from == to
}

// onlyGhosts reports whether a log differs below an offset from what is committed by no more
// than this: it has batches of epochs before one where everything is compacted away. Who
// has copied a compacted log takes an epoch to begin at its first batch that is left, and as
// leader does not tell others to cut what they have of earlier epochs in the gap; so it is
// in Kafka (UnifiedLog.append), and only Fetch responses that told of the epoch's begin
// could change it.
func (w *World) onlyGhosts(s *shadow, to Offset, epoch int32) bool {
	x := s.part
	if w.plan.Keys == 0 || to > x.hw {
		return false
	}
	start := max(x.start, s.status.LogStart)
	mine := s.batches
	// passOver passes over ghosts, which lie before an offset.
	passOver := func(before Offset) bool {
		for ; len(mine) > 0 && mine[0].base < before; mine = mine[1:] {
			if !mine[0].gone && mine[0].last >= start && mine[0].epoch >= epoch {
				return false
			}
		}
		return true
	}
	for i := range x.committed {
		c := &x.committed[i]
		if c.last < start {
			continue
		}
		if c.base >= to {
			break
		}
		if !passOver(c.base) {
			return false
		}
		if len(mine) > 0 && mine[0].base == c.base && mine[0].epoch == c.epoch && mine[0].crc == c.crc {
			mine = mine[1:]
			continue
		}
		if w.mustStay(x, c, start) != nil {
			return false
		}
	}
	return passOver(to)
}

// vanished looks at a batch that the log has no more.
func (w *World) vanished(s *shadow, b *batch) bool {
	if w.plan.Keys == 0 || w.mustStay(s.part, b, s.log.Start()) != nil {
		return false
	}
	if !b.gone {
		b.gone = true
		w.stats.Removed++
	}
	return true
}

// restVanished: from an offset on compaction has left nothing, as where the last
// segment is empty and those before it held tombstones whose time is over.
func (w *World) restVanished(s *shadow, from Offset) bool {
	i := at(s.batches, from)
	if i < 0 {
		return len(s.batches) == 0 && w.leftOut(s, from)
	}
	for ; i < len(s.batches); i++ {
		if !w.vanished(s, &s.batches[i]) {
			return false
		}
	}
	return true
}

// cleanKeys is what a log holds below where it says that it is clean, by key.
type cleanKeys map[hash]Offset

// checkOnce looks at the records of a batch.
func (w *World) checkOnce(s *shadow, seen cleanKeys, rb record.Batch) {
	if w.plan.Keys == 0 || Offset(rb.BaseOffset()) >= s.log.CleanedTo() {
		return
	}
	rs, err := recordsIn(rb)
	if err != nil {
		w.fail("I17", "%s %s-%d: the records at %d: %v", s.p.name, s.part.topic, s.part.index, rb.BaseOffset(), err)
		return
	}
	for _, r := range rs {
		if r.offset < s.log.Start() || r.offset >= s.log.CleanedTo() {
			continue
		}
		if before, ok := seen[r.key]; ok {
			w.fail("I19", "%s %s-%d: clean up to %d, and a key is there twice, at %d and %d", s.p.name, s.part.topic, s.part.index, s.log.CleanedTo(), before, r.offset)
			return
		}
		seen[r.key] = r.offset
	}
}

// checkCleaned: what is not committed is not clean.
func (w *World) checkCleaned(s *shadow) {
	if to := s.log.CleanedTo(); to > s.part.hw && !s.part.void && !s.excused {
		w.fail("I19", "%s %s-%d: clean up to %d, and no HW was ever above %d", s.p.name, s.part.topic, s.part.index, to, s.part.hw)
	}
}

// checkCompactedEpochs is checkEpochs for logs with holes: who has copied one does not know
// the epochs of which nothing is left, and who has made it still does.
func (w *World) checkCompactedEpochs(s *shadow, known []logstate.EpochStart) {
	for i := range s.batches {
		b := &s.batches[i]
		if b.gone || b.last < s.status.LogStart {
			continue
		}
		epoch := logstate.Epoch(-1)
		for _, e := range known {
			if e.Start <= max(b.base, s.status.LogStart) {
				epoch = e.Epoch
			}
		}
		if epoch != logstate.Epoch(b.epoch) {
			w.fail("I8", "%s %s-%d: the epochs are taken to be %v, and the batch at %d is of epoch %d", s.p.name, s.part.topic, s.part.index, known, b.base, b.epoch)
			return
		}
	}
}

// recordAt is the record that was written at an offset; nil if that is not known.
func (x *part) recordAt(batches []batch, o Offset) *rec {
	i := at(batches, o)
	if i < 0 {
		return nil
	}
	rs := x.recs[batchKey{batches[i].epoch, batches[i].base}]
	if j := slices.IndexFunc(rs, func(r rec) bool { return r.offset == o }); j >= 0 {
		return &rs[j]
	}
	return nil
}

// cleans reports whether an order of a disk is a piece of a compaction.
func cleans(o machine.Order) bool { return describeOrder(o) == "cleanOrder" }
