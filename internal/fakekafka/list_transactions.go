package fakekafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Transaction is what a coordinator has of a transactional id.
type Transaction struct {
	ID         string
	ProducerID int64
	Epoch      int16
	// State is Kafka's word, such as Ongoing.
	State       string
	TimeoutMs   int32
	StartMs     int64
	Coordinator int32
	// Partitions are those in the transaction, by topic.
	Partitions map[string][]int32
}

var transactionStates = []string{
	"Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort", "Dead", "PrepareEpochFence",
}

// listTransactions lists what the broker coordinates. What the client may not see
// is left out without an error, as in Kafka. It filters by state and producer id,
// and not by duration or pattern.
func (v *view) listTransactions(req *kmsg.ListTransactionsRequest) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.ListTransactionsResponse)
	resp.UnknownStateFilters = []string{}
	resp.TransactionStates = []kmsg.ListTransactionsResponseTransactionState{}
	for _, s := range req.StateFilters {
		if !slices.Contains(transactionStates, s) {
			resp.UnknownStateFilters = append(resp.UnknownStateFilters, s)
		}
	}
	if v.denied(kmsg.ListTransactions) {
		return resp
	}
	for i := range v.model.Transactions {
		t := &v.model.Transactions[i]
		if t.Coordinator != v.self.ID ||
			len(req.StateFilters) > 0 && !slices.Contains(req.StateFilters, t.State) ||
			len(req.ProducerIDFilters) > 0 && !slices.Contains(req.ProducerIDFilters, t.ProducerID) {
			continue
		}
		s := kmsg.NewListTransactionsResponseTransactionState()
		s.TransactionalID, s.ProducerID, s.TransactionState = t.ID, t.ProducerID, t.State
		resp.TransactionStates = append(resp.TransactionStates, s)
	}
	return resp
}
