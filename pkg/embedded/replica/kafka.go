package replica

import (
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// Offset is a place in the log; bounds are exclusive.
type Offset = logstate.Offset

// Epoch is a leader epoch.
type Epoch = logstate.Epoch

// Batch is the facts of a record batch.
type Batch = logstate.Batch

// BrokerID is a node.id.
type BrokerID int32

// What an unknown number is written as.
const (
	NoOffset = logstate.NoOffset
	NoEpoch  = logstate.NoEpoch
	NoBroker = BrokerID(-1)

	// NoBrokerEpoch is what a follower sends whose Fetch is older than v15, and a
	// leader where it has heard of none.
	NoBrokerEpoch int64 = -1
)

// Code is a Kafka error code, the number on the wire.
type Code int16

// The codes that this package answers or reacts to.
const (
	None                         Code = 0
	OffsetOutOfRange             Code = 1
	CorruptMessage               Code = 2
	UnknownTopicOrPartition      Code = 3
	LeaderNotAvailable           Code = 5
	NotLeaderOrFollower          Code = 6
	RequestTimedOut              Code = 7
	NotEnoughReplicas            Code = 19
	NotEnoughReplicasAfterAppend Code = 20
	InvalidRequiredAcks          Code = 21
	UnsupportedVersion           Code = 35
	NotController                Code = 41
	InvalidRequest               Code = 42
	OutOfOrderSequenceNumber     Code = 45
	InvalidProducerEpoch         Code = 47
	KafkaStorageError            Code = 56
	FencedLeaderEpoch            Code = 74
	UnknownLeaderEpoch           Code = 75
	OffsetNotAvailable           Code = 78
	UnknownTopicID               Code = 100
	InconsistentTopicID          Code = 103
	InvalidUpdateVersion         Code = 95
	IneligibleReplica            Code = 107
	NewLeaderElected             Code = 108
	OperationNotAttempted        Code = 55
)

// Broker is what the metadata says of a broker.
type Broker struct {
	// Epoch is that of its registration.
	Epoch int64
	// Fenced and ShuttingDown (in controlled shutdown) keep it out of ISRs (KIP-841).
	Fenced, ShuttingDown bool
	// Rack is broker.rack, "" if not set.
	Rack string
}

// Brokers is the newest metadata about brokers, shared by all replicas of a
// node. It may change between steps, never within one.
type Brokers interface {
	// Broker returns false for one that is not registered.
	Broker(BrokerID) (Broker, bool)
}

// Config is what all replicas of a broker share. It must not change.
type Config struct {
	// Self is this broker.
	Self BrokerID
	// LagTimeMaxMs is replica.lag.time.max.ms.
	LagTimeMaxMs int64
	// FetchBackoffMs is replica.fetch.backoff.ms.
	FetchBackoffMs int64
	Brokers        Brokers
}

// Settings are those of the topic. They may change at any time.
type Settings struct {
	// MinISR is min.insync.replicas.
	MinISR int
	// FlushMessages is flush.messages: how many records may be unsynced when an
	// append is answered. 1 syncs each; 0 stands for Kafka's default, never.
	FlushMessages int64
}

// Log is what a log holds when its replica is made: what storage recovered.
type Log struct {
	// Start <= End. HW is the checkpoint's, 0 where there is none.
	Start, End, HW Offset
	Epochs         logstate.Epochs
	// Producers belongs to the replica from then on.
	Producers logstate.Producers
	// Flushed is the recovery point: everything before it is on disk.
	Flushed Offset
}

func without[T comparable](s []T, drop []T) []T {
	return slices.DeleteFunc(slices.Clone(s), func(v T) bool { return slices.Contains(drop, v) })
}
