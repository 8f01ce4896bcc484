package inspect

import "slices"

// ReplicaState is what a replica is, as far as was observed.
type ReplicaState string

// The states of a replica.
const (
	// ReplicaLeader leads the partition and answered.
	ReplicaLeader ReplicaState = "leader"
	// ReplicaInSync is in the ISR; it may still lag, for Kafka's limit is one of
	// time.
	ReplicaInSync ReplicaState = "in-sync"
	// ReplicaOutOfSync has left the ISR or never joined it.
	ReplicaOutOfSync ReplicaState = "out-of-sync"
	// ReplicaOffline is on a broker that is unregistered or fenced, or in an
	// offline log directory.
	ReplicaOffline ReplicaState = "offline"
	// ReplicaUnknown did not answer though the cluster calls it alive.
	ReplicaUnknown ReplicaState = "unknown"
)

// PartitionLag is what is certain about one partition's offsets.
//
// Offsets move while they are read, so LEO − HW and lag come as bounds: with
// L0 the leader's LEO read before a follower's f, and L2 read after, the true
// lag when f was read lay between max(0, L0 − f) and L2 − f.
type PartitionLag struct {
	// LogStart <= LSO <= HW <= LEO where they are known. LEO is the larger of L0
	// and HW, and unknown where there is no leader.
	LogStart, LSO, HW, LEO Opt[Offset]
	// Uncommitted is LEO − HW in records, the least it can have been when HW was
	// read; UncommittedMax is the most.
	Uncommitted, UncommittedMax Opt[int64]
	// Replicas is in assignment order.
	Replicas []ReplicaLag
}

// ReplicaLag is one replica's place behind its leader.
type ReplicaLag struct {
	Broker BrokerID
	// LEO is the replica's own log end offset; known without a leader too.
	LEO Opt[Offset]
	// Lag is how many records it was certainly behind; LagMax how many it can
	// have been behind. Both unknown without a leader.
	Lag, LagMax Opt[int64]
	// InSync is its membership of the ISR.
	InSync bool
	// CaughtUp is whether LEO had reached what the leader had before.
	CaughtUp Opt[bool]
	State    ReplicaState
	// Error says why LEO is unknown, else empty.
	Error string
}

// MaxLag is the largest certain lag among the replicas; unknown where none is
// known.
func (l *PartitionLag) MaxLag() Opt[int64] {
	var most Opt[int64]
	for i := range l.Replicas {
		if lag, ok := l.Replicas[i].Lag.Get(); ok && lag >= most.Or(0) {
			most = Known(lag)
		}
	}
	return most
}

// Lag computes the bounds from the partition's Offsets; all unknown where those
// were not asked.
func (p *Partition) Lag() PartitionLag {
	o := p.Offsets
	if o == nil {
		o = &Offsets{}
	}
	l := PartitionLag{LogStart: o.LogStart, LSO: o.LSO, HW: o.HW}
	l0, before := o.LEOBefore.Get()
	l2, after := o.LEOAfter.Get()
	hw, committed := o.HW.Get()
	l.LEO = o.leo()
	if after && l2 < max(l.LEO.Or(0), o.HW.Or(0)) {
		// The log was cut while it was being read: no upper bound holds.
		after = false
	}
	if before && committed {
		l.Uncommitted = Known(int64(l.LEO.Or(0) - hw))
	}
	if after && committed {
		l.UncommittedMax = Known(int64(l2 - hw))
	}
	l.Replicas = make([]ReplicaLag, 0, len(p.Replicas))
	for _, id := range p.Replicas {
		r := ReplicaLag{Broker: id, InSync: slices.Contains(p.ISR, id)}
		if id == p.Leader {
			p.leaderLag(&r, o, &l)
		} else {
			p.followerLag(&r, o, Opt[Offset]{l0, before}, Opt[Offset]{l2, after})
		}
		l.Replicas = append(l.Replicas, r)
	}
	return l
}

// leo is the leader's: HW was read after L0, so a HW above it proves that the log
// has grown.
func (o *Offsets) leo() Opt[Offset] {
	l0, ok := o.LEOBefore.Get()
	if !ok {
		return o.LEOBefore
	}
	return Known(max(l0, o.HW.Or(0)))
}

func (p *Partition) leaderLag(r *ReplicaLag, o *Offsets, l *PartitionLag) {
	r.LEO, r.Error, r.State = l.LEO, o.Error, ReplicaLeader
	if r.LEO.IsKnown() {
		r.Lag, r.LagMax, r.CaughtUp = Known[int64](0), Known[int64](0), Known(true)
		return
	}
	if !o.HW.IsKnown() {
		r.State = p.silentState(r.Broker)
	}
}

func (p *Partition) followerLag(r *ReplicaLag, o *Offsets, l0, l2 Opt[Offset]) {
	f := o.follower(r.Broker)
	r.LEO, r.Error = f.LEO, f.Error
	r.State = ReplicaOutOfSync
	if r.InSync {
		r.State = ReplicaInSync
	}
	leo, ok := f.LEO.Get()
	switch {
	case slices.Contains(p.Offline, r.Broker):
		r.State = ReplicaOffline
	case !ok && !f.Refused:
		r.State = ReplicaUnknown
	}
	if !ok {
		return
	}
	if before, ok := l0.Get(); ok {
		r.Lag = Known(int64(max(0, before-leo)))
		r.CaughtUp = Known(leo >= before)
	}
	if after, ok := l2.Get(); ok && !f.Late {
		r.LagMax = Known(int64(max(0, after-leo)))
	}
}

func (p *Partition) silentState(id BrokerID) ReplicaState {
	if slices.Contains(p.Offline, id) {
		return ReplicaOffline
	}
	return ReplicaUnknown
}

// follower returns what the broker told of itself, or an unknown LEO.
func (o *Offsets) follower(id BrokerID) FollowerOffset {
	for i := range o.Followers {
		if o.Followers[i].Broker == id {
			return o.Followers[i]
		}
	}
	return FollowerOffset{Broker: id}
}
