package source_test

import (
	"strings"
	"testing"
	"time"

	"github.com/kafkaops/kafkaops/internal/fakekafka"
	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// transactional has t-0, led by 1, held by "pay" (producer 7), which broker 2
// coordinates, and t-1, led by 2, held by producer 9, which nobody coordinates.
func transactional() *fakekafka.Model {
	m := fakekafka.NewModel(3)
	topic := m.AddTopic("t", 3, 3)
	now := time.Now().UnixMilli()
	for i, id := range []int64{7, 9} {
		p := topic.Partitions[i]
		p.HW, p.LSO = 50, new(int64(10))
		p.Producers = []fakekafka.Producer{{ID: id, TxnStart: 10, LastTimestampMs: now - 3_600_000}, {ID: 1, TxnStart: -1}}
	}
	topic.Partitions[2].AppendPerRead = 100 // its HW is read after its LSO
	m.Transactions = []fakekafka.Transaction{
		{ID: "pay", ProducerID: 7, State: "Ongoing", TimeoutMs: 60_000, StartMs: now - 1000, Coordinator: 2, Partitions: map[string][]int32{"t": {0}}},
		{ID: "done", ProducerID: 9, State: "CompleteCommit", Coordinator: 3},
	}
	return m
}

const transactionParts = inspect.PartTransactions | inspect.PartOffsets

func TestTransactions(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, transactional())
	s := snapshot(t, c.Bootstrap(), transactionParts, ample)
	open := s.OpenTransactions()
	if !s.Complete() || len(open) != 2 {
		t.Fatalf("open = %+v, failures %s; want two", open, texts(s.Failures))
	}
	if o := open[0]; o.ID != inspect.Known("pay") || o.Status != inspect.TransactionOpen || o.Coordinator != inspect.Known[inspect.BrokerID](2) || !o.Partitions[0].HoldsLSO.Or(false) {
		t.Errorf("first = %+v, want pay, open, holding t-0", o)
	}
	if o := open[1]; o.ID.IsKnown() || o.Status != inspect.TransactionHanging || o.ProducerID != inspect.Known[int64](9) {
		t.Errorf("second = %+v, want producer 9, hanging", o)
	}
	for key, want := range map[kmsg.Key]int{
		kmsg.ListTransactions: 3, kmsg.DescribeTransactions: 1, kmsg.DescribeProducers: 4, kmsg.FindCoordinator: 0,
	} {
		if got := c.Count(key); got != want {
			t.Errorf("%d %s requests, want %d", got, key.Name(), want)
		}
	}
}

// A transaction that ends between the rounds is not a hanging one.
func TestTransactionEndsMeanwhile(t *testing.T) {
	t.Parallel()
	c := fakekafka.Start(t, transactional())
	c.Intercept(func(_ int32, req kmsg.Request) (kmsg.Response, bool) {
		if _, ok := req.(*kmsg.ListTransactionsRequest); ok {
			c.Change(func(m *fakekafka.Model) { m.Topic("t").Partitions[1].Producers = nil })
		}
		return nil, false
	})
	s := snapshot(t, c.Bootstrap(), transactionParts, ample)
	if o := s.OpenTransactions(); len(o) != 2 || o[1].Status != inspect.TransactionUnknown {
		t.Errorf("open = %+v, want the second unknown", o)
	}
}

func TestTransactionsPartly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		break3  fakekafka.Faults
		deny    []kmsg.Key
		failure string
		why     string // of the last
	}{
		"a coordinator is silent":         {break3: fakekafka.Faults{HangOn: []kmsg.Key{kmsg.ListTransactions}}, failure: "no reply to ListTransactions within ", why: "not every broker"},
		"a broker is down":                {break3: fakekafka.Faults{Refuse: true}, failure: "refused", why: "not every broker"},
		"producers may not be described":  {deny: []kmsg.Key{kmsg.DescribeProducers}, failure: "grant READ on the topic", why: "was not told"},
		"transactions may not be listed":  {deny: []kmsg.Key{kmsg.ListTransactions}, why: "no coordinator has it"},
		"they may be listed and no more":  {deny: []kmsg.Key{kmsg.DescribeTransactions}, why: "no coordinator has it"},
		"before Kafka 3.0 there are none": {deny: nil, why: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := transactional()
			m.Deny = tt.deny
			if tt.why == "" {
				m.APIs = fakekafka.APIs(kmsg.ListTransactions)
			}
			c := fakekafka.Start(t, m)
			c.Break(3, tt.break3)
			s := snapshot(t, c.Addr(1), transactionParts, 3*time.Second)
			open := s.OpenTransactions()
			if tt.why == "" {
				if len(open) > 0 || !s.Complete() || s.Transactions.IsKnown() {
					t.Errorf("open = %+v, failures %s; want none, and complete", open, texts(s.Failures))
				}
				return
			}
			if !strings.Contains(texts(s.Failures), tt.failure) || tt.failure == "" && !s.Complete() {
				t.Errorf("failures = %s, want %q", texts(s.Failures), tt.failure)
			}
			if last := open[len(open)-1]; !strings.Contains(last.Why, tt.why) {
				t.Errorf("last = %+v, want %q", last, tt.why)
			}
		})
	}
}
