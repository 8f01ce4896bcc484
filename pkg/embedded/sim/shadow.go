package sim

import (
	"math"
	"slices"
	"sort"

	"github.com/kafkaops/kafkaops/pkg/embedded/node"
	"github.com/kafkaops/kafkaops/pkg/embedded/record"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
	"github.com/kafkaops/kafkaops/pkg/embedded/storage"
)

// Offset is a place in a log.
type Offset = storage.Offset

// batch is what is known of a batch of a log. Its chain is a hash of itself and
// of all before it: logs that have the same chain at an offset are the same up to
// there, which so costs one comparison.
type batch struct {
	base, last Offset
	epoch      int32
	crc        uint32 // of all bytes but offset and epoch
	size       int32
	seq        int32
	pid        int64
	pepoch     int16
	maxMs      int64
	chain      hash
	// gone: compaction has removed it here. Of a shadow's batches only.
	gone bool
}

type batchKey struct {
	epoch int32
	base  Offset
}

// shadow is a replica as the checkers see it, and as it lies on the disk of a
// process that is dead.
type shadow struct {
	p    *proc
	part *part
	// r and log are those of the running process, nil if it has none.
	r   *replica.Replica
	log *storage.Log

	batches []batch
	end     Offset
	// unwritten is by how much the end is beyond where the files end: see endInFile.
	unwritten Offset
	// cutBatch is the batch within which the log was cut last: its epoch stays known, if
	// nothing else is left of it (UnifiedLog.truncateTo cuts epochs at the offset).
	cutBatch batch
	// cutUnsynced: its files were cut down to cutEnd, and nothing beyond was synced since: a
	// loss of power may bring back what was there.
	cutUnsynced bool
	cutEnd      Offset
	// unread: a disk that fails kept some of its batches from being looked at.
	unread bool
	status replica.Status

	// led says that it leads, as the effects are told one by one: a step may end with
	// another role than it began with. ledHW is the highest HW that it had as a leader.
	led      bool
	ledHW    Offset
	ledEpoch replica.Epoch

	// From the effects of the present step.
	touched, appended, cut bool
	becameLeader           bool
	// cutTo is where an order to cut the log cuts it, cutting says that one stands.
	cutting, restart bool
	cutTo            Offset
	seenHW           Offset // of a leader, within seenEpoch
	seenEpoch        replica.Epoch
	minISR, wasMin   int
	heardMin         int    // the laxest min ISR that was in force within the step
	flush            int64  // flush.messages, 0 for never
	flushFrom        Offset // from where on it has been in force
	hwNow            Offset // the HW, as the effects of a step are told one by one
	replicas, wasOf  int
	waiting          map[replica.Token]bool // produces with acks=all; true once appended

	// died is what happened to its process since it was looked at, alive if nothing;
	// synced and hadEnd what was durable then, and what there was.
	died           fate
	synced, hadEnd Offset
	// hadStart is where its log began then: retention may have been carried out, and its
	// process not have heard of it.
	hadStart Offset
	// moved: the partition was not this broker's for a while, so that its log may
	// have been removed or set aside.
	moved bool
	// excused: it has lost what it held while it was in the ISR or ELR, or may have.
	excused bool
	lost    bool // it has, while it is excused
	// lacks: a disk has lost what was committed, and it has not been in the ISR since.
	lacks bool
}

func (p *proc) shadowOf(x *part) *shadow {
	if x.n < len(p.shadow) {
		return p.shadow[x.n]
	}
	return nil
}

func (p *proc) makeShadow(x *part) *shadow {
	for len(p.shadow) <= x.n {
		p.shadow = append(p.shadow, nil)
	}
	if p.shadow[x.n] == nil {
		p.shadow[x.n] = &shadow{p: p, part: x, waiting: map[replica.Token]bool{}, minISR: 1, wasMin: 1, seenEpoch: -1}
	}
	return p.shadow[x.n]
}

// touch notes that the step concerns this replica.
func (s *shadow) touch() {
	if !s.touched {
		s.touched = true
		s.p.touched = append(s.p.touched, s)
	}
}

