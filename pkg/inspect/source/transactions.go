package source

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kafkaops/kafkaops/pkg/inspect"
	"github.com/kafkaops/kafkaops/pkg/inspect/connect"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// How transactions are read: leaders first, then coordinators, then leaders again.
//
//	round 0  DescribeProducers at the leaders of partitions with LSO < HW
//	round 1  ListTransactions and DescribeTransactions at every broker
//	round 2  DescribeProducers again, for what no coordinator has
//
// A transaction that ends between the rounds looks like one without a
// coordinator; only what leaders still tell in round 2 is Confirmed.

const (
	newestListTransactions = 2
	lostTransactions       = "transactions are unknown"
)

// openStates are those in which a transaction holds the LSO.
var openStates = [...]string{"Ongoing", "PrepareAbort", "PrepareCommit", "PrepareEpochFence"}

// transactions runs after the offsets have been read.
func (p *pass) transactions(ctx context.Context, boot *connect.Conn) {
	if _, ok := p.version(boot, inspect.Unknown[inspect.BrokerID](), keyListTransactions, newestListTransactions, lostTransactions); !ok {
		return
	}
	tx := &transactions{pass: p, clients: map[inspect.BrokerID]*kgo.Client{}}
	for i := range p.snap.Brokers {
		b := &p.snap.Brokers[i]
		if b.Fenced.Or(false) || !b.Reachable.Or(false) {
			tx.incomplete = tx.incomplete || !b.Fenced.Or(false)
			continue
		}
		client, err := p.src.conf.Kgo(b.Address())
		if err != nil {
			p.fail(failureOf(inspect.Known(b.ID), err))
			tx.incomplete = true
			continue
		}
		tx.clients[b.ID] = client
	}
	defer tx.close()
	tx.producers(ctx, tx.heldPartitions(), true)
	tx.coordinators(ctx)
	tx.confirm(ctx)
	slices.SortFunc(tx.out.Producers, compareProducers)
	slices.SortFunc(tx.out.Told, func(a, b inspect.TopicPartition) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	slices.SortFunc(tx.out.Coordinated, func(a, b inspect.Transaction) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(a.Coordinator, b.Coordinator))
	})
	tx.out.Complete = !tx.incomplete
	p.snap.Transactions = inspect.Known(tx.out)
}

func compareProducers(a, b inspect.OpenProducer) int {
	return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.ProducerID, b.ProducerID))
}

type transactions struct {
	pass    *pass
	clients map[inspect.BrokerID]*kgo.Client

	mu         sync.Mutex
	out        inspect.Transactions
	incomplete bool
}

// offers is pass.version at a broker that has been asked already.
func (tx *transactions) offers(id inspect.BrokerID, key, newest int16, lost string) bool {
	conn := tx.pass.asked[id]
	if conn == nil {
		return false
	}
	_, ok := tx.pass.version(conn, inspect.Known(id), key, newest, lost)
	return ok
}

func (tx *transactions) setIncomplete() {
	tx.mu.Lock()
	defer tx.mu.Unlock()
	tx.incomplete = true
}

func (tx *transactions) close() {
	for _, client := range tx.clients {
		client.Close()
	}
}

// heldPartitions are those whose LSO may be held back, by leader.
func (tx *transactions) heldPartitions() map[inspect.BrokerID][]inspect.TopicPartition {
	held := map[inspect.BrokerID][]inspect.TopicPartition{}
	for p := range tx.pass.snap.Partitions {
		if p.LSOBelowHW() {
			held[p.Leader] = append(held[p.Leader], inspect.TopicPartition{Topic: p.Topic, Partition: p.Index})
		}
	}
	return held
}

