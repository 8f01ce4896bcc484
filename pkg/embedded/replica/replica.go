package replica

import (
	"fmt"
	"slices"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// Role is what a broker is to a partition.
type Role string

// The roles.
const (
	// NoRole: not assigned, or not heard of in the metadata yet.
	NoRole   Role = "none"
	Leader   Role = "leader"
	Follower Role = "follower"
	// Offline: its disk failed. There is no way back but a new Replica.
	Offline Role = "offline"
)

// Replica is one broker's part of one partition: kafka.cluster.Partition and the
// partition's entry in its fetcher. It is changed by Step alone.
//
// Its role follows the metadata (Partition), once the disk is at rest:
//
//	any role      -> Leader    the metadata names this broker
//	any role      -> Follower  it names another one, or none
//	any role      -> NoRole    this broker is no longer assigned
//	any role      -> Offline   DiskFailed
//
// Invariants: LogStart <= HW <= LEO; as a leader, HW never falls within an epoch;
// LeaderEpoch and PartitionEpoch never fall.
type Replica struct {
	cfg      *Config
	settings Settings

	log            log
	role           Role
	leaderEpoch    Epoch
	partitionEpoch int32

	// proposals numbers AlterPartitions over all leaderships: an answer to one of
	// an earlier epoch may be late.
	proposals uint32

	leader   *leader   // while role is Leader
	follower *follower // while role is Follower
	disk     disk
	// electing is the metadata that makes this broker leader, while its epoch is
	// stored.
	electing *Partition

	// During a step only.
	nowMs int64
	out   []Effect
}

// log is what is known of the log; its bytes are the node's.
type log struct {
	start, hw, end Offset
	flushed        Offset
	epochs         logstate.Epochs
	producers      logstate.Producers
}

// New returns the replica of a log that storage has opened. It has no role
// until the first Partition is stepped. The HW begins at the checkpointed one
// within [Start, End] (Partition.createLog).
func New(cfg *Config, settings Settings, l Log) *Replica {
	if l.Start > l.End {
		panic(fmt.Sprintf("replica: log starts at %d and ends at %d", l.Start, l.End))
	}
	return &Replica{
		cfg: cfg, settings: settings, role: NoRole, leaderEpoch: NoEpoch, partitionEpoch: -1,
		log: log{
			start: l.Start, end: l.End, hw: min(max(l.HW, l.Start), l.End), flushed: min(l.Flushed, l.End),
			epochs: l.Epochs, producers: l.Producers,
		},
	}
}

// Step takes one fact in and appends to out what is to be done about it, in
// order. nowMs is the node's clock; only differences matter.
func (r *Replica) Step(nowMs int64, in Input, out []Effect) []Effect {
	r.nowMs, r.out = nowMs, out
	r.step(in)
	out, r.out = r.out, nil
	return out
}

// step tells apart what goes on while the disk works from what waits for it.
func (r *Replica) step(in Input) {
	switch in := in.(type) {
	case Appended, AppendRejected, Synced, Truncated, EpochStored, DiskFailed:
		r.diskAnswered(in)
		return
	case FollowerFetch:
		// Reads take no lock in Kafka; what follows from one may.
		r.followerFetch(in)
		return
	case FetchesRepeated:
		r.fetchesRepeated(in)
		return
	case Tick:
		r.tick()
		return
	case Produce:
		if r.disk.busy() {
			r.disk.wait(in)
			return
		}
	case Partition:
		if r.disk.busy() {
			r.disk.wait(in)
			return
		}
	case Configure, FetchResponse, OffsetResponse, AlterPartitionResponse, DeleteRecords, Retained:
		if r.disk.busy() {
			r.wait(in)
			return
		}
	}
	r.act(in)
}

// act carries out what the disk has not to be waited for, or no more.
func (r *Replica) act(in Input) {
	switch in := in.(type) {
	case Produce:
		r.produce(in)
	case Partition:
		r.partition(in)
	case Configure:
		r.settings = in.Settings
	case FetchResponse:
		r.fetchResponse(in)
	case OffsetResponse:
		r.offsetResponse(in)
	case AlterPartitionResponse:
		r.alterPartitionResponse(in)
	case DeleteRecords:
		r.deleteRecords(in)
	case Retained:
		r.retained(in)
	case fetchRecorded:
		r.fetchRecorded(in)
	default:
		// Not told by %T: that would put every input on the heap.
		panic("replica: unknown input")
	}
}

func (r *Replica) emit(e Effect) { r.out = append(r.out, e) }

// NextDeadline is when to step a Tick next, false for not before another input.
// Ask after every step.
func (r *Replica) NextDeadline() (ms int64, ok bool) {
	if r.leader == nil {
		return 0, false
	}
	at := min(r.leader.produces.nextMs(), r.leader.deletes.nextMs(), r.shrinkDueMs())
	return at, at != never
}

func (r *Replica) tick() {
	if r.leader == nil {
		return
	}
	r.expireProduces()
	r.expireDeletes()
	if r.nowMs >= r.shrinkDueMs() {
		r.maybeShrinkISR()
	}
}

// Status is a replica's state for people and for metrics.
type Status struct {
	Role           Role
	LeaderEpoch    Epoch
	PartitionEpoch int32
	LogStart       Offset
	LSO, HW, LEO   Offset
	// Busy says that the disk works and what changes state waits.
	Busy bool
	// The rest is a leader's. ISR is the committed one, MaximalISR also has who is
	// proposed to join.
	ISR, MaximalISR []BrokerID
	// Proposing: an AlterPartition is in flight.
	Proposing bool
	// UnderMinISR: the HW stands, and acks=all is refused.
	UnderMinISR bool
	// Waiting is how many produces wait for the HW.
	Waiting int
}

// Status returns the state; its slices are copies.
func (r *Replica) Status() Status {
	s := Status{
		Role: r.role, LeaderEpoch: r.leaderEpoch, PartitionEpoch: r.partitionEpoch,
		LogStart: r.log.start, LSO: r.lastStable(), HW: r.log.hw, LEO: r.log.end, Busy: r.disk.busy(),
	}
	if l := r.leader; l != nil {
		s.ISR, s.MaximalISR = slices.Clone(l.isr.committed), l.isr.maximalIDs()
		s.Proposing, s.UnderMinISR, s.Waiting = l.isr.inFlight(), r.underMinISR(), l.produces.len()
	}
	return s
}

// Epochs returns the leader epoch cache, for the checkpoint; not to be changed.
func (r *Replica) Epochs() *logstate.Epochs { return &r.log.epochs }

// Producers returns the producers' state, for snapshots and DescribeProducers;
// not to be changed but by Forget.
func (r *Replica) Producers() *logstate.Producers { return &r.log.producers }
