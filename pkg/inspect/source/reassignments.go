package source

import (
	"context"

	"github.com/IBM/sarama"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
)

// reassignments asks which replicas are being added and removed. sarama cannot
// say "all" (its empty list means none), so every partition is named.
func (p *pass) reassignments(ctx context.Context, boot *connect.Conn) {
	if p.noPartitions() {
		return
	}
	const request = "ListPartitionReassignments"
	nobody := inspect.Unknown[inspect.BrokerID]()
	if _, ok := p.version(boot, nobody, keyListReassignments, 0, "reassignments are unknown"); !ok {
		return
	}
	req := &sarama.ListPartitionReassignmentsRequest{TimeoutMs: int32(p.src.timeout.Milliseconds() / 3)}
	for i := range p.snap.Topics {
		t := &p.snap.Topics[i]
		ids := make([]int32, len(t.Partitions))
		for j := range t.Partitions {
			ids[j] = t.Partitions[j].Index
		}
		if len(ids) > 0 {
			req.AddBlock(t.Name, ids)
		}
	}
	at := boot.Addr()
	resp, err := p.askReassignments(ctx, boot, req)
	if err == nil && resp.ErrorCode == sarama.ErrNotController {
		if controller := p.snap.Broker(p.toldController); controller != nil {
			at = controller.Address()
			resp, err = p.askControllerForReassignments(ctx, controller, req)
		}
	}
	var f inspect.Failure
	switch {
	case err != nil:
		f = failureOf(nobody, err)
		if held(err) && p.src.controllers != nil && p.query.Parts.Has(inspect.PartQuorum) {
			// The controllers are asked past the brokers, so that this alone shows a broker
			// that is cut off from them: whether it is, another one tells.
			p.quorumByOthers(ctx, at)
		}
	case resp.ErrorCode != sarama.ErrNoError:
		f = refusal(nobody, at, request, int16(resp.ErrorCode))
	default:
		p.setReassignments(resp)
		return
	}
	f.Lost = "reassignments are unknown"
	p.fail(f)
}

// askControllerForReassignments is for clusters with ZooKeeper: brokers there do
// not pass the request on to the controller, which is one of them, and all of them
// tell which.
func (p *pass) askControllerForReassignments(
	ctx context.Context, controller *inspect.Broker, req *sarama.ListPartitionReassignmentsRequest,
) (*sarama.ListPartitionReassignmentsResponse, error) {
	conn, err := p.open(ctx, controller)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return p.askReassignments(ctx, conn, req)
}

func (p *pass) askReassignments(
	ctx context.Context, conn *connect.Conn, req *sarama.ListPartitionReassignmentsRequest,
) (*sarama.ListPartitionReassignmentsResponse, error) {
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	return connect.Ask(ctx, conn, "ListPartitionReassignments", func(b *sarama.Broker) (*sarama.ListPartitionReassignmentsResponse, error) {
		return b.ListPartitionReassignments(req)
	})
}

func (p *pass) setReassignments(resp *sarama.ListPartitionReassignmentsResponse) {
	for part := range p.snap.Partitions {
		part.Adding, part.Removing = inspect.Known[[]inspect.BrokerID](nil), inspect.Known[[]inspect.BrokerID](nil)
		if status := resp.TopicStatus[part.Topic][part.Index]; status != nil {
			part.Adding = inspect.Known(brokerIDs(status.AddingReplicas))
			part.Removing = inspect.Known(brokerIDs(status.RemovingReplicas))
		}
	}
}

func (p *pass) noPartitions() bool {
	for range p.snap.Partitions {
		return false
	}
	return true
}
