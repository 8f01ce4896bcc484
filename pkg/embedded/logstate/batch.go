package logstate

// Offset is a place in a log. A bound is exclusive: an end offset is the next
// one to be written.
type Offset int64

// Epoch is a leader epoch.
type Epoch int32

// What an unknown number is written as, in memory as on the wire.
const (
	NoOffset Offset = -1
	NoEpoch  Epoch  = -1

	NoProducerID       int64 = -1
	NoProducerEpoch    int16 = -1
	NoSequence         int32 = -1
	NoCoordinatorEpoch int32 = -1
)

// Batch is what a record batch says, as far as a log's state depends on it: its
// header, and of a transaction's marker the record. The offsets of a batch that is not yet in a log are those that its
// producer gave it: 0 to the number of its records - 1.
type Batch struct {
	BaseOffset, LastOffset Offset
	LeaderEpoch            Epoch

	// ProducerID is NoProducerID where the producer is not idempotent; then
	// ProducerEpoch and BaseSequence mean nothing.
	ProducerID    int64
	ProducerEpoch int16
	// BaseSequence is NoSequence in control batches.
	BaseSequence int32

	MaxTimestampMs int64
	Transactional  bool
	Control        bool
	// CoordinatorEpoch is what the marker of a control batch says
	// (EndTransactionMarker). It means nothing in other batches.
	CoordinatorEpoch int32
}

// NextOffset is the offset after the batch.
func (b Batch) NextOffset() Offset { return b.LastOffset + 1 }

// LastSequence is the sequence of the last record, NoSequence where there is none.
func (b Batch) LastSequence() int32 {
	if b.BaseSequence == NoSequence {
		return NoSequence
	}
	return addSequence(b.BaseSequence, int64(b.LastOffset-b.BaseOffset))
}

// At is the batch moved to base, as a leader of that epoch appends it.
func (b Batch) At(base Offset, epoch Epoch) Batch {
	b.LastOffset = base + (b.LastOffset - b.BaseOffset)
	b.BaseOffset = base
	b.LeaderEpoch = epoch
	return b
}

// addSequence is the sequence n after s; the largest int32 is followed by 0
// (DefaultRecordBatch.incrementSequence).
func addSequence(s int32, n int64) int32 { return int32((int64(s) + n) & (1<<31 - 1)) }
