package replica

import "github.com/kafkaops/kafkaops/pkg/embedded/logstate"

// Token is how a node knows again whose request an effect belongs to. This
// package only hands it back.
type Token uint64

// Input is a fact that is stepped into a replica: one of the types below. Slices
// in an input belong to the replica from then on; the node does not change them.
type Input interface{ isInput() }

// Partition is the metadata of the partition (PartitionRegistration): who leads,
// who follows. A replica obeys the newest partition epoch and ignores older ones.
type Partition struct {
	LeaderEpoch    Epoch
	PartitionEpoch int32
	// Leader is NoBroker while there is none.
	Leader BrokerID
	// Replicas are all assigned ones, in assignment order, those that a
	// reassignment adds included.
	Replicas []BrokerID
	ISR      []BrokerID
}

// Configure gives the topic's settings.
type Configure struct{ Settings Settings }

// Tick says that time has passed. It is needed at NextDeadline, and harmless
// otherwise.
type Tick struct{}

// Produce asks to append a batch: a Produce request's data for one partition,
// validated but for its sequence. It is answered with one ProduceReply.
type Produce struct {
	Token Token
	// Acks is 0, 1 or -1.
	Acks      int16
	TimeoutMs int64
	// Batch has offsets from 0.
	Batch Batch
}

// FollowerFetch is one partition of a Fetch with replica id >= 0. It is answered
// with one FetchReply.
type FollowerFetch struct {
	Token Token
	From  BrokerID
	// BrokerEpoch is NoBrokerEpoch before v15.
	BrokerEpoch int64
	Position    FetchPosition
	// LogStart is the follower's log start offset.
	LogStart Offset
	// Reread marks a fetch that waited for bytes and is looked at again. It says
	// nothing new of the follower, which was recorded the first time.
	Reread bool
}

// FetchesRepeated says that a follower has repeated its last fetch, word for word,
// up to AtMs on the clock of Step, and that nothing else happened to this replica since:
// what an incremental fetch session leaves out (KIP-227). It is for followers that
// are Settled, of whom each such fetch would say that they have caught up.
type FetchesRepeated struct {
	From BrokerID
	AtMs int64
}

// FetchPosition is where a fetcher wants to read on.
type FetchPosition struct {
	Offset Offset
	// LeaderEpoch is the epoch that the fetcher takes for the present one,
	// NoEpoch to have it not compared.
	LeaderEpoch Epoch
	// LastFetchedEpoch is that of the record before Offset, NoEpoch where there is
	// none or before Fetch v12 (KIP-595): no divergence is looked for.
	LastFetchedEpoch Epoch
}

// SamePlace reports whether two fetches read on in one log at one offset,
// whatever epoch they took for the present one.
func (p FetchPosition) SamePlace(q FetchPosition) bool {
	return p.Offset == q.Offset && p.LastFetchedEpoch == q.LastFetchedEpoch
}

// FetchResponse is the answer to the fetch that FetchFrom asked for.
type FetchResponse struct {
	Token Token
	// Position is what was asked; an answer to another question is ignored, but
	// for what OffsetsOnly says.
	Position FetchPosition
	Err      Code
	HW       Offset
	LogStart Offset
	// Diverging is the leader's end of the largest epoch that both may have;
	// logstate.UndefinedEnd where the logs agree.
	Diverging logstate.EpochEnd
	// Batches are the whole batches of the answer, in order.
	Batches []Batch
}

// OffsetsOnly reports whether the answer tells nothing but the leader's offsets.
// Those hold in every epoch: a leader tells a session a new HW only once, so that
// they must be taken even if the epoch has changed since the question.
func (f FetchResponse) OffsetsOnly() bool {
	return f.Err == None && !f.Diverging.Defined() && len(f.Batches) == 0
}

// OffsetResponse is the leader's answer to AskOffset.
type OffsetResponse struct {
	Timestamp   int64
	LeaderEpoch Epoch // of the question
	Err         Code
	Offset      Offset
}

// AlterPartitionResponse is the controller's answer to AlterPartition.
type AlterPartitionResponse struct {
	// Proposal is the request's.
	Proposal uint32
	Err      Code

	LeaderEpoch    Epoch
	PartitionEpoch int32
	ISR            []BrokerID
}

// DeleteRecords asks to move the log start offset. It is answered with one
// DeleteRecordsReply.
type DeleteRecords struct {
	Token Token
	// Before is the first offset to keep, NoOffset for the HW.
	Before    Offset
	TimeoutMs int64
}

// Retained says that retention or a roll moved the start of the log to Start,
// which is not above the HW.
type Retained struct{ Start Offset }

// What the disk has done. Each answers the order of its name, of which there is
// one at a time.
type (
	// Appended answers Append.
	Appended struct{}
	// AppendRejected answers Append where the records turned out to be invalid
	// when they were stamped, and nothing was written. Leaders only.
	AppendRejected struct{ Err Code }
	// Synced answers Sync.
	Synced struct{}
	// Truncated answers Truncate.
	Truncated struct {
		// Producers is the state rebuilt from what is left of the log; the replica's
		// from then on. (By value: were this struct one pointer, Go would carry it in
		// Input as it is, and put all inputs on the heap.)
		Producers logstate.Producers
	}
	// EpochStored answers StoreEpoch.
	EpochStored struct{}
	// DiskFailed takes the replica offline, whatever was being done: after a
	// failed write or sync nobody knows what is on the disk.
	DiskFailed struct{}
)

func (Partition) isInput()              {}
func (Configure) isInput()              {}
func (Tick) isInput()                   {}
func (Produce) isInput()                {}
func (FollowerFetch) isInput()          {}
func (FetchesRepeated) isInput()        {}
func (FetchResponse) isInput()          {}
func (OffsetResponse) isInput()         {}
func (AlterPartitionResponse) isInput() {}
func (DeleteRecords) isInput()          {}
func (Retained) isInput()               {}
func (Appended) isInput()               {}
func (AppendRejected) isInput()         {}
func (Synced) isInput()                 {}
func (Truncated) isInput()              {}
func (EpochStored) isInput()            {}
func (DiskFailed) isInput()             {}