// observe is called with each step of a replica, within a step of its node.
func (m *model) observe(p *proc, np node.Partition, in replica.Input, out []replica.Effect) {
	x := m.part(np.ID, np.Index)
	if x == nil {
		m.w.fail("I16", "%s has a replica of %s-%d with id %s, which the controller never made", p.name, np.Topic, np.Index, np.ID)
		return
	}
	s := p.makeShadow(x)
	s.touch()
	if m.w.watch != nil {
		m.w.watch.Stepped(End(p.id), np, in, out)
	}
	if m.w.trace != nil {
		m.w.tell("  %s %s-%d: %s", p.name, np.Topic, np.Index, describeStep(in, out))
	}
	switch in := in.(type) {
	case replica.Appended:
		s.appended = true
	case replica.Truncated:
		s.truncated()
	case replica.Produce:
		if in.Acks == -1 {
			s.waiting[in.Token] = false
		}
	case replica.Configure:
		s.wasMin, s.minISR = min(s.wasMin, s.minISR), in.Settings.MinISR
		s.flush, s.flushFrom = in.Settings.FlushMessages, math.MaxInt64
	case replica.Partition:
		s.wasOf, s.replicas = min(s.wasOf, s.replicas), len(in.Replicas)
	}
	for _, e := range out {
		switch e := e.(type) {
		case replica.Append:
			if _, ok := s.waiting[e.Token]; ok && e.LeaderEpoch != replica.NoEpoch {
				s.waiting[e.Token] = true
			}
		case replica.Truncate:
			s.cutting, s.cutTo, s.restart = true, e.To, e.Restart
		case replica.HWMoved:
			s.hwNow = e.HW
			m.w.checkHWMoved(s, e.HW)
			if s.led {
				s.ledHW = e.HW
			}
		case replica.LogStartMoved:
			x.start = max(x.start, e.Start)
		case replica.RoleChanged:
			s.led = e.Role == replica.Leader
			s.becameLeader = s.led
			s.seenEpoch = -1
		case replica.ProduceReply:
			m.w.checkMinISR(s, e)
		case replica.AlterPartition:
			m.w.checkProposal(s, e)
		}
	}
}

// truncated cuts the shadow as the log was cut.
func (s *shadow) truncated() {
	s.p.w.stats.Truncations++
	s.p.w.checkCut(s)
	s.cutting, s.cut, s.unwritten = false, true, 0
	inFile := s.p.w.endInFile(s, s.batches, s.cutTo)
	if !s.restart {
		s.unwritten = s.cutTo - inFile
	}
	s.filesCut(inFile)
	// A log that is cut to its start, or to before it, is empty: what retention or
	// DeleteRecords have left before the start is nobody's any more, and what follows
	// need not go on from it.
	if s.restart || s.cutTo <= s.status.LogStart || len(s.batches) > 0 && s.cutTo < s.batches[0].base {
		s.batches, s.end = s.batches[:0], s.cutTo
		return
	}
	n := len(s.batches)
	for n > 0 && s.batches[n-1].last >= s.cutTo {
		n--
	}
	if n < len(s.batches) && s.batches[n].base < s.cutTo {
		s.cutBatch = s.batches[n]
	}
	s.batches = s.batches[:n]
	s.end = s.cutTo
}

// filesCut notes that files were cut.
func (s *shadow) filesCut(to Offset) {
	if !s.cutUnsynced || to < s.cutEnd {
		s.cutUnsynced, s.cutEnd = true, to
	}
}

// checkTouched looks at the replicas that a step concerned.
func (w *World) checkTouched(p *proc) {
	for i := 0; i < len(p.touched); i++ {
		s := p.touched[i]
		w.look(s)
		s.touched, s.appended, s.cut, s.becameLeader = false, false, false, false
		if w.err != nil {
			break
		}
	}
	p.touched = p.touched[:0]
}

