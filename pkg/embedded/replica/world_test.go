package replica

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kafkaops/kafkaops/pkg/embedded/logstate"
)

// world is a partition on several brokers, joined by nothing but the test's own
// hand: it delivers each fetch, each answer, each word of the disk and of the
// controller. What the replicas order is carried out on logs in memory and told
// in the trace.
type world struct {
	cfg      Config // Self aside
	settings Settings
	nowMs    int64
	registry map[BrokerID]Broker
	ids      []BrokerID
	nodes    map[BrokerID]*node
	quorum   quorum

	tokens  Token
	names   map[Token]string // of requests
	records map[Token]record // of produces
	asked   map[Token]asked  // produces not answered yet

	trace strings.Builder
	// unclean is set by an unclean election, which voids promises.
	unclean bool
	// acked are the records acknowledged with acks=all.
	acked map[Offset]record
	fail  func(format string, args ...any)
}

// record is one record, alone in its batch unless n says otherwise.
type record struct {
	value string
	batch Batch
}

// asked is a produce and the broker that it was sent to.
type asked struct {
	Produce
	by BrokerID
}

// quorum is the controller's view.
type quorum struct {
	Partition
	asked map[BrokerID][]AlterPartition
	// history is the ISR of each partition epoch.
	history map[int32][]BrokerID
}

// node is one broker: a replica, a log in memory, what is on its way.
type node struct {
	id       BrokerID
	r        *Replica
	up       bool
	log      []record // one entry a batch
	start    Offset
	leo      Offset
	hole     [2]Offset // left where a batch was cut through
	flushed  Offset
	hold     bool // the disk answers when told
	order    Effect
	standing *FetchFrom
	resting  bool // the order rests until it is renewed
	offset   *AskOffset
	request  *FollowerFetch // sent, not yet at the leader
	requests BrokerID       // where to
	asked    FetchPosition
	awaited  Token          // of the fetch that is on its way, at the leader or back
	answer   *FetchResponse // on its way back
	batches  map[Token][]Batch
	fetched  map[Token][]record

	before    Status // the step that is obeyed
	seenHW    Offset // as leader in seenEpoch
	seenEpoch Epoch
}

func newWorld(brokers int, s Settings) *world {
	w := &world{
		cfg: Config{LagTimeMaxMs: 30_000, FetchBackoffMs: 1000}, settings: s, nowMs: 1_000_000,
		registry: map[BrokerID]Broker{}, nodes: map[BrokerID]*node{},
		names: map[Token]string{}, records: map[Token]record{}, asked: map[Token]asked{}, acked: map[Offset]record{},
	}
	w.quorum = quorum{Partition: Partition{LeaderEpoch: -1, PartitionEpoch: -1, Leader: NoBroker}, asked: map[BrokerID][]AlterPartition{}, history: map[int32][]BrokerID{}}
	for id := BrokerID(1); id <= BrokerID(brokers); id++ {
		w.ids = append(w.ids, id)
		w.registry[id] = Broker{Epoch: 100 + int64(id)}
		n := &node{id: id}
		w.nodes[id] = n
		w.open(n, 0)
	}
	w.quorum.Replicas = slices.Clone(w.ids)
	return w
}

// Broker implements Brokers.
func (w *world) Broker(id BrokerID) (Broker, bool) {
	b, ok := w.registry[id]
	return b, ok
}

// open starts a broker on what its log holds.
func (w *world) open(n *node, hw Offset) {
	l := Log{Start: n.start, HW: hw, Flushed: n.flushed}
	l.End = n.start
	for _, rec := range n.log {
		l.Epochs.Assign(rec.batch.LeaderEpoch, max(rec.batch.BaseOffset, n.start))
		l.Producers.Apply(rec.batch)
		l.End = rec.batch.NextOffset()
	}
	cfg := w.cfg
	cfg.Self, cfg.Brokers = n.id, w
	*n = node{
		id: n.id, r: New(&cfg, w.settings, l), up: true, log: n.log, start: n.start, leo: l.End, flushed: n.flushed,
		batches: map[Token][]Batch{}, fetched: map[Token][]record{}, seenEpoch: -1,
	}
}

func (w *world) printf(format string, args ...any) { fmt.Fprintf(&w.trace, format+"\n", args...) }

func (w *world) token(name string) Token {
	w.tokens++
	w.names[w.tokens] = name
	return w.tokens
}

// step gives a replica an input and carries out what it orders.
func (w *world) step(n *node, in Input) {
	if !n.up {
		return
	}
	n.before = n.r.Status()
	for _, e := range n.r.Step(w.nowMs, in, nil) {
		w.printf("  %d: %s", n.id, w.show(e))
		w.obey(n, e)
	}
	w.check(n)
	if n.order != nil && !n.hold {
		w.diskDone(n)
	}
}

