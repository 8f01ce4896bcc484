package replica

import (
	"errors"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// acksAll is what acks=all is on the wire.
const acksAll int16 = -1

// produce admits a batch and lets the disk append it, or refuses it with nothing
// written (ReplicaManager.appendRecords, Partition.appendRecordsToLeader).
func (r *Replica) produce(p Produce) {
	if err := r.admit(p); err != None {
		r.emit(ProduceReply{Token: p.Token, Err: err, Base: NoOffset, LogStart: NoOffset})
		return
	}
	p.Batch = p.Batch.At(r.log.end, r.leaderEpoch)
	dup, isDup, err := r.log.producers.Check(p.Batch)
	switch {
	case isDup:
		// It is in the log: answer as if it were appended now, but with where it
		// is, and with acks=all not before it is committed.
		p.Batch.BaseOffset, p.Batch.LastOffset = dup.BaseOffset, dup.LastOffset
		if len(r.leader.appended) > 0 {
			// It may be one of those that are not synced yet.
			r.leader.appended = append(r.leader.appended, p)
			return
		}
		r.settle(p)
	case errors.Is(err, logstate.ErrInvalidProducerEpoch):
		r.emit(ProduceReply{Token: p.Token, Err: InvalidProducerEpoch, Base: NoOffset, LogStart: NoOffset})
	case err != nil:
		r.emit(ProduceReply{Token: p.Token, Err: OutOfOrderSequenceNumber, Base: NoOffset, LogStart: NoOffset})
	default:
		r.leader.appending = p
		r.order(appending, Append{Token: p.Token, Base: r.log.end, LeaderEpoch: r.leaderEpoch, Batches: 1})
	}
}

func (r *Replica) admit(p Produce) Code {
	switch {
	case p.Acks < acksAll || p.Acks > 1:
		return InvalidRequiredAcks
	case r.role == Offline:
		return KafkaStorageError
	case r.leader == nil:
		return NotLeaderOrFollower
	case p.Acks == acksAll && r.underMinISR():
		return NotEnoughReplicas
	}
	return None
}

// produceAppended is after the append, and the sync where one is due.
func (r *Replica) produceAppended() {
	r.maybeAdvanceHW()
	for _, p := range r.leader.appended {
		r.settle(p)
	}
	r.leader.appended = r.leader.appended[:0]
}

func (r *Replica) appendRejected(err Code) {
	p := r.leader.appending
	r.leader.appending = Produce{}
	r.emit(ProduceReply{Token: p.Token, Err: err, Base: NoOffset, LogStart: NoOffset})
}

// settle answers a produce that is in the log, or lets it wait for its records
// to be committed (DelayedProduce).
func (r *Replica) settle(p Produce) {
	w := waiting{
		token: p.Token, base: p.Batch.BaseOffset, until: p.Batch.NextOffset(), deadlineMs: r.nowMs + p.TimeoutMs,
	}
	if p.Acks == acksAll && r.log.hw < w.until {
		r.leader.produces.add(w)
		return
	}
	err := None
	if p.Acks == acksAll {
		err = r.enoughReplicas()
	}
	r.replyProduce(w, err)
}

func (r *Replica) replyProduce(w waiting, err Code) {
	r.emit(ProduceReply{Token: w.token, Err: err, Base: w.base, LogStart: r.log.start})
}

// enoughReplicas judges records below the HW (Partition.checkEnoughReplicasReachOffset).
// In Kafka the ISR may become too small between the HW's passing and this look.
// Here nothing comes between, and the HW stands while the ISR is too small: so it
// says no only if the gate of maybeAdvanceHW is broken.
func (r *Replica) enoughReplicas() Code {
	if r.leader.isr.maximalSize() < r.effectiveMinISR() {
		return NotEnoughReplicasAfterAppend
	}
	return None
}

// completeProduces answers those whose records the HW has passed.
func (r *Replica) completeProduces() {
	ps := &r.leader.produces
	for w, ok := ps.take(r.log.hw); ok; w, ok = ps.take(r.log.hw) {
		r.replyProduce(w, r.enoughReplicas())
	}
}

// expireProduces answers those whose time is up. Their records are in the log
// and may yet be committed: the producer does not know.
func (r *Replica) expireProduces() {
	for _, w := range r.leader.produces.takeExpired(r.nowMs) {
		r.replyProduce(w, RequestTimedOut)
	}
}
