package sim

import "github.com/kafkaops/kafkaops/pkg/embedded/record"

// I17: what comes back from a crash is a prefix of what was there, every batch of it
// valid, and holds all that was synced; after a kill, all that was written. A
// second crash while it recovers changes nothing.

// checkRecovered compares a log that was opened with the one of the process before.
func (w *World) checkRecovered(s *shadow, old []batch) {
	x := s.part
	moved := s.moved
	s.moved = false
	switch {
	case s.died == alive, moved && s.end == s.log.Start():
		s.cutting = false
		return // there was none, or it is not the same log any more
	}
	if s.died == emptied {
		w.hasLost(s, s.end < s.hadEnd)
		w.tornLast(s)
		return
	}
	// An order to cut the log may have been carried out.
	synced, hadEnd := s.synced, s.hadEnd
	if s.cutting {
		to := w.endInFile(s, old, s.cutTo)
		synced, hadEnd = min(synced, to), min(hadEnd, to)
		s.filesCut(to)
		if s.restart {
			synced, hadEnd = 0, 0
		}
	}
	s.cutting = false
	whole := s.died == killed || s.died == stoppedCleanly
	if whole && s.end < hadEnd {
		w.fail("I17", "%s %s-%d: %s with a log to %d, and came back with one to %d", s.p.name, x.topic, x.index, s.died, hadEnd, s.end)
	}
	if s.end < synced {
		w.fail("I17", "%s %s-%d: %s with %d synced, and came back with a log to %d", s.p.name, x.topic, x.index, s.died, synced, s.end)
	}
	o := min(s.end, hadEnd)
	if !whole {
		if s.cutUnsynced && synced <= s.cutEnd {
			o = min(o, s.cutEnd) // behind a cut that is undone there is what was cut
		}
		s.cutUnsynced = false
	}
	if !agree(s.batches, old, o) && o > x.start {
		w.fail("I17", "%s %s-%d: came back with another log below %d", s.p.name, x.topic, x.index, o)
	}
	w.hasLost(s, s.end < min(s.hadEnd, x.hw))
	w.tornLast(s)
}

// endInFile is where a log ends in its files that is cut to an offset: a batch goes
// whole, also where the offset lies within it. The offset itself is in no file, so the
// process knows it and the next one does not (UnifiedLog.truncateTo).
func endInFile(batches []batch, to Offset) Offset {
	if i := at(batches, to); i >= 0 {
		return min(to, batches[i].base)
	}
	return to
}

// endInFile is the least that this can be of a shadow's log: what compaction has left may
// end before, and then a log that is opened ends with its last batch, or where its last
// segment begins.
func (w *World) endInFile(s *shadow, batches []batch, to Offset) Offset {
	end := endInFile(batches, to)
	if w.plan.Keys == 0 {
		return end
	}
	i := len(batches) - 1
	for i >= 0 && batches[i].last >= end {
		i--
	}
	for ; i >= 0 && w.mustStay(s.part, &batches[i], s.status.LogStart) == nil; i-- {
		end = batches[i].base
	}
	if i < 0 {
		end = min(end, s.status.LogStart)
	}
	return end
}

// hasLost settles whether a member that may have lost records has.
func (w *World) hasLost(s *shadow, lost bool) {
	// What an earlier life lost is not back by itself.
	s.lost = s.excused && (s.lost || lost)
	s.lacks = s.lacks || lost
	if !s.lost {
		s.excused = false
	}
	if !s.lacks {
		s.part.losers &^= 1 << s.p.id
	}
}

// checkBytes reads a whole log and compares it with what was seen of it when it was
// written.
func (w *World) checkBytes(s *shadow) {
	if s.status.Busy || s.log == nil || s.p.stopping || s.p.diskFaulty() {
		return
	}
	if s.log.End() != s.end {
		w.fail("I17", "%s %s-%d: nothing is under way, the LEO is %d, and the log ends at %d", s.p.name, s.part.topic, s.part.index, s.end, s.log.End())
		return
	}
	w.checkCleaned(s)
	seen := cleanKeys{}
	o := s.log.Start()
	for i := at(s.batches, o); i >= 0 && i < len(s.batches); {
		buf, err := s.log.Read(w.model.buf[:0], fetchAll(o, s.end))
		w.model.buf = buf[:0]
		if err == nil && len(buf) == 0 && w.restVanished(s, o) {
			break
		}
		if err != nil || len(buf) == 0 {
			w.fail("I17", "%s %s-%d: reading at %d gives %d bytes, %v", s.p.name, s.part.topic, s.part.index, o, len(buf), err)
			return
		}
		for scan := record.Scan(buf); scan.Next(); i++ {
			rb := scan.Batch()
			for i < len(s.batches) && s.batches[i].base < Offset(rb.BaseOffset()) && w.vanished(s, &s.batches[i]) {
				i++
			}
			if i >= len(s.batches) {
				w.fail("I17", "%s %s-%d: more is read than was written, at %d", s.p.name, s.part.topic, s.part.index, rb.BaseOffset())
				return
			}
			b := &s.batches[i]
			err := rb.CheckCRC()
			if err != nil || Offset(rb.BaseOffset()) != b.base || rb.LeaderEpoch() != b.epoch || rb.CRC() != b.crc && w.plan.Keys == 0 {
				w.fail("I17", "%s %s-%d: the batch at %d is not what was written there: %v", s.p.name, s.part.topic, s.part.index, b.base, err)
				return
			}
			if rb.CRC() != b.crc {
				if why := w.left(s.part, rb, b); why != "" {
					w.fail("I19", "%s %s-%d: of the batch at %d, %s", s.p.name, s.part.topic, s.part.index, b.base, why)
					return
				}
			}
			w.checkOnce(s, seen, rb)
			o = b.last + 1
		}
	}
}
