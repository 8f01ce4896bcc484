package inspect

import (
	"strings"
	"testing"
	"time"
)

// waiting is a cluster whose partition t-0 has its LSO at 10 and its HW at 50.
func waiting(tx Transactions) *Snapshot {
	s := cluster(part(1, "123", "123", 2), part(1, "123", "123", 2))
	s.TakenAt = leaderClock
	for i := range s.Topics[0].Partitions {
		lso := Offset(10 + 40*i)
		s.Topics[0].Partitions[i].Offsets = &Offsets{LSO: Known(lso), HW: Known[Offset](50)}
	}
	s.Transactions = Known(tx)
	return s
}

func TestOpenTransactions(t *testing.T) {
	t.Parallel()
	t0 := TopicPartition{"t", 0}
	holder := func(wroteAgo time.Duration, confirmed bool) []OpenProducer {
		return []OpenProducer{{
			TopicPartition: t0, ProducerID: 7, Start: 10, LastWrite: Known(leaderClock.Add(-wroteAgo)), Confirmed: confirmed,
		}}
	}
	coordinated := func(openFor time.Duration, parts ...TopicPartition) []Transaction {
		return []Transaction{{
			ID: "x", ProducerID: 7, Coordinator: 2, State: "Ongoing", Timeout: Known(time.Minute),
			Started: Known(leaderClock.Add(-openFor)), Partitions: Known(parts),
		}}
	}
	for _, tt := range []struct {
		name   string
		tx     Transactions
		status TransactionStatus
		why    string
	}{
		{"young", Transactions{Complete: true, Coordinated: coordinated(30*time.Second, t0), Producers: holder(time.Second, false)}, TransactionOpen, ""},
		{"past its timeout, being aborted", Transactions{Complete: true, Coordinated: coordinated(6*time.Minute, t0), Producers: holder(time.Second, false)}, TransactionOpen, ""},
		{"past its timeout and the grace", Transactions{Complete: true, Coordinated: coordinated(6*time.Minute+1, t0), Producers: holder(time.Second, false)}, TransactionHanging, "open for 6m0s with a timeout of 1m0s"},
		{"coordinator lists another partition", Transactions{Complete: true, Coordinated: coordinated(time.Second), Producers: holder(time.Second, true)}, TransactionHanging, "does not have t-0 in it"},
		{"the same, not confirmed", Transactions{Complete: true, Coordinated: coordinated(time.Second), Producers: holder(time.Second, false)}, TransactionOpen, ""},
		{"not described", Transactions{Complete: true, Coordinated: []Transaction{{ID: "x", ProducerID: 7}}, Producers: holder(time.Second, false)}, TransactionUnknown, "since when"},
		{"no coordinator, silent", Transactions{Complete: true, Producers: holder(20*time.Minute+1, true)}, TransactionHanging, "it wrote last 20m0s ago"},
		{"no coordinator, lively", Transactions{Complete: true, Producers: holder(20*time.Minute, true)}, TransactionSuspect, "no coordinator has it"},
		{"no coordinator, gone meanwhile", Transactions{Complete: true, Producers: holder(time.Hour, false)}, TransactionUnknown, "ending or changing"},
		{"a coordinator did not answer", Transactions{Producers: holder(time.Hour, true)}, TransactionUnknown, "not every broker"},
		{"the leader did not tell", Transactions{Complete: true}, TransactionUnknown, "was not told"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			open := waiting(tt.tx).OpenTransactions()
			// Where the leader tells nobody, the partition stands for itself.
			last := open[len(open)-1]
			if tt.name == "not described" {
				last = open[0]
			}
			if len(open) != 1 || last.Status != tt.status || !strings.Contains(last.Why, tt.why) || tt.why == "" && last.Why != "" {
				t.Errorf("got %d, the last %s %q; want one, %s %q", len(open), last.Status, last.Why, tt.status, tt.why)
			}
			p := last.Partitions[0]
			if p.TopicPartition != t0 || p.HoldsLSO != Known(true) || p.HW != Known[Offset](50) {
				t.Errorf("partition = %+v, want t-0 held at 10 of 50", p)
			}
		})
	}
	if open := waiting(Transactions{Complete: true, Told: []TopicPartition{t0}}).OpenTransactions(); len(open) != 0 {
		t.Errorf("records came in between LSO and HW, and no transaction: %+v", open)
	}
	// The leader did not tell, so that the transaction may be who holds the LSO.
	open := waiting(Transactions{Complete: true, Coordinated: coordinated(time.Second, t0)}).OpenTransactions()
	if len(open) != 2 || open[0].Partitions[0].HoldsLSO.IsKnown() || open[1].Partitions[0].HoldsLSO != Known(true) {
		t.Errorf("the leader did not tell who holds the LSO: %+v, want x, which may, and somebody, who does", open)
	}
	if open := cluster().OpenTransactions(); open != nil {
		t.Errorf("not asked: %+v", open)
	}
}

// Only the transaction that starts at the LSO holds it; a later one waits too.
func TestWhoHoldsTheLSO(t *testing.T) {
	t.Parallel()
	open := waiting(Transactions{Complete: true, Producers: []OpenProducer{
		{TopicPartition: TopicPartition{"t", 0}, ProducerID: 8, Start: 30},
		{TopicPartition: TopicPartition{"t", 0}, ProducerID: 7, Start: 10},
	}}).OpenTransactions()
	if len(open) != 2 || open[0].Partitions[0].HoldsLSO != Known(true) || open[1].Partitions[0].HoldsLSO != Known(false) {
		t.Errorf("open = %+v, want 7 to hold the LSO and 8 not", open)
	}
}
