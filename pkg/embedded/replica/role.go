package replica

import (
	"slices"

	"github.com/kafkaops/kafkaops/internal/isrrule"
	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// leader is what only a leader knows.
type leader struct {
	// epochStart is the log end offset at which this epoch began.
	epochStart Offset
	// remotes are the other assigned replicas, in assignment order.
	remotes []remote
	isr     isr

	appending Produce // while the disk appends
	// appended are in the log, and told of when a sync has covered them all.
	appended []Produce
	produces purgatory
	deletes  purgatory
}

// remote is what a leader knows of a follower (ReplicaState).
type remote struct {
	id BrokerID
	isrrule.Progress
	logStart Offset
	// brokerEpoch is what its last Fetch said, neverHeard before the first one.
	brokerEpoch int64
	// behindMs is since when its end is not the log's, if it is not.
	behindMs int64
}

// neverHeard is not NoBrokerEpoch: that was heard, of an old follower.
const neverHeard int64 = -2

func (f *remote) end() Offset { return Offset(f.LEO) }

func (l *leader) remote(id BrokerID) *remote {
	for i := range l.remotes {
		if l.remotes[i].id == id {
			return &l.remotes[i]
		}
	}
	return nil
}

// partition obeys the metadata.
func (r *Replica) partition(p Partition) {
	switch {
	case r.role == Offline || p.PartitionEpoch < r.partitionEpoch:
		return
	case !slices.Contains(p.Replicas, r.cfg.Self):
		r.obey(p)
		if r.role != NoRole {
			r.become(NoRole)
		}
	case p.Leader != r.cfg.Self:
		r.becomeFollower(p)
	case p.LeaderEpoch > r.leaderEpoch || r.leader == nil:
		// The epoch and its start are on disk before the leader does anything in
		// it: a leader that forgot its epoch could not say later where it ended.
		r.electing = &p
		r.order(storing, StoreEpoch{Entry: logstate.EpochStart{Epoch: p.LeaderEpoch, Start: r.log.end}})
	case p.PartitionEpoch > r.partitionEpoch:
		r.updateLeader(p)
	default:
		// The metadata says what the answer to an AlterPartition has said already.
		// Kafka commits that once more, and thereby forgets a proposal that was sent
		// meanwhile; if it is granted, the HW may pass a new member. See DESIGN.md.
	}
}

func (r *Replica) obey(p Partition) {
	r.leaderEpoch, r.partitionEpoch = max(r.leaderEpoch, p.LeaderEpoch), p.PartitionEpoch
}

// epochStored makes this broker the leader of a new epoch (Partition.makeLeader).
func (r *Replica) epochStored() {
	p := *r.electing
	r.electing = nil
	r.log.epochs.Assign(p.LeaderEpoch, r.log.end)
	led := r.leader != nil
	// What a follower said in the epoch before still holds, as it has followed
	// nobody else since. Where an epoch in between was missed it may have, and been
	// cut: Kafka keeps its LEO even then. See DESIGN.md.
	reElected := led && p.LeaderEpoch == r.leaderEpoch+1
	r.obey(p)
	if !led {
		r.become(Leader)
		r.leader = &leader{}
	}
	l := r.leader
	l.epochStart = r.log.end
	l.assign(p, r.cfg.Self, r.nowMs)
	for i := range l.remotes {
		f := &l.remotes[i]
		if !reElected {
			f.logStart, f.brokerEpoch = NoOffset, neverHeard
		}
		f.LeaderEpochStarted(isrrule.LeaderEpoch{
			StartOffset: int64(l.epochStart), AtMs: r.nowMs, ReElected: reElected,
		}, slices.Contains(p.ISR, f.id))
	}
	if led {
		r.emit(RoleChanged{Role: Leader})
	}
	// The ISR may be this broker alone.
	r.maybeAdvanceHW()
}

// updateLeader takes a new ISR or assignment within the epoch. An AlterPartition
// in flight is void: its answer, if it comes, is older than this.
func (r *Replica) updateLeader(p Partition) {
	r.obey(p)
	r.leader.assign(p, r.cfg.Self, r.nowMs)
	r.maybeAdvanceHW()
	r.completeDeletes()
}

// assign takes over who follows, and the ISR as committed
// (Partition.updateAssignmentAndIsr). What is known of a remote that stays is kept.
func (l *leader) assign(p Partition, self BrokerID, nowMs int64) {
	remotes := make([]remote, 0, max(len(p.Replicas)-1, 0))
	for _, id := range p.Replicas {
		if id == self {
			continue
		}
		if f := l.remote(id); f != nil {
			remotes = append(remotes, *f)
			continue
		}
		remotes = append(remotes, remote{
			id: id, Progress: isrrule.NewProgress(), logStart: NoOffset, brokerEpoch: neverHeard,
		})
	}
	l.remotes = remotes
	l.isr.commit(p.ISR, nowMs)
}

// becomeFollower follows another broker, or waits for one to lead
// (Partition.makeFollower). Only a new leader epoch starts the fetcher anew.
func (r *Replica) becomeFollower(p Partition) {
	anew := p.LeaderEpoch > r.leaderEpoch || r.follower == nil
	r.obey(p)
	if !anew {
		return
	}
	r.become(Follower)
	r.follower = &follower{leader: p.Leader}
	r.startFetching()
}

// become leaves the present role for another.
func (r *Replica) become(role Role) {
	if r.follower != nil && r.follower.state != idle {
		r.emit(FetchStop{})
	}
	if r.leader != nil {
		r.failWaiting(NotLeaderOrFollower)
	}
	r.leader, r.follower, r.role = nil, nil, role
	r.emit(RoleChanged{Role: role})
}

// failWaiting answers those who wait for other replicas: they will not be
// answered here any more (ReplicaManager.completeDelayedOperationsWhenNotLeader).
func (r *Replica) failWaiting(err Code) {
	for _, w := range r.leader.produces.takeAll() {
		r.emit(ProduceReply{Token: w.token, Err: err, Base: w.base, LogStart: NoOffset})
	}
	for _, w := range r.leader.deletes.takeAll() {
		r.emit(DeleteRecordsReply{Token: w.token, Err: err, LowWatermark: NoOffset})
	}
}
