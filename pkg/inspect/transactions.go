package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// PartTransactions asks ListTransactions and DescribeTransactions of every broker,
// and DescribeProducers of the leaders of partitions whose LSO is below their HW.
// It needs [PartOffsets].
const PartTransactions Parts = 1 << 12

// Transactions is what coordinators and partition leaders tell of transactions
// that are open.
type Transactions struct {
	// Coordinated are the transactions that a coordinator has open, as far as these
	// credentials may see them: Kafka leaves the others out without a word.
	Coordinated []Transaction
	// Complete: every broker told of the transactions that it coordinates.
	Complete bool
	// Producers are those with an open transaction, as the leaders tell.
	Producers []OpenProducer
	// Told are the partitions whose leader told who has a transaction open there,
	// be it nobody.
	Told []TopicPartition
}

// Transaction is an open transaction as its coordinator has it.
type Transaction struct {
	ID            string
	ProducerID    int64
	ProducerEpoch Opt[int16]
	Coordinator   BrokerID
	// State is Kafka's word: Ongoing, PrepareCommit, PrepareAbort, …
	State string
	// What follows is unknown where DescribeTransactions was refused or came too
	// late.
	Timeout    Opt[time.Duration]
	Started    Opt[time.Time]
	Partitions Opt[[]TopicPartition]
}

// OpenProducer is a producer that has a transaction open in one partition, as the
// partition's leader tells.
type OpenProducer struct {
	TopicPartition
	ProducerID    int64
	ProducerEpoch int32
	// Start is the transaction's first offset in the partition.
	Start Offset
	// LastWrite is the timestamp of its last batch, which producers may set.
	LastWrite Opt[time.Time]
	// Confirmed: after the coordinators had been asked the leader still told the
	// same. Only so is what they did not know of surely not theirs.
	Confirmed bool
}

// TransactionStatus is one word about an open transaction.
type TransactionStatus string

// The words.
const (
	// TransactionOpen: in the middle of its life.
	TransactionOpen TransactionStatus = "open"
	// TransactionHanging: nobody will end it: it has been open for longer than its
	// timeout and 5 minutes, or no coordinator has it and it has not written for
	// longer than any transaction may be open.
	TransactionHanging TransactionStatus = "hanging"
	// TransactionSuspect: no coordinator has it, as far as these credentials may
	// see, and it has written lately.
	TransactionSuspect TransactionStatus = "suspect"
	// TransactionUnknown: an answer that decides is missing.
	TransactionUnknown TransactionStatus = "unknown"
)

// hangingGrace is what Kafka's own search for hanging transactions
// (kafka-transactions.sh find-hanging) adds to a timeout, for the time that an
// abort takes.
const hangingGrace = 5 * time.Minute

// maxTransactionTimeout is the default of transaction.max.timeout.ms: no
// transaction is open for longer unless the brokers allow it.
const maxTransactionTimeout = 15 * time.Minute

// OpenTransaction is a transaction over all that told of it.
type OpenTransaction struct {
	// ID is unknown where no coordinator told of it, and ProducerID and
	// ProducerEpoch where the partitions' leaders did not tell who holds the LSO.
	ID            Opt[string]
	ProducerID    Opt[int64]
	ProducerEpoch Opt[int32]
	Coordinator   Opt[BrokerID]
	State         Opt[string]
	Started       Opt[time.Time]
	Timeout       Opt[time.Duration]
	// LastWrite is the latest of all partitions.
	LastWrite Opt[time.Time]
	// Partitions is sorted by topic and number.
	Partitions []OpenPartition
	Status     TransactionStatus
	// Why says it in a sentence where the status is not open.
	Why string
}

