package inspect

import "time"

// IsrEventType says what an [IsrEvent] did to its partition.
type IsrEventType string

// The types. A change that removed a replica and elected a leader is two events at
// one offset.
const (
	IsrCreate   IsrEventType = "create"
	IsrDelete   IsrEventType = "delete"
	IsrShrink   IsrEventType = "shrink"
	IsrExpand   IsrEventType = "expand"
	IsrLeader   IsrEventType = "leader"
	IsrELR      IsrEventType = "elr"
	IsrReassign IsrEventType = "reassign"
)

// IsrEventTypes lists them all.
func IsrEventTypes() []IsrEventType {
	return []IsrEventType{IsrCreate, IsrDelete, IsrShrink, IsrExpand, IsrLeader, IsrELR, IsrReassign}
}

// IsrCause says why it came about.
type IsrCause string

// The causes.
const (
	// CauseReplicaLag: the leader dropped a follower that had not caught up for
	// replica.lag.time.max.ms. CauseCaughtUp: it took one back.
	CauseReplicaLag IsrCause = "replica-lag"
	CauseCaughtUp   IsrCause = "caught-up"
	// CauseBrokerFenced: the controller heard nothing of the broker for
	// broker.session.timeout.ms. A broker that led nothing when it was stopped looks
	// the same.
	CauseBrokerFenced       IsrCause = "broker-fenced"
	CauseControlledShutdown IsrCause = "controlled-shutdown"
	// CauseUncleanRestart: the broker registered again without proof that it had
	// stopped in order, so that it may have lost records (KIP-966).
	CauseUncleanRestart IsrCause = "unclean-restart"
	CauseUnregistered   IsrCause = "unregistered"
	CauseLogDirFailure  IsrCause = "log-dir-failure"
	CauseReassignment   IsrCause = "reassignment"
	// The elections: CauseELRElection took a leader from the ELR, which loses
	// nothing; CauseLastKnownLeader the last one there was, and
	// CauseUncleanElection any that lived, which both may.
	CausePreferredElection IsrCause = "preferred-election"
	CauseELRElection       IsrCause = "elr-election"
	CauseLastKnownLeader   IsrCause = "last-known-leader"
	CauseUncleanElection   IsrCause = "unclean-election"
	// CauseBrokerReturned: a partition whose ISR had no live broker has a leader
	// again.
	CauseBrokerReturned IsrCause = "broker-returned"
	// CauseConfigChange: a change of min.insync.replicas emptied the ELR.
	CauseConfigChange IsrCause = "config-change"
	CauseTopicCreated IsrCause = "topic-created"
	CauseTopicDeleted IsrCause = "topic-deleted"
	CauseUnknown      IsrCause = "unknown"
)

// IsrCauses lists them all.
func IsrCauses() []IsrCause {
	return []IsrCause{
		CauseReplicaLag, CauseCaughtUp, CauseBrokerFenced, CauseControlledShutdown, CauseUncleanRestart,
		CauseUnregistered, CauseLogDirFailure, CauseReassignment, CausePreferredElection, CauseELRElection,
		CauseLastKnownLeader, CauseUncleanElection, CauseBrokerReturned, CauseConfigChange, CauseTopicCreated,
		CauseTopicDeleted, CauseUnknown,
	}
}

// IsrSource is where an event was learned from.
type IsrSource string

// The sources.
const (
	// SourceMetadataLog is the active controller's log, SourceMetadataDir a copy of
	// it on disk: every change, with its time.
	SourceMetadataLog IsrSource = "metadata-log"
	SourceMetadataDir IsrSource = "metadata-dir"
	// SourceMetadataDiff compares one look at the metadata with the next: a change
	// that was undone between the two is not seen.
	SourceMetadataDiff IsrSource = "metadata-diff"
	// SourceRecording is a file of what one of those told. Its events keep the source
	// that they were learned from.
	SourceRecording IsrSource = "recording"
)

// IsrEvent is one change of a partition's ISR, or of what decides about it: its
// leader, its ELR, its replicas.
type IsrEvent struct {
	// Time is the active controller's, in ms; a change may be up to 25 ms younger
	// than that. With SourceMetadataDiff it is the look at which it was first seen.
	Time      time.Time
	Topic     string
	Partition int32
	Type      IsrEventType
	Cause     IsrCause
	// Brokers are those concerned: who left or came (IsrShrink, IsrExpand); who led
	// before and who leads now (IsrLeader); who entered or left the ELR (IsrELR) or
	// the assignment (IsrReassign); else all replicas.
	Brokers []BrokerID
	// Replicas are those assigned after the change, in their order.
	Replicas []BrokerID
	// ISRBefore and ISR are before and after the change, in the order in which the
	// controller keeps them.
	ISRBefore, ISR []BrokerID
	// ELR is the one after (KIP-966); unknown where it was not told.
	ELR Opt[[]BrokerID]
	// Leader is the one after, or [NoBroker].
	Leader         BrokerID
	LeaderEpoch    Opt[Epoch]
	PartitionEpoch Opt[int32]
	// Offset is that of the record in the metadata log; unknown with
	// SourceMetadataDiff.
	Offset Opt[Offset]
	// Out is how long a replica had been out of the ISR, on IsrExpand; the longest
	// where several came. Unknown where it left before the evidence begins, or was
	// not a replica before.
	Out Opt[time.Duration]
	// FencedFor is for how long the broker that came back had been fenced, on IsrExpand
	// and on an IsrLeader of CauseBrokerReturned. Unknown where it was not, where it was
	// started again meanwhile, and with SourceMetadataDiff.
	FencedFor Opt[time.Duration]
	Source    IsrSource
}