func (w *world) obey(n *node, e Effect) {
	switch e := e.(type) {
	case Append, Sync, Truncate, StoreEpoch:
		if n.order != nil {
			w.fail("%d: %T while the disk does %T", n.id, e, n.order)
		}
		n.order = e
	case FetchFrom:
		n.standing, n.resting = &e, false
	case FetchStop, FetchFailed:
		n.standing, n.offset = nil, nil
	case AskOffset:
		n.offset = &e
	case AlterPartition:
		w.quorum.asked[n.id] = append(w.quorum.asked[n.id], e)
	case ProduceReply:
		w.produceReplied(n, e)
	case FetchReply:
		w.fetchReplied(n, e)
	case LogStartMoved:
		n.start = e.Start
		for len(n.log) > 0 && n.log[0].batch.NextOffset() <= n.start {
			n.log = n.log[1:]
		}
	}
}

// diskDone carries out the order that the disk has, and says so.
func (w *world) diskDone(n *node) {
	order := n.order
	n.order = nil
	switch o := order.(type) {
	case Append:
		if recs, ok := n.fetched[o.Token]; ok && o.LeaderEpoch == NoEpoch {
			n.log = append(n.log, recs[:o.Batches]...)
			delete(n.fetched, o.Token)
		} else {
			rec := w.records[o.Token]
			rec.batch = rec.batch.At(o.Base, o.LeaderEpoch)
			n.log = append(n.log, rec)
		}
		n.leo = n.log[len(n.log)-1].batch.NextOffset()
		w.step(n, Appended{})
	case Sync:
		n.flushed = o.UpTo
		w.step(n, Synced{})
	case StoreEpoch:
		w.step(n, EpochStored{})
	case Truncate:
		if o.Restart || o.To < n.start {
			n.log, n.start = nil, o.To
			n.leo = o.To
		}
		n.leo = min(n.leo, o.To)
		for len(n.log) > 0 && n.log[len(n.log)-1].batch.NextOffset() > o.To {
			n.log = n.log[:len(n.log)-1]
		}
		last := n.start
		if k := len(n.log); k > 0 {
			last = max(last, n.log[k-1].batch.NextOffset())
		}
		if last < n.leo {
			n.hole = [2]Offset{last, n.leo}
		}
		n.flushed = min(n.flushed, o.To)
		var ps logstate.Producers
		for _, rec := range n.log {
			ps.Apply(rec.batch)
		}
		w.step(n, Truncated{Producers: ps})
	}
}

// metadata makes a new leader and tells those listed.
func (w *world) elect(leader BrokerID, isr, to []BrokerID) {
	q := &w.quorum
	q.LeaderEpoch++
	q.PartitionEpoch++
	q.Leader, q.ISR = leader, isr
	w.tell(to)
}

// changeISR is a change by the controller that is no election.
func (w *world) changeISR(isr, to []BrokerID) {
	w.quorum.PartitionEpoch++
	w.quorum.ISR = isr
	w.tell(to)
}

// tell delivers the controller's present view.
func (w *world) tell(to []BrokerID) {
	w.quorum.history[w.quorum.PartitionEpoch] = slices.Clone(w.quorum.ISR)
	for _, id := range to {
		p := w.quorum.Partition
		p.Replicas, p.ISR = slices.Clone(p.Replicas), slices.Clone(p.ISR)
		w.step(w.nodes[id], p)
	}
}

// answerISR answers the oldest AlterPartition of a broker, as the controller
// would or with this error. It tells nobody else.
func (w *world) answerISR(from BrokerID, err Code) {
	q := &w.quorum
	if len(q.asked[from]) == 0 {
		return
	}
	ask := q.asked[from][0]
	q.asked[from] = q.asked[from][1:]
	if err == None {
		err = w.judge(from, ask)
	}
	resp := AlterPartitionResponse{Proposal: ask.Proposal, Err: err}
	if err == None {
		q.PartitionEpoch++
		q.ISR = nil
		for _, m := range ask.ISR {
			q.ISR = append(q.ISR, m.ID)
		}
		resp.LeaderEpoch, resp.PartitionEpoch, resp.ISR = q.LeaderEpoch, q.PartitionEpoch, slices.Clone(q.ISR)
		w.printf("  controller: ISR %s, partition epoch %d", ids(q.ISR), q.PartitionEpoch)
		q.history[q.PartitionEpoch] = slices.Clone(q.ISR)
	} else {
		w.printf("  controller: refuses with %s", codeName(err))
	}
	w.step(w.nodes[from], resp)
}