// OpenPartition is a partition that a transaction is open in.
type OpenPartition struct {
	TopicPartition
	// Start is the transaction's first offset there; unknown where the leader was
	// not asked, because its LSO is not held back, or did not tell.
	Start     Opt[Offset]
	LastWrite Opt[time.Time]
	LSO, HW   Opt[Offset]
	// HoldsLSO: the LSO stands at Start, so that read_committed consumers wait for
	// this transaction. Unknown where the LSO is held back, or was not read, and the
	// leader did not tell by whom.
	HoldsLSO Opt[bool]
}

// OpenTransactions lists all transactions that are open: those of coordinators,
// by transactional id, then those that only partitions know of, by producer id,
// then partitions whose LSO may be held by nobody knows whom.
func (s *Snapshot) OpenTransactions() []OpenTransaction {
	all, ok := s.Transactions.Get()
	if !ok {
		return nil
	}
	m := merger{s: s, all: &all, held: map[TopicPartition]*Partition{}, free: map[TopicPartition]bool{}, claimed: map[TopicPartition]bool{}, byProducer: map[int64][]*OpenProducer{}}
	for p := range s.Partitions {
		tp := TopicPartition{p.Topic, p.Index}
		switch {
		case p.LSOBelowHW():
			m.held[tp] = p
		case p.Offsets != nil && p.Offsets.LSO.IsKnown() && p.Offsets.HW.IsKnown():
			m.free[tp] = true
		}
	}
	for i := range all.Producers {
		p := &all.Producers[i]
		m.byProducer[p.ProducerID] = append(m.byProducer[p.ProducerID], p)
	}
	var out []OpenTransaction
	for i := range all.Coordinated {
		out = append(out, m.coordinated(&all.Coordinated[i]))
	}
	slices.SortFunc(out, func(a, b OpenTransaction) int { return strings.Compare(a.ID.Or(""), b.ID.Or("")) })
	out = append(out, m.orphans()...)
	return append(out, m.unexplained()...)
}

// LSOBelowHW reports whether the LSO was read to be below the HW. An open
// transaction may hold it there; or records came in meanwhile, for the HW is read
// after the LSO: only the leader knows.
func (p *Partition) LSOBelowHW() bool {
	if p.Offsets == nil {
		return false
	}
	lso, ok := p.Offsets.LSO.Get()
	hw, known := p.Offsets.HW.Get()
	return ok && known && lso < hw
}

type merger struct {
	s   *Snapshot
	all *Transactions
	// held are partitions whose LSO is below the HW, and claimed those of them of
	// which somebody tells that it holds it.
	held map[TopicPartition]*Partition
	// free are those whose LSO is the HW.
	free       map[TopicPartition]bool
	claimed    map[TopicPartition]bool
	byProducer map[int64][]*OpenProducer
}

// coordinated joins a coordinator's entry with what leaders tell of its producer.
func (m *merger) coordinated(t *Transaction) OpenTransaction {
	out := OpenTransaction{
		ID: Known(t.ID), ProducerID: Known(t.ProducerID), Coordinator: Known(t.Coordinator),
		State: Known(t.State), Started: t.Started, Timeout: t.Timeout, Status: TransactionOpen,
	}
	if epoch, ok := t.ProducerEpoch.Get(); ok {
		out.ProducerEpoch = Known(int32(epoch))
	}
	listed, known := t.Partitions.Get()
	told := m.byProducer[t.ProducerID]
	delete(m.byProducer, t.ProducerID)
	for _, p := range told {
		out.add(m.explain(p))
		if known && p.Confirmed && !slices.Contains(listed, p.TopicPartition) {
			out.hang(fmt.Sprintf("its coordinator does not have %s in it", p.TopicPartition))
		}
	}
	for _, tp := range listed {
		if !slices.ContainsFunc(told, func(p *OpenProducer) bool { return p.TopicPartition == tp }) {
			out.add(m.partition(tp))
		}
	}
	started, ok := t.Started.Get()
	timeout, also := t.Timeout.Get()
	switch open := m.s.TakenAt.Sub(started); {
	case !ok || !also:
		if out.Status == TransactionOpen {
			out.Status, out.Why = TransactionUnknown, "its coordinator does not say since when it is open"
		}
	case open > timeout+hangingGrace:
		out.hang(fmt.Sprintf("open for %s with a timeout of %s", open.Round(time.Second), timeout))
	}
	out.sort()
	return out
}

