package fakekafka

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func (v *view) describeTransactions(req *kmsg.DescribeTransactionsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.DescribeTransactionsResponse)
	resp.TransactionStates = []kmsg.DescribeTransactionsResponseTransactionState{}
	for _, id := range req.TransactionalIDs {
		s := kmsg.NewDescribeTransactionsResponseTransactionState()
		s.TransactionalID, s.Topics = id, []kmsg.DescribeTransactionsResponseTransactionStateTopic{}
		i := slices.IndexFunc(v.model.Transactions, func(t Transaction) bool { return t.ID == id })
		switch {
		case v.denied(kmsg.DescribeTransactions):
			s.ErrorCode = transactionalIDAuthorizationFailed
		case i < 0:
			s.ErrorCode = transactionalIDNotFound
		case v.model.Transactions[i].Coordinator != v.self.ID:
			s.ErrorCode = notCoordinator
		default:
			t := &v.model.Transactions[i]
			s.State, s.TimeoutMillis, s.StartTimestamp = t.State, t.TimeoutMs, t.StartMs
			s.ProducerID, s.ProducerEpoch = t.ProducerID, t.Epoch
			for _, topic := range slices.Sorted(maps.Keys(t.Partitions)) {
				s.Topics = append(s.Topics, kmsg.DescribeTransactionsResponseTransactionStateTopic{
					Topic: topic, Partitions: list(t.Partitions[topic]),
				})
			}
		}
		resp.TransactionStates = append(resp.TransactionStates, s)
	}
	return resp
}