// judge is ReplicationControlManager.validateAlterPartitionData, in short.
func (w *world) judge(from BrokerID, ask AlterPartition) Code {
	q := &w.quorum
	switch {
	case ask.LeaderEpoch < q.LeaderEpoch:
		return FencedLeaderEpoch
	case from != q.Leader:
		return InvalidRequest
	case ask.PartitionEpoch < q.PartitionEpoch:
		return InvalidUpdateVersion
	}
	for _, m := range ask.ISR {
		b, ok := w.registry[m.ID]
		if !ok || b.Fenced || b.ShuttingDown || m.BrokerEpoch != NoBrokerEpoch && m.BrokerEpoch != b.Epoch {
			return IneligibleReplica
		}
	}
	return None
}

func (w *world) produce(n *node, rec record, acks int16, timeoutMs int64) {
	t := w.token(rec.value)
	w.records[t] = rec
	p := Produce{Token: t, Acks: acks, TimeoutMs: timeoutMs, Batch: rec.batch}
	w.asked[t] = asked{Produce: p, by: n.id}
	w.step(n, p)
}

func (w *world) produceReplied(n *node, e ProduceReply) {
	p, ok := w.asked[e.Token]
	if !ok {
		w.fail("%d: %s is answered twice", n.id, w.names[e.Token])
	}
	delete(w.asked, e.Token)
	if e.Err != None {
		return
	}
	s := n.r.Status()
	rec := w.records[e.Token]
	rec.batch = rec.batch.At(e.Base, NoEpoch)
	if end := n.end(); rec.batch.LastOffset >= end {
		w.fail("%d: %s acknowledged at %d, the log ends at %d", n.id, rec.value, e.Base, end)
	}
	if p.Acks != acksAll {
		return
	}
	if s.HW <= rec.batch.LastOffset {
		w.fail("%d: %s acknowledged below HW %d", n.id, rec.value, s.HW)
	}
	// What waited for the disk may have changed the ISR in the same step, before or after.
	if max(len(s.MaximalISR), len(n.before.MaximalISR)) < min(w.settings.MinISR, len(w.quorum.Replicas)) {
		w.fail("%d: %s acknowledged with ISR %v", n.id, rec.value, s.MaximalISR)
	}
	w.acked[e.Base] = rec
}

// send makes a follower's fetch, if it has one to send.
func (w *world) send(n *node) bool {
	f := n.standing
	if !n.up || f == nil || n.resting || n.awaited != 0 {
		return false
	}
	n.requests, n.asked, n.awaited = f.Leader, f.Position, w.token(fmt.Sprintf("fetch of %d", n.id))
	n.request = &FollowerFetch{
		Token: n.awaited, From: n.id, BrokerEpoch: w.registry[n.id].Epoch,
		Position: f.Position, LogStart: f.LogStart,
	}
	return true
}

// arrive delivers a fetch to its leader, which answers when it can.
func (w *world) arrive(n *node) {
	f := n.request
	n.request = nil
	w.printf("  %d fetches from %d at %s", n.id, n.requests, position(f.Position))
	w.step(w.nodes[n.requests], *f)
}

func (w *world) fetchReplied(leader *node, e FetchReply) {
	var who BrokerID
	if _, err := fmt.Sscanf(w.names[e.Token], "fetch of %d", &who); err != nil {
		return
	}
	n := w.nodes[who]
	if n.awaited != e.Token {
		return // nobody waits for it any more
	}
	b := e.Bounds
	resp := FetchResponse{Token: e.Token, Position: n.asked, Err: b.Err, HW: b.HW, LogStart: b.LogStart, Diverging: b.Diverging}
	if !b.Diverging.Defined() && b.UpTo > leader.end() {
		w.fail("%d: may read up to %d, the log ends at %d", leader.id, b.UpTo, leader.end())
	}
	var recs []record
	for _, rec := range leader.log {
		if rec.batch.LastOffset >= b.From && rec.batch.BaseOffset < b.UpTo {
			recs = append(recs, rec)
			resp.Batches = append(resp.Batches, rec.batch)
		}
	}
	n.fetched[e.Token] = recs
	n.answer = &resp
}

// deliver brings the answer to the follower.
func (w *world) deliver(n *node) {
	resp := n.answer
	n.answer = nil
	if resp == nil {
		return
	}
	n.awaited = 0
	if n.standing != nil && n.standing.Position == resp.Position {
		n.resting = resp.Err != None || resp.Diverging.Defined() || len(resp.Batches) > 0
	}
	w.step(n, *resp)
	for n.offset != nil {
		w.answerOffset(n)
	}
}

