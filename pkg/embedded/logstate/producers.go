package logstate

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// keptBatches is how many batches of a producer are remembered, and so how many
// requests it may have in flight (ProducerStateEntry.NUM_BATCHES_TO_RETAIN).
const keptBatches = 5

// Why a leader refuses a batch. Each is the Kafka error code of its name.
var (
	// ErrOutOfOrderSequence: OUT_OF_ORDER_SEQUENCE_NUMBER. A batch before it is missing.
	ErrOutOfOrderSequence = errors.New("out of order sequence number")
	// ErrInvalidProducerEpoch: INVALID_PRODUCER_EPOCH. A newer instance of the
	// producer has appended.
	ErrInvalidProducerEpoch = errors.New("invalid producer epoch")
)

// Appended is a batch that a producer appended.
type Appended struct {
	LastSequence int32
	// LastOffset - BaseOffset is also the number of its sequences less one.
	BaseOffset, LastOffset Offset
	TimestampMs            int64
}

func (a Appended) baseSequence() int32 {
	// decrementSequence: before 0 comes the largest int32.
	return addSequence(a.LastSequence, -int64(a.LastOffset-a.BaseOffset))
}

// Producer is what a log knows of one producer id (ProducerStateEntry).
type Producer struct {
	ID    int64
	Epoch int16
	// LastTimestampMs is of the newest batch; by it storage forgets idle producers.
	LastTimestampMs int64
	// CoordinatorEpoch is the transaction coordinator's that wrote the last marker,
	// NoCoordinatorEpoch before the first one.
	CoordinatorEpoch int32
	// TxnStart is where the open transaction began, NoOffset if none is open.
	TxnStart Offset

	kept  [keptBatches]Appended // oldest first, all of Epoch
	nKept int
}

// Batches returns the newest batches of the present epoch, oldest first.
func (p *Producer) Batches() []Appended { return p.kept[:p.nKept] }

// Restore makes a the one batch that is known: Kafka's snapshots keep no more.
func (p *Producer) Restore(a Appended) { p.kept[0], p.nKept = a, 1 }

// LastSequence is NoSequence where no batch of the present epoch is known.
func (p *Producer) LastSequence() int32 {
	if p.nKept == 0 {
		return NoSequence
	}
	return p.kept[p.nKept-1].LastSequence
}

func (p *Producer) add(a Appended) {
	if p.nKept == keptBatches {
		copy(p.kept[:], p.kept[1:])
		p.nKept--
	}
	p.kept[p.nKept] = a
	p.nKept++
}

// openTxn is an open transaction.
type openTxn struct {
	start      Offset
	producerID int64
}

// Producers is what a log knows of its idempotent producers. Check is the
// leader's question before an append; Apply follows every append, on leaders,
// on followers and when a log is read back.
//
// The zero value is that of an empty log.
type Producers struct {
	byID map[int64]*Producer
	// open is sorted by start, which is the order in which they began.
	open []openTxn
}

// NewProducers returns the state of a snapshot, as Snapshot gave it.
func NewProducers(snapshot []Producer) Producers {
	var ps Producers
	for _, p := range snapshot {
		ps.entry(p.ID, &p)
		if p.TxnStart != NoOffset {
			ps.open = append(ps.open, openTxn{start: p.TxnStart, producerID: p.ID})
		}
	}
	slices.SortFunc(ps.open, func(a, b openTxn) int { return cmp.Compare(a.start, b.start) })
	return ps
}