// producers asks leaders who has a transaction open. In the first round that is
// noted; later it confirms what was noted.
func (tx *transactions) producers(ctx context.Context, asked map[inspect.BrokerID][]inspect.TopicPartition, first bool) {
	var wg sync.WaitGroup
	for id, parts := range asked {
		client := tx.clients[id]
		if client == nil {
			continue
		}
		if !tx.offers(id, keyDescribeProducers, 0, "who holds the LSO is unknown") {
			continue
		}
		wg.Go(func() {
			open, told, err := tx.askProducers(ctx, client, id, parts, first)
			if err != nil {
				f := failureOf(inspect.Known(id), err)
				f.Lost = "who holds the LSO is unknown there"
				tx.pass.fail(f)
				return
			}
			tx.mu.Lock()
			defer tx.mu.Unlock()
			if first {
				tx.out.Producers = append(tx.out.Producers, open...)
				tx.out.Told = append(tx.out.Told, told...)
				return
			}
			for i := range tx.out.Producers {
				was := &tx.out.Producers[i]
				was.Confirmed = was.Confirmed || slices.ContainsFunc(open, func(o inspect.OpenProducer) bool {
					return o.TopicPartition == was.TopicPartition && o.ProducerID == was.ProducerID && o.Start == was.Start
				})
			}
		})
	}
	wg.Wait()
}

func (tx *transactions) askProducers(
	ctx context.Context, client *kgo.Client, id inspect.BrokerID, parts []inspect.TopicPartition, tell bool,
) (open []inspect.OpenProducer, told []inspect.TopicPartition, err error) {
	const request = "DescribeProducers"
	req := kmsg.NewPtrDescribeProducersRequest()
	for _, tp := range parts { // sorted by topic
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != tp.Topic {
			req.Topics = append(req.Topics, kmsg.DescribeProducersRequestTopic{Topic: tp.Topic})
		}
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, tp.Partition)
	}
	addr := tx.pass.snap.Broker(id).Address()
	resp, err := within(ctx, tx.pass, addr, request, func(ctx context.Context) (*kmsg.DescribeProducersResponse, error) {
		return req.RequestWith(ctx, client.SeedBrokers()[0])
	})
	if err != nil {
		return nil, nil, err
	}
	refused := newRefusals()
	for i := range resp.Topics {
		rt := &resp.Topics[i]
		for j := range rt.Partitions {
			rp := &rt.Partitions[j]
			tp := inspect.TopicPartition{Topic: rt.Topic, Partition: rp.Partition}
			if rp.ErrorCode != 0 {
				refused.add(rp.ErrorCode, tp.String())
				continue
			}
			told = append(told, tp)
			for _, a := range rp.ActiveProducers {
				if a.CurrentTxnStartOffset < 0 {
					continue
				}
				o := inspect.OpenProducer{
					TopicPartition: tp, ProducerID: a.ProducerID, ProducerEpoch: a.ProducerEpoch, Start: inspect.Offset(a.CurrentTxnStartOffset),
				}
				if a.LastTimestamp >= 0 {
					o.LastWrite = inspect.Known(time.UnixMilli(a.LastTimestamp).UTC())
				}
				open = append(open, o)
			}
		}
	}
	if tell {
		for _, r := range refused.sorted() {
			f := refusal(inspect.Known(id), addr, request, r.code)
			f.Lost = "who holds the LSO is unknown for " + r.what("partition")
			tx.pass.fail(f)
		}
	}
	return open, told, nil
}

// coordinators asks every broker for the open transactions that it coordinates.
func (tx *transactions) coordinators(ctx context.Context) {
	var wg sync.WaitGroup
	for id, client := range tx.clients {
		wg.Go(func() {
			found, err := tx.askCoordinator(ctx, client, id)
			tx.mu.Lock()
			defer tx.mu.Unlock()
			tx.out.Coordinated = append(tx.out.Coordinated, found...)
			if err != nil {
				tx.incomplete = true
				f := failureOf(inspect.Known(id), err)
				f.Lost = "the transactions that it coordinates are unknown, or since when they are open"
				tx.pass.fail(f)
			}
		})
	}
	wg.Wait()
}

