package cli

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/kafkatest"
	"github.com/twmb/franz-go/pkg/kgo"
)

// realTransactions opens a transaction and wants what kafka-transactions.sh says
// of it, then ends it.
func realTransactions(t *testing.T, c *kafkatest.Cluster) {
	if onEngine {
		t.Skip("the engine has no transactions")
	}
	c.CreateTopic(t, "paid", [][]int32{{2, 3, 1}}, nil)
	producer, err := kgo.NewClient(
		kgo.SeedBrokers(c.Bootstrap()...), kgo.TransactionalID("pay"), kgo.TransactionTimeout(5*time.Minute),
		kgo.DefaultProduceTopic("paid"),
	)
	if err != nil {
		t.Fatal(err)
	}
	defer producer.Close()
	c.ProduceRecords(t, "paid", 0, 5, kafkatest.AcksAll, 10)
	if err := producer.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := producer.ProduceSync(t.Context(), kgo.StringRecord("a"), kgo.StringRecord("b")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	type partition struct {
		Topic                                        string
		StartOffset, LastStableOffset, HighWatermark *int64
		HoldsLSO                                     bool
	}
	type item struct {
		TransactionalID       string
		ProducerID, TimeoutMs int64
		ProducerEpoch         int32
		Coordinator           int32
		State, Status         string
		Partitions            []partition
	}
	var open item
	kafkatest.Eventually(t, time.Minute, func() error {
		items, _, exit := document[item](t, c, "describe", "transactions", "--exit-code")
		if exit != 0 || len(items) != 1 || len(items[0].Partitions) != 1 || !items[0].Partitions[0].HoldsLSO {
			return fmt.Errorf("exit %d, %+v; want one that holds one LSO", exit, items)
		}
		open = items[0]
		return nil
	})
	show(t, c, "describe", "transactions")
	p := open.Partitions[0]
	if open.Status != "open" || *p.LastStableOffset != 5 || *p.HighWatermark != 7 {
		t.Errorf("transaction = %+v, LSO %d, HW %d; want open, 5, 7", open, *p.LastStableOffset, *p.HighWatermark)
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, say := range []struct {
		args []string
		want map[string]string
	}{
		{[]string{"list"}, map[string]string{
			"TransactionalId": "pay", "Coordinator": number(int64(open.Coordinator)), "ProducerId": number(open.ProducerID), "TransactionState": open.State,
		}},
		{[]string{"describe", "--transactional-id", "pay"}, map[string]string{
			"CoordinatorId": number(int64(open.Coordinator)), "ProducerEpoch": number(int64(open.ProducerEpoch)),
			"TransactionTimeoutMs": number(open.TimeoutMs), "TopicPartitions": "paid-0",
		}},
		{[]string{"describe-producers", "--topic", "paid", "--partition", "0"}, map[string]string{
			"ProducerId": number(open.ProducerID), "CurrentTransactionStartOffset": number(*p.StartOffset),
		}},
	} {
		text := tool(t, c, kafkatest.TransactionsCommand, say.args...)
		rows := toolRows(text)
		if len(rows) != 1 {
			t.Errorf("theirs, %v:\n%s", say.args, text)
			continue
		}
		for key, want := range say.want {
			if rows[0][key] != want {
				t.Errorf("%v: %s ours %q, theirs %q", say.args, key, want, rows[0][key])
			}
		}
	}
	if err := producer.EndTransaction(t.Context(), kgo.TryAbort); err != nil {
		t.Fatal(err)
	}
	kafkatest.Eventually(t, time.Minute, func() error {
		if items, _, exit := document[item](t, c, "describe", "transactions"); exit != 0 || len(items) != 0 {
			return fmt.Errorf("exit %d, %+v; want none", exit, items)
		}
		return nil
	})
}