// Snapshot returns a copy of all, sorted by id.
func (ps *Producers) Snapshot() []Producer {
	all := make([]Producer, 0, len(ps.byID))
	for _, p := range ps.byID {
		all = append(all, *p)
	}
	slices.SortFunc(all, func(a, b Producer) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// Len is how many producers are known.
func (ps *Producers) Len() int { return len(ps.byID) }

// Forget drops producers whose newest batch is older than beforeMs
// (producer.id.expiration.ms, by storage's clock). One with an open transaction stays.
func (ps *Producers) Forget(beforeMs int64) {
	for id, p := range ps.byID {
		if p.LastTimestampMs < beforeMs && p.TxnStart == NoOffset {
			delete(ps.byID, id)
		}
	}
}

// FirstUnstable returns where the first open transaction began, false if none
// is open: the bound of read_committed. A transaction whose marker is appended
// but not yet below the HW counts as ended here; that part of
// ProducerStateManager.firstUnstableOffset comes with transactions.
func (ps *Producers) FirstUnstable() (Offset, bool) {
	if len(ps.open) == 0 {
		return 0, false
	}
	return ps.open[0].start, true
}

// Check judges a producer's batch before a leader appends it. It returns
//
//   - dup, true, nil for a batch that is among the producer's last ones: do not
//     append it, answer with dup's offsets;
//   - ErrInvalidProducerEpoch or ErrOutOfOrderSequence for one to refuse;
//   - false, nil for one to append, as all are that have no producer id.
//
// The order is UnifiedLog.analyzeAndValidateProducerState's: duplicates first.
func (ps *Producers) Check(b Batch) (dup Appended, isDup bool, err error) {
	p := ps.byID[b.ProducerID]
	if b.ProducerID == NoProducerID || p == nil {
		// An unknown producer may begin anywhere: its records may have been
		// deleted (KIP-360, ProducerAppendInfo.checkSequence).
		return Appended{}, false, nil
	}
	if b.ProducerEpoch == p.Epoch && !b.Control {
		for _, a := range p.Batches() {
			if a.baseSequence() == b.BaseSequence && a.LastSequence == b.LastSequence() {
				return a, true, nil
			}
		}
	}
	return Appended{}, false, p.checkNew(b)
}

// checkNew is ProducerAppendInfo.checkProducerEpoch and checkSequence.
func (p *Producer) checkNew(b Batch) error {
	switch {
	case b.ProducerEpoch < p.Epoch:
		return ErrInvalidProducerEpoch
	case b.Control:
		// A transaction's marker has no sequence.
	case b.ProducerEpoch > p.Epoch:
		// A new epoch starts its sequences anew.
		if b.BaseSequence != 0 && p.Epoch != NoProducerEpoch {
			return ErrOutOfOrderSequence
		}
	case !follows(p.LastSequence(), b.BaseSequence):
		return ErrOutOfOrderSequence
	}
	return nil
}

func follows(last, next int32) bool {
	return int64(next) == int64(last)+1 || next == 0 && last == math.MaxInt32
}

// Apply records a batch that is in the log. It judges nothing: the leader that
// appended it did.
func (ps *Producers) Apply(b Batch) {
	if b.ProducerID == NoProducerID {
		return
	}
	p := ps.byID[b.ProducerID]
	if p == nil {
		p = ps.entry(b.ProducerID, &Producer{
			ID: b.ProducerID, Epoch: NoProducerEpoch, CoordinatorEpoch: NoCoordinatorEpoch, TxnStart: NoOffset,
		})
	}
	if p.Epoch != b.ProducerEpoch {
		p.Epoch, p.nKept = b.ProducerEpoch, 0
	}
	p.LastTimestampMs = b.MaxTimestampMs
	switch {
	case b.Control:
		// A later transaction keeps it (ProducerStateEntry.update).
		p.CoordinatorEpoch = b.CoordinatorEpoch
		ps.endTxn(p)
		return
	case b.Transactional && p.TxnStart == NoOffset:
		p.TxnStart = b.BaseOffset
		ps.open = append(ps.open, openTxn{start: b.BaseOffset, producerID: p.ID})
	}
	p.add(Appended{
		LastSequence: b.LastSequence(), BaseOffset: b.BaseOffset, LastOffset: b.LastOffset, TimestampMs: b.MaxTimestampMs,
	})
}

func (ps *Producers) endTxn(p *Producer) {
	p.TxnStart = NoOffset
	ps.open = slices.DeleteFunc(ps.open, func(o openTxn) bool { return o.producerID == p.ID })
}

// entry stores a copy of p, because its caller's may be shared.
func (ps *Producers) entry(id int64, p *Producer) *Producer {
	if ps.byID == nil {
		ps.byID = make(map[int64]*Producer)
	}
	c := *p
	ps.byID[id] = &c
	return &c
}