// look holds a replica to what is promised, after a step that concerned it.
func (w *World) look(s *shadow) {
	r, log := s.p.node.Replica(s.part.topic, s.part.index)
	if log != nil && log != s.log && log.TopicID() != s.part.id64 {
		r, log = nil, nil // of the topic that has the name now
	}
	if r == nil && s.p.stopping {
		if s.r == nil {
			return
		}
		r, log = s.r, s.log // it is closing, and shows its logs to nobody
	}
	if r == nil || log == nil {
		s.r, s.log = nil, nil
		s.gone()
		return
	}
	fresh := r != s.r
	if fresh {
		s.r, s.log = r, log
		s.minISR = topicMinISR(s.p.node.Image(), s.part.topic)
		s.wasMin = s.minISR
		s.flush = topicFlush(s.p.node.Image(), s.part.topic)
		s.flushFrom = math.MaxInt64
		clear(s.waiting)
		s.led, s.ledHW = s.becameLeader, 0
	}
	if log.Flushed() > s.cutEnd {
		s.cutUnsynced = false
	}
	before := s.status
	s.status = r.Status()
	s.hwNow = s.status.HW
	s.heardMin = s.leastMinISR()
	if !s.status.Busy { // what has waited for the disk is in force
		s.wasMin, s.wasOf = s.minISR, s.replicas
		s.flushFrom = min(s.flushFrom, s.status.LEO)
	}
	s.ledEpoch = s.status.LeaderEpoch
	if before.Role == replica.Leader && s.status.Role != replica.Leader {
		s.ledEpoch = before.LeaderEpoch
	}
	if fresh {
		before = replica.Status{}
		w.reopened(s)
		if s.part.reg != nil && s.part.reg.Leader == s.p.id {
			w.excuseElected(s)
		}
	} else if s.appended {
		w.grow(s, s.status.LEO)
	}
	w.checkLeader(s)
	if s.status.HW != before.HW || s.appended || s.cut || fresh {
		w.checkAgreement(s)
	}
	w.checkOffsets(s)
	if s.becameLeader {
		w.checkNewLeader(s)
	}
	if s.cut {
		w.checkStrongISR(s.part)
	} else if s.status.Role == replica.Leader && s.status.HW != before.HW {
		w.checkStrongISROf(s)
	}
}

// gone is a replica that is no more: deleted, or not this broker's any longer.
func (s *shadow) gone() {
	s.batches, s.end, s.unwritten, s.status = nil, 0, 0, replica.Status{}
	s.died, s.hadEnd, s.synced, s.cutting, s.cutUnsynced = alive, 0, 0, false, false
	s.excused, s.lost, s.lacks = false, false, false
}

// grow reads what was appended up to an offset.
func (w *World) grow(s *shadow, upTo Offset) {
	for s.end < upTo && w.err == nil {
		buf, err := s.log.Read(w.model.buf[:0], storage.Fetch{From: s.end, UpTo: upTo, MaxBytes: 1 << 20, MinOne: true})
		w.model.buf = buf[:0]
		if err != nil {
			if s.p.stopping {
				s.gone()
				s.end = upTo
				return
			}
			if !s.p.diskFaulty() {
				w.fail("I8", "%s: reading %s-%d at %d: %v", s.p.name, s.part.topic, s.part.index, s.end, err)
			}
			s.end, s.unread = upTo, true
			return
		}
		if len(buf) == 0 && w.plan.Keys > 0 {
			if w.fillHole(s, upTo) {
				s.batches = s.batches[:0] // what is known of it does not reach to where it goes on
			}
			if s.end == upTo || w.err != nil {
				return
			}
		}
		if len(buf) == 0 {
			w.fail("I8", "%s: %s-%d ends at %d, and nothing is read at %d", s.p.name, s.part.topic, s.part.index, upTo, s.end)
			return
		}
		for scan := record.Scan(buf); scan.Next(); {
			w.add(s, scan.Batch())
		}
	}
}

// add takes a batch into a shadow: it must go on where the log ended (I8), and be
// the one that its leader appended there, behind the same log (I1).
func (w *World) add(s *shadow, rb record.Batch) {
	b := batch{
		base: Offset(rb.BaseOffset()), last: Offset(rb.LastOffset()), epoch: rb.LeaderEpoch(), crc: rb.CRC(), size: int32(len(rb)),
		seq: rb.BaseSequence(), pid: rb.ProducerID(), pepoch: rb.ProducerEpoch(), maxMs: rb.MaxTimestampMs(),
	}
	known, ok := s.part.canon[batchKey{b.epoch, b.base}]
	leftOut := false
	if w.plan.Keys > 0 {
		leftOut = w.fillHole(s, b.base)
		switch {
		case !ok:
			w.noteRecords(s, rb, &b)
		case b.crc != known.crc && w.left(s.part, rb, &known) == "":
			b.crc, b.size, b.maxMs = known.crc, known.size, known.maxMs
		}
	}
	s.skipCut(b.base)
	w.checkDense(s, &b)
	var before hash
	if n := len(s.batches); n > 0 && ok && (leftOut || b.base <= s.part.start) {
		b.chain = known.chain // what is before it was deleted, and need not be the same
	} else if n > 0 {
		before = s.batches[n-1].chain
		b.chain = before.with(&b)
	} else if ok && b.base > 0 {
		b.chain = known.chain // what was before it is not here to be compared
	} else if c, ok := chainAt(s.part.committed, b.base); ok {
		b.chain = c.with(&b) // what was before it is deleted, and so was committed
	} else {
		b.chain = fnvOffset.with(&b)
	}
	if !ok {
		s.part.canon[batchKey{b.epoch, b.base}] = b
	} else if known != b && !w.besideGhosts(s, &b, &known) {
		w.checkMatches(s, &b, &known)
	}
	s.batches = append(s.batches, b)
	s.end, s.unwritten = b.last+1, 0
}

