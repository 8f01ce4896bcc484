package replica

import "github.com/kafkaops/kafkaops/pkg/embedded/logstate"

// Effect is an order to the node: one of the types below. A node carries out
// the effects of a step in their order.
//
// The order is a promise. A ProduceReply comes only in a step after the records
// are Appended, and Synced if the topic's settings ask for that; a FetchReply
// names only offsets that are Appended; AlterPartition is asked only of what the
// log holds.
type Effect interface{ isEffect() }

// Orders to the disk. At most one is open at a time, and it is answered by the
// input that it names.
type (
	// Append writes records, the first of which has offset Base: those of the
	// Produce or of the FetchResponse with this token. Answer: Appended or, to a
	// leader, AppendRejected. New leader epochs in the records are stored in the
	// leader-epoch-checkpoint with them.
	Append struct {
		Token Token
		Base  Offset
		// LeaderEpoch is to be stamped on the records; NoEpoch on a follower, which
		// keeps the leader's stamp.
		LeaderEpoch Epoch
		// Batches is how many of the FetchResponse's batches to write, from its
		// first one. 1 on a leader.
		Batches int
	}
	// Sync makes everything before UpTo durable. Answer: Synced.
	Sync struct{ UpTo Offset }
	// Truncate cuts the log so that it ends at To, also where a batch lies across:
	// that goes as a whole, and the next append is at To all the same. If Restart is set or To lies
	// before the log's first segment, all goes and the log restarts at To. The
	// leader epochs from To on go from the checkpoint too, also where the log was
	// no longer than To. Answer: Truncated.
	Truncate struct {
		To      Offset
		Restart bool
		// BelowHW says that records are lost which were committed: after an unclean
		// election, or a leader's loss of its disk. Worth a line in the log.
		BelowHW bool
	}
	// StoreEpoch writes the leader-epoch-checkpoint, durably. Answer: EpochStored.
	StoreEpoch struct{ Entry logstate.EpochStart }
)

// ProduceReply settles a Produce. With acks=0 there is nobody to tell, but an
// error closes the connection.
type ProduceReply struct {
	Token Token
	Err   Code
	// Base is the offset of the first record, as first appended if the batch was a
	// duplicate; NoOffset with an error that says nothing was appended.
	Base     Offset
	LogStart Offset
}

// FetchReply settles a FollowerFetch: what may be read, not the bytes. The node
// sends it at once if Err or Diverging says so, or reads [From, UpTo) and lets
// the request wait for more if it found too little.
type FetchReply struct {
	Token  Token
	Bounds FetchBounds
}

// DeleteRecordsReply settles a DeleteRecords.
type DeleteRecordsReply struct {
	Token Token
	Err   Code
	// LowWatermark is the lowest log start offset of the live replicas.
	LowWatermark Offset
}

// AlterPartition asks the controller for another ISR. Answer:
// AlterPartitionResponse, however long it takes. The leader recovery state to
// send is always RECOVERED: a leader has recovered when it leads.
type AlterPartition struct {
	// Proposal is to be handed back.
	Proposal       uint32
	LeaderEpoch    Epoch
	PartitionEpoch int32
	ISR            []Member
}

// Member is a member of a proposed ISR.
type Member struct {
	ID BrokerID
	// BrokerEpoch is what its last Fetch said, NoBrokerEpoch if none did. The
	// controller compares it with the registration (KIP-903).
	BrokerEpoch int64
}

// FetchFrom puts a follower's entry in its fetcher: keep asking Leader for this
// Position. The order stands until another one replaces it, and rests from a
// response with records, an error or a divergence until then. An idle partition
// costs nothing: a response without news asks for no new order.
type FetchFrom struct {
	Leader   BrokerID
	Position FetchPosition
	LogStart Offset
	// NotBeforeMs is when to go on after an error, else 0.
	NotBeforeMs int64
}

// FetchStop takes the entry out of the fetcher.
type FetchStop struct{}

// FetchFailed takes the entry out until the metadata changes, and says why.
type FetchFailed struct{ Err Code }

// AskOffset sends a ListOffsets for this timestamp to the leader, with this
// broker's id as replica id. Answer: OffsetResponse.
type AskOffset struct {
	Leader      BrokerID
	LeaderEpoch Epoch
	Timestamp   int64
}

// What happened, for those who wait for it.
type (
	// HWMoved wakes fetches of consumers, and is what to checkpoint. On a follower
	// it may move back.
	HWMoved struct{ HW Offset }
	// LogGrew wakes fetches of followers.
	LogGrew struct{ End Offset }
	// LogStartMoved is what to checkpoint; segments before it may be deleted.
	LogStartMoved struct{ Start Offset }
	// RoleChanged wakes all fetches, so that they find out.
	RoleChanged struct{ Role Role }
	// ISRChanged counts for IsrExpandsPerSec, IsrShrinksPerSec and
	// FailedIsrUpdatesPerSec, which see this leader's own changes alone.
	ISRChanged struct{ What ISRChange }
)

// ISRChange is what became of a proposal.
type ISRChange string

// What can become of one.
const (
	ISRExpanded ISRChange = "expanded"
	ISRShrunk   ISRChange = "shrunk"
	ISRFailed   ISRChange = "failed"
)

func (Append) isEffect()             {}
func (Sync) isEffect()               {}
func (Truncate) isEffect()           {}
func (StoreEpoch) isEffect()         {}
func (ProduceReply) isEffect()       {}
func (FetchReply) isEffect()         {}
func (DeleteRecordsReply) isEffect() {}
func (AlterPartition) isEffect()     {}
func (FetchFrom) isEffect()          {}
func (FetchStop) isEffect()          {}
func (FetchFailed) isEffect()        {}
func (AskOffset) isEffect()          {}
func (HWMoved) isEffect()            {}
func (LogGrew) isEffect()            {}
func (LogStartMoved) isEffect()      {}
func (RoleChanged) isEffect()        {}
func (ISRChanged) isEffect()         {}
