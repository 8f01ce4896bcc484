package node

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// producerIDs are ids for idempotent producers, which the controller gives out in
// blocks (RPCProducerIdManager). Who asks while there is none is told to come
// again.
type producerIDs struct {
	block, next idBlock
	asking      bool
	// notBeforeMs is the pause after an error.
	notBeforeMs int64
}

// idBlock is the ids in [first, end), of which those from first on are not given
// out.
type idBlock struct{ first, end, ahead int64 }

const (
	// idRetryMs is RPCProducerIdManager.RETRY_BACKOFF_MS.
	idRetryMs = 50
	// idPrefetch is the share of a block after which the next one is asked for, in
	// percent (RPCProducerIdManager.PREFETCH_THRESHOLD).
	idPrefetch = 90
)

// initProducerID gives an idempotent producer its id (KIP-98). Transactions have
// no coordinator here: their ids are refused for good, not as something to wait for.
func (n *Node) initProducerID(token machine.Token, req *kmsg.InitProducerIDRequest) {
	resp := req.ResponseKind().(*kmsg.InitProducerIDResponse)
	resp.ProducerID, resp.ProducerEpoch = -1, -1
	switch {
	case (req.ProducerID < 0) != (req.ProducerEpoch < 0), req.TransactionalID != nil && *req.TransactionalID == "":
		resp.ErrorCode = int16(replica.InvalidRequest)
	case req.TransactionalID != nil:
		resp.ErrorCode = int16(replica.UnsupportedVersion)
	default:
		if id, ok := n.ids.take(n); ok {
			resp.ProducerID, resp.ProducerEpoch = id, 0
		} else {
			resp.ErrorCode = int16(coordinatorLoadInProgress)
		}
	}
	n.reply(token, resp)
}

func (ids *producerIDs) take(n *Node) (int64, bool) {
	if ids.block.first == ids.block.end {
		ids.block, ids.next = ids.next, idBlock{}
	}
	if ids.block.first == ids.block.end {
		ids.ask(n)
		return 0, false
	}
	id := ids.block.first
	ids.block.first++
	if ids.block.first >= ids.block.ahead && ids.next == (idBlock{}) {
		ids.ask(n)
	}
	return id, true
}

func (ids *producerIDs) ask(n *Node) {
	if ids.asking || n.life.epoch < 0 || n.now.Mono < ids.notBeforeMs {
		return
	}
	ids.asking = true
	req := kmsg.NewPtrAllocateProducerIDsRequest()
	req.Version = req.MaxVersion()
	req.BrokerID, req.BrokerEpoch = n.opts.ID, n.life.epoch
	n.send(machine.Controller, req, ids)
}

// ended is ender's.
func (ids *producerIDs) ended(n *Node, body kmsg.Response) {
	ids.asking = false
	resp, ok := body.(*kmsg.AllocateProducerIDsResponse)
	if !ok || resp.ErrorCode != 0 || resp.ProducerIDLen <= 0 {
		ids.notBeforeMs = n.now.Mono + idRetryMs
		return
	}
	first, size := resp.ProducerIDStart, int64(resp.ProducerIDLen)
	ids.next = idBlock{first: first, end: first + size, ahead: first + size*idPrefetch/100}
}