// orphans are open in partitions and in no coordinator.
func (m *merger) orphans() []OpenTransaction {
	var out []OpenTransaction
	for id, told := range m.byProducer {
		t := OpenTransaction{ProducerID: Known(id), ProducerEpoch: Known(told[0].ProducerEpoch), Status: TransactionUnknown}
		confirmed := false
		for _, p := range told {
			t.add(m.explain(p))
			confirmed = confirmed || p.Confirmed
		}
		silent := m.s.TakenAt.Sub(t.LastWrite.Or(m.s.TakenAt))
		switch {
		case !m.all.Complete:
			t.Why = "not every broker told of the transactions that it coordinates"
		case !confirmed:
			t.Why = "it was ending or changing while it was looked at"
		case silent > maxTransactionTimeout+hangingGrace:
			t.hang(fmt.Sprintf("no coordinator has it, and it wrote last %s ago", silent.Round(time.Second)))
		default:
			t.Status, t.Why = TransactionSuspect, "no coordinator has it that these credentials may see (DESCRIBE on transactional ids)"
		}
		t.sort()
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b OpenTransaction) int { return cmp.Compare(a.ProducerID.Or(0), b.ProducerID.Or(0)) })
	return out
}

// unexplained are partitions whose LSO is below the HW, and whose leader did not
// tell why.
func (m *merger) unexplained() []OpenTransaction {
	var out []OpenTransaction
	for tp := range m.held {
		if m.claimed[tp] || slices.Contains(m.all.Told, tp) {
			continue
		}
		t := OpenTransaction{Status: TransactionUnknown, Why: "its LSO is below its HW, and whose transaction holds it was not told"}
		part := m.partition(tp)
		part.HoldsLSO = Known(true)
		t.add(part)
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b OpenTransaction) int {
		return compareTopicPartitions(a.Partitions[0].TopicPartition, b.Partitions[0].TopicPartition)
	})
	return out
}

// partition is what is known of it beside any producer.
func (m *merger) partition(tp TopicPartition) OpenPartition {
	out := OpenPartition{TopicPartition: tp}
	if p := m.held[tp]; p != nil {
		out.LSO, out.HW = p.Offsets.LSO, p.Offsets.HW
	}
	if m.free[tp] || slices.Contains(m.all.Told, tp) {
		out.HoldsLSO = Known(false)
	}
	return out
}

// explain also claims the partition where the producer holds its LSO.
func (m *merger) explain(p *OpenProducer) OpenPartition {
	out := m.partition(p.TopicPartition)
	out.Start, out.LastWrite = Known(p.Start), p.LastWrite
	if lso, ok := out.LSO.Get(); ok {
		holds := p.Start <= lso
		out.HoldsLSO = Known(holds)
		m.claimed[p.TopicPartition] = m.claimed[p.TopicPartition] || holds
	}
	return out
}

func (t *OpenTransaction) add(p OpenPartition) {
	t.Partitions = append(t.Partitions, p)
	if at, ok := p.LastWrite.Get(); ok && at.After(t.LastWrite.Or(time.Time{})) {
		t.LastWrite = Known(at)
	}
}

func (t *OpenTransaction) hang(why string) {
	if t.Status == TransactionHanging {
		why = t.Why + "; " + why
	}
	t.Status, t.Why = TransactionHanging, why
}

func (t *OpenTransaction) sort() {
	slices.SortFunc(t.Partitions, func(a, b OpenPartition) int { return compareTopicPartitions(a.TopicPartition, b.TopicPartition) })
}

func compareTopicPartitions(a, b TopicPartition) int {
	return cmp.Or(strings.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}
