package history

import (
	"iter"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// unknown stands for an offset or epoch that was not observed; Kafka's are >= 0.
const unknown = -1

// noLeader is a span's leader where there was none.
const noLeader = -1

// series is the ring of one partition's samples. Equal samples in a row share
// one entry, its span saying from when to when.
//
// An entry's offsets lie in cells: one LEO for every broker of brokers, then the
// HW. The leader's LEO is what it was before the followers were asked, so that a
// replica with LEO >= the leader's certainly had all that there was.
type series struct {
	brokers []inspect.BrokerID // sorted
	epoch   int32              // leader epoch of the newest entry, or unknown
	head    int32              // index of the oldest entry
	seq     int64              // of the newest sample
	spans   []span
	cells   []inspect.Offset // len(spans) × stride
}

// span is an entry but for its offsets.
type span struct {
	fromMs, toMs int64
	// samples saturates: it only has to tell one from several.
	samples uint16
	leader  int16 // index into brokers, or noLeader
	flags   spanFlags
}

type spanFlags uint8

const (
	// underMinISR: the ISR was certainly below the effective minimum.
	underMinISR spanFlags = 1 << iota
	// epochStart: the leader epoch is not that of the entry before.
	epochStart
	// afterGap: samples in which the partition was missing lie before it.
	afterGap
)

func (f spanFlags) has(g spanFlags) bool { return f&g != 0 }

// entry is one sample, or several equal ones, as the questions want it.
type entry struct {
	span
	cells []inspect.Offset
}

// leo is the leader's.
func (e *entry) leo() inspect.Offset {
	if e.leader == noLeader {
		return unknown
	}
	return e.cells[e.leader]
}

func (e *entry) hw() inspect.Offset { return e.cells[len(e.cells)-1] }

func (s *series) stride() int { return len(s.brokers) + 1 }

// at returns the i-th oldest entry.
func (s *series) at(i int) entry {
	i = (int(s.head) + i) % len(s.spans)
	n := s.stride()
	return entry{span: s.spans[i], cells: s.cells[i*n : (i+1)*n]}
}

func (s *series) last() entry { return s.at(len(s.spans) - 1) }

// oldestFirst yields the entries with i counting from the oldest.
func (s *series) oldestFirst() iter.Seq2[int, entry] {
	return func(yield func(int, entry) bool) {
		for i := range s.spans {
			if !yield(i, s.at(i)) {
				return
			}
		}
	}
}

// replica is the index of a broker's LEO in an entry's cells.
func (s *series) replica(id inspect.BrokerID) (int, bool) {
	return slices.BinarySearch(s.brokers, id)
}

// wentDown reports whether p's leader has a lower LEO than the newest entry's.
func (s *series) wentDown(p *inspect.Partition) bool {
	now, known := p.Offsets.LEOBefore.Get()
	if !known || len(s.spans) == 0 {
		return false
	}
	last := s.last()
	return now < last.leo()
}

// add takes in the partition as it is in h's newest sample.
func (s *series) add(p *inspect.Partition, h *History) {
	atMs, seq, size := h.lastMs, h.seq, h.size
	var in entry
	if h.leadersOnly {
		in = s.leaderEntry(p, atMs)
	} else {
		s.setBrokers(p.Replicas)
		in = s.entryOf(p, atMs)
	}
	if len(s.spans) > 0 {
		if s.seq+1 != seq {
			in.flags |= afterGap
		}
		if s.newEpoch(p, &in) {
			in.flags |= epochStart
		}
	}
	if epoch, ok := p.LeaderEpoch.Get(); ok {
		s.epoch = int32(epoch)
	}
	s.seq = seq
	if s.repeats(&in) {
		newest := &s.spans[(int(s.head)+len(s.spans)-1)%len(s.spans)]
		newest.toMs = atMs
		newest.samples = max(newest.samples, newest.samples+1)
		return
	}
	s.push(&in, size)
}

// newEpoch reports whether a leader epoch began since the newest entry. Where
// epochs are unknown, another leader stands for another epoch.
func (s *series) newEpoch(p *inspect.Partition, in *entry) bool {
	if epoch, ok := p.LeaderEpoch.Get(); ok && s.epoch != unknown {
		return int32(epoch) != s.epoch
	}
	last := s.last()
	return in.leader != last.leader
}

// repeats reports whether in only prolongs the newest entry.
func (s *series) repeats(in *entry) bool {
	if len(s.spans) == 0 || in.flags.has(epochStart|afterGap) {
		return false
	}
	last := s.last()
	return in.leader == last.leader && in.flags&underMinISR == last.flags&underMinISR &&
		slices.Equal(in.cells, last.cells)
}

func (s *series) push(in *entry, size int) {
	if len(s.spans) == size {
		i, n := int(s.head), s.stride()
		s.spans[i] = in.span
		copy(s.cells[i*n:(i+1)*n], in.cells)
		s.head = int32((i + 1) % size)
		return
	}
	if len(s.spans) == cap(s.spans) {
		// append would round up further than the ring can ever get.
		rows := min(size, max(2, 2*len(s.spans)))
		s.spans = slices.Grow(s.spans, rows-len(s.spans))
		s.cells = slices.Grow(s.cells, rows*s.stride()-len(s.cells))
	}
	s.spans = append(s.spans, in.span)
	s.cells = append(s.cells, in.cells...)
}

// leaderEntry is the entry of a series of leaders only. Its one broker is whoever
// led, so that a change of leaders moves nothing.
func (s *series) leaderEntry(p *inspect.Partition, atMs int64) entry {
	if s.brokers == nil {
		s.brokers = []inspect.BrokerID{inspect.NoBroker} // no broker has that id
	}
	e := s.emptyEntry(atMs)
	if p.Leader != inspect.NoBroker {
		e.leader = 0
		e.cells[0], e.cells[1] = p.Offsets.LEOBefore.Or(unknown), p.Offsets.HW.Or(unknown)
	}
	return e
}

func (s *series) emptyEntry(atMs int64) entry {
	e := entry{
		span:  span{fromMs: atMs, toMs: atMs, samples: 1, leader: noLeader},
		cells: make([]inspect.Offset, s.stride()),
	}
	for i := range e.cells {
		e.cells[i] = unknown
	}
	return e
}

func (s *series) entryOf(p *inspect.Partition, atMs int64) entry {
	e := s.emptyEntry(atMs)
	for i := range p.Offsets.Followers {
		f := &p.Offsets.Followers[i]
		if r, ok := s.replica(f.Broker); ok {
			e.cells[r] = f.LEO.Or(unknown)
		}
	}
	if r, ok := s.replica(p.Leader); ok {
		e.leader = int16(r)
		e.cells[r] = p.Offsets.LEOBefore.Or(unknown)
		e.cells[len(e.cells)-1] = p.Offsets.HW.Or(unknown)
	}
	// Not Health().Has(under-min-isr): that is so for an empty ISR with an unknown
	// minimum as well, which proves nothing of what the leader admitted.
	if least, ok := p.MinInsyncReplicas.Get(); ok && len(p.ISR) < min(int(least), len(p.Replicas)) {
		e.flags |= underMinISR
	}
	return e
}

// setBrokers moves the entries over to another set of replicas, as after a
// reassignment. A replica that is new is unknown in the past.
func (s *series) setBrokers(replicas []inspect.BrokerID) {
	if s.hasBrokers(replicas) {
		return
	}
	brokers := slices.Clone(replicas)
	slices.Sort(brokers)
	brokers = slices.Compact(brokers)
	moved := series{brokers: brokers, epoch: s.epoch, seq: s.seq}
	for _, e := range s.oldestFirst() {
		to := entry{span: e.span, cells: make([]inspect.Offset, moved.stride())}
		to.leader = noLeader
		for i, id := range brokers {
			to.cells[i] = unknown
			if from, ok := s.replica(id); ok {
				to.cells[i] = e.cells[from]
				if int(e.leader) == from {
					to.leader = int16(i)
				}
			}
		}
		to.cells[len(brokers)] = e.hw()
		moved.push(&to, len(s.spans))
	}
	*s = moved
}

func (s *series) hasBrokers(replicas []inspect.BrokerID) bool {
	if len(replicas) != len(s.brokers) {
		return false
	}
	for _, id := range replicas {
		if _, ok := s.replica(id); !ok {
			return false
		}
	}
	return true
}
