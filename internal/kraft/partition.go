package kraft

// Values of Leader besides broker ids (Kafka's LeaderConstants).
const (
	// NoLeader: the partition has none, and serves nobody.
	NoLeader int32 = -1
	// NoLeaderChange, in a [PartitionChange]: the leader and its epoch stay.
	NoLeaderChange int32 = -2
)

// RecoveryState says whether a leader was elected from outside ISR and ELR and
// has not yet reported that it is done with the consequences (KIP-704).
type RecoveryState int8

// The recovery states. [PartitionChange] alone can hold the last.
const (
	Recovered        RecoveryState = 0
	Recovering       RecoveryState = 1
	RecoveryNoChange RecoveryState = -1
)

// Partition is the whole state of a partition: at its creation, and in
// snapshots. An earlier state of it is replaced.
type Partition struct {
	PartitionID int32
	TopicID     UUID
	Replicas    []int32 // the first is the preferred leader
	ISR         []int32
	// RemovingReplicas and AddingReplicas are not empty while a reassignment runs;
	// both are part of Replicas.
	RemovingReplicas []int32
	AddingReplicas   []int32
	Leader           int32 // or NoLeader
	// LeaderRecoveryState is never RecoveryNoChange.
	LeaderRecoveryState RecoveryState
	LeaderEpoch         int32 // from 0; see [PartitionChange] for when it grows
	PartitionEpoch      int32 // from 0; grows with every change of the partition
	// Directories (version 1, KIP-858) are where each of Replicas lies, in the same
	// order.
	Directories []UUID
	// EligibleLeaderReplicas (version 2, KIP-966) left the ISR while it was below
	// min.insync.replicas, and hold everything committed. Nil: none.
	EligibleLeaderReplicas []int32
	// LastKnownELR (version 2, KIP-966) is in practice the last leader of a
	// partition whose ISR is empty. Nil: none.
	LastKnownELR []int32
}

// Type returns [TypePartition].
func (*Partition) Type() Type { return TypePartition }

func (r *Partition) fields() []field {
	return []field{
		plain("PartitionId", fixed(&r.PartitionID)),
		plain("TopicId", fixed(&r.TopicID)),
		plain("Replicas", fixeds(&r.Replicas)),
		plain("Isr", fixeds(&r.ISR)),
		plain("RemovingReplicas", fixeds(&r.RemovingReplicas)),
		plain("AddingReplicas", fixeds(&r.AddingReplicas)),
		plain("Leader", fixed(&r.Leader)),
		tagged(0, 0, "LeaderRecoveryState", fixed(&r.LeaderRecoveryState)),
		plain("LeaderEpoch", fixed(&r.LeaderEpoch)),
		plain("PartitionEpoch", fixed(&r.PartitionEpoch)),
		since(1, "Directories", fixeds(&r.Directories)),
		tagged(1, 2, "EligibleLeaderReplicas", nullFixeds(&r.EligibleLeaderReplicas)),
		tagged(2, 2, "LastKnownElr", nullFixeds(&r.LastKnownELR)),
	}
}

// PartitionChange says what changed in a partition, and nothing else. For its
// lists nil is no change, and an empty one is a change to empty. Start from
// [NewPartitionChange]: the zero value would make broker 0 the leader.
//
// Each such record increments the partition epoch. The leader epoch is
// incremented if Leader is not NoLeaderChange, even if it names the same broker:
// that is how a leader is told that a replica went away (Kafka's
// PartitionRegistration.merge).
type PartitionChange struct {
	PartitionID int32
	TopicID     UUID
	ISR         []int32
	Leader      int32 // or NoLeader, or NoLeaderChange
	// Replicas, RemovingReplicas and AddingReplicas change together in a
	// reassignment (KIP-455).
	Replicas         []int32
	RemovingReplicas []int32
	AddingReplicas   []int32
	// LeaderRecoveryState is Recovering after an unclean election (KIP-704).
	LeaderRecoveryState RecoveryState
	// EligibleLeaderReplicas and LastKnownELR are of version 2 (KIP-966).
	EligibleLeaderReplicas []int32
	LastKnownELR           []int32
	// Directories (version 1, KIP-858) go with Replicas, one each.
	Directories []UUID
}

// NewPartitionChange returns one that changes nothing yet.
func NewPartitionChange(topic UUID, partition int32) *PartitionChange {
	return &PartitionChange{
		TopicID:             topic,
		PartitionID:         partition,
		Leader:              NoLeaderChange,
		LeaderRecoveryState: RecoveryNoChange,
	}
}

// Type returns [TypePartitionChange].
func (*PartitionChange) Type() Type { return TypePartitionChange }

func (r *PartitionChange) fields() []field {
	return []field{
		plain("PartitionId", fixed(&r.PartitionID)),
		plain("TopicId", fixed(&r.TopicID)),
		tagged(0, 0, "Isr", nullFixeds(&r.ISR)),
		tagged(1, 0, "Leader", fixedOr(&r.Leader, NoLeaderChange)),
		tagged(2, 0, "Replicas", nullFixeds(&r.Replicas)),
		tagged(3, 0, "RemovingReplicas", nullFixeds(&r.RemovingReplicas)),
		tagged(4, 0, "AddingReplicas", nullFixeds(&r.AddingReplicas)),
		tagged(5, 0, "LeaderRecoveryState", fixedOr(&r.LeaderRecoveryState, RecoveryNoChange)),
		tagged(6, 2, "EligibleLeaderReplicas", nullFixeds(&r.EligibleLeaderReplicas)),
		tagged(7, 2, "LastKnownElr", nullFixeds(&r.LastKnownELR)),
		tagged(8, 1, "Directories", nullFixeds(&r.Directories)),
	}
}