// besideGhosts reports whether a batch differs from its leader's only by ghosts before it,
// and then lets its chain be the leader's.
func (w *World) besideGhosts(s *shadow, b, known *batch) bool {
	same := *b
	same.chain = known.chain
	if c, ok := chainAt(s.part.committed, b.base); same != *known || !ok || c.with(b) != known.chain || !w.onlyGhosts(s, b.base, b.epoch) {
		return false
	}
	*b = same
	w.stats.Ghosts++
	return true
}

// skipCut goes on to a base over what is left of the batch within which the log was cut:
// nothing is, for it went whole, and the log went on from where it was cut.
func (s *shadow) skipCut(base Offset) {
	if c := &s.cutBatch; c.last != 0 && c.base <= s.end && s.end < base && base <= c.last {
		s.end = base
	}
}

// noteRecords keeps what a batch is made of, for who reads what compaction has left of it.
func (w *World) noteRecords(s *shadow, rb record.Batch, b *batch) {
	rs, err := recordsIn(rb)
	if err != nil {
		w.fail("I17", "%s %s-%d: the records at %d: %v", s.p.name, s.part.topic, s.part.index, b.base, err)
	}
	s.part.recs[batchKey{b.epoch, b.base}] = rs
}

func (h hash) with(b *batch) hash {
	h.add(int64(b.base))
	h.add(int64(b.epoch)<<32 | int64(b.crc))
	return h
}

// at is the batch that holds an offset, or the first after it; -1 if there is none.
func at(batches []batch, o Offset) int {
	i := sort.Search(len(batches), func(i int) bool { return batches[i].last >= o })
	if i == len(batches) {
		return -1
	}
	return i
}

// chainAt is the chain of the log up to o; false if it is not known, as before the
// first batch.
func chainAt(batches []batch, o Offset) (hash, bool) {
	i := sort.Search(len(batches), func(i int) bool { return batches[i].last >= o-1 })
	if i == len(batches) || batches[i].base >= o {
		return 0, false
	}
	return batches[i].chain, true
}

// agree reports whether two logs are the same below an offset, as far as both reach
// back.
func agree(a, b []batch, o Offset) bool {
	x, okA := chainAt(a, o)
	y, okB := chainAt(b, o)
	return !okA || !okB || x == y
}

// agree is the same for logs of a partition: what lies before a leader's log start
// nobody compares any more, and it goes with the next fetch.
func (x *part) agree(a, b []batch, o Offset) bool { return o <= x.start || agree(a, b, o) }

// reopened reads the log of a process that has just opened it, and compares with
// what was there before.
func (w *World) reopened(s *shadow) {
	old := slices.Clone(s.batches)
	s.batches, s.end, s.unwritten, s.unread = s.batches[:0], s.log.Start(), 0, false
	w.readAll(s)
	w.tell("%s comes back (%s) with %s-%d from %d to %d; it had up to %d, synced %d", s.p.name, s.died, s.part.topic, s.part.index, s.log.Start(), s.end, s.hadEnd, s.synced)
	if start := s.log.Start(); s.died != alive && start <= s.hadStart {
		s.part.start = max(s.part.start, start)
	}
	w.checkRecovered(s, old)
	s.died = alive
}

// readAll fills the shadow from the log.
func (w *World) readAll(s *shadow) {
	start, leo := s.log.Start(), s.status.LEO
	if start >= leo {
		s.end = leo
		return
	}
	w.grow(s, leo)
}
