package node

import (
	"regexp"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
	"github.com/kafkaops/kafkaops/pkg/embedded/machine"
	"github.com/kafkaops/kafkaops/pkg/embedded/metadata"
	"github.com/kafkaops/kafkaops/pkg/embedded/replica"
)

// describeProducers tells what logs know of their producers, of any replica that is here
// (KIP-664).
func (n *Node) describeProducers(token machine.Token, req *kmsg.DescribeProducersRequest) {
	resp := req.ResponseKind().(*kmsg.DescribeProducersResponse)
	resp.Topics = []kmsg.DescribeProducersResponseTopic{}
	for _, asked := range req.Topics {
		t := kmsg.NewDescribeProducersResponseTopic()
		t.Topic, t.Partitions = asked.Topic, []kmsg.DescribeProducersResponseTopicPartition{}
		for _, index := range asked.Partitions {
			t.Partitions = append(t.Partitions, n.producersOf(asked.Topic, index))
		}
		resp.Topics = append(resp.Topics, t)
	}
	n.reply(token, resp)
}

func (n *Node) producersOf(topic string, index int32) kmsg.DescribeProducersResponseTopicPartition {
	out := kmsg.NewDescribeProducersResponseTopicPartition()
	out.Partition, out.ActiveProducers = index, []kmsg.DescribeProducersResponseTopicPartitionActiveProducer{}
	if err := metadata.CheckTopicName(topic); err != nil {
		out.ErrorCode, out.ErrorMessage = int16(invalidTopic), kmsg.StringPtr(err.Error())
		return out
	}
	if _, ok := n.follow.image.Topic(topic); !ok {
		out.ErrorCode, out.ErrorMessage = int16(replica.UnknownTopicOrPartition), kmsg.StringPtr("there is no topic "+topic)
		return out
	}
	p, code := n.byName(topic, index)
	if out.ErrorCode = int16(code); code != replica.None {
		return out
	}
	producers := p.log.Producers()
	for _, producer := range producers.Snapshot() {
		a := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
		a.ProducerID, a.ProducerEpoch, a.LastSequence = producer.ID, int32(producer.Epoch), producer.LastSequence()
		a.LastTimestamp, a.CoordinatorEpoch, a.CurrentTxnStartOffset = producer.LastTimestampMs, producer.CoordinatorEpoch, -1
		if producer.TxnStart != logstate.NoOffset {
			a.CurrentTxnStartOffset = int64(producer.TxnStart)
		}
		out.ActiveProducers = append(out.ActiveProducers, a)
	}
	return out
}

// transactionStates are those that ListTransactions can filter by
// (TransactionState.ALL_STATES).
var transactionStates = []string{
	"CompleteAbort", "CompleteCommit", "Dead", "Empty", "Ongoing", "PrepareAbort", "PrepareCommit", "PrepareEpochFence",
}

// listTransactions lists none, as none can begin here.
func (n *Node) listTransactions(token machine.Token, req *kmsg.ListTransactionsRequest) {
	resp := req.ResponseKind().(*kmsg.ListTransactionsResponse)
	resp.UnknownStateFilters, resp.TransactionStates = []string{}, []kmsg.ListTransactionsResponseTransactionState{}
	defer n.reply(token, resp)
	if req.TransactionalIDPattern != nil {
		if _, err := regexp.Compile(*req.TransactionalIDPattern); err != nil {
			resp.ErrorCode = int16(invalidRegularExpression)
			return
		}
	}
	for _, state := range req.StateFilters {
		if !slices.Contains(transactionStates, state) {
			resp.UnknownStateFilters = append(resp.UnknownStateFilters, state)
		}
	}
}

// describeTransactions knows none: this broker coordinates no transactions
// (TransactionCoordinator.handleDescribeTransactions).
func (n *Node) describeTransactions(token machine.Token, req *kmsg.DescribeTransactionsRequest) {
	resp := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
	resp.TransactionStates = make([]kmsg.DescribeTransactionsResponseTransactionState, len(req.TransactionalIDs))
	for i, id := range req.TransactionalIDs {
		resp.TransactionStates[i] = kmsg.NewDescribeTransactionsResponseTransactionState()
		resp.TransactionStates[i].TransactionalID = id
		resp.TransactionStates[i].ErrorCode = int16(notCoordinator)
		if id == "" {
			resp.TransactionStates[i].ErrorCode = int16(replica.InvalidRequest)
		}
		resp.TransactionStates[i].Topics = []kmsg.DescribeTransactionsResponseTransactionStateTopic{}
	}
	n.reply(token, resp)
}
