package render

import (
	"io"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
)

func openTransactions() []inspect.OpenTransaction {
	ago := func(d time.Duration) inspect.Opt[time.Time] { return inspect.Known(takenAt.Add(-d)) }
	held := func(topic string, n int32, lso, hw inspect.Offset) inspect.OpenPartition {
		return inspect.OpenPartition{
			TopicPartition: inspect.TopicPartition{Topic: topic, Partition: n}, Start: inspect.Known(lso),
			LSO: inspect.Known(lso), HW: inspect.Known(hw), HoldsLSO: inspect.Known(true),
		}
	}
	return []inspect.OpenTransaction{
		{
			ID: inspect.Known("billing-7"), ProducerID: inspect.Known[int64](4002), ProducerEpoch: inspect.Known[int32](3),
			Coordinator: inspect.Known[inspect.BrokerID](2), State: inspect.Known("PrepareAbort"), Started: ago(3 * time.Hour),
			Timeout: inspect.Known(time.Minute), LastWrite: ago(3 * time.Hour), Status: inspect.TransactionHanging,
			Why: "open for 3h0m0s with a timeout of 1m0s",
			Partitions: []inspect.OpenPartition{held("orders", 0, 1200, 921_404), {
				TopicPartition: inspect.TopicPartition{Topic: "orders", Partition: 1}, HoldsLSO: inspect.Known(false),
			}},
		},
		{
			ID: inspect.Known("etl"), ProducerID: inspect.Known[int64](4003), ProducerEpoch: inspect.Known[int32](0),
			Coordinator: inspect.Known[inspect.BrokerID](1), State: inspect.Known("Ongoing"), Started: ago(1500 * time.Millisecond),
			Timeout: inspect.Known(time.Minute), Status: inspect.TransactionOpen,
			Partitions: []inspect.OpenPartition{{
				TopicPartition: inspect.TopicPartition{Topic: "secret", Partition: 0},
				LSO:            inspect.Known[inspect.Offset](5), HW: inspect.Known[inspect.Offset](9),
			}},
		},
		{
			ProducerID: inspect.Known[int64](77), ProducerEpoch: inspect.Known[int32](1), LastWrite: ago(time.Minute),
			Status: inspect.TransactionSuspect, Why: "no coordinator has it that these credentials may see (DESCRIBE on transactional ids)",
			Partitions: []inspect.OpenPartition{held("audit", 2, 5, 9)},
		},
		{
			Status: inspect.TransactionUnknown, Why: "its LSO is below its HW, and whose transaction holds it was not told",
			Partitions: []inspect.OpenPartition{held("secret", 0, 5, 9)},
		},
	}
}

func TestTransactionsScreens(t *testing.T) {
	t.Parallel()
	some := func(w io.Writer, v View, s *inspect.Snapshot) error { return Transactions(w, v, s, openTransactions()) }
	none := func(w io.Writer, v View, s *inspect.Snapshot) error {
		return Transactions(w, v, s, s.OpenTransactions())
	}
	quiet := healthy()
	quiet.Transactions = inspect.Known(inspect.Transactions{Complete: true})
	checkFacets(t, "transactions.txtar", facet{"some", healthy(), some}, facet{"none", quiet, none}, facet{"old", healthy(), none})
}