// askCoordinator returns what is known also where the second request fails.
func (tx *transactions) askCoordinator(ctx context.Context, client *kgo.Client, id inspect.BrokerID) ([]inspect.Transaction, error) {
	if !tx.offers(id, keyListTransactions, newestListTransactions, lostTransactions) {
		tx.setIncomplete()
		return nil, nil
	}
	addr := tx.pass.snap.Broker(id).Address()
	list := kmsg.NewPtrListTransactionsRequest()
	list.StateFilters = openStates[:]
	listed, err := within(ctx, tx.pass, addr, "ListTransactions", func(ctx context.Context) (*kmsg.ListTransactionsResponse, error) {
		return list.RequestWith(ctx, client.SeedBrokers()[0])
	})
	if err != nil {
		return nil, err
	}
	if listed.ErrorCode != 0 {
		return nil, requestError(addr, "ListTransactions", listed.ErrorCode)
	}
	if len(listed.TransactionStates) == 0 {
		return nil, nil
	}
	found := make([]inspect.Transaction, 0, len(listed.TransactionStates))
	asksMore := tx.offers(id, keyDescribeTransactions, 0, "since when transactions are open is unknown")
	describe := kmsg.NewPtrDescribeTransactionsRequest()
	for _, s := range listed.TransactionStates {
		describe.TransactionalIDs = append(describe.TransactionalIDs, s.TransactionalID)
		found = append(found, inspect.Transaction{
			ID: s.TransactionalID, ProducerID: s.ProducerID, Coordinator: id, State: s.TransactionState,
		})
	}
	if !asksMore {
		tx.setIncomplete()
		return found, nil
	}
	described, err := within(ctx, tx.pass, addr, "DescribeTransactions", func(ctx context.Context) (*kmsg.DescribeTransactionsResponse, error) {
		return describe.RequestWith(ctx, client.SeedBrokers()[0])
	})
	if err != nil {
		return found, err
	}
	byID := map[string]*kmsg.DescribeTransactionsResponseTransactionState{}
	for i := range described.TransactionStates {
		s := &described.TransactionStates[i]
		byID[s.TransactionalID] = s
	}
	out := found[:0]
	for _, t := range found {
		switch s := byID[t.ID]; {
		case s == nil || s.ErrorCode != 0:
			out = append(out, t) // since when stays unknown
		case slices.Contains(openStates[:], s.State):
			fillTransaction(&t, s)
			out = append(out, t)
		} // else it ended between the two requests
	}
	return out, nil
}

func fillTransaction(t *inspect.Transaction, s *kmsg.DescribeTransactionsResponseTransactionState) {
	t.State, t.ProducerID, t.ProducerEpoch = s.State, s.ProducerID, inspect.Known(s.ProducerEpoch)
	t.Timeout = inspect.Known(time.Duration(s.TimeoutMillis) * time.Millisecond)
	if s.StartTimestamp >= 0 {
		t.Started = inspect.Known(time.UnixMilli(s.StartTimestamp).UTC())
	}
	parts := []inspect.TopicPartition{}
	for i := range s.Topics {
		for _, n := range s.Topics[i].Partitions {
			parts = append(parts, inspect.TopicPartition{Topic: s.Topics[i].Topic, Partition: n})
		}
	}
	t.Partitions = inspect.Known(parts)
}

// confirm asks again for the producers that coordinators do not account for.
func (tx *transactions) confirm(ctx context.Context) {
	again := map[inspect.BrokerID][]inspect.TopicPartition{}
	leader := map[inspect.TopicPartition]inspect.BrokerID{}
	for p := range tx.pass.snap.Partitions {
		leader[inspect.TopicPartition{Topic: p.Topic, Partition: p.Index}] = p.Leader
	}
	slices.SortFunc(tx.out.Producers, compareProducers)
	for i := range tx.out.Producers {
		p := &tx.out.Producers[i]
		accounted := slices.ContainsFunc(tx.out.Coordinated, func(t inspect.Transaction) bool {
			parts, known := t.Partitions.Get()
			return t.ProducerID == p.ProducerID && (!known || slices.Contains(parts, p.TopicPartition))
		})
		if id := leader[p.TopicPartition]; !accounted && !slices.Contains(again[id], p.TopicPartition) {
			again[id] = append(again[id], p.TopicPartition)
		}
	}
	tx.producers(ctx, again, false)
}

// within makes one request within its share of the pass.
func within[T any](ctx context.Context, p *pass, addr, request string, call func(context.Context) (T, error)) (T, error) {
	ctx, cancel := p.src.bounded(ctx)
	defer cancel()
	began := time.Now()
	resp, err := call(ctx)
	if err != nil {
		var none T
		return none, connect.Wrap(addr, request, err, time.Since(began))
	}
	return resp, nil
}

func requestError(addr, request string, code int16) error {
	return &connect.Error{Address: addr, Phase: inspect.PhaseRequest, Request: request, Cause: codeName(code)}
}
