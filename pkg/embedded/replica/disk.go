package replica

import (
	"fmt"
	"slices"
)

// doing is the order that the disk has.
type doing string

const (
	nothing    doing = ""
	appending  doing = "append"
	syncing    doing = "sync"
	truncating doing = "truncate"
	storing    doing = "store epoch"
)

// disk is what the disk does for this replica, and what waits for it.
//
// Kafka appends under two locks, the log's and leaderIsrUpdateLock. Whatever
// else would change the replica needs one of them: the next append, a new role,
// an ISR that was answered or is to be proposed, a HW to store. Reads need none.
// So here: while the disk works, reads go on and all else waits in order. A slow
// disk thereby holds back exactly what it holds back in Kafka, and no rule has
// to think of an append that is half done.
//
// States:
//
//	nothing -> appending [-> syncing] -> nothing   records; with a sync, all that wait first
//	nothing -> truncating -> nothing               a follower's cut
//	nothing -> storing -> nothing                  a new leader's epoch
//	any     -> (Offline)                           DiskFailed
type disk struct {
	doing doing
	// queue is bounded by the node, which admits only so many requests.
	queue []Input
}

func (d *disk) busy() bool    { return d.doing != nothing }
func (d *disk) wait(in Input) { d.queue = append(d.queue, in) }

// wait is disk.wait for inputs that are rare. It copies, so that no input of the
// hot path has to live on the heap because a rare one does.
func (r *Replica) wait(in Input) {
	switch in := in.(type) {
	case Configure:
		r.disk.wait(in)
	case FetchResponse:
		r.disk.wait(in)
	case OffsetResponse:
		r.disk.wait(in)
	case AlterPartitionResponse:
		r.disk.wait(in)
	case DeleteRecords:
		r.disk.wait(in)
	case Retained:
		r.disk.wait(in)
	}
}

// order gives the disk its one order.
func (r *Replica) order(what doing, e Effect) {
	if r.disk.busy() {
		panic(fmt.Sprintf("replica: order to %s while the disk has one to %s", what, r.disk.doing))
	}
	r.disk.doing = what
	r.emit(e)
}

// diskAnswered takes the answer to the order, and then what has waited for it.
func (r *Replica) diskAnswered(in Input) {
	if r.role == Offline {
		return // of an order given before
	}
	switch in := in.(type) {
	case Appended:
		r.answered(appending)
		r.appended()
	case AppendRejected:
		r.answered(appending)
		r.appendRejected(in.Err)
		if len(r.leader.appended) > 0 {
			r.syncIfDue()
		}
	case Synced:
		r.answered(syncing)
		r.log.flushed = r.log.end
		r.appendDone()
	case Truncated:
		r.answered(truncating)
		r.truncated(in)
	case EpochStored:
		r.answered(storing)
		r.epochStored()
	case DiskFailed:
		r.goOffline()
	}
	for len(r.disk.queue) > 0 && !r.disk.busy() {
		next := r.disk.queue[0]
		r.disk.queue[0] = nil
		r.disk.queue = r.disk.queue[1:]
		r.act(next)
	}
	if len(r.disk.queue) == 0 {
		r.disk.queue = nil
	}
}

func (r *Replica) answered(what doing) {
	if r.disk.doing != what {
		panic(fmt.Sprintf("replica: answer to %q, the order was %q", what, r.disk.doing))
	}
	r.disk.doing = nothing
}

// appended is after the bytes are written and before they are synced: the log
// end offset moves, readers see the records, and nobody is told yet
// (UnifiedLog.append flushes last).
func (r *Replica) appended() {
	if l := r.leader; l != nil {
		for i := range l.remotes {
			if l.remotes[i].end() == r.log.end {
				l.remotes[i].behindMs = r.nowMs
			}
		}
		r.log.append(l.appending.Batch)
		l.appended, l.appending = append(l.appended, l.appending), Produce{}
	} else {
		for _, b := range r.follower.applying.Batches {
			r.log.append(b)
		}
	}
	r.syncIfDue()
}

// syncIfDue is what follows an append. Batches that wait are appended first, so that
// one sync is for all of them: under the lock of Kafka's log each has its own, and the
// last of many producers waits for as many syncs.
func (r *Replica) syncIfDue() {
	if n := r.settings.FlushMessages; n <= 0 || int64(r.log.end-r.log.flushed) < n {
		r.appendDone()
		return
	}
	for p, ok := r.disk.nextProduce(); ok; p, ok = r.disk.nextProduce() {
		r.produce(p)
		if r.disk.busy() {
			return
		}
	}
	r.order(syncing, Sync{UpTo: r.log.end})
}

// nextProduce takes the next batch that waits. It passes by followers' fetches, which
// wait for a HW and an ISR that stand until the sync is done, and by nothing else.
func (d *disk) nextProduce() (Produce, bool) {
	for i, in := range d.queue {
		switch in := in.(type) {
		case Produce:
			d.queue = slices.Delete(d.queue, i, i+1)
			return in, true
		case fetchRecorded:
		default:
			return Produce{}, false
		}
	}
	return Produce{}, false
}

func (l *log) append(b Batch) {
	l.epochs.Assign(b.LeaderEpoch, b.BaseOffset)
	l.producers.Apply(b)
	l.end = b.NextOffset()
}

// appendDone is after an append that may be told of.
func (r *Replica) appendDone() {
	r.emit(LogGrew{End: r.log.end})
	if r.leader != nil {
		r.produceAppended()
	} else {
		r.responseAppended()
	}
}

// goOffline answers all that waits with KAFKA_STORAGE_ERROR and does nothing
// more (LogDirFailureChannel). What the log holds is for recovery to find out.
func (r *Replica) goOffline() {
	was := r.disk
	r.disk = disk{}
	if l := r.leader; l != nil {
		for _, p := range l.appended {
			r.emit(ProduceReply{Token: p.Token, Err: KafkaStorageError, Base: NoOffset, LogStart: NoOffset})
		}
		if was.doing == appending {
			r.emit(ProduceReply{Token: l.appending.Token, Err: KafkaStorageError, Base: NoOffset, LogStart: NoOffset})
		}
		r.failWaiting(KafkaStorageError)
	} else if r.follower != nil {
		r.emit(FetchStop{})
	}
	r.leader, r.follower, r.electing, r.role = nil, nil, nil, Offline
	r.emit(RoleChanged{Role: Offline})
	for _, in := range was.queue {
		r.act(in)
	}
}
