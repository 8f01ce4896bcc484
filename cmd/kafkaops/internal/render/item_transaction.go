package render

import (
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

// KindTransaction is describe transactions: TransactionItem, those of coordinators
// by transactional id, then those that only partitions know of by producer id,
// then partitions whose LSO may be held by nobody knows whom.
const KindTransaction Kind = "Transaction"

// TransactionItem is an open transaction.
type TransactionItem struct {
	// TransactionalID, Coordinator, State, Started and TimeoutMs are the
	// coordinator's; null where none told of it.
	TransactionalID inspect.Opt[string]           `json:"transactionalId"`
	ProducerID      inspect.Opt[int64]            `json:"producerId"`
	ProducerEpoch   inspect.Opt[int32]            `json:"producerEpoch"`
	Coordinator     inspect.Opt[inspect.BrokerID] `json:"coordinator"`
	State           inspect.Opt[string]           `json:"state"`
	Started         inspect.Opt[Time]             `json:"started"`
	// OpenMs is how long it had been open when the pass began.
	OpenMs    inspect.Opt[int64] `json:"openMs"`
	TimeoutMs inspect.Opt[int64] `json:"timeoutMs"`
	// LastWrite is the timestamp of its last batch in any partition, as producers
	// set it; null where no leader was asked or told.
	LastWrite inspect.Opt[Time] `json:"lastWrite"`
	// Status is open; hanging (nobody will end it); suspect (no coordinator has it,
	// as far as these credentials may see); or unknown. Why says it in a sentence,
	// empty for open.
	Status     inspect.TransactionStatus `json:"status"`
	Why        string                    `json:"why"`
	Partitions []OpenPartitionItem       `json:"partitions"`
}

// OpenPartitionItem is a partition that a transaction is open in.
type OpenPartitionItem struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// StartOffset is the transaction's first there; null where the leader was not
	// asked, because its LSO is not held back, or did not tell.
	StartOffset inspect.Opt[inspect.Offset] `json:"startOffset"`
	LastWrite   inspect.Opt[Time]           `json:"lastWrite"`
	// LastStableOffset and HighWatermark are null where the LSO is not held back.
	LastStableOffset inspect.Opt[inspect.Offset] `json:"lastStableOffset"`
	HighWatermark    inspect.Opt[inspect.Offset] `json:"highWatermark"`
	// HoldsLSO: read_committed consumers wait for this transaction here. Null where
	// somebody holds it, and the leader did not tell who.
	HoldsLSO inspect.Opt[bool] `json:"holdsLso"`
}

// TransactionItems are the items of describe transactions.
func TransactionItems(s *inspect.Snapshot, open []inspect.OpenTransaction) []TransactionItem {
	items := make([]TransactionItem, 0, len(open))
	for i := range open {
		t := &open[i]
		item := TransactionItem{
			TransactionalID: t.ID, ProducerID: t.ProducerID, ProducerEpoch: t.ProducerEpoch, Coordinator: t.Coordinator,
			State: t.State, Started: optTime(t.Started), TimeoutMs: millis(t.Timeout), LastWrite: optTime(t.LastWrite),
			Status: t.Status, Why: t.Why, Partitions: []OpenPartitionItem{},
		}
		if since, ok := t.Started.Get(); ok {
			item.OpenMs = millis(inspect.Known(max(0, s.TakenAt.Sub(since)).Truncate(time.Millisecond)))
		}
		for j := range t.Partitions {
			p := &t.Partitions[j]
			item.Partitions = append(item.Partitions, OpenPartitionItem{
				Topic: p.Topic, Partition: p.Partition, StartOffset: p.Start, LastWrite: optTime(p.LastWrite),
				LastStableOffset: p.LSO, HighWatermark: p.HW, HoldsLSO: p.HoldsLSO,
			})
		}
		items = append(items, item)
	}
	return items
}
