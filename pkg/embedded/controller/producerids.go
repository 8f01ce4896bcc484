package controller

import (
	"math"

	"github.com/kafkaops/kafkaops/internal/kraft"
)

// producerIDBlock is how many ids a broker gets at a time (Kafka's
// ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE).
const producerIDBlock = 1_000

// AllocateProducerIDs gives a broker producer ids that nobody else ever gets
// (KIP-730). It is answered with an [AllocateProducerIDsReply].
type AllocateProducerIDs struct {
	BrokerID    int32
	BrokerEpoch int64
}

// AllocateProducerIDsReply is the block [First, First+Len).
type AllocateProducerIDsReply struct {
	Err   *Error
	First int64
	Len   int32
}

// decide is ProducerIdControlManager.generateNextProducerId.
func (r AllocateProducerIDs) decide(op *operation) AllocateProducerIDsReply {
	if _, err := op.broker(r.BrokerID, r.BrokerEpoch); err != nil {
		return AllocateProducerIDsReply{Err: err}
	}
	first := op.image.NextProducerID()
	if first > math.MaxInt64-producerIDBlock {
		return AllocateProducerIDsReply{Err: errorf(UnknownServerError, "all producer ids are used up")}
	}
	op.write(&kraft.ProducerIDs{BrokerID: r.BrokerID, BrokerEpoch: r.BrokerEpoch, NextProducerID: first + producerIDBlock})
	return AllocateProducerIDsReply{First: first, Len: producerIDBlock}
}