// answerOffset asks the leader for an offset as the follower wants it.
func (w *world) answerOffset(n *node) {
	ask := n.offset
	n.offset = nil
	a := w.nodes[ask.Leader].r.ListOffsets(ListOffsets{
		Version: 11, ReplicaID: int32(n.id), LeaderEpoch: ask.LeaderEpoch, Timestamp: ask.Timestamp,
	})
	w.step(n, OffsetResponse{Timestamp: ask.Timestamp, LeaderEpoch: ask.LeaderEpoch, Err: a.Err, Offset: a.Offset})
}

// fetch is one round, all of it. With a backoff the time passes.
func (w *world) fetch(n *node) bool {
	if n.standing != nil {
		w.nowMs = max(w.nowMs, n.standing.NotBeforeMs)
	}
	if !w.send(n) {
		return false
	}
	w.arrive(n)
	w.deliver(n)
	return true
}

// restart stops a broker and starts it on what its disk has. Records that were
// not synced are lost if the power was.
func (w *world) restart(n *node, power bool, hw Offset) {
	if power {
		for len(n.log) > 0 && n.log[len(n.log)-1].batch.NextOffset() > n.flushed {
			n.log = n.log[:len(n.log)-1]
		}
	}
	w.quorum.asked[n.id] = nil
	for _, other := range w.nodes {
		if other.requests == n.id {
			other.request, other.answer, other.awaited = nil, nil, 0
		}
	}
	maps.DeleteFunc(w.asked, func(_ Token, p asked) bool { return p.by == n.id })
	w.open(n, hw)
}

// end is where the log ends, as the disk has it. After a cut through a batch that
// is not where the last batch ends.
func (n *node) end() Offset { return n.leo }

// at returns the record that holds offset o.
func (n *node) at(o Offset) (record, bool) {
	i, ok := slices.BinarySearchFunc(n.log, o, func(rec record, o Offset) int {
		switch {
		case rec.batch.LastOffset < o:
			return -1
		case rec.batch.BaseOffset > o:
			return 1
		}
		return 0
	})
	if !ok {
		return record{}, false
	}
	return n.log[i], true
}

func ids(s []BrokerID) string {
	if len(s) == 0 {
		return "none"
	}
	var parts []string
	for _, id := range s {
		parts = append(parts, fmt.Sprint(id))
	}
	return strings.Join(parts, ",")
}

func position(p FetchPosition) string {
	return fmt.Sprintf("%d, epoch %d, last %d", p.Offset, p.LeaderEpoch, p.LastFetchedEpoch)
}

func codeName(c Code) string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return fmt.Sprint(int16(c))
}

var codeNames = map[Code]string{
	None: "NONE", OffsetOutOfRange: "OFFSET_OUT_OF_RANGE", CorruptMessage: "CORRUPT_MESSAGE",
	UnknownTopicOrPartition: "UNKNOWN_TOPIC_OR_PARTITION", LeaderNotAvailable: "LEADER_NOT_AVAILABLE",
	NotLeaderOrFollower: "NOT_LEADER_OR_FOLLOWER", RequestTimedOut: "REQUEST_TIMED_OUT",
	NotEnoughReplicas: "NOT_ENOUGH_REPLICAS", NotEnoughReplicasAfterAppend: "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
	InvalidRequiredAcks: "INVALID_REQUIRED_ACKS", UnsupportedVersion: "UNSUPPORTED_VERSION", NotController: "NOT_CONTROLLER",
	InvalidRequest: "INVALID_REQUEST", OutOfOrderSequenceNumber: "OUT_OF_ORDER_SEQUENCE_NUMBER",
	InvalidProducerEpoch: "INVALID_PRODUCER_EPOCH", KafkaStorageError: "KAFKA_STORAGE_ERROR",
	FencedLeaderEpoch: "FENCED_LEADER_EPOCH", UnknownLeaderEpoch: "UNKNOWN_LEADER_EPOCH", OffsetNotAvailable: "OFFSET_NOT_AVAILABLE",
	UnknownTopicID: "UNKNOWN_TOPIC_ID", InconsistentTopicID: "INCONSISTENT_TOPIC_ID", InvalidUpdateVersion: "INVALID_UPDATE_VERSION",
	IneligibleReplica: "INELIGIBLE_REPLICA", NewLeaderElected: "NEW_LEADER_ELECTED", OperationNotAttempted: "OPERATION_NOT_ATTEMPTED",
}
